"""The ladder of idle players: who meets, in which games, and what a new version counts as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from server.hosting.idle_ladder import Field, of_versions, order_of_match, pairings
from server.hosting.settings import LadderSettings
from server.storage.results import rated_results
from server.storage.rows import GameVersion, MatchPurpose, PlayerRow, RatedResult, SeatKind
from server.tournament.fixtures import MatchResult, ScheduledMatch, TournamentGame
from server.tournament.ratings import fit_ratings

GAMES = (TournamentGame("tictactoe", 2), TournamentGame("nim", 2))
LADDER = MatchPurpose.LADDER


def row(name: str, version: str | None = None) -> PlayerRow:
    return PlayerRow(name, SeatKind.HTTP, "me", 1, version=version)


def won(
    number: int, first: str, other: str, *versions: str | None, purpose: MatchPurpose | None = LADDER
) -> RatedResult:
    result = MatchResult("tictactoe", (first, other), (100, 0), (0, 0), f"m{number}")
    return RatedResult(result, number, versions, purpose)


def drawn_of(found: Sequence[RatedResult], rows: Mapping[str, PlayerRow], idle: str) -> tuple[ScheduledMatch, ...]:
    return pairings(found, fit_ratings(rated_results(of_versions(found, rows))), Field(rows, idle, GAMES), 7)


def test_every_idle_player_meets_one_other_with_each_seat_once() -> None:
    rows = {name: row(name) for name in "abcde"}
    drawn = drawn_of([], rows, "abcd")
    assert Counter(name for match in drawn for name in match.players) == dict.fromkeys("abcd", 2)
    assert {match.game for match in drawn} == {"tictactoe", "nim"}
    first, second = drawn[:2]
    assert (first.players, first.seed) == (second.players[::-1], second.seed)
    assert drawn_of([], rows, "abcd") == drawn


def test_those_meet_who_tell_most_and_the_game_that_was_played_least() -> None:
    rows = {name: row(name) for name in "abc"}
    found = [won(number, "a", "b") for number in range(40)]
    drawn = drawn_of(found, rows, "abc")
    assert {frozenset(match.players) for match in drawn} < {frozenset("ac"), frozenset("bc")}
    assert {match.game for match in drawn} == {"nim"}


def test_a_new_version_is_a_newcomer_and_the_old_one_keeps_its_results() -> None:
    rows = {"a": row("a", "2"), "b": row("b")}
    found = [won(number, "a", "b", "1", None) for number in range(5)] + [won(9, "b", "a", None, "2", purpose=None)]
    ratings = fit_ratings(rated_results(of_versions(found, rows)))
    assert {each.player: each.n_matches for each in ratings.players} == {"a 1": 5, "a": 1, "b": 6}


def test_too_few_idle_players_have_no_match() -> None:
    assert drawn_of([], {"a": row("a"), "b": row("b")}, "a") == ()


def test_a_match_of_the_ladder_has_its_clocks_and_seed() -> None:
    match = ScheduledMatch("m", "nim", ("a", "b"), 5, 6, 1, "pair", "set")
    version = GameVersion("nim", "5ha", "", ("left", "right"), is_gdl2=False, created_ms=1)
    order = order_of_match(match, version, LadderSettings(("nim",), 3, 2))
    assert (order.game, order.named_players, order.seed) == ("nim", {"left": "a", "right": "b"}, 5)
    assert (order.start_clock, order.play_clock) == (3, 2)
