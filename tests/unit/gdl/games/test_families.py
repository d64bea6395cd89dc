"""The generators of game families: what they refuse, and with which words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gdl.errors import PuzzleError, SizeError
from gdl.games.breakthrough import breakthrough_game
from gdl.games.connect import ConnectGame
from gdl.games.hanoi import hanoi_game
from gdl.games.hex import hex_game
from gdl.games.nim import nim_game
from gdl.games.queens import queens_game
from gdl.games.sokoban import legal_directions, sokoban_game
from gdl.games.sokoban_level import read_level
from gdl.games.sudoku import candidates, read_sudoku

HUGE = 10**12


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hex_game(1), "Hex has from 2 to 19 cells a side, not 1"),
        (lambda: hex_game(HUGE), "Hex has from 2 to 19 cells a side, not 1,000,000,000,000"),
        (lambda: breakthrough_game(1, 8), "Breakthrough has from 2 to 26 columns, not 1"),
        (lambda: breakthrough_game(8, 3), "Breakthrough has from 4 to 26 rows, not 3"),
        (lambda: ConnectGame(HUGE, 6, 4), "a board has from 1 to 20 columns, not 1,000,000,000,000"),
        (lambda: ConnectGame(3, 3, 4), "a line on 3 x 3 cells has from 2 to 3 pieces, not 4"),
        (lambda: ConnectGame(1, 1, 2), "a line on 1 x 1 cells has from 2 to 1 pieces, not 2"),
        (lambda: nim_game([]), "Nim has from 1 to 26 heaps, not 0"),
        (lambda: nim_game([3] * 1000), "Nim has from 1 to 26 heaps, not 1,000"),
        (lambda: nim_game([3, 0]), "a heap has from 1 to 100 things, not 0"),
        (lambda: nim_game([HUGE]), "a heap has from 1 to 100 things, not 1,000,000,000,000"),
        (lambda: queens_game(3), "the puzzle has from 4 to 40 queens, not 3"),
        (lambda: hanoi_game(11), "Hanoi has from 2 to 10 disks, not 11"),
        (lambda: hanoi_game(4, 14), "the puzzle has from 15 to 5,000 steps, not 14"),
        (lambda: sokoban_game(read_level("#####\n#@$.#\n#####"), HUGE), "a play has from 1 to 5,000 steps, not"),
        (lambda: read_level("#\n" * 3000), "a level has from 3 to 40 rows, not 3,000"),
        (lambda: read_level("#" * 3000 + "\n#\n#"), "a level has from 3 to 40 columns, not 3,000"),
        (lambda: read_level("\t" * 3000 + "#\n#\n#"), "a level has from 3 to 40 columns, not"),
    ],
)
def test_sizes_out_of_range_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(SizeError) as refused:
        make()
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ("", "the level is empty: draw it with"),
        (" \n\n ", "the level is empty: draw it with"),
        ("; title\n###\n#@#\n###", "line 1, column 1: ';' is no sign of a level"),
        ("#####\n#@\x1b.#\n#####", "line 2, column 3: '\\x1b' is no sign of a level"),
        ("#####\n# $.#\n#####", "the level has 0 players: put one @"),
        ("#####\n#@+ $#\n#####", "the level has 2 players: put one @"),
        ("###\n#@#\n###", "the level has no box"),
        ("#####\n#@$ #\n#####", "there are 1 boxes and 0 goals"),
        ("#####\n#@$. \n#####", "line 2, column 5: the wall has a gap here"),
        ("###  \n#@$.#\n#####", "line 1, column 4: the wall has a gap here"),
        ("#######\n#@ #$.#\n#######", "line 2, column 5: no way leads to this box"),
        ("####\n#@*#\n####", "every box is on a goal already"),
    ],
)
def test_what_is_no_level_is_refused(level: str, message: str) -> None:
    with pytest.raises(PuzzleError) as refused:
        read_level(level)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("puzzle", "message"),
    [
        ("", "a sudoku has 81 characters, row by row, not 0"),
        ("." * 80, "a sudoku has 81 characters, row by row, not 80"),
        ("." * 10**6, "a sudoku has 81 characters, row by row, not 1,000,000"),
        ("." * 10 + "x" + "." * 70, "line 2, column 2: 'x' is no digit"),
        ("." * 10 + "²" + "." * 70, "line 2, column 2: '²' is no digit"),
        ("1......1." + "." * 72, "line 1, column 8: there is another 1 in the same row, column or block"),
        ("." * 18 + "5" + "." * 8 + "." * 45 + "5" + "." * 8, "line 9, column 1: there is another 5"),
        ("12345678." + "." * 26 + "9" + "." * 45, "line 1, column 9: no digit fits into this cell"),
        ("534678912672195348198342567859761423426853791713924856961537284287419635345286179", "no cell is empty"),
    ],
)
def test_what_is_no_sudoku_is_refused(puzzle: str, message: str) -> None:
    with pytest.raises(PuzzleError) as refused:
        read_sudoku(puzzle)
    assert str(refused.value).startswith(message)


def test_a_level_may_have_blank_lines_around_it_and_other_signs_for_floor() -> None:
    plain = "#####\n#@ .#\n# $ #\n#####"
    assert read_level(f"\n\n{plain.replace(' ', '-')}\n\n") == read_level(plain.replace(" ", "_")) == read_level(plain)
    assert list(read_level(plain).drawing()) == plain.splitlines()


def test_the_first_moves_of_a_level_are_steps_and_pushes() -> None:
    assert legal_directions(read_level("#####\n#.$@#\n#   #\n#####")) == ["left", "down"]
    assert legal_directions(read_level("######\n#.$$@#\n#.   #\n######")) == ["down"]


def test_the_digits_left_for_a_cell_are_those_of_no_peer() -> None:
    given = read_sudoku("1234" + "." * 77)
    assert candidates(given)[5, 1] == [5, 6, 7, 8, 9]
    assert candidates(given)[1, 2] == [4, 5, 6, 7, 8, 9]
