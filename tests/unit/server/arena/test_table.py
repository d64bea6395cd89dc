"""The table of a tournament, and the files that show it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from server.arena.folder import plan_of
from server.arena.report import csv_text, html, markdown, sprt_line, write_reports
from server.tournament.competition import next_matches
from server.tournament.fixtures import MatchResult, TournamentGame
from server.tournament.plan import TournamentFormat
from server.tournament.progress import PlayedMatch, Progress, head_to_head, shortage, summary, table_of, verdict
from server.tournament.round_robin import RoundRobin

PLAN = plan_of(
    {"games": ["tictactoe"], "players": {"=1+1": "random", "<b>": "legal"}, "rounds": 2, "sprt": {}}, Path("plan")
)
GAMES = (TournamentGame("tictactoe", 2),)


def progress() -> Progress:
    """Return a tournament whose first player has won three of four matches and drawn one."""
    before = Progress(PLAN, GAMES, (), ())
    scheduled = next_matches(RoundRobin(2), before.competition)
    goals = [(100, 0) if match.players[0] == "=1+1" else (0, 100) for match in scheduled]
    goals[3] = (50, 50)
    played = tuple(
        PlayedMatch(
            result(match.game, match.players, found, match.match_id), (1000, 2000), (2, 2), 4, 7, 0.5 * (n == 0)
        )
        for n, (match, found) in enumerate(zip(scheduled, goals, strict=True))
    )
    return Progress(PLAN, GAMES, scheduled, played)


def result(game: str, players: tuple[str, ...], goals: tuple[int, ...], match_id: str) -> MatchResult:
    """Return a result in which the second player made an error."""
    return MatchResult(game, players, goals, (0, 1), match_id)


def test_the_table_counts_and_rates() -> None:
    first, second = table_of(progress())
    assert (first.player, first.matches, first.score, first.wins, first.draws, first.losses, first.moves) == (
        "=1+1", 4, 3.5, 3, 1, 0, 8,
    )  # fmt: skip
    assert (second.player, second.score, second.wins, second.draws, second.losses) == ("<b>", 0.5, 0, 1, 3)
    assert first.elo_low < first.elo < first.elo_high  # type: ignore[operator]  # it is rated
    assert first.los is not None
    assert 0.9 < first.los < 1


def test_the_summary_is_what_scripts_read() -> None:
    found = summary(progress())
    assert (found["format"], found["matches"], found["matchesShortOfCores"]) == ("round-robin", 4, 1)
    assert set(found["standings"][0]) >= {
        "player", "matches", "score", "wins", "draws", "losses", "elo", "eloLow", "eloHigh", "los", "errors",
    }  # fmt: skip
    assert found["sprt"]["pentanomial"] == [0, 0, 0, 1, 1]
    assert found["sprt"]["decision"] == "continue"


def test_more_rounds_are_advised_where_they_can_be_added() -> None:
    advice = "; add rounds with --rounds (now 2)"
    knockout = replace(progress(), plan=PLAN.model_copy(update={"format": TournamentFormat.KNOCKOUT}))
    assert [(sprt_line(found) or "").endswith(advice) for found in (progress(), knockout)] == [True, False]


def test_the_cross_table_has_points_and_matches() -> None:
    assert head_to_head(progress().results, ["=1+1", "<b>"], PLAN.scoring) == [["", "3.5/4"], ["0.5/4", ""]]


def test_no_name_becomes_a_formula_markup_or_an_element(tmp_path: Path) -> None:
    found = progress()
    write_reports(found, tmp_path)
    assert "'=1+1" in csv_text(found)
    assert ",=1+1" not in csv_text(found)
    assert "\\<b\\>" in markdown(found)
    assert "&lt;b&gt;" in html(found)
    assert "<b>" not in html(found)
    assert json.loads((tmp_path / "standings.json").read_text()) == summary(found)


def test_a_tournament_that_has_not_begun_has_a_page() -> None:
    empty = replace(progress(), ended=(), scheduled=())
    assert [(row.player, row.elo) for row in table_of(empty)] == [("=1+1", None), ("<b>", None)]
    assert "<h2>Standings</h2>" in html(empty)


def test_of_two_players_a_sentence_says_who_is_ahead_and_how_sure_that_is() -> None:
    told = verdict(progress())
    assert told is not None
    assert re.fullmatch(
        r"=1\+1 is ahead of <b> by \d+ Elo \(95 %: -?\d+ to \d+\), and the stronger one with a likelihood of 9\d\.\d %",
        told,
    )


def test_two_players_that_have_done_the_same_are_level() -> None:
    same = tuple(replace(one, result=replace(one.result, goals=(50, 50))) for one in progress().ended)
    told = verdict(replace(progress(), ended=same))
    assert told is not None
    assert " are level so far (95 %: -" in told


def test_matches_that_were_short_of_cores_are_reported() -> None:
    assert (shortage(progress()) or "").startswith("In 1 of 4 matches processes of this machine waited")
    assert shortage(replace(progress(), ended=())) is None


def test_a_core_does_not_matter_where_no_player_thought_for_a_second() -> None:
    hasty = tuple(replace(one, thinking_ms=(999, 0)) for one in progress().ended)
    assert shortage(replace(progress(), ended=hasty)) is None


def test_roles_have_their_names_on_the_page() -> None:
    page = html(progress(), {"tictactoe": ("x", "o")})
    assert "<td>x</td>" in page
    assert "<td>o</td>" in page


def test_forfeits_say_nothing_of_strength() -> None:
    absent = tuple(replace(one, result=replace(one.result, forfeited=("<b>",))) for one in progress().ended)
    first, second = table_of(replace(progress(), ended=absent))
    assert (first.player, first.elo, second.elo, first.wins + first.draws) == ("=1+1", None, None, 4)


def test_what_substitutes_won_for_a_player_counts_for_the_other_in_ratings_and_tests_too() -> None:
    plan = PLAN.model_copy(update={"forfeit_errors": 1})  # the first player, who makes no error, has lost all matches
    found = progress()
    turned = tuple(
        replace(each, result=replace(each.result, goals=(0, 100) if each.result.players[0] == "=1+1" else (100, 0),
                                     errors=tuple(int(player == "<b>") for player in each.result.players)))
        for each in found.ended
    )  # fmt: skip
    found = replace(found, plan=plan, ended=turned)
    first, second = table_of(found)
    assert (first.player, first.score, second.score) == ("=1+1", 4.0, 0.0)
    assert (first.elo or 0) > (second.elo or 0)
    assert summary(found)["sprt"]["pentanomial"] == [0, 0, 0, 0, 2]
    assert html(found).count("forfeited by &lt;b&gt;") == 4
