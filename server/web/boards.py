"""Boards for pages: pictures of states, as markup that came from our own drawing and may stand in a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from gdl.games.boards import Board, board_of
from gdl.games.guessing import layout_of
from gdl.games.pictures import Look, svg_of
from gdl.games.places import emphasis, places
from gdl.kif import read_term
from gdl.terms import Compound, Term
from server.records.replay import facts_of
from server.web.rule_books import RuleBook

_N_FACTS: Final = 5_000
"""A state with more facts is not drawn."""


def board(book: RuleBook, facts: Iterable[Term]) -> Board | None:
    """Return what there is to draw of a state; None where it is too much."""
    known = tuple(facts)
    if len(known) > _N_FACTS:
        return None
    return board_of(layout_of(book.description, book.about), book.description, known)


def recorded_board(book: RuleBook, state: str) -> Board | None:
    """Return what there is to draw of a state as records have it.

    Raises:
        MatchRecordError: it is none.
    """
    return board(book, facts_of(state))


def markup(drawn: Board | None, look: Look) -> Markup | None:
    """Return the picture of *drawn*."""
    return None if drawn is None else Markup(svg_of(drawn, **look))  # noqa: S704 -- `svg_of` escapes what it writes


def small_picture(drawn: Board | None, title: str) -> Markup | None:
    """Return the picture of *drawn* as cards have it: without captions, unless there is nothing else."""
    return None if drawn is None else markup(drawn, {"title": title, "captions": is_told(drawn)})


def is_told(drawn: Board | None) -> bool:
    """Return whether a state is told in lines of text alone."""
    return drawn is not None and drawn.layout.kind == "facts"


def picture_after(drawn: Board | None, before: Board | None, moves: Iterable[str], look: Look) -> Markup | None:
    """Return the picture of *drawn*, where the cells stand out that the joint move *moves* in *before* changed."""
    if drawn is None:
        return None
    look["highlighted"] = emphasis(map(read_term, moves), drawn, before)
    return markup(drawn, look)


def cells_of(move: Term, drawn: Board) -> tuple[tuple[str, ...], bool]:
    """Return the cells that *move* names in its order, and whether each of them alone means it: those of a line."""
    cells = places(move, drawn)
    is_line = isinstance(move, Compound) and len(move.arguments) == 1 and len(cells) > 1
    return cells, is_line
