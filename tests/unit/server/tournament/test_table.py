"""The table of a tournament."""

from __future__ import annotations

from dataclasses import replace

from server.tournament.table import head_to_head, table_of
from tests.kit.server.tournament import lopsided_progress


def test_the_table_counts_and_rates() -> None:
    first, second = table_of(lopsided_progress())
    assert (first.player, first.matches, first.score, first.wins, first.draws, first.losses, first.moves) == (
        "=1+1", 4, 3.5, 3, 1, 0, 8,
    )  # fmt: skip
    assert (second.player, second.score, second.wins, second.draws, second.losses) == ("<b>", 0.5, 0, 1, 3)
    assert first.elo_low < first.elo < first.elo_high  # type: ignore[operator]  # it is rated
    assert first.los is not None
    assert 0.9 < first.los < 1


def test_the_cross_table_has_points_and_matches() -> None:
    found = lopsided_progress()
    assert head_to_head(found.results, ["=1+1", "<b>"], found.plan.scoring) == [["", "3.5/4"], ["0.5/4", ""]]


def test_forfeits_say_nothing_of_strength() -> None:
    absent = tuple(replace(one, result=replace(one.result, forfeited=("<b>",))) for one in lopsided_progress().ended)
    first, second = table_of(replace(lopsided_progress(), ended=absent))
    assert (first.player, first.elo, second.elo, first.wins + first.draws) == ("=1+1", None, None, 4)


def test_a_row_has_the_sums_of_all_matches_as_scripts_read_them() -> None:
    first, second = table_of(lopsided_progress())
    assert first.as_json() == {
        "rank": 1, "player": "=1+1", "matches": 4, "score": 3.5, "wins": 3, "draws": 1, "losses": 0, "meanGoal": 87.5,
        "elo": 1736.6, "eloLow": 1421.6, "eloHigh": 2051.6, "los": 0.9295, "errors": 2, "thinkingSeconds": 6.0,
        "moves": 8, "decidedBy": None,
    }  # fmt: skip
    unrated = replace(second, score=1 / 3, mean_goal=1 / 3, elo=None, los=None, thinking_s=1 / 3, decided_by="Buchholz")
    assert unrated.as_json() == second.as_json() | {
        "score": 0.3333, "meanGoal": 0.33, "elo": None, "los": None, "thinkingSeconds": 0.333, "decidedBy": "Buchholz",
    }  # fmt: skip
