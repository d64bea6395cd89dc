"""The player class that authors subclass, and the errors of players."""

from collections.abc import Callable, Sequence
from random import Random
from typing import ClassVar, TypeAlias

from gdl.compiler.kernel_loading import load_kernels
from gdl.errors import CallerError, GdlError, TerminalStateError, wrong_type
from gdl.game import Game, Role, State, no_such_move
from gdl.language.terms import Term
from gdl.wire.insights import Insight
from gdl.wire.replies import find_move
from players.belief import BeliefState
from players.deadline import Deadline

__all__ = [
    "GameManagerAddressError",
    "GameManagerError",
    "GameManagerUnreachableError",
    "GaveUpError",
    "Insight",
    "MakePlayer",
    "Player",
    "PlayerFileError",
    "ReplyRefusedError",
    "UnclearMoveError",
]  # fmt: skip


class PlayerFileError(CallerError):
    """A file or module does not hold the player that was named."""

    template: ClassVar[str] = "no player in {spec!r}: {reason}"
    spec: str
    reason: str


class UnclearMoveError(CallerError):
    """What a person typed means no move, or several: `moves` are the texts of those that it could mean."""

    template: ClassVar[str] = "{typed!r} {problem}"
    typed: str
    moves: Sequence[str]

    @property
    def problem(self) -> str:
        """What is wrong with the text: it means several moves, or none."""
        return f"could be {', '.join(self.moves)}" if self.moves else "is no legal move"


class GaveUpError(GdlError):
    """The person at the terminal quit, or closed it."""

    template: ClassVar[str] = "the person quit"


class ListenError(CallerError):
    """A player or a server cannot listen at an address, as where another one does."""

    template: ClassVar[str] = "cannot listen on {address}: {reason}"
    address: str
    reason: str


class GameManagerError(GdlError):
    """A game manager that a player dials refuses it, or is none: trying again would not help."""

    template: ClassVar[str] = "{url}: {reason}"
    url: str
    reason: str


class GameManagerAddressError(GameManagerError, CallerError):
    """What a player is to dial is no address of a game manager."""


class GameManagerUnreachableError(GdlError):
    """A game manager cannot be reached now, or failed: trying again may help."""

    template: ClassVar[str] = "{reason}"
    reason: str


class ReplyRefusedError(GdlError):
    """A game manager does not take the reply to a request: it is too late, or another one came before."""

    template: ClassVar[str] = "{reason}"
    request_id: str
    reason: str


def check_at_least_one(name: str, number: int | None) -> None:
    """Raise ValueError where an option of a player is a *number* less than 1; *name* is what it counts."""
    if number is not None and number < 1:
        raise ValueError(f"{name} are at least 1, not {number}")


def check_not_terminal(state: State) -> None:
    """Raise TerminalStateError where *state* is terminal: there is no move to choose in it, whatever is legal."""
    if state.is_terminal:
        raise TerminalStateError


MakePlayer: TypeAlias = Callable[[], "Player"]
"""A callable that makes a player for each match: a class, or a class with its options."""


class Player:
    """One player in one match: subclass it and write `move`.

    `game`, `role`, `random` (seeded) and `worlds` (the belief state of the role) are set before `start`.
    """

    game: Game
    role: Role
    random: Random
    worlds: BeliefState
    preloaded: ClassVar[tuple[str, ...]] = ()
    """Modules that take long to load: the process that the kit forks those of players from imports them."""
    best_so_far: Term | None = None
    on_suggestion: Callable[[Term], None] | None = None

    @classmethod
    def warm_up(cls) -> None:
        """Load what takes long the first time on a machine: the kit calls this in a process of its own, once."""
        load_kernels()

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare the attributes for a match: the kit calls this first, before any hook."""
        self.game, self.role = game, role
        self.random = Random(seed)
        self.worlds = BeliefState(game, role, seed)

    def prepare_move(self, first: Term, on_suggestion: Callable[[Term], None]) -> None:
        """Prepare the attributes for a move, *first* the best so far: the kit calls this before each `move`.

        *on_suggestion* is called with the best so far, now and whenever `suggest` names another one.
        """
        self.best_so_far, self.on_suggestion = first, on_suggestion
        on_suggestion(first)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return a legal move of *role* in *state* before *deadline*.

        In imperfect information, *state* is the likeliest one that agrees with all percepts of the role.
        """
        raise NotImplementedError

    def suggest(self, move: Term) -> None:
        """Name *move* the best so far: it is the answer if the clock ends before `move` returns.

        Raises:
            IllegalMoveError: it is not a legal move of this player.
            WrongTypeError: it is no term.
        """
        found = find_move(move, self.worlds.state.legal_moves(self.role))
        if found is None:
            raise no_such_move(self.role, move)
        self.best_so_far = found
        if self.on_suggestion is not None:
            self.on_suggestion(found)

    def start(self, deadline: Deadline) -> None:
        """Prepare for the match until *deadline*, the end of the start clock."""

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        """Take in a step: the own move and the percepts; in GDL-I these are the joint move.

        *own_move* is None where the player cannot know it.
        """

    def insight(self) -> Insight | None:
        """Return what the player thinks after its last move; None where it does not tell."""
        return None

    def stop(self) -> None:
        """Take in that the match has ended."""

    def abort(self) -> None:
        """Take in that the match was aborted."""


def check_maker(make_player: MakePlayer) -> None:
    """Raise WrongTypeError unless *make_player* is a player's class that has a `move`, or a function."""
    if isinstance(make_player, type):
        is_maker = issubclass(make_player, Player) and make_player.move is not Player.move
    else:
        is_maker = callable(make_player)
    if not is_maker:
        expected = "a subclass of players.Player that has a method move(self, state, role, deadline)"
        raise wrong_type(make_player, f"{expected}, or a function that makes a player")
