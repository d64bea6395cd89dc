"""A level of Sokoban, read from the usual text format, and what makes it one that can be played."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gdl.errors import PuzzleError
from gdl.games.families import Cell, check_size

MAX_LEVEL_SIDE: Final = 40

WALL: Final = "#"
_PLAYER, _BOX, _GOAL, _FLOOR = "@+", "$*", ".*+", " -_"
_STEPS: Final = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


@dataclass(frozen=True, slots=True)
class SokobanLevel:
    """A level: its floor is what the player could reach if there were no boxes."""

    player: Cell
    boxes: frozenset[Cell]
    goals: frozenset[Cell]
    walls: frozenset[Cell]
    floor: frozenset[Cell]

    @property
    def columns(self) -> int:
        """How many columns the level has."""
        return max(x for x, _ in self.walls)

    @property
    def rows(self) -> int:
        """How many rows the level has."""
        return max(y for _, y in self.walls)

    def drawing(self) -> Iterator[str]:
        """Yield the rows of the level in the usual format."""
        for y in range(1, self.rows + 1):
            yield "".join(self._sign((x, y)) for x in range(1, self.columns + 1)).rstrip()

    def _sign(self, cell: Cell) -> str:
        if cell in self.goals:
            return "+" if cell == self.player else "*" if cell in self.boxes else "."
        if cell in self.walls:
            return WALL
        return "@" if cell == self.player else "$" if cell in self.boxes else " "


def read_level(text: str) -> SokobanLevel:
    """Return the level that *text* draws.

    Walls are `#`, the player `@`, boxes `$`, goals `.`, a box on a goal `*`, the player on a goal `+`, and floor is a
    blank, `-` or `_`.

    Raises:
        PuzzleError: it is no level that can be played; the message says what to change.
    """
    lines = text.expandtabs().rstrip().splitlines()
    while lines and not lines[0].strip():
        del lines[0]
    if not lines:
        raise PuzzleError("the level is empty: draw it with # for walls, @ for the player, $ for boxes and . for goals")
    check_size("a level", "rows", len(lines), 3, MAX_LEVEL_SIDE)
    check_size("a level", "columns", max(map(len, lines)), 3, MAX_LEVEL_SIDE)
    cells = {(x, y): sign for y, line in enumerate(lines, 1) for x, sign in enumerate(line, 1)}
    for (x, y), sign in cells.items():
        if sign not in WALL + _PLAYER + _BOX + _GOAL + _FLOOR:
            raise PuzzleError(f"{sign!r} is no sign of a level: use # @ $ . * + and blanks", y, x)
    return _checked(cells)


def _checked(cells: dict[Cell, str]) -> SokobanLevel:
    """Return the level that *cells* are, if it has one player, a goal for each box, and a wall around them."""

    def having(signs: str) -> frozenset[Cell]:
        return frozenset(cell for cell, sign in cells.items() if sign in signs)

    players, boxes, goals, walls = having(_PLAYER), having(_BOX), having(_GOAL), having(WALL)
    if len(players) != 1:
        raise PuzzleError(f"the level has {len(players)} players: put one @ (or + on a goal) into it")
    if not boxes:
        raise PuzzleError("the level has no box: put a $ (or * on a goal) into it")
    if len(boxes) != len(goals):
        raise PuzzleError(f"there are {len(boxes)} boxes and {len(goals)} goals: there must be as many of both")
    (player,) = players
    floor = _floor(player, walls, frozenset(cells))
    for what, found in (("box", boxes), ("goal", goals)):
        for x, y in sorted(found - floor):
            raise PuzzleError(f"no way leads to this {what}: open the wall, or take the {what} away", y, x)
    if boxes <= goals:
        raise PuzzleError("every box is on a goal already: move one away")
    return SokobanLevel(player, boxes, goals, walls, floor)


def _floor(player: Cell, walls: frozenset[Cell], inside: frozenset[Cell]) -> frozenset[Cell]:
    """Return the cells that can be reached from *player*; raise PuzzleError where a way leads out."""
    found, waiting = {player}, [player]
    while waiting:
        cell = waiting.pop()
        for _, neighbour in neighbours(cell):
            if neighbour in walls or neighbour in found:
                continue
            if neighbour not in inside:
                raise PuzzleError("the wall has a gap here, through which the player gets out: close it", *cell[::-1])
            found.add(neighbour)
            waiting.append(neighbour)
    return frozenset(found)


def neighbours(cell: Cell) -> Iterator[tuple[str, Cell]]:
    """Yield the cells around *cell*, each with the direction that leads to it."""
    for direction, (dx, dy) in _STEPS.items():
        yield direction, (cell[0] + dx, cell[1] + dy)
