"""Can't stop: how runners go up, and what is kept of a turn."""

from __future__ import annotations

from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, position

GAME = game("cantstop")
BOARD = "(at red 7 5) (at blue 8 3) (in_turn red) (turn 9)"


def test_a_runner_starts_from_the_players_own_marker_or_below_the_column() -> None:
    state = position(GAME, f"{BOARD} (free 3) (stage advancing) (dice first 3 4) (dice second 2 6)")
    then = after(state, ["(advance_both 7 8) noop noop"])
    assert facts(then, "runner") | facts(then, "free") == {"(runner 7 6)", "(runner 8 1)", "(free 1)"}


def test_equal_sums_go_up_two_squares_or_one_to_the_top() -> None:
    dice = "(stage advancing) (dice first 3 4) (dice second 4 3)"
    two = after(position(GAME, f"{BOARD} (free 3) {dice}"), ["(advance_twice 7) noop noop"])
    one = after(position(GAME, f"{BOARD} (runner 7 12) (free 2) {dice}"), ["(advance_twice 7) noop noop"])
    assert facts(two, "runner") | facts(two, "free") == {"(runner 7 7)", "(free 2)"}
    assert facts(one, "runner") | facts(one, "free") == {"(runner 7 13)", "(free 2)"}


def test_who_stops_keeps_what_the_runners_have_reached() -> None:
    state = position(GAME, f"{BOARD} (runner 7 6) (runner 8 1) (free 1) (stage deciding)")
    then = after(state, ["stop noop noop"])
    assert {str(fact) for fact in then.facts} == {
        "(at red 7 6)", "(at red 8 1)", "(at blue 8 3)", "(free 3)", "(in_turn blue)", "(stage first)", "(turn 10)",
    }  # fmt: skip


def test_who_fails_loses_them_and_who_rolls_risks_them() -> None:
    rolled = after(position(GAME, f"{BOARD} (runner 7 6) (free 2) (stage deciding)"), ["roll noop noop"])
    failed = after(
        position(
            GAME,
            f"{BOARD} (runner 2 1) (runner 3 1) (runner 4 1) (free 0) (stage advancing)"
            " (dice first 6 6) (dice second 6 6)",
        ),
        ["fail noop noop"],
    )
    assert (facts(rolled, "runner"), facts(rolled, "in_turn")) == ({"(runner 7 6)"}, {"(in_turn red)"})
    assert {str(fact) for fact in failed.facts} == {
        "(at red 7 5)", "(at blue 8 3)", "(free 3)", "(in_turn blue)", "(stage first)", "(turn 10)",
    }  # fmt: skip
