"""Boards for pages: states drawn as markup of our own, beside the event loop where that takes long."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from markupsafe import Markup

from gdl.boards import Board, Emphasis, PictureOptions, arrows, board_of, emphasis, places, svg_of
from gdl.language.kif import read_term
from gdl.language.terms import Compound, Term
from server.records.stored_record import facts_of
from server.threads import in_own_thread
from server.web.game_versions import ShownRules

Result = TypeVar("Result")
_N_FACTS: Final = 5_000
"""A state with more facts is not drawn."""
_N_CHARACTERS: Final = 100_000
"""A state with a longer text is not drawn: it has more facts, or very long ones."""
_FEW: Final = 200
"""More facts, or cells, are drawn beside the event loop: their time is noticed by others."""
_CHARACTERS_PER_FACT: Final = 20
_GLANCE: Final = 60
_N_SHOWN: Final = 6
_N_FEW: Final = 4


async def board(
    rules: ShownRules, facts: Collection[Term] | Collection[str], *, is_partial: bool = False
) -> Board | None:
    """Return what there is to draw of a state, of which the facts or their texts are known; None if it is too much.

    *is_partial* says that there may be others, which are not known.
    """
    if len(facts) > _N_FACTS:
        return None
    is_long = len(facts) > _FEW or rules.is_long
    return await _at_its_place(partial(_drawn, rules, facts, is_partial=is_partial), is_long=is_long)


async def recorded_board(rules: ShownRules, state: str) -> Board | None:
    """Return what there is to draw of a state as records have it; None if it is too much.

    Raises:
        MatchRecordError: it is none.
    """
    if len(state) > _N_CHARACTERS:
        return None
    is_long = len(state) > _FEW * _CHARACTERS_PER_FACT or rules.is_long
    return await _at_its_place(lambda: _drawn(rules, facts_of(state)), is_long=is_long)


def _drawn(rules: ShownRules, facts: Collection[Term] | Collection[str], *, is_partial: bool = False) -> Board:
    known = tuple(read_term(fact) if isinstance(fact, str) else fact for fact in facts)
    return board_of(rules.layout, rules.description, known, is_partial=is_partial)


async def _at_its_place(work: Callable[[], Result], *, is_long: bool) -> Result:
    """Return what *work* returns: from beside the event loop if it takes long."""
    return await in_own_thread(work) if is_long else work()


@dataclass(frozen=True, slots=True)
class Picture:
    """A state as pages show it: the drawn board, None where there is none, and what is said beside it."""

    board: Markup | None
    lines: tuple[str, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The lines that are read at a glance; all where there is no board.

        Of more than a few those that list facts behind a name are left to the table.
        """
        if self.board is None:
            return self.lines
        is_short = len(self.lines) <= _N_FEW
        found = (line for line in self.lines if len(line) <= _GLANCE and (is_short or ": " not in line))
        return tuple(found)[:_N_SHOWN]

    @property
    def table(self) -> tuple[tuple[str, str], ...]:
        """The other lines, which would take the room of the board: each with the name before its colon, if any."""
        shown = self.shown
        parted = (line.partition(": ") for line in self.lines if line not in shown)
        return tuple((name, rest) if colon else ("", name) for name, colon, rest in parted)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see."""
        return self.board is None and not self.lines


@dataclass(frozen=True, slots=True)
class LastMove:
    """Which cells of a board stand out after a joint move, and through which of them something moved."""

    cells: Mapping[str, Emphasis]
    ways: tuple[tuple[str, ...], ...]


async def picture_of(
    drawn: Board | None,
    title: str,
    last: LastMove | None = None,
    *,
    playable: bool = False,
    is_over: bool = False,
) -> Picture | None:
    """Return *drawn* as a picture called *title*; the *last* move stands out, and *playable* cells are named.

    Where the play *is_over*, no role has the turn.
    """
    if drawn is None:
        return None
    turn = () if drawn.turn is None or is_over else (f"{drawn.turn} to move",)
    svg = None
    if drawn.has_picture:
        marked = last or LastMove({}, ())
        options: PictureOptions = {
            "title": title,
            "captions": False,
            "highlighted": marked.cells,
            "arrows": marked.ways,
            "playable": playable,
        }
        is_long = len(drawn.columns) * len(drawn.rows) > _FEW
        text = await _at_its_place(lambda: svg_of(drawn, **options), is_long=is_long)
        svg = Markup(text)  # noqa: S704 -- `svg_of` escapes what it writes
    return Picture(svg, (*turn, *drawn.lines))


async def image_of(drawn: Board, title: str, last: LastMove | None) -> str:
    """Return *drawn* as an SVG file of its own, called *title*; the *last* move stands out."""
    marked = last or LastMove({}, ())
    options: PictureOptions = {"title": title, "highlighted": marked.cells, "arrows": marked.ways, "standalone": True}
    return await _at_its_place(lambda: svg_of(drawn, **options), is_long=len(drawn.columns) * len(drawn.rows) > _FEW)


def last_move(drawn: Board | None, before: Board | None, moves: Iterable[str]) -> LastMove | None:
    """Return what of *drawn* stands out after the joint move *moves* in *before*."""
    if drawn is None:
        return None
    terms = tuple(map(read_term, moves))
    return LastMove(emphasis(terms, drawn, before), arrows(terms, drawn))


def cells_of(move: Term, drawn: Board) -> tuple[tuple[str, ...], bool]:
    """Return the cells that *move* names in its order, and whether each of them alone means it: those of a line."""
    cells = places(move, drawn)
    is_line = isinstance(move, Compound) and len(move.arguments) == 1 and len(cells) > 1
    return cells, is_line
