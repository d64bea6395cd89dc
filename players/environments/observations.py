"""What learners are shown: fluents as bits, boards as planes, and of hidden games what a player did and perceived."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.boards.about import About
from gdl.boards.boards import Board, board_of
from gdl.boards.guessing import layout_of
from gdl.game import Game
from gdl.language.terms import Term, signature
from players.environments.numbering import Numbering

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


def planes_of(game: Game, fluents: tuple[Term, ...], about: About | None) -> Planes:
    """Return the planes of a game by its layout, a guessed one where *about* has none.

    Raises:
        ValueError: the game has no board of rows and columns.
    """
    layout = layout_of(game.description, about)
    if layout.kind != "grid":
        raise ValueError("the game has no board of rows and columns; its fluents are there as bits")
    empty = board_of(layout, game.description, ())
    height, width = len(empty.rows), len(empty.columns)
    drawn = [list(_cells(board_of(layout, game.description, (fluent,)), empty, fluent)) for fluent in fluents]
    names = dict.fromkeys(name for cells in drawn for name, _ in cells)
    others = [i for i, cells in enumerate(drawn) if not cells]
    whole = others if len(others) <= MAX_WHOLE_PLANES else []
    channel = {name: number for number, name in enumerate([*names, *(str(fluents[i]) for i in whole)])}
    size = height * width
    places: list[list[int]] = []
    for i, cells in enumerate(drawn):
        ours = [channel[name] * size + cell for name, cell in cells]
        if i in whole:
            first = channel[str(fluents[i])] * size
            ours = list(range(first, first + size))
        places.append(ours)
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


def described(numbering: Numbering, planes: Planes | None) -> str:
    """Return a text that says what each number of actions and observations means."""
    game = numbering.game
    lines = [f"players: {', '.join(map(str, numbering.players))}"]
    lines += _described_actions(numbering)
    if game.has_imperfect_information:
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
