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


def dots_and_boxes(text: str) -> str:
    """Translate `P1(h,0,2)`: a level line of row 0, column 2.

    Example:
        >>> dots_and_boxes("P1(h,0,2)"), dots_and_boxes("P2(v,1,3)")
        ('(draw level 3 1)', '(draw upright 4 2)')
    """
    way, row, column = text[3:-1].split(",")
    return f"(draw {'level' if way == 'h' else 'upright'} {int(column) + 1} {int(row) + 1})"


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
    row, column = re.findall(r"[0-9]+", text)
    return f"{column} {11 - int(row)}"


TURNS: Final[dict[str, Turns]] = {
    "connect_four": _single(connect_four),
    "breakthrough(rows=8,columns=8)": _single(breakthrough(8)),
    "breakthrough(rows=6,columns=6)": _single(breakthrough(6)),
    "othello": _single(othello),
    "hex(board_size=9)": _single(hex_stone),
    "dots_and_boxes(num_rows=3,num_cols=3)": _single(dots_and_boxes),
    "amazons": amazons,
}
"""By the name under which OpenSpiel loads the game."""
