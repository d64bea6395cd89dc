"""Which cells a move names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.boards.boards import Board, board_of
from gdl.boards.moves import arrows, emphasis, places
from gdl.engines import make_game
from gdl.games.library import find_game
from gdl.language.kif import read_term
from tests.kit.gdl.boards.drawn import CELLS, GRID, board

PLAIN = board(GRID | {"y": "down", "pieces": [CELLS]})
UPRIGHT = board(GRID | {"pieces": [CELLS]})
MATRIX = board(GRID | {"y": "down", "columns": ["a", "b"], "pieces": [{"fluent": "(at (p ?y ?x) ?piece)"}]})
WORDS = board(GRID | {"columns": ["a", "b"], "pieces": [{"fluent": "(at ?xy ?piece)"}]})
BLOCKS = board({
    "kind": "grid", "columns": ["1 1", "1 2", "2 1", "2 2"], "rows": "1..2", "y": "down",
    "pieces": [{"fluent": "(cell ?bx ?x ?y ?piece)"}],
})  # fmt: skip
HEAPS = board({"kind": "heaps", "heaps": {"fluent": "(heap ?heap ?size)"}}, "(heap a 2)", "(heap b 3)")


@pytest.mark.parametrize(
    ("drawn", "move", "named"),
    [
        (PLAIN, "(mark 2 3)", ("1,2",)),
        (PLAIN, "(move 1 1 2 3)", ("0,0", "1,2")),
        (PLAIN, "(move pawn 1 1 2 3)", ("0,0", "1,2")),
        (PLAIN, "(move (cell 1 1) (cell 2 3))", ("0,0", "1,2")),
        (PLAIN, "(jump 1 1 2 2 3 3)", ("0,0", "1,1", "2,2")),
        (PLAIN, "(write 1 2 9)", ("0,1",)),
        (PLAIN, "(drop 2)", ("1,0", "1,1", "1,2")),
        (PLAIN, "(bid 2)", ()),
        (PLAIN, "(drop 9)", ()),
        (PLAIN, "(mark 2 9)", ()),
        (PLAIN, "noop", ()),
        (UPRIGHT, "(mark 2 3)", ("1,0",)),
        (MATRIX, "(mark 3 b)", ("1,2",)),
        (MATRIX, "(mark b 3)", ()),
        (WORDS, "(move a1 b3)", ("0,2", "1,0")),
        (BLOCKS, "(mark 2 1 2 x)", ("2,1",)),
        (HEAPS, "(take b 2)", ("0,1",)),
        (HEAPS, "(take c 2)", ()),
        (board({}), "(mark 1 1)", ()),
    ],
)
def test_a_move_names_cells(drawn: Board, move: str, named: tuple[str, ...]) -> None:
    assert places(read_term(move), drawn) == named


@pytest.mark.parametrize(
    ("moves", "found"),
    [
        (["(mark 2 3)", "noop"], {"1,2": "to"}),
        (["(move 1 1 2 3)"], {"0,0": "from", "1,2": "to"}),
        (["(jump 1 1 2 2 3 3)"], {"0,0": "from", "1,1": "named", "2,2": "to"}),
        (["(mark 1 1)", "(mark 2 1)"], {"0,0": "to", "1,0": "to"}),
        (["noop"], {}),
    ],
)
def test_cells_of_the_last_moves_stand_out(moves: list[str], found: dict[str, str]) -> None:
    assert emphasis(map(read_term, moves), PLAIN) == found


def test_what_moved_goes_from_its_first_cell_to_its_last() -> None:
    moves = map(read_term, ["(jump 1 1 2 2 3 3)", "(mark 1 1)", "noop", "(drop 2)"])
    assert arrows(moves, PLAIN) == (("0,0", "1,1", "2,2"),)


def test_of_a_column_the_cell_that_changed_stands_out() -> None:
    layout = GRID | {"pieces": [CELLS]}
    before, after = board(layout, "(cell 2 1 x)"), board(layout, "(cell 2 1 x)", "(cell 2 2 o)")
    assert emphasis([read_term("(drop 2)")], after, before) == {"1,1": "to"}
    assert emphasis([read_term("(drop 2)")], after) == {}


@pytest.mark.parametrize("name", ["amazons", "breakthrough", "connectfour", "eightpuzzle", "nim", "tictactoe"])
def test_every_move_of_a_board_game_is_found_by_a_click(name: str) -> None:
    file = find_game(name)
    game, about = make_game(file.read(), "interpreter"), file.metadata()
    assert about is not None
    drawn = board_of(about.board, game.description, game.initial_state.facts)
    moves = [move for role in game.roles for move in game.initial_state.legal_moves(role) if str(move) != "noop"]
    assert [str(move) for move in moves if not places(move, drawn)] == []


@given(
    st.recursive(
        st.sampled_from(["1", "2", "9", "a", "x", "b1"]),
        lambda inner: st.lists(inner, min_size=1, max_size=5).map(lambda parts: f"(drop {' '.join(parts)})"),
        max_leaves=80,
    )
)
def test_any_move_names_cells_of_the_board_only(move: str) -> None:
    named = {f"{x},{y}" for x in range(4) for y in range(3)}
    for drawn in (PLAIN, UPRIGHT, MATRIX, WORDS, BLOCKS, HEAPS):
        assert set(places(read_term(move), drawn)) <= named
