"""Two players compared in one process: roles in turn, an interval, and an end as soon as the test is sure."""

from __future__ import annotations

import pytest

from gdl import find_game, make_game
from players.registry import find_player
from server.arena.comparison import Comparison, TwoRolesError, compare
from server.tournament.fixtures import MatchResult
from server.tournament.sprt import Decision


def played(*goals: tuple[int, int]) -> Comparison:
    """Return the comparison after matches with these goals of the roles, in which the players change roles."""
    names = ("first", "second")
    return Comparison(
        tuple(MatchResult("game", names if i % 2 == 0 else names[::-1], pair) for i, pair in enumerate(goals))
    )


def test_figures_are_those_of_the_first_player() -> None:
    found = played((100, 0), (100, 0), (50, 50), (0, 100)).as_json()
    assert {key: found[key] for key in ("matches", "won", "drawn", "lost", "share", "decision")} == {
        "matches": 4, "won": 2, "drawn": 1, "lost": 1, "share": 0.625, "decision": "continue",
    }  # fmt: skip
    assert found["low"] < 0.625 < found["high"]


def test_matches_end_when_the_test_is_sure() -> None:
    game = make_game(find_game("tictactoe").read())
    makers = (find_player("legal"), find_player("legal"))
    *_, last = compare(game, makers, 1.0, 4)
    assert (last.decision, [result.players for result in last.results[:2]]) == (
        Decision.CONTINUE,
        [("first", "second"), ("second", "first")],
    )
    assert len(last.results) == 4


def test_a_sure_test_ends_them() -> None:
    sure = played(*[(100, 0), (0, 100)] * 200)
    assert sure.decision is Decision.H1


def test_games_of_other_than_two_roles_are_refused() -> None:
    game = make_game(find_game("eightpuzzle").read())
    with pytest.raises(TwoRolesError, match="players are compared by games of two roles"):
        next(compare(game, (find_player("legal"),) * 2, 1.0, 2))
