"""Numbers, times and codes in words."""

from __future__ import annotations

import pytest

from server.web import template_filters

NOON_MS = 1_795_348_800_000


@pytest.mark.parametrize(
    ("passed_ms", "expected"),
    [
        (0, "just now"),
        (59_999, "just now"),
        (60_000, "1 minute ago"),
        (7_200_000, "2 hours ago"),
        (86_400_000 * 400, "400 days ago"),
    ],
)
def test_ages_are_in_the_largest_unit(passed_ms: int, expected: str) -> None:
    assert template_filters.ago(NOON_MS - passed_ms, NOON_MS) == expected


@pytest.mark.parametrize(
    ("elapsed_ms", "expected"),
    [(None, ""), (4, "0.00 s"), (420, "0.42 s"), (12_340, "12.3 s"), (60_000, "1 min 00 s"), (125_400, "2 min 05 s")],
)
def test_a_time_is_as_exact_as_it_is_short(elapsed_ms: int | None, expected: str) -> None:
    assert template_filters.seconds(elapsed_ms) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", ""),
        ("TO", "too late"),
        ("CE", "no connection"),
        ("IL", "illegal move"),
        ("IL ( mark 9 ( a b ) )", "illegal move: (mark 9 (a b))"),
        ("XX", "XX"),
    ],
)
def test_errors_have_words(code: str, expected: str) -> None:
    assert template_filters.error_words(code) == expected


def test_moments_are_in_universal_time() -> None:
    assert (template_filters.date(NOON_MS), template_filters.machine_date(NOON_MS)) == (
        "2026-11-22 12:00",
        "2026-11-22T12:00:00+00:00",
    )
    assert (template_filters.date(None), template_filters.machine_date(None), template_filters.ago(None)) == (
        "",
        "",
        "",
    )


def test_statuses_have_words_and_unknown_ones_are_left_alone() -> None:
    assert [template_filters.status_word(status) for status in ("queued", "running", "other")] == [
        "waiting",
        "live",
        "other",
    ]


def test_text_between_backticks_is_code_and_all_of_it_escaped() -> None:
    assert template_filters.with_code("no `(goal <b>)` & no `x") == "no <code>(goal &lt;b&gt;)</code> &amp; no `x"
