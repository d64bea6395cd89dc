"""The timetable: weekly moments in a time zone, over changes of its clock, and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from gdl.violations import first_violation, violation_message, violation_text, violations
from server.tournament.timetable import Every, Timetable, Weekly

MONDAYS = Weekly.model_validate({"weekday": "monday", "time": "18:00", "zone": "Europe/Berlin"})


def ms(text: str) -> int:
    return round(1000 * datetime.fromisoformat(text).timestamp())


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-11-18T12:00:00+01:00", "2026-11-23T18:00:00+01:00"),
        ("2026-11-22T18:00:01+01:00", "2026-11-23T18:00:00+01:00"),
        ("2026-11-23T18:00:00+01:00", "2026-11-30T18:00:00+01:00"),
        ("2026-11-22T23:30:00+00:00", "2026-11-23T18:00:00+01:00"),  # it is Monday there already
        ("2026-10-19T18:00:00+02:00", "2026-10-26T18:00:00+01:00"),  # the clock was set back in between
        ("2027-03-22T18:00:00+01:00", "2027-03-29T18:00:00+02:00"),
    ],
)
def test_weekly_rounds_begin_at_the_same_time_of_day(at: str, expected: str) -> None:
    assert MONDAYS.after(ms(at)) == ms(expected)


@pytest.mark.parametrize(
    ("began", "expected"),
    [
        ("2026-11-23T17:59:59.600+01:00", "2026-11-30T18:00:00+01:00"),  # by a clock that is behind
        ("2026-11-23T10:00:00+01:00", "2026-11-30T18:00:00+01:00"),  # resumed on the day of the next round
        ("2026-11-23T06:00:00.001+01:00", "2026-11-30T18:00:00+01:00"),
        ("2026-11-23T06:00:00+01:00", "2026-11-23T18:00:00+01:00"),
    ],
)
def test_a_round_that_begins_less_than_half_a_day_early_is_that_of_the_week(began: str, expected: str) -> None:
    timetable = Timetable(rounds_begin=MONDAYS)
    assert timetable.round_begins_ms(ms(began)) == ms(expected)


def test_a_time_of_day_that_the_clock_leaves_out_is_an_hour_later() -> None:
    sundays = Weekly.model_validate({"weekday": "sunday", "time": "02:30", "zone": "Europe/Berlin"})
    assert sundays.after(ms("2027-03-27T12:00:00+01:00")) == ms("2027-03-28T03:30:00+02:00")


def test_rounds_wait_for_the_one_before_or_for_nothing() -> None:
    assert Every(every_seconds=2.5).after(1_000) == 3_500
    timetable = Timetable(rounds_begin=Every(every_seconds=2.5))
    assert (timetable.round_begins_ms(None), timetable.round_begins_ms(1_000)) == (0, 3_500)
    assert Timetable().round_begins_ms(1_000) == 0


def test_entry_closes_at_its_time_or_at_the_start() -> None:
    closing = Timetable.model_validate({"entryCloses": "2026-11-23T18:00:00+01:00", "starts": "2026-11-23T19:00:00Z"})
    assert [closing.admits(ms(f"2026-11-23T{at}+01:00")) for at in ("17:59:59", "18:00:00")] == [True, False]
    starting = Timetable.model_validate({"starts": "2026-11-23T19:00:00Z"})
    assert [starting.admits(ms(f"2026-11-23T{at}+00:00")) for at in ("18:59:59", "19:00:00")] == [True, False]
    assert starting.starts_ms == ms("2026-11-23T19:00:00+00:00")
    assert Timetable().admits(2**50)


@pytest.mark.parametrize(
    ("at", "same"),
    [
        ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59.999Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z"),
        ("0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00Z"),
    ],
)
def test_a_time_outside_of_the_calendar_is_at_its_end(at: str, same: str) -> None:
    """Earlier versions took such orders, and every list of tournaments reads them again."""
    kept = Timetable.model_validate({"entryCloses": at, "starts": at})
    assert (kept.entry_closes_ms, kept.starts_ms) == (ms(same), ms(same))


@pytest.mark.parametrize(
    "words",
    [
        {"starts": "2026-11-23T19:00:00"},  # in which zone?
        {"starts": "soon"},
        {"entryCloses": "2026-11-23T19:00:01Z", "starts": "2026-11-23T19:00:00Z"},
        {"roundsBegin": {"weekday": "caturday", "time": "18:00", "zone": "Europe/Berlin"}},
        {"roundsBegin": {"weekday": "monday", "time": "18:00", "zone": "Europe/Nowhere"}},
        {"roundsBegin": {"weekday": "monday", "time": "18:00", "zone": "../../etc/passwd"}},
        {"roundsBegin": {"weekday": "monday", "time": "18:00+01:00", "zone": "Europe/Berlin"}},
        {"roundsBegin": {"everySeconds": 0}},
        {"absenceLimit": 0},
    ],
)
def test_what_is_no_timetable_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Timetable.model_validate(words)


@pytest.mark.parametrize(
    ("rounds", "told"),
    [
        (
            {"weekday": "montag", "time": "18:00", "zone": "Europe/Berlin"},
            "roundsBegin.weekday: must be 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', "
            "'saturday' or 'sunday'",
        ),
        (
            {"weekday": "monday", "time": "18:00", "zone": "Berlin"},
            "roundsBegin.zone: there is no time zone 'Berlin'; one is called Europe/Berlin",
        ),
        ({"weekday": "monday", "zone": "Europe/Berlin"}, "roundsBegin.time: missing"),
        ({"everySeconds": "often"}, "roundsBegin.everySeconds: must be a number"),
        ({"everyHour": 1}, "roundsBegin.everyHour: unknown key"),
        (3600, "roundsBegin: must have keys and values"),
    ],
)
def test_what_is_wrong_with_the_beginning_of_rounds_is_told_of_the_kind_that_is_meant(
    rounds: object, told: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        Timetable.model_validate({"roundsBegin": rounds})
    assert violation_text(first_violation(caught.value)) == told


@pytest.mark.parametrize("at", [2027, 2027.5, True, "2027", "20271201", "-5", "1e9", "2027-12-01"])
def test_what_is_no_date_and_time_is_never_taken_for_seconds(at: object) -> None:
    with pytest.raises(ValidationError) as caught:
        Timetable.model_validate({"starts": at})
    assert [violation_message(details) for details in violations(caught.value)] == [
        "must be a date and time, as in 2026-05-01T18:00:00+02:00"
    ]


@pytest.mark.parametrize("at", ["2026-11-23T19:00:00Z", "2026-11-23 19:00Z", datetime(2026, 11, 23, 19, tzinfo=UTC)])
def test_a_moment_is_a_text_or_a_date_and_time_of_toml(at: object) -> None:
    assert Timetable.model_validate({"starts": at}).starts_ms == ms("2026-11-23T19:00:00Z")


def test_a_timetable_is_kept_as_json_and_read_again() -> None:
    words = {
        "starts": "2026-11-23T19:00:00Z", "absence_limit": 90.0,
        "rounds_begin": {"weekday": "monday", "time": "18:00:00", "zone": "Europe/Berlin"},
    }  # fmt: skip
    timetable = Timetable.model_validate(words)
    assert timetable.model_dump(mode="json", exclude_none=True) == words
