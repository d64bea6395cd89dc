"""What a tournament has shown, for scripts and in sentences."""

from __future__ import annotations

import re
from dataclasses import replace

from server.tournament.plan import TournamentFormat
from server.tournament.summary import shortage, sprt_line, summary, verdict
from tests.kit.server.tournament import lopsided_progress


def test_the_summary_is_what_scripts_read() -> None:
    found = summary(lopsided_progress())
    assert (found["format"], found["matches"], found["matchesShortOfCores"]) == ("round-robin", 4, 1)
    assert set(found["standings"][0]) >= {
        "player", "matches", "score", "wins", "draws", "losses", "elo", "eloLow", "eloHigh", "los", "errors",
    }  # fmt: skip
    assert found["sprt"]["pentanomial"] == [0, 0, 0, 1, 1]
    assert found["sprt"]["decision"] == "continue"


def test_more_rounds_are_advised_where_they_can_be_added() -> None:
    advice = "; add rounds with --rounds (now 2)"
    found = lopsided_progress()
    knockout = replace(found, plan=found.plan.model_copy(update={"format": TournamentFormat.KNOCKOUT}))
    assert [(sprt_line(each) or "").endswith(advice) for each in (found, knockout)] == [True, False]


def test_of_two_players_a_sentence_says_who_is_ahead_and_how_sure_that_is() -> None:
    told = verdict(lopsided_progress())
    assert told is not None
    assert re.fullmatch(
        r"=1\+1 is ahead of <b> by \d+ Elo \(95 %: -?\d+ to \d+\), and the stronger one with a likelihood of 9\d\.\d %",
        told,
    )


def test_two_players_that_have_done_the_same_are_level() -> None:
    same = tuple(replace(one, result=replace(one.result, goals=(50, 50))) for one in lopsided_progress().ended)
    told = verdict(replace(lopsided_progress(), ended=same))
    assert told is not None
    assert " are level so far (95 %: -" in told


def test_matches_that_were_short_of_cores_are_reported() -> None:
    assert (shortage(lopsided_progress()) or "").startswith(
        "In 1 of 4 matches processes of the machine that played them waited"
    )
    assert shortage(replace(lopsided_progress(), ended=())) is None


def test_a_core_does_not_matter_where_no_player_thought_for_a_second() -> None:
    hasty = tuple(replace(one, thinking_ms=(999, 0)) for one in lopsided_progress().ended)
    assert shortage(replace(lopsided_progress(), ended=hasty)) is None
