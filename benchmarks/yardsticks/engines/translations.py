"""Moves of OpenSpiel's games in the words of our rule files.

A move of ours is one action of OpenSpiel's, or several in turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from benchmarks.yardsticks.engines.dialogue import NOOP

Turn: TypeAlias = tuple[tuple[int, ...], str]
Turns: TypeAlias = Callable[[Any], Iterator[Turn]]
"""Yields the actions and the words of each move of the role to move in a state of OpenSpiel."""


def _single(translate: Callable[[str], str]) -> Turns:
    """Return the moves of a game in which each is one action, by its text."""

    def turns(state: Any) -> Iterator[Turn]:
        for action in state.legal_actions():
            yield (action,), translate(state.action_to_string(action))

    return turns


def _column(letter: str) -> int:
    return ord(letter) - ord("a") + 1


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", text)]


def connect_four(text: str) -> str:
    """Translate `x0`, the leftmost column.

    Example:
        >>> connect_four("o6")
        '(drop 7)'
    """
    return f"(drop {int(text[1:]) + 1})"


def breakthrough(n_rows: int) -> Callable[[str], str]:
    """Return the translation of `a7b6*`: their first player comes from the top, ours from the bottom.

    Example:
        >>> breakthrough(8)("a7b6*")
        '(move 1 2 2 3)'
    """

    def translate(text: str) -> str:
        x, y, x2, y2 = list(text[:4])
        return f"(move {_column(x)} {n_rows + 1 - int(y)} {_column(x2)} {n_rows + 1 - int(y2)})"

    return translate


def othello(text: str) -> str:
    """Translate `d3`, whose rows are counted from the top, ours from the bottom.

    Example:
        >>> othello("d3"), othello("pass")
        ('(move 4 6)', 'noop')
    """
    return NOOP if text == "pass" else f"(move {_column(text[0])} {9 - int(text[1])})"


def hex_stone(text: str) -> str:
    """Translate `c2`; our rows have letters, our columns numbers.

    Example:
        >>> hex_stone("c2")
        '(place b 3)'
    """
    return f"(place {chr(ord('a') + int(text[1:]) - 1)} {_column(text[0])})"


def hex_with_swap(text: str) -> str:
    """Translate `c2`, whose row is a number as our two coordinates are, or the swap of sides.

    Example:
        >>> hex_with_swap("c2"), hex_with_swap("swap")
        ('(place 3 2)', 'swap')
    """
    return text if text == "swap" else f"(place {_column(text[0])} {text[1:]})"


def dots_and_boxes(text: str) -> str:
    """Translate `P1(h,0,2)`: a level line of row 0, column 2.

    Example:
        >>> dots_and_boxes("P1(h,0,2)"), dots_and_boxes("P2(v,1,3)")
        ('(draw level 3 1)', '(draw upright 4 2)')
    """
    is_level, x, row = _line(text)
    return f"(draw {'level' if is_level else 'upright'} {x} {row + 1})"


def dots_and_boxes_from_below(text: str) -> str:
    """Translate `P1(h,0,2)` for 5x5 boxes; our rows of dots are counted from the bottom, and lines lead east or north.

    Example:
        >>> dots_and_boxes_from_below("P1(h,0,2)"), dots_and_boxes_from_below("P2(v,1,3)")
        ('(draw 3 6 east)', '(draw 4 4 north)')
    """
    is_level, x, row = _line(text)
    return f"(draw {x} {6 - row} east)" if is_level else f"(draw {x} {5 - row} north)"


def _line(text: str) -> tuple[bool, int, int]:
    """Return of a line between dots whether it is level, its column, from 1 on, and its row, from 0 on from the top."""
    way, row, column = text[3:-1].split(",")
    return way == "h", int(column) + 1, int(row)


def tic_tac_toe(text: str) -> str:
    """Translate `x(0,2)`: row 0, column 2.

    Example:
        >>> tic_tac_toe("x(0,2)")
        '(mark 3 1)'
    """
    row, column = _numbers(text)
    return f"(mark {column + 1} {row + 1})"


def nim(text: str) -> str:
    """Translate `pile:2, take:4;`.

    Example:
        >>> nim("pile:2, take:4;")
        '(take b 4)'
    """
    pile, number = _numbers(text)
    return f"(take {'abc'[pile - 1]} {number})"


def clobber(text: str) -> str:
    """Translate `a5b5`, from a cell to a cell.

    Example:
        >>> clobber("a5b5")
        '(move a 5 b 5)'
    """
    return f"(move {' '.join(text)})"


def gomoku(text: str) -> str:
    """Translate `2,4`: row 2 from the top, column 4; our rows are counted from the bottom.

    Example:
        >>> gomoku("2,4")
        '(place 5 13)'
    """
    row, column = _numbers(text)
    return f"(place {column + 1} {15 - row})"


def pentago(text: str) -> str:
    """Translate `c2w`: rows are counted from the top, ours from the bottom; the last letter is a turn of a quadrant.

    Example:
        >>> pentago("c2w")
        '(place 3 5 southeast anticlockwise)'
    """
    x, y, turn = list(text)
    return f"(place {_column(x)} {7 - int(y)} {_TURNS_OF_QUADRANTS[turn]})"


_TURNS_OF_QUADRANTS: Final = {
    "s": "northwest anticlockwise", "t": "northwest clockwise", "u": "northeast anticlockwise",
    "v": "northeast clockwise", "w": "southeast anticlockwise", "x": "southeast clockwise",
    "y": "southwest anticlockwise", "z": "southwest clockwise",
}  # fmt: skip


def mancala(text: str) -> str:
    """Translate `8`: pits are numbered all around, and those of the second player, from 8 on, lie above 6 to 1.

    Example:
        >>> mancala("2"), mancala("8")
        ('(sow 2)', '(sow 6)')
    """
    pit = int(text)
    return f"(sow {pit if pit <= 6 else 14 - pit})"


def ultimate_tic_tac_toe(state: Any) -> Iterator[Turn]:
    """Yield the moves of ultimate tic-tac-toe: where the board is free to choose, that is an action of its own."""
    for action in state.legal_actions():
        text = state.action_to_string(action)
        if "Choose" not in text:
            yield (action,), _local_mark(text)
            continue
        after = state.child(action)
        for mark in after.legal_actions():
            yield (action, mark), _local_mark(after.action_to_string(mark))


def _local_mark(text: str) -> str:
    """Translate `Local board 5: x(0,1)`: boards are numbered row by row; row 0, column 1.

    Example:
        >>> _local_mark("Local board 5: x(0,1)")
        '(mark 3 2 2 1)'
    """
    board, row, column = _numbers(text)
    return f"(mark {board % 3 + 1} {board // 3 + 1} {column + 1} {row + 1})"


def nine_mens_morris(state: Any) -> Iterator[Turn]:
    """Yield the moves of nine men's morris: a point alone says where a man is placed, or taken after a mill."""
    at_a_point = "take" if "Capture time" in str(state) else "place"
    for action in state.legal_actions():
        text = state.action_to_string(action)
        points = " ".join(_POINTS[number] for number in _numbers(text))
        yield (action,), f"({'move' if text.startswith('Move') else at_a_point} {points})"


_POINTS: Final = [
    "a7", "d7", "g7", "b6", "d6", "f6", "c5", "d5", "e5", "a4", "b4", "c4",
    "e4", "f4", "g4", "c3", "d3", "e3", "b2", "d2", "f2", "a1", "d1", "g1",
]  # fmt: skip
"""The points of nine men's morris by their numbers, row by row from the top."""


def amazons(state: Any) -> Iterator[Turn]:
    """Yield the moves of Amazons: two actions are one, from a cell and to a cell; an arrow is one action."""
    for action in state.legal_actions():
        text = state.action_to_string(action)
        if "Shoot" in text:
            yield (action,), f"(fire {_amazons_cell(text)})"
            continue
        after = state.child(action)
        for goal in after.legal_actions():
            target = _amazons_cell(after.action_to_string(goal))
            yield (action, goal), f"(move {_amazons_cell(text)} {target})"


def _amazons_cell(text: str) -> str:
    row, column = _numbers(text)
    return f"{column} {11 - row}"


TURNS: Final[dict[str, Turns]] = {
    "connect_four": _single(connect_four),
    "breakthrough(rows=8,columns=8)": _single(breakthrough(8)),
    "breakthrough(rows=6,columns=6)": _single(breakthrough(6)),
    "othello": _single(othello),
    "hex(board_size=9)": _single(hex_stone),
    "hex(board_size=11,swap=True)": _single(hex_with_swap),
    "dots_and_boxes(num_rows=3,num_cols=3)": _single(dots_and_boxes),
    "dots_and_boxes(num_rows=5,num_cols=5)": _single(dots_and_boxes_from_below),
    "amazons": amazons,
    "tic_tac_toe": _single(tic_tac_toe),
    "ultimate_tic_tac_toe": ultimate_tic_tac_toe,
    "gomoku": _single(gomoku),
    "pentago": _single(pentago),
    "nine_mens_morris": nine_mens_morris,
    "clobber(rows=5,columns=6)": _single(clobber),
    "mancala": _single(mancala),
    "nim(pile_sizes=3;4;5,is_misere=False)": _single(nim),
}
"""By the name under which OpenSpiel loads the game."""
MAX_STEPS: Final = {"nine_mens_morris": 199}
"""The steps after which the rule file ends a match and OpenSpiel, which counts turns up to 200, does not yet."""
