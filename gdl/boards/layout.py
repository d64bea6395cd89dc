"""The layout of a board: what stands where, as the `[board]` table of a game's TOML description says it.

A layout knows nothing of how it is drawn: the same one serves the terminal and the web pages. It may come from
outside, so every size in it is bounded.
"""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from gdl.boards.field_types import (
    MAX_ENTRIES,
    Colour,
    Line,
    Name,
    Names,
    Pattern,
    ShapeName,
    Side,
    Sign,
    Symbol,
    variables_of,
)


class Table(BaseModel):
    """A table of the TOML description: immutable, and no key but those that it names."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _need(pattern: str, *names: str, hint: str = "") -> None:
    has = variables_of(pattern)
    missing = [name for name in names if name not in has]
    if missing:
        raise ValueError(f"{pattern!r} has no variable {' and no '.join(missing)}{hint}")


def _of_role(pattern: str) -> str:
    _need(pattern, "?role")
    return pattern


class PieceAppearance(Table):
    """What pieces look like, all or by the value of `?piece`.

    Every piece has `symbol`; or the one of `symbols` that its `?piece` has there, if any; or the text of `?piece`.
    `sign` or `signs`, which need not be ASCII, take the symbol's place in pictures and where a terminal has Unicode.
    Pictures draw `shape`, or that of `shapes`, in the colour `fill` or `fills` where it is not the terminal's.
    The colours of numbers are `graded`: by doubling, or as many of one colour as the board has columns.
    """

    fluent: Pattern
    source: Literal["state", "rules"] = "state"
    symbol: Symbol | None = None
    symbols: Annotated[dict[str, Symbol], Field(max_length=MAX_ENTRIES)] | None = None
    sign: Sign | None = None
    signs: Annotated[dict[str, Sign], Field(max_length=MAX_ENTRIES)] = {}
    colour: Colour | None = None
    colours: Annotated[dict[str, Colour], Field(max_length=MAX_ENTRIES)] = {}
    shape: ShapeName | None = None
    shapes: Annotated[dict[str, ShapeName], Field(max_length=MAX_ENTRIES)] = {}
    fill: Colour | None = None
    fills: Annotated[dict[str, Colour], Field(max_length=MAX_ENTRIES)] = {}
    graded: Literal["doubling", "rows"] | None = None

    @property
    def is_by_value(self) -> bool:
        """Whether it matters what `?piece` is."""
        by_value = self.colours or self.shapes or self.fills or self.signs or self.graded
        return self.symbol is None or bool(by_value)

    @model_validator(mode="after")
    def _is_one_symbol(self) -> Self:
        if self.symbol is not None and self.symbols is not None:
            raise ValueError("both `symbol` and `symbols`: which one?")
        return self

    def _check_piece(self) -> None:
        """Raise ValueError where looks are by the value of a `?piece` that the fluent does not have."""
        if self.is_by_value:
            _need(self.fluent, "?piece", hint="" if self.symbol else "; give all of them one `symbol`")


class Pieces(PieceAppearance):
    """The facts that stand in cells: `?x` is the column, `?y` the row, `?piece` what stands there.

    `?bx` and `?by` are the blocks of columns and rows named by two arguments (`block` where no argument says `?bx`),
    `?xy` a cell named by one word, `?cell` one named by its number; a grid of one row needs no `?y`.
    Where the fluent does not say it, `column` and `row` do. Several in one cell may `count`.
    One `between` stands amid the cell, those of the next column and the next row, and the one across.
    """

    count: bool = False
    block: Name | None = None
    column: Name | None = None
    row: Name | None = None
    between: bool = False

    @model_validator(mode="after")
    def _is_placed(self) -> Self:
        is_placed = _is_of_one_word(self.fluent) or self.column is not None
        _need(self.fluent, *(() if is_placed else ("?x",)))
        self._check_piece()
        return self


class Tray(PieceAppearance):
    """The facts that lie beside the board in a row, such as cards in hand and dice: `?piece`, and whose by `?tray`.

    There is one row for each `?tray`, called so after `label`. Each lies there as often as the number `?count` says.
    """

    label: Line | None = None

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        self._check_piece()
        return self


class Stacks(PieceAppearance):
    """The facts that pile up: `?piece` on `?below`, or in `?stack` and there at `?level`; else on the table.

    Without a level the larger number lies below. `columns` name the stacks that are always there.
    """

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        _need(self.fluent, "?piece")
        return self


def _is_of_one_word(pattern: str) -> bool:
    return bool(variables_of(pattern) & {"?xy", "?cell"})


class Walls(Table):
    """The facts that are walls: on `?side` of a cell, or always on `side`; or to the neighbour at `?x2` and `?y2`."""

    fluent: Pattern
    source: Literal["state", "rules"] = "rules"
    side: Side | None = None

    @model_validator(mode="after")
    def _is_placed(self) -> Self:
        between = () if self.side else ("?x2", "?y2") if "?x2" in self.fluent else ("?side",)
        _need(self.fluent, "?x", "?y", *between)
        return self


class Lines(Table):
    """The facts that are lines from the middle of the cell at `?x` and `?y` to that at `?x2` and `?y2`, or on `side`.

    An `arrow` has a head where the line ends.
    """

    fluent: Pattern
    source: Literal["state", "rules"] = "rules"
    side: Side | None = None
    colour: Colour | None = None
    arrow: bool = False

    @model_validator(mode="after")
    def _is_placed(self) -> Self:
        word = next((name for name in ("?xy", "?cell") if name in variables_of(self.fluent)), None)
        ends = () if self.side else (f"{word}2",) if word else ("?x2", "?y2")
        _need(self.fluent, *(() if word else ("?x", "?y")), *ends)
        return self


class Heaps(Table):
    """The facts that are heaps: `?heap` is the name, `?size` the number of things in it."""

    fluent: Pattern
    symbol: Symbol = "|"

    @model_validator(mode="after")
    def _is_placed(self) -> Self:
        _need(self.fluent, "?heap", "?size")
        return self


class Caption(Table):
    """A line under the board for each fact that `fluent` matches; its variables are replaced in `text`.

    With `label` all the facts share one line: the label, a colon, the texts.
    """

    fluent: Pattern
    text: Line
    label: Line | None = None
    source: Literal["state", "rules"] = "state"


class Places(Table):
    """The facts that say which cells there are, where not all of a grid are: at `?x` and `?y`, or `?xy`."""

    fluent: Pattern
    source: Literal["state", "rules"] = "rules"

    @model_validator(mode="after")
    def _is_placed(self) -> Self:
        if not _is_of_one_word(self.fluent):
            _need(self.fluent, "?x", "?y")
        return self


_SHIFTS: Final = {"hexagons": ("right", "left", "odd", "even"), "flat-hexagons": ("down", "up", "odd", "even")}


class Layout(Table):
    """The `[board]` table: a grid with pieces and walls, heaps, or stacks; below it trays and captions.

    `facts` has only these; without any it lists the facts themselves, a line for each kind.

    `rows` are in rising order; `y` says whether the last one is on top (`up`) or the first (`down`). Of hexagons each
    row, of flat ones each column, is half a cell further to `shift` than the one before, or every second one is.
    `edges` are the colours of the sides of the board. With `places` there are only the cells that these name.
    Cells may be `numbered` from 1 on, along rows in rising order, or back and forth like a snake. In a `veiled` grid
    every cell has a fact in every state: where a role knows of none, it does not know what is there.
    """

    kind: Literal["grid", "heaps", "stacks", "facts"] = "facts"
    columns: Names | None = None
    rows: Names | None = None
    y: Literal["up", "down"] = "up"
    cells: Literal["squares", "hexagons", "flat-hexagons", "points", "pits"] = "squares"
    shift: Literal["right", "left", "down", "up", "odd", "even"] | None = None
    edges: dict[Side, Colour] = Field(default_factory=dict)
    places: Annotated[tuple[Places, ...], Field(max_length=MAX_ENTRIES)] = ()
    empty: Symbol = "."
    labels: bool = True
    checkered: bool = False
    turn: Annotated[Pattern, AfterValidator(_of_role)] | None = None
    pieces: Annotated[tuple[Pieces, ...], Field(max_length=MAX_ENTRIES)] = ()
    walls: Annotated[tuple[Walls, ...], Field(max_length=MAX_ENTRIES)] = ()
    lines: Annotated[tuple[Lines, ...], Field(max_length=MAX_ENTRIES)] = ()
    captions: Annotated[tuple[Caption, ...], Field(max_length=MAX_ENTRIES)] = ()
    heaps: Heaps | None = None
    stacks: Annotated[tuple[Stacks, ...], Field(max_length=MAX_ENTRIES)] = ()
    trays: Annotated[tuple[Tray, ...], Field(max_length=MAX_ENTRIES)] = ()
    numbered: Literal["rows", "snake"] | None = None
    veiled: bool = False

    @model_validator(mode="after")
    def _patterns_have_their_variables(self) -> Self:
        for pieces in self.pieces:
            if len(self.rows or ()) != 1 and not _is_of_one_word(pieces.fluent) and pieces.row is None:
                _need(pieces.fluent, "?y")
        return self

    @model_validator(mode="after")
    def _grid_has_cells(self) -> Self:
        if self.kind == "grid" and (self.columns is None or self.rows is None):
            raise ValueError('a board of kind "grid" needs `columns` and `rows`')
        return self

    @model_validator(mode="after")
    def _shift_fits_the_cells(self) -> Self:
        known = _SHIFTS.get(self.cells, ())
        if self.shift is not None and self.shift not in known:
            shifts = " or ".join(known) or "none"
            raise ValueError(f"`shift` is {self.shift}, but of {self.cells} it may be {shifts}")
        return self

    @model_validator(mode="after")
    def _kind_has_its_table(self) -> Self:
        if self.kind == "heaps" and self.heaps is None:
            raise ValueError('a board of kind "heaps" needs the table [board.heaps]')
        if self.kind == "stacks" and not self.stacks:
            raise ValueError('a board of kind "stacks" needs a table [[board.stacks]]')
        return self

    @model_validator(mode="after")
    def _cells_have_their_numbers(self) -> Self:
        patterns = (*(pieces.fluent for pieces in self.pieces), *(lines.fluent for lines in self.lines))
        if self.numbered is None and any("?cell" in variables_of(pattern) for pattern in patterns):
            raise ValueError('cells called by a number `?cell` need `numbered = "rows"` or "snake"')
        return self
