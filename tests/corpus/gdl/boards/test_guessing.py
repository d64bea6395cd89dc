"""Layouts guessed from rules: those of the library as its descriptions have them, and all kinds of others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from gdl.boards.boards import board_of
from gdl.boards.guessing import layout_for, layout_of
from gdl.boards.layout import Layout
from gdl.boards.text import text_of
from gdl.engines import make_game
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.rules import Description, read_file, read_rules

ROOT: Final = Path(__file__).resolve().parents[4]
CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance" / "rules"
AT_LEAST: Final = 0.65
"""Which part of the public games has a board; the others are about bids, stacks, switches, rules alone."""


def shape(layout: Layout) -> tuple[object, ...]:
    return layout.kind, layout.columns, layout.rows, layout.turn


def cells(columns: str, rows: str, rules: str) -> str:
    facts = " ".join(f"(init (cell {x} {y} b))" for x in columns.split() for y in rows.split())
    return f"(role white) (role black) {facts} {rules}"


@pytest.mark.parametrize("name", ["amazons", "breakthrough", "tictactoe", "zombies", "mummymaze", "zion", "zionsmall"])
def test_games_of_the_library_would_be_drawn_on_the_same_grid(name: str) -> None:
    file = find_game(name)
    about, guessed = file.metadata(), layout_for(file.read())
    assert about is not None
    assert shape(guessed) == shape(about.board)


@pytest.mark.parametrize("name", ["kuhnpoker", "leducpoker", "montyhall", "rockpaperscissors"])
def test_a_game_without_a_board_lists_its_facts(name: str) -> None:
    assert layout_for(find_game(name).read()) == Layout()


def test_a_description_comes_before_a_guess() -> None:
    file = find_game("tictactoe")
    about = file.metadata()
    assert about is not None
    assert layout_of(file.read(), about) is about.board
    assert layout_of(file.read(), None) is layout_for(file.read())


CATS: Final = ("cat", "dog")
KINDS: Final = ("king", *CATS)
PIECES: Final = "(<= (next (cell ?m ?n x)) (true (cell ?m ?n b))) (<= (next (cell ?m ?n o)) (true (cell ?m ?n b)))"


@pytest.mark.parametrize(
    ("rules", "facts", "drawn"),
    [
        (
            cells("a b", "1 2 3", "(<= (next (cell ?m ?n x)) (true (cell ?m ?n b)))"),
            ["(cell a 1 x)", "(cell b 3 b)"],
            ["3 . .", "2 . .", "1 X .", "  a b"],
        ),
        (cells("1 2", "1 2", PIECES), ["(cell 1 2 x)", "(cell 2 2 o)"], ["1 . X", "2 . O", "  1 2"]),
        (
            cells("r1 r2", "c1 c2 c3", PIECES),
            ["(cell r1 c2 x)"],
            ["r1  .  X  .", "r2  .  .  .", "   c1 c2 c3"],
        ),
        (
            "(role me) " + " ".join(f"(init (at {x} {y} {p}))" for x in "ab" for y in "12" for p in CATS),
            ["(at a 2 cat)"],
            ["2 C .", "1 . .", "  a b"],
        ),
        (
            "(role me) " + " ".join(f"(init (at {x}{y} {p}))" for x in "abc" for y in "123" for p in CATS),
            ["(at b3 dog)"],
            ["3 . D .", "2 . . .", "1 . . .", "  a b c"],
        ),
        (
            "(role me) (init (coin 1 head)) (init (coin 2 tail)) (init (coin 3 head)) (init (coin 4 tail))",
            ["(coin 2 tail)"],
            ["1 . T . .", "  1 2 3 4"],
        ),
        (
            "(role me) "
            + " ".join(f"(init (cell {z} {x} {y} {p}))" for z in "12" for x in "ab" for y in "12" for p in CATS),
            ["(cell 2 a 1 cat)"],
            ["2   .   .   .   .", "1   .   .   C   .", "  1 a 1 b 2 a 2 b"],
        ),
        (
            "(role me) "
            + " ".join(f"(init (cell{z} {x} {y} cat))" for z in "12" for x in "ab" for y in "12"),
            ["(cell1 a 1 cat)", "(cell2 b 2 cat)"],
            ["2   .   .   .   C", "1   C   .   .   .", "  1 a 1 b 2 a 2 b"],
        ),
        (
            cells("1 2", "1 2", "(init (control white)) (init (control black)) (init (score white 1)) " + PIECES),
            ["(control white)", "(score black 1)", "(cell 1 1 x)"],
            ["1 X .", "2 . .", "  1 2", "white to move", "score: black 1"],
        ),
        (
            "(role w) (role b) "
            + " ".join(f"(init (cell {x} {y} {who} {it}))" for x in "ab" for y in "12" for who in "wb" for it in KINDS),
            ["(cell a 1 w king)", "(cell b 1 b dog)"],
            ["2  .  .", "1 wK bD", "   a  b"],
        ),
        (
            "(role me) (init (blockedEast 1 1)) (init (at 1 1 cat)) (init (at 2 2 dog))",
            ["(blockedEast 1 1)", "(at 1 1 cat)"],
            ["  +---+---+", "1 | C | . |", "  +   +   +", "2 | .   . |", "  +---+---+", "    1   2"],
        ),
        ("(role me) (init (pile a 3)) (init (pile b 5))", ["(pile a 3)"], ["a  o o o  3"]),
        ("(role me) (init (on a b)) (init (on b c))", ["(on a b)"], ["on: a b"]),
        ("(role me) (init (bid 3)) (init won)", ["(bid 3)"], ["bid: 3"]),
    ],
)  # fmt: skip
def test_boards_of_many_kinds_are_found(rules: str, facts: list[str], drawn: list[str]) -> None:
    description = read_rules(rules)
    board = board_of(layout_for(description), description, map(read_term, facts))
    assert text_of(board).splitlines() == drawn


BEFORE: Final = "(after 1 2) (after 2 3) (init (cell 1 1 b)) (init (cell 2 2 b)) (init (cell 3 3 b)) " + PIECES
LINES: Final = (
    "(<= (near ?x ?y ?x ?z) (after ?y ?z)) (<= (near ?x ?y ?x ?z) (after ?z ?y)) "
    "(<= (near ?x ?y ?z ?y) (or (after ?x ?z) (after ?z ?x)))"
)


@pytest.mark.parametrize(
    ("diagonals", "cells", "shift"),
    [
        ("(<= (near ?a ?b ?c ?d) (after ?a ?c) (after ?d ?b)) (<= (near ?a ?b ?c ?d) (after ?c ?a) (after ?b ?d))",
         "hexagons", "right"),
        ("(<= (near ?a ?b ?c ?d) (after ?a ?c) (after ?b ?d)) (<= (near ?a ?b ?c ?d) (after ?c ?a) (after ?d ?b))",
         "hexagons", "left"),
        ("(<= (near ?a ?b ?c ?d) (after ?a ?c) (after ?b ?d)) (<= (near ?a ?b ?c ?d) (after ?a ?c) (after ?d ?b))",
         "squares", None),
        ("", "squares", None),
    ],
)  # fmt: skip
def test_cells_with_neighbours_along_one_diagonal_are_hexagons(diagonals: str, cells: str, shift: str | None) -> None:
    layout = layout_for(read_rules(f"(role me) {BEFORE} {LINES} {diagonals}"))
    assert (layout.y, layout.cells, layout.shift) == ("down", cells, shift)


def test_dark_hex_would_be_drawn_on_hexagons_too() -> None:
    assert layout_for(find_game("darkhex").read()).cells == "hexagons"


@pytest.mark.parametrize(
    ("rules", "facts", "drawn"),
    [
        (
            " ".join(f"(init (line {x} {y} {x + 1} {y}))" for x in (1, 2) for y in (1, 2, 3))
            + " ".join(f"(init (line {x} {y} {x} {y + 1}))" for x in (1, 2, 3) for y in (1, 2))
            + " (init (box 1 1 left)) (init (box 1 1 right))",
            ["(line 1 1 2 1)", "(box 1 1 left)"],
            ["3 .   .   .", "", "2 .   .   .", "    L", "1 .---.   .", "  1   2   3"],
        ),
        (
            "(init (on a b)) (init (on b c)) (init (table c)) (init (table d))",
            ["(on a b)", "(table b)", "(table c)"],
            ["A", "B C", "- -", "b c"],
        ),
        (
            "(init (on disc1 disc2)) (init (on disc2 peg1)) (init (on disc1 peg2)) (init (clear disc1))",
            ["(on disc1 peg2)", "(on disc2 peg1)"],
            ["D2   D1", "---- ----", "peg1 peg2"],
        ),
        ("(init (pit a1 3)) (init (pit a2 0)) (init (pit a2 4))", ["(pit a1 3)", "(pit a2 0)"], ["1  3  0", "  a1 a2"]),
        (
            " ".join(f"(init (cell {x} {y} wp)) (init (cell {y} {x} b))" for x in "abc" for y in "123")
            + " (<= (next (cell ?x 3 wk)) (true (cell ?x 3 wp))) (<= (next (cell ?x 1 bp)) (true (cell ?x 1 wp)))",
            ["(cell a 1 wk)"],
            [],
        ),
    ],
)  # fmt: skip
def test_lines_stacks_pits_and_draughts_are_found(rules: str, facts: list[str], drawn: list[str]) -> None:
    description = read_rules(f"(role left) (role right) {rules}")
    board = board_of(layout_for(description), description, map(read_term, facts))
    assert text_of(board).splitlines()[: len(drawn)] == drawn


@pytest.mark.parametrize(
    "rules",
    [
        f"(role me) (init (cell {'a' * 600} 1 x)) (init (cell b 2 x))",
        '(role me) (init (cell 1 1 "<b>")) (init (cell 2 2 \u202e))',
        "(role me) " + " ".join(f"(init (cell {x} {y} p{x}{y}))" for x in range(20) for y in range(20)),
        "(role me) " + " ".join(f"(init (cell {n} {n} p{n}))" for n in range(150)),
        "(role me) " + " ".join(f"(init (f{n} 1 2 x)) (init (f{n} 2 1 x))" for n in range(300)),
        "(init (cell ?x ?y ?z))",
        "(role me) (init (cell 1 (f 1 2) x)) (init (cell (g 1) 2 x))",
    ],
)
def test_any_rules_have_a_layout(rules: str) -> None:
    description = read_rules(rules)
    facts = [rule.head.term for rule in description.rules if rule.head.term.is_ground]
    assert text_of(board_of(layout_for(description), description, facts)).replace("\n", "").isprintable()


def public() -> list[Path]:
    return sorted(CORPUS.glob("*.kif")) if CORPUS.is_dir() else []


def first_board(description: Description) -> str:
    facts = make_game(description, "interpreter").initial_state.facts
    return text_of(board_of(layout_for(description), description, facts))


@pytest.mark.exhaustive
@pytest.mark.skipif(not public(), reason=f"no public rule files at {CORPUS}; GGP_SHARED names their folder")
def test_public_games_have_boards() -> None:
    kinds = [layout_for(read_file(path)).kind for path in public()[::5]]  # all of them take long to read
    assert kinds.count("grid") >= AT_LEAST * len(kinds)


@pytest.mark.skipif(not public(), reason=f"no public rule files at {CORPUS}; GGP_SHARED names their folder")
def test_chess_is_drawn_as_everybody_knows_it() -> None:
    assert first_board(read_file(CORPUS / "chess.kif")).splitlines()[:9] == [
        "8 br bn bb bq bk bb bn br",
        "7 bp bp bp bp bp bp bp bp",
        *(f"{row}  .  .  .  .  .  .  .  ." for row in (6, 5, 4, 3)),
        "2 wp wp wp wp wp wp wp wp",
        "1 wr wn wb wq wk wb wn wr",
        "   a  b  c  d  e  f  g  h",
    ]
