"""Two players head to head."""

from __future__ import annotations

from server.leaderboards.encounters import Encounters, MeetingTally, SeatTally, encounters_of, opponents
from server.storage.rows import RatedResult
from server.tournament.fixtures import MatchResult
from tests.kit.server.leaderboards.results import RESULTS, won

OWN = [*(each for each in RESULTS if set(each.result.players) == {"ada", "bob"}), won("bob", "ada", 6)]


def test_what_one_made_is_told_altogether_and_by_game_and_role() -> None:
    found = encounters_of("ada", "bob", OWN)
    assert found.total == MeetingTally(3, 2, 0, 1, 200 / 3, 100 / 3)
    assert found.seats == (
        SeatTally("chess", 0, MeetingTally(2, 2, 0, 0, 100.0, 0.0)),
        SeatTally("chess", 1, MeetingTally(1, 0, 0, 1, 0.0, 100.0)),
    )  # fmt: skip


def test_equal_goals_are_a_draw() -> None:
    drawn = RatedResult(MatchResult("chess", ("bob", "ada"), (50, 50), (0, 0), "m"), 1)
    assert encounters_of("ada", "bob", [drawn]).total == MeetingTally(1, 0, 1, 0, 50.0, 50.0)


def test_the_lead_is_that_of_the_first_above_the_other() -> None:
    ahead, behind = encounters_of("ada", "bob", OWN), encounters_of("bob", "ada", OWN)
    assert ahead.lead is not None
    assert behind.lead is not None
    assert ahead.superiority is not None
    assert behind.superiority is not None
    assert (ahead.lead.elo > 0, ahead.superiority > 0.5) == (True, True)
    assert round(ahead.lead.elo + behind.lead.elo, 6) == 0
    assert round(ahead.superiority + behind.superiority, 6) == 1


def test_the_latest_forty_matches_are_listed_the_newest_first() -> None:
    found = encounters_of("ada", "bob", [won("ada", "bob", at_ms) for at_ms in range(50)])
    assert [each.ended_ms for each in found.latest] == list(range(49, 9, -1))


def test_players_that_have_not_met_made_nothing() -> None:
    assert encounters_of("ada", "bob", []) == Encounters(None)


def test_opponents_are_those_met_the_most_frequent_ones_first() -> None:
    assert opponents("ada", [each for each in RESULTS if "ada" in each.result.players]) == [("bob", 2), ("cyd", 1)]


def test_an_opponent_with_two_seats_is_met_once() -> None:
    three = RatedResult(MatchResult("trio", ("ada", "bob", "bob"), (100, 50, 0), (0, 0, 0), "m9"), 9)
    assert opponents("ada", [three]) == [("bob", 1)]


def test_the_twelve_most_frequent_opponents_are_listed() -> None:
    results = [won("ada", f"p{n:02}", 100 * n + i) for n in range(15) for i in range(n + 1)]
    assert opponents("ada", results) == [(f"p{n:02}", n + 1) for n in range(14, 2, -1)]


def test_a_match_that_errors_lost_counts_as_lost_with_the_goals_that_count() -> None:
    by_substitutes = RatedResult(MatchResult("chess", ("ada", "bob"), (100, 0), (3, 0), "m"), 1, forfeit_errors=3)
    assert encounters_of("ada", "bob", [by_substitutes]).total == MeetingTally(1, 0, 0, 1, 0.0, 100.0)


def test_two_that_have_both_lost_all_their_matches_have_no_rating() -> None:
    both = RatedResult(MatchResult("chess", ("ada", "bob"), (50, 50), (3, 3), "m"), 1, forfeit_errors=3)
    found = encounters_of("ada", "bob", [both])
    assert (found.total, found.lead, found.superiority) == (MeetingTally(1, 0, 0, 1, 0.0, 0.0), None, None)
