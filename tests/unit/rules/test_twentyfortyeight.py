"""2048: what a slide does to a line, and what chance may place."""

from __future__ import annotations

from collections import Counter

import pytest

from gdl.game import State
from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, legal, position

GAME = game("twentyfortyeight")


def row(state: State) -> list[int]:
    """Return the tiles of the lowest row, 0 where there is none."""
    tiles = {tuple(map(int, fact.strip("()").split()[1:])) for fact in facts(state, "cell")}
    return [next((value for x, y, value in tiles if (x, y) == (column, 1)), 0) for column in (1, 2, 3, 4)]


def with_row(tiles: list[int]) -> State:
    cells = " ".join(f"(cell {x} 1 {value})" for x, value in enumerate(tiles, 1) if value)
    return position(GAME, f"{cells} (turn slide)")


@pytest.mark.parametrize(
    ("tiles", "left", "right"),
    [
        ([2, 0, 0, 2], [4, 0, 0, 0], [0, 0, 0, 4]),
        ([2, 2, 2, 0], [4, 2, 0, 0], [0, 0, 2, 4]),
        ([2, 2, 2, 2], [4, 4, 0, 0], [0, 0, 4, 4]),
        ([4, 2, 2, 0], [4, 4, 0, 0], [0, 0, 4, 4]),
        ([2, 2, 4, 8], [4, 4, 8, 0], [0, 4, 4, 8]),
        ([2, 0, 4, 2], [2, 4, 2, 0], [0, 2, 4, 2]),
        ([0, 8, 0, 8], [16, 0, 0, 0], [0, 0, 0, 16]),
        ([1024, 2, 1024, 0], [1024, 2, 1024, 0], [0, 1024, 2, 1024]),
    ],
)
def test_tiles_slide_and_merge_once(tiles: list[int], left: list[int], right: list[int]) -> None:
    state = with_row(tiles)
    if left != tiles:
        assert row(after(state, ["(slide left) noop"])) == left
    assert row(after(state, ["(slide right) noop"])) == right


def test_tiles_slide_up_and_down_as_well() -> None:
    state = position(GAME, "(cell 3 1 2) (cell 3 3 2) (cell 4 4 8) (turn slide)")
    assert facts(after(state, ["(slide up) noop"]), "cell") == {"(cell 3 4 4)", "(cell 4 4 8)"}
    assert facts(after(state, ["(slide down) noop"]), "cell") == {"(cell 3 1 4)", "(cell 4 1 8)"}


def test_only_a_slide_that_changes_something_is_legal() -> None:
    assert legal(with_row([2, 4, 2, 4]), "player") == {"(slide up)"}
    assert legal(with_row([2, 4, 0, 0]), "player") == {"(slide up)", "(slide right)"}
    assert legal(with_row([2, 2, 4, 8]), "player") == {"(slide up)", "(slide left)", "(slide right)"}


def test_a_new_tile_is_a_4_with_one_ticket_of_ten() -> None:
    state = position(GAME, "(cell 1 1 2) (turn place)")
    new = [facts(after(state, [f"noop {move}"]), "cell") - {"(cell 1 1 2)"} for move in legal(state, "random")]
    values = Counter(fact.strip("()").split()[3] for (fact,) in new)
    assert values == {"2": 9 * 15, "4": 15}


def test_a_full_board_on_which_nothing_moves_ends_the_play() -> None:
    cells = " ".join(f"(cell {x} {y} {2 ** ((x + y) % 2 + 1)})" for x in range(1, 5) for y in range(1, 5))
    stuck = position(GAME, f"{cells} (turn slide)")
    assert (stuck.is_terminal, stuck.goal(GAME.roles[0])) == (True, 10)


def test_the_tile_2048_wins() -> None:
    won = after(with_row([1024, 1024, 0, 0]), ["(slide left) noop"])
    assert (won.is_terminal, won.goal(GAME.roles[0])) == (True, 100)
