"""A player at work on one match: follows the state, asks the author's code, and always knows a legal move.

This runs in a worker process; whatever the author's code does, the thinker reports.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from gdl.engines import make_game
from gdl.errors import CallerError, GdlError
from gdl.game import Game, Role, State
from gdl.kif import read_term
from gdl.replies import find_move
from gdl.rules import read_rules
from gdl.terms import Constant, Term
from players.deadline import Budget, Deadline
from players.interruption import TimeUp, call_until
from players.pipe import Ask, Best, Done, Follow, Join, Joined, Leave, Order, Ready, Refused, Report
from players.player import MakePlayer, Player

T = TypeVar("T")
HOOK_S: Final = 1.0
"""How long a hook may take that has no clock of its own."""
_LOG: Final = logging.getLogger(__name__)


class Thinker:
    """Obeys the orders of one match."""

    def __init__(self, make_player: MakePlayer, report: Callable[[Report], None]) -> None:
        self.make_player, self.report = make_player, report
        self.player = Player()
        self.thinks = True
        self.role: Role = Constant("")
        self.follow_s = 0.0
        self.last: Follow | None = None
        self.answer: Term | None = None
        self.has_left = False
        """Whether there is nothing more to do: the match is over, or its rules cannot be played."""

    def obey(self, order: Order) -> None:
        """Do what *order* says, reporting what comes of it."""
        match order:
            case Join():
                self._join(order)
            case Follow():
                self._follow(order)
            case Ask():
                self._ask(order)
            case Leave():
                self.has_left = True
                hook = self.player.abort if order.is_abort else self.player.stop
                self._run(hook, Deadline.after(HOOK_S).at_s)

    def _join(self, order: Join) -> None:
        try:
            game = make_game(read_rules(order.rules, "rules of the match"))
            self.role, self.follow_s = _role_of(game, order.role), order.follow_s
            self.thinks = order.thinks and self._sit_down(game, order)
            if not self.thinks:
                self.player = Player()
                self.player.join(game, self.role, order.seed)
        except (GdlError, ArithmeticError, RecursionError, MemoryError) as error:
            _LOG.warning("the rules are refused: %s", error)
            self.has_left = True
            self.report(Refused(str(error)))
            return
        self.report(Joined(tuple(map(str, game.roles))))
        self._run(partial(self.player.start, Deadline(order.deadline_s)), order.interrupt_s)
        self.report(Ready())

    def _sit_down(self, game: Game, order: Join) -> bool:
        try:
            self.player = self.make_player()
            self.player.join(game, self.role, order.seed)
        except Exception:
            _LOG.exception("the player cannot be made; legal moves will be played")
            return False
        return True

    def _follow(self, order: Follow) -> None:
        worlds = self.player.worlds
        told = tuple(map(read_term, order.told))
        own_move = None if order.own_move is None else read_term(order.own_move)
        try:
            if self.player.game.has_imperfect_information:
                own_move = own_move and find_move(own_move, worlds.state.legal_moves(self.role))
            else:
                told = _joint_move(self.player.game, worlds.state, told)
                own_move = told[self.player.game.roles.index(self.role)]
            worlds.advance(own_move, told, Budget(deadline=Deadline.after(self.follow_s)))
        except GdlError as error:
            if order != self.last:
                _LOG.warning("cannot follow the step %s: %s", " ".join(order.told), error)
            return
        self.last, self.answer = order, None
        self._run(partial(self.player.perceive, own_move, told), Deadline.after(HOOK_S).at_s)

    def _ask(self, order: Ask) -> None:
        """Answer; without a step in between it is the same question again, and has the same answer."""
        try:
            state = self.player.worlds.state
            moves = state.legal_moves(self.role)
        except GdlError as error:
            _LOG.warning("the legal moves cannot be found: %s", error)
            moves = ()
        if not moves:
            self.report(Done(order.step, None))
            return
        if self.answer not in moves:
            self.answer = self._chosen(order, state, moves)
        self.report(Done(order.step, str(self.answer)))

    def _chosen(self, order: Ask, state: State, moves: tuple[Term, ...]) -> Term:
        player = self.player
        player.best_so_far = moves[0]
        player.on_suggestion = lambda move: self.report(Best(order.step, str(move)))
        player.on_suggestion(moves[0])
        if not order.thinks or state.is_terminal or Deadline(order.deadline_s).has_passed:
            return moves[0]
        said = self._run(partial(player.move, state, self.role, Deadline(order.deadline_s)), order.interrupt_s)
        found = None if said is None else find_move(said, moves)
        if said is not None and found is None:
            _LOG.error("%s is not a legal move of %s; the best so far is played", said, self.role)
        return found or player.best_so_far

    def _run(self, function: Callable[[], T], interrupt_s: float) -> T | None:
        """Return what the author's code returns, None if it fails or is too slow."""
        if not self.thinks:
            return None
        try:
            return call_until(interrupt_s, function)
        except TimeUp:
            _LOG.info("interrupted at the end of the clock")
        except Exception:
            _LOG.exception("%s failed as %s", type(self.player).__name__, self.role)
        return None


def _role_of(game: Game, name: str) -> Role:
    found = find_move(Constant(name), game.roles)
    if not isinstance(found, Constant):
        raise CallerError(f"no role {name!r} in this game; its roles are {', '.join(map(str, game.roles))}")
    return found


def _joint_move(game: Game, state: State, told: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return *told* with each move as the rules write it."""
    if len(told) != len(game.roles):
        return told
    return tuple(find_move(move, state.legal_moves(role)) or move for role, move in zip(game.roles, told, strict=True))
