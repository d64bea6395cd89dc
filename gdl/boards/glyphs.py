"""A board in the signs of Unicode, for terminals that have them: chess pieces, discs, suits, dice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from gdl.boards.boards import Board
from gdl.boards.layout import Layout, Looks
from gdl.boards.pieces import Mark
from gdl.boards.stacks import Pile

_CHESS: Final = {"king": "♚♔", "queen": "♛♕", "rook": "♜♖", "bishop": "♝♗", "knight": "♞♘", "pawn": "♟♙"}
_GLYPHS: Final = _CHESS | {
    "disc": "●○◉◎", "stone": "●○◉◎", "man": "⛂⛀●○", "crowned": "⛃⛁◉◎", "ring": "○◯◌", "cross": "✕✖", "square": "■□▣",
    "diamond": "◆◇", "triangle": "▲△", "star": "★☆", "dot": "•∙", "block": "▒░", "flag": "⚑⚐",
}  # fmt: skip
"""The signs of shapes: first that of dark pieces, then that of white ones, then those of further ones."""
_DICE: Final = "⚀⚁⚂⚃⚄⚅"
_EMPTY: Final = "·"


def in_unicode(board: Board) -> Board:
    """Return *board* with signs in the place of symbols, where every piece of its layout has one of its own."""
    signs = dict(_signs(board.layout))
    return replace(
        board,
        layout=board.layout.model_copy(update={"empty": _EMPTY}) if board.layout.empty == "." else board.layout,
        marks={place: tuple(_signed(mark, signs) for mark in marks) for place, marks in board.marks.items()},
        stacks=tuple(_pile(stack, signs) for stack in board.stacks),
        trays=tuple(_pile(tray, signs) for tray in board.trays),
    )


def _pile(pile: Pile, signs: dict[tuple[str, str | None], str]) -> Pile:
    return Pile(pile.name, tuple(_signed(mark, signs) for mark in pile.marks))


def _signed(mark: Mark, signs: dict[tuple[str, str | None], str]) -> Mark:
    if mark.count > 1:
        return mark
    if mark.shape == "die" and mark.number is not None and 1 <= mark.number <= len(_DICE):
        return replace(mark, symbol=_DICE[mark.number - 1])
    return replace(mark, symbol=mark.sign or signs.get((mark.symbol, mark.shape), mark.symbol))


@lru_cache(maxsize=64)
def _signs_of(entries: tuple[tuple[str, str, str | None], ...]) -> tuple[tuple[tuple[str, str | None], str], ...]:
    """Return a sign for each symbol and shape: no two symbols have the same one."""
    found: dict[tuple[str, str | None], str] = {}
    for symbol, shape, fill in entries:
        choice = _GLYPHS.get(shape, "")
        ordered = choice[1:2] + choice[:1] + choice[2:] if fill in ("white", "bright_white") else choice
        free = [glyph for glyph in ordered if glyph not in found.values()]
        if free:
            found.setdefault((symbol, shape), free[0])
    return tuple(found.items())


def _signs(layout: Layout) -> Iterator[tuple[tuple[str, str | None], str]]:
    every = (*layout.pieces, *layout.stacks, *layout.trays)
    yield from _signs_of(tuple(dict.fromkeys(entry for looks in every for entry in _of(looks))))


def _of(looks: Looks) -> Iterator[tuple[str, str, str | None]]:
    """Yield symbol, shape and colour of every piece that *looks* names, the white ones first."""
    named = looks.symbols or ({"": looks.symbol} if looks.symbol else {})
    entries = (
        (symbol, looks.shapes.get(value, looks.shape), looks.fills.get(value, looks.fill) or looks.colours.get(value))
        for value, symbol in named.items()
    )
    drawn = [(symbol, shape, fill) for symbol, shape, fill in entries if shape]
    yield from sorted(drawn, key=lambda entry: entry[2] not in ("white", "bright_white"))
