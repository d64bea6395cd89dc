"""A player at work on one match: it follows the state, calls the author's code, and always has a legal move."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from gdl.engines import make_game
from gdl.errors import GdlError, JointMoveError, UnknownRoleError
from gdl.game import Game, Role, State
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Constant, Term
from gdl.wire.insights import insight_text, insight_words, read_insight
from gdl.wire.replies import find_move
from players.belief import BeliefState
from players.deadline import Deadline, SearchBudget
from players.kit import session, worker_protocol
from players.kit.interruption import TimeUp, call_until
from players.player import MakePlayer, Player

T = TypeVar("T")

HOOK_S: Final = 1.0
"""How long a hook may take that has no clock of its own."""
READING_S: Final = 60.0
"""The limit for reading rules, if the start clock is not longer."""
MAKING_S: Final = 10.0
"""The limit for making the player, likewise: modules that it imports take time, and without it there is no move."""
_GIVEN_UP: Final = f"it is given up after {session.MAX_LOSSES} lost processes"
_NOT_MADE: Final = "it was not made at the start of the match"
_GONE: Final = "the match was over before they were read"
_MAX_SHOWN: Final = 300
_LATE: Final = "`move` went on until the end of the clock, and had suggested nothing"
_NOTHING: Final = "None (`move` ended without `return`?)"
"""What is shown of a move that is nothing, as of authors who forgot to return it."""
_MAX_CALLS: Final = 3
_KIT: Final = Path(__file__).parent
_LOG: Final = logging.getLogger(__name__)


class Thinker:
    """Carries out instructions for a match: it keeps the belief state, and calls the author's code in its time."""

    def __init__(self, make_player: MakePlayer, report: Callable[[worker_protocol.Report], None]) -> None:
        self.make_player, self.report = make_player, report
        self.player = Player()
        self.belief: BeliefState
        """What the player knows from the first: an author's code may give its attribute `worlds` another meaning."""
        self.why_idle = ""
        """Why the author's code is not run, and legal moves are played; empty where it is."""
        self.role: Role = Constant("")
        self.follow_s = 0.0
        self.last: worker_protocol.Follow | None = None
        self.answer: Term | None = None
        self._failures: set[str] = set()
        self._is_late = False
        """Whether the clock has interrupted the author's code that ran last."""
        self.has_left = False
        """Whether the work is done: the match is over, or its rules cannot be played."""

    def execute(self, instruction: worker_protocol.Instruction) -> None:
        """Carry out *instruction*, and report the results."""
        match instruction:
            case worker_protocol.Join():
                self._join(instruction)
            case worker_protocol.Follow():
                self._follow(instruction)
            case worker_protocol.Ask():
                self._ask(instruction)
            case worker_protocol.Confirm():
                self.report(worker_protocol.Confirmed())
            case worker_protocol.Leave():
                self.has_left = True
                hook = self.player.abort if instruction.is_abort else self.player.stop
                self._run(hook, Deadline.after(HOOK_S).at_s)

    def _join(self, instruction: worker_protocol.Join) -> None:
        """Read the rules, make the player, and let it prepare for the match."""
        try:
            reading_ends_s = max(instruction.interrupt_s, Deadline.after(READING_S).at_s)
            game = call_until(reading_ends_s, lambda: make_game(read_rules(instruction.rules, "rules of the match")))
            self.role, self.follow_s = _role_of(game, instruction.role), instruction.follow_s
            self.why_idle = "" if instruction.thinks else _GIVEN_UP
            if instruction.thinks and not self._make_player(game, instruction):
                self.why_idle = _NOT_MADE
            if self.why_idle:
                self._seat(Player(), game, instruction.seed)
        except TimeUp:
            is_late = Deadline(reading_ends_s).has_passed
            self._refuse(f"reading them takes longer than {READING_S:g} s" if is_late else _GONE)
            return
        except (GdlError, ArithmeticError, RecursionError, MemoryError) as error:
            self._refuse(str(error))
            return
        self.report(worker_protocol.Joined(tuple(map(str, game.roles))))
        self._run(partial(self.player.start, Deadline(instruction.deadline_s)), instruction.interrupt_s)
        self.report(worker_protocol.Ready())

    def _refuse(self, reason: str) -> None:
        if reason != _GONE:
            _LOG.warning("the rules are refused: %s", reason)
        self.has_left = True
        self.report(worker_protocol.Refused(reason))

    def _make_player(self, game: Game, instruction: worker_protocol.Join) -> bool:
        """Make the author's player, and let it join; return whether that went well within its time."""

        def make() -> None:
            self._seat(self.make_player(), game, instruction.seed)

        try:
            call_until(max(instruction.interrupt_s, Deadline.after(MAKING_S).at_s), make)
        except TimeUp:
            _LOG.warning("the player is not made in time; legal moves will be played")
            self.report(worker_protocol.PlayerFailed(f"it is not made within {MAKING_S:g} s or the start clock"))
            return False
        except (Exception, SystemExit) as error:  # the second one where the constructor reads a command line
            _LOG.exception("the player cannot be made; legal moves will be played")
            self.report(worker_protocol.PlayerFailed(failure_text(error)))
            return False
        return True

    def _seat(self, player: Player, game: Game, seed: int) -> None:
        """Have *player* join the match, as the one that is asked."""
        player.join(game, self.role, seed)
        self.player, self.belief = player, player.worlds

    def _follow(self, instruction: worker_protocol.Follow) -> None:
        """Advance the belief state by a step, and let the player perceive it."""
        belief = self.belief
        percepts = tuple(map(read_term, instruction.percepts))
        own_move = None if instruction.own_move is None else read_term(instruction.own_move)
        try:
            if belief.game.has_imperfect_information:
                own_move = own_move and find_move(own_move, belief.state.legal_moves(self.role))
            else:
                percepts = _joint_move(belief.game, belief.state, percepts)
                own_move = percepts[belief.me]
            belief.advance(own_move, percepts, SearchBudget(deadline=Deadline.after(self.follow_s)))
        except (GdlError, MemoryError) as error:
            if instruction != self.last:
                _LOG.warning("cannot follow the step %s: %s", " ".join(instruction.percepts), error)
            return
        self.last, self.answer = instruction, None
        self._run(partial(self.player.perceive, own_move, percepts), Deadline.after(HOOK_S).at_s)

    def _ask(self, instruction: worker_protocol.Ask) -> None:
        """Report a move; without a step since the last question it is the same question, and has the same answer."""
        try:
            state = self.belief.state
            moves = state.legal_moves(self.role)
        except (GdlError, MemoryError) as error:
            _LOG.warning("the legal moves cannot be found: %s", error)
            moves = ()
        if not moves:
            self.report(worker_protocol.Done(instruction.step, None))
            return
        if self.answer not in moves:
            self.answer = self._chosen(instruction, state, moves)
        self.report(worker_protocol.Done(instruction.step, str(self.answer)))

    def _chosen(self, instruction: worker_protocol.Ask, state: State, moves: tuple[Term, ...]) -> Term:
        """Return the move that the player chooses, or its best so far, or a legal one."""
        player, suggested = self.player, list[Term]()

        def note_best(move: Term) -> None:
            suggested.append(move)
            self.report(worker_protocol.Best(instruction.step, str(move)))

        player.prepare_move(moves[0], note_best)
        suggested.clear()
        if self.why_idle:
            self.report(worker_protocol.PlayerFailed(self.why_idle))
            return moves[0]
        if not instruction.thinks or state.is_terminal or Deadline(instruction.deadline_s).has_passed:
            return moves[0]
        self._is_late = False
        decided = self._run(partial(self._decided, instruction, state, moves), instruction.interrupt_s)
        found, said = decided or (None, "")
        if said and found is None:
            example = f", as {moves[0]} is"  # not for the report, by which the same errors are counted together
            _LOG.error("%s is not a legal move of %s%s; the best so far is played", said, self.role, example)
            self.report(worker_protocol.PlayerFailed(f"{said} is not a legal move of {self.role}"))
        chosen = found or next((move for move in moves if move is player.best_so_far), moves[0])
        if self._is_late and not suggested and chosen is moves[0] and len(moves) > 1:
            _LOG.error("%s; a legal move of %s is played", _LATE, self.role)
            self.report(worker_protocol.PlayerFailed(_LATE))
        self._tell_insight(instruction.step, chosen)
        return chosen

    def _decided(
        self, instruction: worker_protocol.Ask, state: State, moves: tuple[Term, ...]
    ) -> tuple[Term | None, str]:
        """Return the legal move that the player decides on, None where it is none, and as text what it returned.

        What an author's code returns may be anything, whose own methods say what it is equal to and how it is written.
        """
        said = self.player.move(state, self.role, Deadline(instruction.deadline_s))
        if said is None:
            return None, _NOTHING
        return find_move(said, moves), str(said)[:_MAX_SHOWN] or repr("")

    def _tell_insight(self, step: int, chosen: Term) -> None:
        """Report and log what the player thinks; the move is safe before, however long the author's code takes."""
        if type(self.player).insight is Player.insight:
            return
        if chosen is not self.player.best_so_far:
            self.report(worker_protocol.Best(step, str(chosen)))
        text = self._run(self._told_insight, Deadline.after(HOOK_S).at_s)
        if text is not None:
            self.report(worker_protocol.Thought(step, text))
            _LOG.info("%s: %s", self.role, insight_words(read_insight(text)))

    def _told_insight(self) -> str | None:
        found = self.player.insight()
        return None if found is None else insight_text(found)

    def _run(self, function: Callable[[], T], interrupt_s: float) -> T | None:
        """Return the result of the author's code, None if it fails or is too slow."""
        if self.why_idle:
            return None
        try:
            return call_until(interrupt_s, function)
        except TimeUp:
            _LOG.info("interrupted at the end of the clock")
            self._is_late = True
        except (Exception, SystemExit) as error:
            self._report_failure(error)
        return None

    def _report_failure(self, error: Exception | SystemExit) -> None:
        """Report a failure of the author's code, and log it: without its calls where it has failed so before."""
        text, name = failure_text(error), type(self.player).__name__
        again, calls = (" again", None) if text in self._failures else ("", error)
        self._failures.add(text)
        _LOG.error("%s failed as %s%s: %s", name, self.role, again, text, exc_info=calls)
        self.report(worker_protocol.PlayerFailed(text))


def failure_text(error: BaseException) -> str:
    """Return what went wrong and where, on one line: the error, and the last calls of the author's code.

    Example:
        >>> failure_text(ValueError("no move"))
        'ValueError: no move'
    """
    try:
        message = " ".join(str(error).split())[:_MAX_SHOWN]
    except Exception:  # the author's own exception may fail as well
        message = ""
    calls = [call for call in traceback.extract_tb(error.__traceback__) if Path(call.filename).parent != _KIT]
    shown = ", ".join(f"{Path(call.filename).name}:{call.lineno} {call.name}" for call in calls[-_MAX_CALLS:])
    return f"{type(error).__name__}{message and f': {message}'}{shown and f' [{shown}]'}"


def _role_of(game: Game, name: str) -> Role:
    found = find_move(Constant(name), game.roles)
    if not isinstance(found, Constant):
        raise UnknownRoleError(name, [str(role) for role in game.roles])
    return found


def _joint_move(game: Game, state: State, moves: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return *moves* with each move as the rules write it.

    Raises:
        JointMoveError: they are not one for each role.
    """
    if len(moves) != len(game.roles):
        raise JointMoveError(len(moves), len(game.roles))
    return tuple(find_move(move, state.legal_moves(role)) or move for role, move in zip(game.roles, moves, strict=True))
