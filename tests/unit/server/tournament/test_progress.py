"""A tournament so far: its table, what is rated, and what a sequential test counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from server.errors import ScheduleError
from server.tournament.fixtures import MatchResult, ScheduledMatch, TournamentGame, forfeit
from server.tournament.plan import TournamentPlan
from server.tournament.progress import PlayedMatch, Progress, absent_players, is_decided, played_match, sprt_counts
from server.tournament.summary import sprt_line
from server.tournament.table import head_to_head, table_of
from tests.kit.server.tournament import result_of

Ending = Callable[[ScheduledMatch], MatchResult]


def new_progress(players: str, **terms: Any) -> Progress:
    """Return a tournament that has not begun, of players with names of a letter and of one game of two roles."""
    plan = TournamentPlan.model_validate({"games": ["g"], "players": dict.fromkeys(players, "legal"), **terms})
    return Progress(plan, (TournamentGame("g", 2),), (), ())


def played_out(progress: Progress, ending: Ending) -> Progress:
    """Return the tournament when it is over; *ending* says how each match ends."""
    while matches := progress.next_matches():
        ended = tuple(PlayedMatch(ending(match), (0, 0), (0, 0)) for match in matches)
        progress = replace(progress, scheduled=(*progress.scheduled, *matches), ended=(*progress.ended, *ended))
    return progress


def result_by_name(match: ScheduledMatch) -> MatchResult:
    return result_of(match, (100 - ord(player) for player in match.players))


def places(progress: Progress) -> list[tuple[int, str, float]]:
    """Return rank, name and score of each row of the table."""
    return [(row.rank, row.player, row.score) for row in table_of(progress)]


def test_the_winner_of_a_knockout_is_first_though_another_has_more_points() -> None:
    """There a has a bye, and beats c by 3/2 to 1/2; c has beaten b by 2 to 0."""

    def ending(match: ScheduledMatch) -> MatchResult:
        goals = {"a": 100, "b": 0, "c": 50} if match.players != ("c", "a") else {"a": 50, "c": 50}
        return result_of(match, (goals[player] for player in match.players))

    assert places(played_out(new_progress("abc", format="knockout"), ending)) == [
        (1, "a", 1.5),
        (2, "c", 2.5),
        (3, "b", 0.0),
    ]


def test_those_whom_a_round_of_a_knockout_puts_out_share_a_place() -> None:
    assert [row[:2] for row in places(played_out(new_progress("abcd", format="knockout"), result_by_name))] == [
        (1, "a"), (2, "b"), (3, "c"), (3, "d"),
    ]  # fmt: skip
    assert [row[:2] for row in places(played_out(new_progress("abcd", format="double-knockout"), result_by_name))] == [
        (1, "a"), (2, "b"), (3, "c"), (4, "d"),
    ]  # fmt: skip


def test_a_match_that_is_over_reads_back_from_its_line() -> None:
    result = MatchResult("g", ("a", "b"), (100, 0), (0, 2), "m1", ("b",))
    played = PlayedMatch(result, (10, 20), (3, 4), 7, 1_000, 0.25)
    assert played_match(json.loads(json.dumps(played.as_json()))) == played


def meetings(progress: Progress) -> list[str]:
    """Return who meets in each pairing, in alphabetical order."""
    return ["".join(sorted(pairing.players)) for pairing in progress.competition.pairings]


def test_in_a_ladder_those_meet_who_are_free_and_of_whom_least_is_known() -> None:
    begun = new_progress("abcd", format="ladder", rounds=9)
    first = begun.next_matches(busy="cd")
    progress = replace(begun, scheduled=first, ended=tuple(PlayedMatch(result_of(match, (50, 50))) for match in first))
    met = [meetings(replace(progress, scheduled=(*first, *progress.next_matches(busy)))) for busy in ("", "ac", "abc")]
    assert met == [["ab", "cd"], ["ab", "bd"], ["ab"]]


def test_a_ladder_ends_after_as_many_meetings_as_it_has_rounds() -> None:
    assert len(meetings(played_out(new_progress("abcd", format="ladder", rounds=3), result_by_name))) == 3


def test_a_sequential_test_needs_a_game_of_two_roles() -> None:
    games = (TournamentGame("trio", 3), TournamentGame("puzzle", 1))
    with pytest.raises(ScheduleError, match=r"^a sequential test is of matches of two roles, which none of its games "):
        replace(new_progress("ab", sprt={}), games=games).next_matches()
    assert replace(new_progress("abc"), games=games).next_matches()


def test_a_sequential_test_leaves_out_sets_with_a_match_to_which_a_player_did_not_come() -> None:
    """There a has won both matches of the first set, and lost the others but one, to which b did not come."""
    begun = new_progress("ab", rounds=3, sprt={})
    scheduled = begun.next_matches()
    winners = ("a", "a", "a", "b", "b", "b")
    results = [
        result_of(match, (100 if player == winner else 0 for player in match.players))
        for match, winner in zip(scheduled, winners, strict=True)
    ]
    results[2] = forfeit(scheduled[2], ["b"])
    ended = tuple(PlayedMatch(result, (0, 0), (0, 0)) for result in results)
    assert sprt_counts(replace(begun, scheduled=scheduled, ended=ended)) == (1, 0, 0, 0, 1)


def test_a_match_that_both_have_lost_is_a_loss_of_each_and_is_not_rated() -> None:
    begun = new_progress("ab", forfeit_errors=3)
    scheduled = begun.next_matches()
    results = (forfeit(scheduled[0], "ab"), replace(result_of(scheduled[1], (100, 0)), errors=(5, 5)))
    ended = tuple(PlayedMatch(result, (0, 0), (0, 0)) for result in results)
    progress = replace(begun, scheduled=scheduled, ended=ended)
    assert [(row.player, row.score, row.wins, row.draws, row.losses) for row in table_of(progress)] == [
        ("a", 0.0, 0, 0, 2), ("b", 0.0, 0, 0, 2),
    ]  # fmt: skip
    assert head_to_head(progress.results, "ab", progress.plan.scoring) == [["", "0/2"], ["0/2", ""]]
    assert progress.rated_results == ()


def test_the_mean_goal_is_of_the_goals_that_count() -> None:
    begun = new_progress("ab", forfeit_errors=3)
    scheduled = begun.next_matches()
    results = [replace(result_of(match, (100, 0)), errors=(5, 0)) for match in scheduled]
    progress = replace(begun, scheduled=scheduled, ended=tuple(PlayedMatch(each, (0, 0), (0, 0)) for each in results))
    assert {row.player: row.mean_goal for row in table_of(progress)} == {"a": 50.0, "b": 50.0}
    lost_one = replace(progress, ended=progress.ended[:1])
    assert {row.player: row.mean_goal for row in table_of(lost_one)} == {"a": 0.0, "b": 100.0}


def test_who_has_lost_by_errors_is_behind_a_player_with_as_many_goals() -> None:
    begun = new_progress("ab", forfeit_errors=3)
    scheduled = begun.next_matches()[:1]
    ended = PlayedMatch(replace(result_of(scheduled[0], (0, 0)), errors=(0, 3)), (0, 0), (0, 0))
    progress = replace(begun, scheduled=scheduled, ended=(ended,))
    first, second = table_of(progress)
    assert [(row.player, row.score, row.wins, row.draws, row.losses) for row in (first, second)] == [
        ("a", 1.0, 1, 0, 0), ("b", 0.0, 0, 0, 1),
    ]  # fmt: skip
    assert head_to_head(progress.results, "ab", progress.plan.scoring) == [["", "1/1"], ["0/1", ""]]
    assert first.rating is not None is not second.rating
    assert first.rating.elo > second.rating.elo


def after(n: int, ending: Callable[[ScheduledMatch], PlayedMatch]) -> Progress:
    """Return a sequential test of a and b after *n* matches, which end as *ending* says."""
    begun = new_progress("ab", sprt={}, rounds=10)
    scheduled = begun.next_matches()[:n]
    return replace(begun, scheduled=scheduled, ended=tuple(map(ending, scheduled)))


def without_b(match: ScheduledMatch) -> PlayedMatch:
    """Return a draw between a and substitutes of b, which failed in each of five steps and at the start."""
    errors = tuple(6 if player == "b" else 2 for player in match.players)
    return PlayedMatch(replace(result_of(match, (50, 50)), errors=errors), n_steps=5)


def without_both(match: ScheduledMatch) -> PlayedMatch:
    return PlayedMatch(forfeit(match, "ab"))


@pytest.mark.parametrize(("ending", "names"), [(without_b, "b"), (without_both, "a and b")])
def test_a_sequential_test_ends_after_four_matches_to_which_a_player_did_not_come(
    ending: Callable[[ScheduledMatch], PlayedMatch], names: str
) -> None:
    assert [is_decided(after(n, ending)) for n in (3, 4)] == [False, True]
    said = f", ended undecided, since no move of {names} counted in any match: begin anew when that answers"
    assert (sprt_line(after(4, ending)) or "").endswith(said)


def test_a_tournament_without_a_sequential_test_is_never_decided_by_one() -> None:
    assert not is_decided(new_progress("ab"))


def test_a_player_that_came_once_is_not_absent() -> None:
    found = after(6, without_b)
    last = replace(found.ended[-1], n_steps=7)
    assert not is_decided(replace(found, ended=(*found.ended[:-1], last)))


@pytest.mark.parametrize(
    ("n_steps", "errors", "is_absent"),
    [(5, (0, 6), True), (5, (0, 5), True), (5, (0, 4), False), (1, (0, 1), True), (0, (0, 1), False), (1, (), False)],
)
def test_a_player_is_absent_whose_moves_are_all_errors(
    n_steps: int, errors: tuple[int, ...], *, is_absent: bool
) -> None:
    """Where it is not known how many steps a match had, and which errors, it is taken to have come."""

    def ending(match: ScheduledMatch) -> PlayedMatch:
        seated = errors if match.players == ("a", "b") else errors[::-1]
        return PlayedMatch(replace(result_of(match, (50, 50)), errors=seated), n_steps=n_steps)

    assert absent_players(after(4, ending)) == (("b",) if is_absent else ())
