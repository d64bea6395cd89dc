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
