"""Many copies of a game at once, played by arrays of action numbers: NumPy in, NumPy out, no Python per copy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

import gdl
from gdl.boards.metadata import GameMetadata
from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.lanes import N_LANES
from gdl.compiler.kernels.packing import words_of
from gdl.errors import IllegalMoveError, wrong_type
from gdl.game import Game, Role, State, played_roles
from gdl.language.terms import Term
from players.environments.buffers import Ranges, address_of, copied, narrowed
from players.environments.kernels import arrays, stepping
from players.environments.kernels.plans import Copies
from players.environments.numbering import NOOPS, Numbering
from players.environments.observations import Masks, Memory, Observations
from players.environments.stepper import Stepper

Actions = NDArray[np.integer[Any]]

_SAMPLED_STEPS: Final = 60
"""How many steps of random plays show whether a game is one of turns."""


class Outcome(NamedTuple):
    """What a step led to. *Shapes*: N copies, R players.

    Attributes:
        rewards: (N, R) float32, at an end the goal from -1 (goal 0) over 0 (50) to 1 (100), else 0.
        ended: (N,) bool, whether the play ended with this step.
    """

    rewards: NDArray[np.float32]
    ended: Masks


@dataclass(frozen=True)
class Snapshot:
    """The state of an environment, all that its future depends on but the actions.

    `rules` is the SHA-256 of the rules of the game, `is_flat` the form of its actions.
    """

    rules: str
    is_flat: bool
    copies: Copies
    count: int
    seed: int


class VectorGame:
    """*n* copies of a game, stepped together; chance moves by itself.

    Actions are numbers: in the flat form, that of games of turns, one for each copy, of the player whose turn it is
    there; else one for each copy and player. Arrays that are handed out belong to the environment and are
    written again by the next call that makes them; copy what is to be kept.

    *Example*:
        >>> from players.environments import VectorGame
        >>> games = VectorGame("tictactoe", 1000, seed=1)
        >>> rewards, ended = games.step(games.sample_actions())
        >>> rewards.shape, ended.any(), games.legal.shape, games.legal[0].sum()
        ((1000, 2), np.False_, (1000, 10), np.int64(8))

    Attributes:
        n: how many copies there are.
        players: the roles but `random`, in the order of columns of rewards.
        actions: the moves that actions stand for, one list in the flat form, else one for each player.
        is_flat: whether actions are those of the player whose turn it is.
    """

    def __init__(  # noqa: PLR0913 -- all but two by name
        self,
        game: str | Path | Game,
        n: int,
        *,
        seed: SupportsIndex = 0,
        is_flat: bool | None = None,
        auto_reset: bool = True,
        threads: int = 1,
        waiting: Collection[str] = NOOPS,
    ) -> None:
        """Make *n* copies of *game*: a name of the library, a path of a rule file, or a game.

        *seed* decides all chance and `sample_actions`, copy by copy, whatever *n* and *threads* are. *is_flat* is found
        out by random plays where it is None. *auto_reset* begins an ended play anew within the step; else its copy
        rests until `reset`. *waiting* names the moves that only wait for other roles.

        Raises:
            UnknownNameError: there is no such game.
            WrongTypeError: *game* is something else, as the rules of one.
            CannotCompileError: only the interpreter can run the game.
            ValueError: *n* or *threads* is not positive, the game has no player, or *is_flat* is asked for in a game in
                which several choose.
        """
        if n < 1 or threads < 1:
            raise ValueError("an environment needs a copy and a thread at least")
        self.n, self.game, self.metadata = index(n), *_found(game)
        if not played_roles(self.game):
            raise ValueError("the game has no player: its only role is random")
        self._rules = self.game.description.sha256
        self.is_flat = bool(is_flat) if is_flat is not None else _has_turns(self.game, waiting)
        self.numbering = Numbering(self.game, self.is_flat, waiting)
        self.players: tuple[Role, ...] = self.numbering.players
        self.actions: tuple[tuple[Term, ...], ...] = self.numbering.actions
        self._ranges = Ranges(n, min(threads, -(-n // N_LANES)))
        self._stepper = Stepper(self.numbering, self.n, self._ranges, auto_resets=auto_reset)
        self._copies = self._stepper.copies
        self._observations = Observations(self.numbering, self._copies, self.metadata, self._ranges)
        self._all = np.ones(self.n, np.bool_)
        self._outcome = Outcome(self._copies.rewards, self._copies.ended)
        self._chosen = np.zeros((self.n, len(self.actions)), np.int32)
        self._chosen_at = self._chosen.ctypes.data
        self.reset(seed=index(seed))

    @property
    def fluents(self) -> tuple[Term, ...]:
        """What the bits of states stand for."""
        return self.game.fluents

    @property
    def to_move(self) -> NDArray[np.int32]:
        """The player whose turn it is in each copy, (N,); only meant in the flat form."""
        return self._copies.mover

    @property
    def is_over(self) -> Masks:
        """Which copies rest at an end, (N,); none where plays begin anew by themselves."""
        return self._copies.is_over

    @property
    def goals(self) -> NDArray[np.int32]:
        """The goals with which the last play of each copy ended, (N, R); -1 where there is none."""
        return self._copies.goals

    @property
    def legal(self) -> Masks:
        """Which actions are legal, (N, A) in the flat form, else (N, R, A) with the longest list of actions."""
        legal = self._observations.legal()
        return legal[:, 0] if self.is_flat else legal

    def reset(self, which: Masks | None = None, *, seed: SupportsIndex | None = None) -> None:
        """Have the copies of *which* (N,) begin anew, or all; a *seed* begins the randomness anew, too.

        Raises:
            ValueError: *which* has another shape, or something else than true and false, as the numbers of copies.
        """
        if seed is not None:
            self._stepper.sow(seed)
            self._stepper.count = 0
        mask = self._all if which is None else np.ascontiguousarray(which)
        if mask.shape != (self.n,) or mask.dtype != np.bool_:
            raise ValueError(f"a mask is needed: true or false for each of {self.n} copies")
        self._stepper.advance(0, address_of(mask), stepping.RESET)

    def sample_actions(self) -> NDArray[np.int32]:
        """Return a legal action for each copy, (N,) or (N, R), each equally likely; 0 for a copy at rest."""
        self._stepper.sample(self._chosen_at)
        return self._chosen[:, 0] if self.is_flat else self._chosen

    def step(self, actions: Actions, *, checks: bool = True) -> Outcome:
        """Make a step in every copy by *actions*, (N,) in the flat form, else (N, R).

        *checks* looks first whether they are legal; without it, what illegal ones lead to is not defined.

        Raises:
            ValueError: *actions* has another shape, or other things than whole numbers.
            IllegalMoveError: an action is not legal; nothing has changed then.
        """
        chosen = narrowed(actions, self._stepper.max_actions)
        if chosen.size != self.n * len(self.actions) or len(chosen) != self.n:
            raise ValueError(f"actions for {self.n} copies are needed")
        address = address_of(chosen)
        if checks:
            wrong = self._stepper.first_illegal(address)
            if wrong >= 0:
                raise self._illegal(np.asarray(actions), wrong)
        self._copies.rewards.fill(0)
        self._copies.ended.fill(False)
        self._stepper.advance(address, 0, stepping.STEP)
        return self._outcome

    def _illegal(self, chosen: Actions, number: int) -> IllegalMoveError:
        """Return the error of an action that is not legal, given its number among all."""
        copy, group = divmod(number, len(self.actions))
        action, known = int(chosen.reshape(-1)[number]), self.actions[group]
        role = self.players[int(self.to_move[copy]) if self.is_flat else group]
        what = str(known[action]) if 0 <= action < len(known) else f"action {action}"
        return IllegalMoveError(str(role), f"{what} (copy {copy})")

    def bits(self) -> Masks:
        """Return which fluents are true in each copy, (N, F); roles that do not see everything must not be shown it."""
        return self._observations.bits()

    def observe(self) -> Masks:
        """Return what there is to see: in games in which all is seen the bits of the state, (N, F).

        In a hidden game it is each player's own, (N, R, K): its last action, what it perceived of that and
        since, all its actions of the play, and all that it perceived in it, bits by number (`describe`).
        """
        return self._observations.memories() if self.is_hidden else self.bits()

    @property
    def is_hidden(self) -> bool:
        """Whether players see less than the state: in GDL-II, unless the description of the game says otherwise."""
        return self._observations.is_hidden

    @property
    def memory(self) -> Memory:
        """What bits a player's observation has in a hidden game."""
        return self._observations.memory

    @property
    def plane_names(self) -> tuple[str, ...]:
        """What each plane has ones for. Raises: as `planes`."""
        return self._observations.layout.names

    def planes(self) -> Masks:
        """Return the boards, (N, C, H, W): a plane for each kind of piece, and for each fluent that is in no cell.

        In a hidden game this is more than a player may know.

        Raises:
            ValueError: the game has no board of rows and columns.
        """
        return self._observations.planes()

    def describe(self) -> str:
        """Return a text that says what every number of actions and observations means."""
        return self._observations.describe()

    def states(self) -> list[State]:
        """Return the state of each copy as one of the game's."""
        packed = np.packbits(self.bits(), axis=1)
        return [CompiledState(self.game, row.tobytes()) for row in packed]

    def place(self, state: State) -> None:
        """Have the first copy stand at *state*, which is no end and one in which a player is to move.

        In a hidden game the players of the copy remember nothing then.

        Raises:
            ValueError: no play reaches the state, or it is an end; nothing has changed then.
        """
        if state.is_terminal:
            raise ValueError("the state is terminal: there is no action to take in it")
        words = words_of(self.game.pack(state), len(self.fluents))
        phase = self.numbering.phase_of(np.unpackbits(words.view(np.uint8), bitorder="little"))
        self._copies.states[0] = words
        self._copies.phase[0] = phase
        self._copies.is_over[0] = False
        self._copies.is_chance[0] = 0
        self._copies.memory[: len(self.players)] = 0
        self._stepper.evaluate_first()

    def save(self) -> Snapshot:
        """Return the state of the environment, to be restored in one of as many copies of this game and form."""
        return Snapshot(self._rules, self.is_flat, copied(self._copies), self._stepper.count, self._stepper.seed)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to *snapshot*; the same actions lead from there to the same states as before.

        Raises:
            ValueError: it comes of an environment of another game, form or number of copies.
        """
        pairs: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(self._copies, snapshot.copies, strict=True))
        is_of_another = (snapshot.rules, snapshot.is_flat) != (self._rules, self.is_flat)
        if is_of_another or any(field.shape != kept.shape for field, kept in pairs):
            raise ValueError("the snapshot is of another game, form or number of copies")
        for field, kept in pairs:
            field[:] = kept
        self._stepper.count = snapshot.count
        self._stepper.sow(snapshot.seed)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: kernels have the addresses of its arrays."""
        raise TypeError("an environment cannot be copied or pickled: use save and restore")

    def close(self) -> None:
        """End the threads."""
        self._ranges.close()


_TINY: Final = """
(role player) (init now)
(legal player go) (legal player stay)
(<= (next later) (does player go))
(<= terminal (true later))
(goal player 100)
"""


def load_environment_kernels() -> None:
    """Have every kernel of environments loaded, or compiled where it is not on disk yet."""
    tiny = gdl.make_game(gdl.read_rules(_TINY), "compiled")
    games = VectorGame(tiny, 1)
    games.step(games.sample_actions())
    games.observe()
    arrays.draw_planes(0, 1, 0, 0, 0, 0, 0, 0, 0, 0)


def _found(game: str | Path | Game) -> tuple[CompiledGame, GameMetadata | None]:
    """Return a compiled game, and what is known about it, where it comes from the library or a path."""
    if isinstance(game, (str, Path)):
        file = gdl.find_game(game)
        return _compiled(gdl.make_game(file.read(), "compiled")), file.metadata()
    return _compiled(game), None


def _compiled(game: Game) -> CompiledGame:
    if isinstance(game, CompiledGame):
        return game
    if not hasattr(game, "description"):
        raise wrong_type(game, "the name of a game, the path of a rule file, or a game that gdl.make_game returns")
    found = gdl.make_game(game.description, "compiled")
    assert isinstance(found, CompiledGame)
    return found


def _has_turns(game: CompiledGame, waiting: Collection[str]) -> bool:
    """Return whether at most one player had a choice at a time in some random plays."""
    if len(Numbering(game, True, waiting).players) == 1:
        return True
    try:
        sample = VectorGame(game, N_LANES, seed=1, is_flat=True, waiting=waiting)
        for _ in range(_SAMPLED_STEPS):
            sample.step(sample.sample_actions(), checks=False)
    except ValueError:
        return False
    return True
