"""Boards for pages: pictures of states, as markup that came from our own drawing and may stand in a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from markupsafe import Markup

from gdl.games.boards import Board, board_of
from gdl.games.canvas import Emphasis
from gdl.games.guessing import layout_of
from gdl.games.pictures import Look, svg_of
from gdl.games.places import emphasis, places
from gdl.kif import read_term
from gdl.terms import Compound, Term
from server.records.replay import facts_of
from server.web.rule_books import RuleBook

_NOTHING: Final[Mapping[str, Emphasis]] = MappingProxyType({})
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


@dataclass(frozen=True, slots=True)
class Picture:
    """A state as pages show it: the drawn board, None where there is none, and what is said beside it."""

    board: Markup | None
    lines: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see."""
        return self.board is None and not self.lines


def picture_of(
    drawn: Board | None,
    title: str,
    highlighted: Mapping[str, Emphasis] = _NOTHING,
    *,
    playable: bool = False,
    is_over: bool = False,
) -> Picture | None:
    """Return *drawn* as a picture called *title*; the cells *highlighted* stand out, and *playable* ones are named.

    Where the play *is_over*, it is nobody's turn.
    """
    if drawn is None:
        return None
    turn = () if drawn.turn is None or is_over else (f"{drawn.turn} to move",)
    svg = None
    if drawn.layout.kind != "facts":
        look: Look = {"title": title, "captions": False, "highlighted": highlighted, "playable": playable}
        svg = Markup(svg_of(drawn, **look))  # noqa: S704 -- `svg_of` escapes what it writes
    return Picture(svg, (*turn, *drawn.lines))


def last_move(drawn: Board | None, before: Board | None, moves: Iterable[str]) -> dict[str, Emphasis]:
    """Return which cells of *drawn* stand out after the joint move *moves* in *before*."""
    return {} if drawn is None else emphasis(map(read_term, moves), drawn, before)


def cells_of(move: Term, drawn: Board) -> tuple[tuple[str, ...], bool]:
    """Return the cells that *move* names in its order, and whether each of them alone means it: those of a line."""
    cells = places(move, drawn)
    is_line = isinstance(move, Compound) and len(move.arguments) == 1 and len(cells) > 1
    return cells, is_line
