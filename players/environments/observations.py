"""What learners see of an environment: legal actions, fluents as bits, boards as planes, memories in hidden games."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.boards.boards import Board, board_of
from gdl.boards.guessing import layout_of
from gdl.boards.metadata import GameMetadata
from gdl.game import Game
from gdl.language.terms import Term, signature
from players.environments.buffers import Expansion, Ranges
from players.environments.kernels import arrays
from players.environments.kernels.plans import Copies
from players.environments.numbering import Numbering

Masks: TypeAlias = NDArray[np.bool_]
MAX_WHOLE_PLANES: Final = 32
"""How many fluents that stand in no cell have a plane each; where there are more, none has."""


@dataclass(frozen=True)
class Planes:
    """Which planes a fluent is drawn in. *Shapes*: `shape` is (C, H, W); `start` limits `place` for each of `fluent`.

    `names` says what each plane has ones for: a kind of fluent and what stands in the cell, or a fluent that fills
    its plane. The first row of a plane is the upper one of the board.
    """

    shape: tuple[int, int, int]
    names: tuple[str, ...]
    fluent: NDArray[np.int32]
    start: NDArray[np.int32]
    place: NDArray[np.int32]


_PARTS: Final = (
    "its last action, by number",
    "what it perceived since then, by the number of the percept",
    "its actions of the play",
    "what it perceived in the play",
)


def planes_of(game: Game, fluents: tuple[Term, ...], metadata: GameMetadata | None) -> Planes:
    """Return the planes of a game by its layout, a guessed one where *metadata* has none.

    Raises:
        ValueError: the game has no board of rows and columns.
    """
    layout = layout_of(game.description, metadata)
    if layout.kind != "grid":
        raise ValueError("the game has no board of rows and columns; its fluents are there as bits")
    empty = board_of(layout, game.description, ())
    height, width = len(empty.rows), len(empty.columns)
    drawn = [list(_cells(board_of(layout, game.description, (fluent,)), empty, fluent)) for fluent in fluents]
    names = dict.fromkeys(name for cells in drawn for name, _ in cells)
    others = [str(fluent) for fluent, cells in zip(fluents, drawn, strict=True) if not cells]
    whole = others if len(others) <= MAX_WHOLE_PLANES else []
    channel = {name: number for number, name in enumerate([*names, *whole])}
    size = height * width
    places = [[channel[name] * size + cell for name, cell in cells] for cells in drawn]
    for i, fluent in enumerate(map(str, fluents)):
        if fluent in whole:
            first = channel[fluent] * size
            places[i] = list(range(first, first + size))
    used = [i for i, ours in enumerate(places) if ours]
    return Planes(
        shape=(len(channel), height, width),
        names=tuple(channel),
        fluent=np.array(used, np.int32),
        start=np.array(list(accumulate((len(places[i]) for i in used), initial=0)), np.int32),
        place=np.array([place for i in used for place in places[i]], np.int32),
    )


def _cells(board: Board, empty: Board, fluent: Term) -> Iterator[tuple[str, int]]:
    """Yield what the fluent puts into which cell, and the cell's number."""
    kind = signature(fluent)[0]
    for (x, y), marks in board.marks.items():
        for mark in marks:
            if mark not in empty.marks.get((x, y), ()):
                yield f"{kind} {mark.value or mark.symbol}", y * len(board.columns) + x


@dataclass(frozen=True)
class Memory:
    """What a player's observation has in a hidden game: bits for four things, one after the other.

    These are the action with which it last chose, what it perceived of that and since, all its actions of the play,
    and all that it perceived in it.
    """

    n_actions: int
    n_percepts: int

    @property
    def width(self) -> int:
        """How many bits there are."""
        return 2 * (self.n_actions + self.n_percepts)


def memory_of(numbering: Numbering) -> Memory:
    """Return the shape of a player's memory."""
    return Memory(max(map(len, numbering.actions)), max(map(len, numbering.percepts)))


def described(numbering: Numbering, planes: Planes | None, *, is_hidden: bool) -> str:
    """Return a text that says what each number of actions and observations means."""
    game = numbering.game
    lines = [f"players: {', '.join(map(str, numbering.players))}"]
    lines += _described_actions(numbering)
    if is_hidden:
        memory = memory_of(numbering)
        lines.append(f"observation: {memory.width} bits for each player")
        sizes = (memory.n_actions, memory.n_percepts, memory.n_actions, memory.n_percepts)
        firsts = accumulate(sizes, initial=0)
        for name, first, size in zip(_PARTS, firsts, sizes, strict=False):
            lines.append(f"  {first}..{first + size - 1}: {name}")
        for player, percepts in zip(numbering.players, numbering.percepts, strict=True):
            lines.append(f"percepts of {player}: {len(percepts)}")
            lines += [f"  {i}: {percept}" for i, percept in enumerate(percepts)]
    lines.append(f"bits of the state: {len(game.fluents)}")
    lines += [f"  {i}: {fluent}" for i, fluent in enumerate(game.fluents)]
    if planes is not None:
        lines.append(f"planes: {planes.shape[0]} of {planes.shape[1]} rows and {planes.shape[2]} columns")
        lines += [f"  {i}: {name}" for i, name in enumerate(planes.names)]
    return "\n".join(lines)


def _described_actions(numbering: Numbering) -> Iterator[str]:
    for group, actions in enumerate(numbering.actions):
        owner = "of the player to move" if numbering.is_flat else f"of {numbering.players[group]}"
        yield f"actions {owner}: {len(actions)}"
        yield from (f"  {i}: {action}" for i, action in enumerate(actions))


class Observations:
    """What the *copies* of an environment show, in arrays that are written again by the next call of the same method.

    *ranges* has the threads that write them. *Shapes*: N copies, R players.
    """

    def __init__(self, numbering: Numbering, copies: Copies, metadata: GameMetadata | None, ranges: Ranges) -> None:
        self._numbering, self._copies, self._metadata, self._ranges = numbering, copies, metadata, ranges
        self._n, self._game = len(copies.phase), numbering.game

    @property
    def is_hidden(self) -> bool:
        """Whether players see less than the state: in GDL-II, unless what is known *about* the game says otherwise."""
        sees_all = self._metadata is not None and self._metadata.information == "perfect"
        return self._game.has_imperfect_information and not sees_all

    def _written(self, out: Masks, parts: Sequence[Expansion]) -> Masks:
        """Return *out* after all *parts* of it are written."""
        for part in parts:
            self._ranges.run(part)
        return out

    def legal(self) -> Masks:
        """Return which actions are legal, (N, R, A) with the longest list of actions, in the flat form (N, 1, A)."""
        return self._written(*self._legal)

    @cached_property
    def _legal(self) -> tuple[Masks, list[Expansion]]:
        actions, words = self._numbering.actions, self._numbering.group_words
        width = max(map(len, actions))
        out = np.zeros((self._n, len(actions), width), np.bool_)
        return out, [
            Expansion(self._copies.legal, words[group], len(ours), out, group * width)
            for group, ours in enumerate(actions)
        ]

    def bits(self) -> Masks:
        """Return which fluents are true, (N, F)."""
        return self._written(*self._bits)

    @cached_property
    def _bits(self) -> tuple[Masks, list[Expansion]]:
        out = np.zeros((self._n, len(self._game.fluents)), np.bool_)
        return out, [Expansion(self._copies.states, 0, len(self._game.fluents), out, 0)]

    def memories(self) -> Masks:
        """Return what each player of a hidden game did and perceived, (N, R, K)."""
        return self._written(*self._memories)

    @cached_property
    def memory(self) -> Memory:
        """What bits a player's memory has in a hidden game."""
        return memory_of(self._numbering)

    @cached_property
    def _memories(self) -> tuple[Masks, list[Expansion]]:
        memory, words = self.memory, self._copies.memory
        half, offset = words.shape[1] // 2, self._numbering.memory_words
        out = np.zeros((self._n, len(self._numbering.players), memory.width), np.bool_)
        parts = []
        for since in range(2):
            word, place = since * half, since * memory.width // 2
            parts.append(Expansion(words, word, memory.n_actions, out, place))
            parts.append(Expansion(words, word + offset, memory.n_percepts, out, place + memory.n_actions))
        return out, parts

    def planes(self) -> Masks:
        """Return the boards, (N, C, H, W). Raises: as `layout`."""
        layout, states, out = self.layout, self._copies.states, self._planes
        fields = (layout.fluent.ctypes.data, len(layout.fluent), layout.start.ctypes.data, layout.place.ctypes.data)
        self._ranges.run(
            lambda begin, end: arrays.draw_planes(
                states.ctypes.data, states.shape[1], *fields, begin, end, out.ctypes.data, int(np.prod(layout.shape))
            )
        )
        return out

    @cached_property
    def layout(self) -> Planes:
        """Which planes each fluent is drawn in.

        Raises:
            ValueError: the game has no board of rows and columns.
        """
        return planes_of(self._game, self._game.fluents, self._metadata)

    @cached_property
    def _planes(self) -> Masks:
        return np.zeros((self._n, *self.layout.shape), np.bool_)

    def describe(self) -> str:
        """Return a text that says what every number of actions and observations means."""
        try:
            planes: Planes | None = self.layout
        except ValueError:
            planes = None
        return described(self._numbering, planes, is_hidden=self.is_hidden)
