"""What the pages of tournaments show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from server.registry.queueing import Hindrance, WaitReason
from server.storage.rows import MatchStatus, SeatKind, SeatRow
from server.storage.tournament_rows import FixtureRow, PinnedGame, TournamentStatus
from server.storage.tournaments import StoredTournament
from server.tournament.fixtures import Meeting, TournamentGame, matches_of
from server.web.tournament_view import shown_tournament
from tests.kit.server.hosting.tournaments import entrants, tournament


def tournament_with(*statuses: str | None, end: str = "over", n_roles: int = 2, **terms: Any) -> StoredTournament:
    """Return a tournament that has ended, with a round for each of *statuses*: those of its matches."""
    row = tournament(status=TournamentStatus(end), **{"rounds": 2} | terms)
    row = replace(row, games={"tictactoe": PinnedGame("5ha", n_roles)})
    games = (TournamentGame("tictactoe", n_roles),)
    players = entrants("legal", "random")
    fixtures: list[FixtureRow] = []
    for number, status in enumerate(statuses, 1):
        found = None if status is None else MatchStatus(status)
        for match in matches_of(Meeting(("p0", "p1"), number, f"round {number}"), games, 7):
            seats = [SeatRow(match.match_id, "r", i, "legal", SeatKind.OWN, 50) for i in range(len(match.players))]
            fixtures.append(FixtureRow(match, status=found, seats=tuple(seats)))
    return StoredTournament(row, tuple(players), tuple(fixtures))


def test_after_the_end_only_results_count_as_played_and_what_was_not_ordered_is_not_scheduled() -> None:
    cancelled = shown_tournament(tournament_with("aborted", end="cancelled"))
    assert (cancelled.n_done, len(cancelled.fixtures)) == (0, 2)
    decided = shown_tournament(tournament_with("completed", None))
    assert [each.status for each in decided.fixtures.values()] == ["completed"] * 2 + ["not played"] * 2
    assert (decided.n_done, decided.current and decided.current.number) == (2, 1)


def test_an_entrant_without_a_match_has_a_bye_in_the_first_round_of_a_knockout_alone() -> None:
    found = tournament_with("completed", "completed", format="knockout")
    shown = shown_tournament(replace(found, entrants=tuple(entrants("legal", "random", "legal"))))
    assert [one.resting for one in shown.rounds] == [("p2",), ()]


def test_an_entrant_without_a_match_has_no_bye_in_a_round_robin_with_late_entrants() -> None:
    found = tournament_with("completed", "completed", format="round-robin")
    *early, last = entrants("legal", "random", "legal")
    fields = [(*early, last), (*early, replace(last, since_round=2))]
    shown = [shown_tournament(replace(found, entrants=field)) for field in fields]
    assert [[one.resting for one in each.rounds] for each in shown] == [[("p2",), ("p2",)], [(), ()]]


def test_goals_of_a_pairing_are_in_the_order_of_its_entrants_whatever_their_roles() -> None:
    found = tournament_with("completed")
    won_by_first_role = [
        replace(one, seats=tuple(replace(seat, goal=100 - 100 * seat.position) for seat in one.seats))
        for one in found.fixtures
    ]
    shown = shown_tournament(replace(found, fixtures=tuple(won_by_first_role)))
    (pairing,) = shown.rounds[0].pairings
    assert [one.players for one in pairing.fixtures] == [("p0", "p1"), ("p1", "p0")]
    assert [name for name, _ in pairing.players] == ["p0", "p1"]
    assert [pairing.goals(one) for one in pairing.fixtures] == [(100, 0), (0, 100)]


def test_a_tournament_says_whose_absence_keeps_it_and_not_that_players_are_busy_for_a_moment() -> None:
    found = tournament_with("queued", end="running")
    away, busy = WaitReason({"p0": Hindrance.PAUSED, "p1": Hindrance.BUSY}), WaitReason({"p1": Hindrance.BUSY}, True)
    first = found.fixtures[0].match.match_id
    kept = [shown_tournament(found, {first: reason}) for reason in (away, busy)]
    assert [one.standstill for one in kept] == ["waits for p0 (paused), p1 (busy)", ""]
    assert [one.fixtures[first].wait_reason for one in kept] == [away.words, busy.words]


def test_where_none_plays_against_another_there_is_no_cross_table() -> None:
    assert shown_tournament(tournament_with("completed", format="score-table", n_roles=1)).cross == ()


def test_the_cross_table_has_halves_as_the_scores_have_them() -> None:
    found = tournament_with("completed")
    (first, second), (won, lost) = found.fixtures, (100, 0)
    seats = tuple(replace(seat, goal=goal) for seat, goal in zip(first.seats, (won, lost), strict=True))
    shown = shown_tournament(replace(found, fixtures=(replace(first, seats=seats), second)))
    assert shown.cross == (("", "1½/2"), ("½/2", ""))


def test_whose_errors_lost_a_match_is_said_beside_the_goals_that_count() -> None:
    found = tournament_with("completed", forfeit_errors=2)
    first, second = found.fixtures
    failed = tuple(
        replace(seat, goal=100 - 100 * seat.position, n_errors=2 - 2 * seat.position) for seat in first.seats
    )
    shown = shown_tournament(replace(found, fixtures=(replace(first, seats=failed), second)))
    assert [(one.goals, one.note) for one in shown.fixtures.values()] == [
        ((0, 100), "lost by the errors of p0"), ((50, 50), ""),
    ]  # fmt: skip
