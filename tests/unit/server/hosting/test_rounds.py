"""Rounds by the clock: which matches are ordered, when to look again, and who has lost by not coming."""

from __future__ import annotations

from dataclasses import replace

from server.hosting.rounds import (
    ABSENCE_LOOK_MS,
    MAX_GAP_MS,
    NEVER,
    Absences,
    next_round_ms,
    open_rounds,
    standstill,
    wait_reasons_of,
    wakes_ms,
)
from server.registry.queueing import Hindrance, WaitReason
from server.storage.rows import MatchStatus
from server.storage.tournament_rows import FixtureRow, InterventionKind, InterventionRow, TournamentStatus
from server.storage.tournaments import StoredTournament
from server.tournament.fixtures import ScheduledMatch
from server.tournament.timetable import Every, Timetable
from tests.kit.server.hosting.tournaments import entrants, tournament

MATCH = ScheduledMatch("m", "tictactoe", ("p0", "p1"), 1, 2, 1, "pair", "set")
TIMED = Timetable(rounds_begin=Every(every_seconds=10))


def fixture(match_id: str, number: int, ordered_ms: int | None = None, *players: str) -> FixtureRow:
    match = replace(MATCH, match_id=match_id, round=number, players=players or MATCH.players)
    return FixtureRow(match, status=None if ordered_ms is None else MatchStatus.QUEUED, ordered_ms=ordered_ms)


def stored(*fixtures: FixtureRow, timetable: Timetable | None = None) -> StoredTournament:
    return StoredTournament(tournament(timetable=timetable), tuple(entrants("legal", "deep", "wide")), fixtures)


def test_rounds_without_a_timetable_are_all_admitted() -> None:
    found = stored(fixture("a", 1, 100), fixture("b", 2), fixture("c", 3))
    rounds = open_rounds(found, 101)
    assert rounds.may_begin_next
    assert rounds.admitted(one.match for one in found.fixtures) == {"a", "b", "c"}
    assert wakes_ms(found, 101) == NEVER


def test_a_timed_round_begins_so_long_after_the_order_of_the_one_before() -> None:
    found = stored(fixture("a", 1, 100), fixture("b", 1, 300), fixture("c", 2), fixture("d", 3), timetable=TIMED)
    matches = [one.match for one in found.fixtures]
    early, late = open_rounds(found, 10_099), open_rounds(found, 10_100)
    assert (early.last, early.next_ms, early.may_begin_next, late.may_begin_next) == (1, 10_100, False, True)
    assert early.admitted(matches) == {"a", "b"}
    assert late.admitted(matches) == {"a", "b", "c"}
    assert (wakes_ms(found, 10_099), wakes_ms(found, 10_100)) == (10_100, NEVER)


def test_the_next_round_is_known_while_it_is_waited_for_and_one_follows() -> None:
    found = stored(fixture("a", 1, 100), fixture("b", 2), timetable=TIMED)
    last = stored(fixture("a", 1, 100), fixture("b", 2, 300), fixture("c", 3, 500), timetable=TIMED)
    over = replace(found, row=replace(found.row, status=TournamentStatus.OVER))
    asked = ((found, 10_099), (found, 10_100), (last, 501), (over, 501), (stored(fixture("a", 1, 100)), 501))
    assert [next_round_ms(*each) for each in asked] == [10_100, None, None, None, None]


def test_the_first_round_begins_at_once_and_one_without_matches_is_left_out() -> None:
    first = stored(fixture("a", 1), fixture("c", 3), timetable=TIMED)
    assert open_rounds(first, 5).admitted(one.match for one in first.fixtures) == {"a"}
    later = stored(fixture("a", 1, 5), fixture("c", 3), timetable=TIMED)
    assert open_rounds(later, 10_005).admitted([later.fixtures[1].match]) == {"c"}


def test_a_round_is_drawn_when_it_begins_and_a_replay_at_once() -> None:
    rounds = open_rounds(stored(fixture("a", 1, 100), timetable=TIMED), 200)
    assert [rounds.may_be_drawn(replace(MATCH, round=number)) for number in (1, 2)] == [True, False]


def test_a_tournament_that_has_not_begun_wakes_at_its_start() -> None:
    starting = Timetable.model_validate({"starts": "1970-01-01T00:01:00Z"})
    opened = replace(stored(timetable=starting), row=tournament(status=TournamentStatus.OPEN, timetable=starting))
    assert wakes_ms(opened, 5) == 60_000
    assert wakes_ms(replace(opened, row=tournament(status=TournamentStatus.PAUSED, timetable=starting)), 5) == NEVER


def test_who_is_not_there_for_so_long_loses_the_matches_that_wait() -> None:
    timetable = Timetable(absence_limit=10)
    found = stored(
        fixture("a", 1, 1_000), fixture("b", 1, 9_000), fixture("c", 1, 1_000, "p0", "p2"),
        replace(fixture("d", 1, 1_000), status=MatchStatus.RUNNING), timetable=timetable,
    )  # fmt: skip
    absences = Absences()
    absences.note({"legal", "deep"}, {"deep"}, 2_000)
    absences.note({"legal", "deep"}, {"deep"}, 11_000)
    assert absences.lost(found, 11_999) == {}
    assert absences.lost(found, 12_000) == {"a": ("p1",)}
    assert wakes_ms(found, 11_000) == 11_000 + ABSENCE_LOOK_MS
    absences.note({"deep"}, set(), 12_500)
    absences.note({"deep"}, {"deep"}, 13_000)
    assert absences.lost(found, 20_000) == {}
    absences.note({"legal"}, {"legal"}, 13_500)
    assert absences.lost(found, 23_500) == {"a": ("p0", "p1"), "b": ("p0", "p1"), "c": ("p0",)}


def test_a_tournament_of_which_no_match_is_played_waits_for_what_its_matches_in_the_queue_wait_for() -> None:
    deep, core = WaitReason({"deep": Hindrance.PAUSED}), WaitReason(needs_core=True)
    found = stored(fixture("a", 1, 0), fixture("b", 1, 0), fixture("c", 2))
    assert wait_reasons_of(found, {"a": deep, "c": core, "another's": core}) == {"a": deep}
    assert standstill(found, {"a": deep, "b": core}) == WaitReason({"deep": Hindrance.PAUSED}, needs_core=True)
    assert standstill(found, {}) is None
    played = replace(found.fixtures[1], status=MatchStatus.RUNNING)
    assert standstill(replace(found, fixtures=(found.fixtures[0], played)), {"a": deep}) is None


def test_an_absence_counts_anew_after_a_time_in_which_the_server_did_not_look() -> None:
    found = stored(fixture("a", 1, 0), timetable=Timetable(absence_limit=10))
    absences = Absences()
    absences.note({"deep"}, {"deep"}, 5_000)
    absences.note({"deep"}, {"deep"}, 5_001 + MAX_GAP_MS)
    assert absences.lost(found, 15_000 + MAX_GAP_MS) == {}
    absences.note({"deep"}, {"deep"}, 15_001 + MAX_GAP_MS)
    assert absences.lost(found, 15_001 + MAX_GAP_MS) == {"a": ("p1",)}


def test_an_absence_counts_from_the_end_of_a_pause() -> None:
    resumed = InterventionRow(InterventionKind.RESUME, "ann", 20_000)
    paused = stored(fixture("a", 1, 0), timetable=Timetable(absence_limit=10))
    found = replace(paused, interventions=(resumed,))
    absences = Absences()
    for at_ms in (0, 15_000, 30_000):
        absences.note({"deep"}, {"deep"}, at_ms)
    assert absences.lost(found, 29_999) == {}
    assert absences.lost(found, 30_000) == {"a": ("p1",)}


def test_a_match_waits_for_the_absent_where_the_timetable_says_nothing() -> None:
    absences = Absences()
    absences.note({"deep"}, {"deep"}, 0)
    assert absences.lost(stored(fixture("a", 1, 0)), 10**12) == {}
