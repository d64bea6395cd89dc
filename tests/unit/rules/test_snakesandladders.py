"""Snakes and ladders: where a throw leads."""

from __future__ import annotations

import pytest

from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, goals, position

GAME = game("snakesandladders")


@pytest.mark.parametrize(
    ("square", "eyes", "then"),
    [(0, 1, 1), (0, 3, 14), (4, 4, 17), (20, 2, 9), (34, 1, 21), (33, 3, 36), (34, 3, 34), (31, 5, 36), (31, 6, 31)],
)
def test_a_throw_leads_on_and_up_or_down_and_not_beyond_the_last_square(square: int, eyes: int, then: int) -> None:
    state = position(GAME, f"(at red {square}) (at blue 7) (in_turn red) (control random) (throw 9)")
    end = after(state, [f"noop noop (rolled {eyes})"])
    assert facts(end, "at") == {f"(at red {then})", "(at blue 7)"}
    assert (facts(end, "control"), end.is_terminal) == ({"(control blue)"}, then == 36)


def test_a_counter_is_drawn_where_it_is() -> None:
    state = after(GAME.initial_state, ["throw noop noop", "noop noop (rolled 3)"])
    assert facts(state, "cell") == {"(cell 2 3 red)"}


def test_who_reaches_the_last_square_wins_and_200_throws_are_a_draw() -> None:
    won = position(GAME, "(at red 36) (at blue 7) (in_turn blue) (control blue) (throw 9)")
    drawn = position(GAME, "(at red 35) (at blue 7) (in_turn blue) (control blue) (throw 200)")
    assert [(state.is_terminal, goals(GAME, state)) for state in (won, drawn)] == [
        (True, [100, 0, 0]),
        (True, [50, 50, 0]),
    ]
