"""The library and the engines as tools for language models, by the Model Context Protocol: `ggp mcp`.

Games are those of the library and of the folder in `GGP_GAMES`, by name: no tool reads a path. Rules that a model
writes are validated under limits, and never run outside of them.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from gdl.boards import About, board_of, layout_of, text_of
from gdl.diagnostics import Source
from gdl.engines import make_game
from gdl.errors import AboutFileError, GdlError, UnknownNameError
from gdl.game import Game, JointMove, Role, State, played_roles
from gdl.games.library import GameFile, named_games, nearest_names
from gdl.language.rules import Description
from gdl.language.terms import Term
from gdl.quantities import quantity
from players.deadline import Deadline
from players.kit.local_match import LocalMatch, LocalStep
from players.player import Player
from players.registry import PLAYERS, find_player
from server.validating.formats import file_report
from server.validating.validation import ValidationOptions, check_source

MAX_SEATS: Final = 16
"""How many matches are kept at once; the oldest one is given up for a new one."""
MAX_GAMES: Final = 100
"""How many games are kept that were asked for; the one that was asked for longest ago is given up for a new one."""
MAX_MOVES: Final = 1_000
"""How many legal moves are listed of a role."""
MAX_STEPS: Final = 1_000
"""How many joint moves a position may be away from the first one."""
CLOCK_S: Final = 2.0
"""How long the other players think about a move."""
CHECK_S: Final = 20.0
"""How long rules are checked."""
OPPONENTS: Final = tuple(name for name in PLAYERS if name not in ("human", "llm", "openspiel"))
Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


@lru_cache(MAX_GAMES)
def _made(rules: Description) -> Game:
    return make_game(rules)


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game as its files are now: the game, and its description, if it has one."""

    game: Game
    about: About | None
    rules: Description

    @classmethod
    def find(cls, name: str) -> NamedGame:
        """Return the game of that name.

        Raises:
            UnknownNameError: there is none.
            RuleFileError, LimitExceeded: its rules cannot be played.
            AboutFileError: its description cannot be read.
        """
        file = next((each for each in named_games() if each.name == name), None)
        if file is None:
            raise UnknownNameError("game", name, nearest_names(name))
        rules = file.read()
        return cls(_made(rules), file.about(), rules)


def games() -> list[dict[str, Any]]:
    """Return the games that have a name: this, title, roles, and what they are."""
    return [{"game": file.name} | _said(file) for file in named_games()]


def _said(file: GameFile) -> dict[str, Any]:
    """Return what the description of a game says; of one that cannot be read, the name alone."""
    try:
        about = file.about()
    except AboutFileError:
        about = None
    if about is None:
        return {"title": file.name, "roles": [], "summary": ""}
    return {"title": about.title, "roles": list(about.roles), "summary": about.summary.strip()}


def game(name: str) -> dict[str, Any]:
    """Return what there is of a game: its rules, how unclear points were decided, its first position."""
    named = NamedGame.find(name)
    found: dict[str, Any] = {} if named.about is None else {
        "title": named.about.title, "summary": named.about.summary.strip(),
        "decisions": [f"{one.unclear} {one.decided.strip()}" for one in named.about.decisions],
    }  # fmt: skip
    first = _told(named, named.game.initial_state, named.game.roles)
    return found | {"rules": named.rules.source.text, "position": first}


def position(name: str, steps: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the position after joint moves: what holds, the board, the legal moves, at the end the goals.

    Raises:
        ToolError: there are too many steps, or one of them is no joint move.
        UnknownNameError: there is no such game.
    """
    if len(steps) > MAX_STEPS:
        raise ToolError(f"{len(steps):,} steps are more than {MAX_STEPS:,}")
    named = NamedGame.find(name)
    of = named.game
    state = of.initial_state
    for number, step in enumerate(steps, 1):
        if state.is_terminal:
            raise ToolError(f"the play ended before step {number}")
        state = state.next_state(_joint_move(of, state, step, number))
    return _told(named, state, of.roles)


def _joint_move(of: Game, state: State, step: Sequence[str], number: int) -> JointMove:
    if len(step) != len(of.roles):
        raise ToolError(f"step {number} has {quantity(len(step), 'move')} for {quantity(len(of.roles), 'role')}")
    return tuple(_move(state, role, text) for role, text in zip(of.roles, step, strict=True))


def _move(state: State, role: Role, text: str) -> Term:
    wanted = " ".join(text.split()).casefold()
    legal = state.legal_moves(role)
    found = [move for move in legal if str(move).casefold() in (wanted, f"({wanted})")]
    if len(found) != 1:
        listed = ", ".join(map(str, legal[:MAX_MOVES]))
        raise ToolError(f"{text[:200]!r} is no legal move of {role}; these are: {listed}")
    return found[0]


def _told(named: NamedGame, state: State, roles: Sequence[Role]) -> dict[str, Any]:
    """Return what tools tell a model of *state*: the legal moves of *roles*, or the goals of all at the end."""
    board = text_of(board_of(layout_of(named.rules, named.about), named.rules, state.facts))
    found = {"facts": sorted(map(str, state.facts)), "board": board, "isTerminal": state.is_terminal}
    if state.is_terminal:
        return found | {"goals": {str(role): state.goal(role) for role in named.game.roles}}
    return found | {"legalMoves": {str(role): _listed(state.legal_moves(role)) for role in roles}}


def _listed(moves: Sequence[Term]) -> list[str]:
    return [str(move) for move in moves[:MAX_MOVES]]


def validation(rules: str) -> dict[str, Any]:
    """Return what the static checks say of *rules*, as `ggp validate --json` has it for a file."""
    return file_report(check_source(Source("rules", rules), ValidationOptions(CHECK_S)))


class _Seated(Player):
    """The player of a model's role: makes the move that was submitted."""

    submitted: Term

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the move that was submitted."""
        return self.submitted


@dataclass(eq=False)
class ModelSeat:
    """A role of a match that a model plays against players of ours; a move that is the only one is made by itself."""

    named: NamedGame
    role: Role
    match: LocalMatch
    player: _Seated
    percepts: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin the match."""
        self._steps: Iterator[LocalStep] = self.match.play()
        self._n_seen_steps = 0
        self._go_on()

    def make(self, text: str) -> dict[str, Any]:
        """Make the move that *text* writes, and return the position in which the role chooses next.

        Raises:
            ToolError: it is no legal move, or the match is over.
        """
        if self.match.state.is_terminal:
            raise ToolError("the match is over")
        move = _move(self.match.state, self.role, text)
        self._n_seen_steps = len(self.match.steps)
        self._step(move)
        self._go_on()
        return self.view()

    def view(self) -> dict[str, Any]:
        """Return what the role knows: of a game of hidden information a position that agrees with what it saw.

        Where nothing is hidden, that is also which moves were made since it chose last, its own among them.
        """
        of, state = self.match.game, self.match.state
        # Every role knows the first state; before the first step there are no worlds to take one from.
        is_hidden = of.has_imperfect_information and not state.is_terminal and bool(self.percepts)
        shown = self.player.worlds.state if is_hidden else state
        found = {"role": str(self.role), "steps": len(self.percepts), "seen": self.percepts[-10:], "isGuess": is_hidden}
        if not of.has_imperfect_information:
            found["moves"] = [
                {str(role): str(move) for role, move in zip(of.roles, step.moves, strict=True)}
                for step in self.match.steps[self._n_seen_steps :]
            ]
        return found | _told(self.named, shown, [self.role])

    def _go_on(self) -> None:
        """Make steps as long as the role has one legal move alone."""
        while not self.match.state.is_terminal:
            legal = self.match.state.legal_moves(self.role)
            if len(legal) != 1:
                return
            self._step(legal[0])

    def _step(self, move: Term) -> None:
        before = self.match.state
        self.player.submitted = move
        step = next(self._steps, None)
        if step is None:  # a StopIteration would never leave the thread
            raise ToolError("the match cannot go on")
        self.percepts.append([str(percept) for percept in before.percepts(self.role, step.moves)])


class Seats:
    """The matches that models play, by their ids."""

    def __init__(self, clock_s: float = CLOCK_S) -> None:
        self._seats: dict[str, ModelSeat] = {}
        self._clock_s = clock_s

    def begin(self, name: str, role: str, opponent: str) -> dict[str, Any]:
        """Begin a match in which a model has *role*, and *opponent* all others; return its first position.

        Raises:
            ToolError: the game has no such role, there is no such opponent, or a player fails.
            UnknownNameError: there is no such game.
        """
        named = NamedGame.find(name)
        of = named.game
        roles = {str(each): each for each in played_roles(of)}
        if role not in roles:
            raise ToolError(f"the roles of {name} are {', '.join(roles)}, not {role[:200]!r}")
        if opponent not in OPPONENTS:
            raise ToolError(f"opponents are {', '.join(OPPONENTS)}, not {opponent[:200]!r}")
        player, make = _Seated(), find_player(opponent)
        players = {each: player if each == roles[role] else make() for each in roles.values()}
        with _failures_told():
            seat = ModelSeat(named, roles[role], LocalMatch(of, players, secrets.randbits(32), self._clock_s), player)
            view = seat.view()
        match_id = secrets.token_hex(4)
        while len(self._seats) >= MAX_SEATS:
            del self._seats[next(iter(self._seats))]
        self._seats[match_id] = seat
        return {"match": match_id} | view

    def move(self, match_id: str, move: str) -> dict[str, Any]:
        """Make a move of the model's role; a match in which a player fails is given up.

        Raises:
            ToolError: there is no such match, the move is not legal, or a player fails.
        """
        if match_id not in self._seats:
            raise ToolError(f"there is no match {match_id[:200]!r}: begin one with begin_match")
        with _failures_told(lambda: self._seats.pop(match_id)):
            return self._seats[match_id].make(move)


@contextmanager
def _failures_told(give_up: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Call *give_up* where a match fails, and raise a ToolError that says why; a ToolError is none of its failures."""
    try:
        yield
    except ToolError:
        raise
    except Exception as error:  # a player may fail in any way
        give_up()
        reason = str(error) if isinstance(error, GdlError) else f"{type(error).__name__}: {error}"
        raise ToolError(f"the match has failed and is given up: {reason}") from error


async def _beside(work: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
    """Return what *work* returns, in a thread; errors that it foresees become those of a tool."""
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    except GdlError as error:
        raise ToolError(str(error)) from error
    except OSError as error:  # a file of the folder of games, whose place on this machine is not for a model
        raise ToolError(f"a file of the game cannot be read: {error.strerror}") from error


async def _alone(
    lock: asyncio.Lock, work: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Answer:
    """Return what *work* returns, as `_beside`; no other work under *lock* begins before its thread has ended.

    A thread goes on when its call is cancelled.
    """

    def release(ended: asyncio.Future[Answer]) -> None:
        lock.release()
        if not ended.cancelled():
            ended.exception()  # of a call that was cancelled nothing else asks for it

    await lock.acquire()
    thread = asyncio.ensure_future(_beside(work, *args, **kwargs))
    thread.add_done_callback(release)
    return await asyncio.shield(thread)


def model_context_server(version: str) -> MCPServer[Any]:
    """Return the server with its tools."""
    server: MCPServer[Any] = MCPServer("ggp", version=version, instructions=_INSTRUCTIONS)
    kept, one_at_a_time = Seats(), asyncio.Lock()

    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    plays = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

    @server.tool(annotations=reads, description="List the games: name, title, roles, what they are.")
    async def list_games() -> list[dict[str, Any]]:
        return await _beside(games)

    @server.tool(
        annotations=reads,
        description="Show a game: its rules in GDL, how unclear points were decided, its first position.",
    )
    async def show_game(game_name: str) -> dict[str, Any]:
        return await _beside(game, game_name)

    @server.tool(annotations=reads, description="Say what is wrong with rules in GDL, by line and column.")
    async def validate_rules(rules: str) -> dict[str, Any]:
        return await _beside(validation, rules)

    @server.tool(annotations=reads, description="The position after joint moves, one move for each role in each step: "
                 "facts, board, legal moves of each role, and at the end the goals.")  # fmt: skip
    async def show_position(game_name: str, steps: list[list[str]]) -> dict[str, Any]:
        return await _beside(position, game_name, steps)

    @server.tool(
        annotations=plays,
        description=f"Begin a match in which you have a role; the others are played by {', '.join(OPPONENTS)}. {_VIEW}",
    )
    async def begin_match(game_name: str, role: str, opponent: str = "mcts") -> dict[str, Any]:
        return await _alone(one_at_a_time, kept.begin, game_name, role, opponent)

    @server.tool(
        annotations=plays,
        description=f"Make your move in a match, and see the position in which you choose next. {_VIEW}",
    )
    async def make_move(match: str, move: str) -> dict[str, Any]:
        return await _alone(one_at_a_time, kept.move, match, move)

    return server


_VIEW: Final = (
    "Moves without a choice are made for you. `moves` are the joint moves since you chose last. In a game of hidden "
    "information there are none: `seen` is what you perceived in the last ten steps, a list for each, and where "
    "`isGuess` is true facts and board are a position that agrees with all that you perceived, not always the true one."
)
_INSTRUCTIONS: Final = (
    "Games whose rules are written in the Game Description Language. List games, show one, ask for positions and legal "
    "moves, validate rules that you write, or play: begin_match, then make_move until isTerminal. Goals are 0 to 100."
)
