"""The family of Sudoku: a rule file for a puzzle of 81 characters."""

from itertools import combinations
from string import Template
from typing import Final

from gdl.errors import PuzzleError
from gdl.games.families import Cell, GeneratedGame, chain, fact, lines_of

_CELLS: Final = tuple((x, y) for y in range(1, 10) for x in range(1, 10))
_BLANK: Final = "0."


def are_peers(one: Cell, other: Cell) -> bool:
    """Return whether two cells share a row, a column or a block, and so may not have the same digit."""
    (x, y), (u, v) = one, other
    same_block = ((x - 1) // 3, (y - 1) // 3) == ((u - 1) // 3, (v - 1) // 3)
    return one != other and (x == u or y == v or same_block)


def read_sudoku(text: str) -> dict[Cell, int]:
    """Return the digits that are given in *text*: 81 characters row by row, 0 or a full stop for an empty cell.

    White space between them does not count.

    Raises:
        PuzzleError: it is no such puzzle; the message says what to change.
    """
    signs = "".join(text.split())
    for i, sign in enumerate(signs[: len(_CELLS)]):
        if sign not in _BLANK and sign not in "123456789":
            raise PuzzleError(f"{sign!r} is no digit: use 1 to 9, and 0 or . for an empty cell", i // 9 + 1, i % 9 + 1)
    if len(signs) != len(_CELLS):
        raise PuzzleError(
            f"a sudoku has 81 characters, row by row, not {len(signs):,}: put a 0 or a . for each empty cell"
        )
    given = {cell: int(sign) for cell, sign in zip(_CELLS, signs, strict=True) if sign not in _BLANK}
    for (one, digit), (other, same) in combinations(given.items(), 2):
        if digit == same and are_peers(one, other):
            raise PuzzleError(f"there is another {digit} in the same row, column or block", other[1], other[0])
    if len(given) == len(_CELLS):
        raise PuzzleError("no cell is empty: put a 0 or a . where a digit is to be found")
    for cell, digits in candidates(given).items():
        if not digits:
            raise PuzzleError("no digit fits into this cell: change one of those around it", cell[1], cell[0])
    return given


def candidates(given: dict[Cell, int]) -> dict[Cell, list[int]]:
    """Return for each empty cell the digits that do not stand in its row, column or block."""
    return {
        cell: [digit for digit in range(1, 10) if digit not in {given[peer] for peer in given if are_peers(cell, peer)}]
        for cell in _CELLS
        if cell not in given
    }


def sudoku_game(given: dict[Cell, int]) -> GeneratedGame:
    """Return the game of the puzzle in which the digits *given* are in their cells."""
    may = candidates(given)
    n = len(may)
    options = sum(map(len, may.values()))
    puzzle = "".join(str(given.get(cell, ".")) for cell in _CELLS)
    values = {
        "command": f"ggp generate sudoku {puzzle}",
        "given": lines_of(fact("given", *cell, digit) for cell, digit in sorted(given.items())),
        "may": lines_of(fact("may", *cell, digit) for cell, digits in sorted(may.items()) for digit in digits),
        "n_given": len(given),
        "empty": n,
        "options": options,
        "successors": chain("succ", range(n + 1)),
        "scores": lines_of(fact("score", k, 100 * k // n) for k in range(n + 1)),
    }
    return GeneratedGame(_RULES.substitute(values), _METADATA.substitute(values))


_RULES: Final = Template("""\
; A sudoku of $n_given given digits. Made by `$command`.
;
; A cell is a pair of x, from the left, and y, from the top. The digits that the given ones leave for an empty cell are
; listed in `may`.

(role player)

; fluents and moves

(<= (base (cell ?x ?y ?digit))
    (given ?x ?y ?digit))
(<= (base (cell ?x ?y ?digit))
    (may ?x ?y ?digit))
(base (filled 0))
(<= (base (filled ?m))
    (succ ?n ?m))
(<= (input player (put ?x ?y ?digit))
    (may ?x ?y ?digit))

$given

$may

$successors

(block 1 a) (block 2 a) (block 3 a) (block 4 b) (block 5 b) (block 6 b) (block 7 c) (block 8 c) (block 9 c)

; the cells that may not have the same digit
(<= (peer ?x ?y ?u ?y)
    (block ?x ?a)
    (block ?u ?b)
    (distinct ?x ?u)
    (block ?y ?c))
(<= (peer ?x ?y ?x ?v)
    (block ?y ?a)
    (block ?v ?b)
    (distinct ?y ?v)
    (block ?x ?c))
(<= (peer ?x ?y ?u ?v)
    (block ?x ?a)
    (block ?u ?a)
    (distinct ?x ?u)
    (block ?y ?b)
    (block ?v ?b)
    (distinct ?y ?v))

; first position

(<= (init (cell ?x ?y ?digit))
    (given ?x ?y ?digit))
(init (filled 0))

; legal moves: any digit that does not stand in the same row, column or block

(<= (full ?x ?y)
    (true (cell ?x ?y ?digit)))
(<= (clashes ?x ?y ?digit)
    (may ?x ?y ?digit)
    (peer ?x ?y ?u ?v)
    (may ?u ?v ?digit)
    (true (cell ?u ?v ?digit)))
(<= (fits ?x ?y ?digit)
    (may ?x ?y ?digit)
    (not (full ?x ?y))
    (not (clashes ?x ?y ?digit)))
(<= (legal player (put ?x ?y ?digit))
    (fits ?x ?y ?digit))

; what a move does

(<= (next (cell ?x ?y ?digit))
    (does player (put ?x ?y ?digit)))
(<= (next (cell ?x ?y ?digit))
    (true (cell ?x ?y ?digit)))
(<= (next (filled ?m))
    (true (filled ?n))
    (succ ?n ?m))

; end and goals: the share of the cells that were filled

(<= open
    (fits ?x ?y ?digit))
(<= terminal
    (not open))

$scores

(<= (goal player ?goal)
    (true (filled ?n))
    (score ?n ?goal))
""")

_METADATA: Final = Template("""\
# Made by `$command`.
title = "Sudoku of $n_given given digits"
authors = ["the ggp project"]
roles = ["player"]
players = 1
tags = ["puzzle"]
source = "Howard Garns, 1979; the puzzle as given"
summary = \"\"\"
Fill the $empty empty cells of a board of 9x9 so that each row, each column and each of the nine blocks of
3x3 cells has the digits 1 to 9. A digit that stands in the same row, column or block already may not be
put. The play ends when none can be put any more: a full board is worth 100, else each cell that was filled
counts.
\"\"\"

[[decisions]]
unclear = "Has the puzzle one solution?"
decided = "The generator does not check that: any full board wins."

[[decisions]]
unclear = "May a digit be taken back?"
decided = "No."

[board]
kind = "grid"
columns = "1..9"
rows = "1..9"
y = "down"

[[board.pieces]]
fluent = "(cell ?x ?y ?piece)"

[[board.captions]]
fluent = "(filled ?n)"
text = "?n of $empty cells filled"

[counts]
perft = [$options]
longest_play = $empty

[counts.legal]
player = $options
""")
