"""Where the time of a profiled server is counted."""

from __future__ import annotations

from benchmarks.load import profiling
from benchmarks.load.profiling import Counted, by_part, report

_LINKS = ("/x/server/links/http_player.py", 10, "deliver")
_STORAGE = ("/x/server/storage/writer.py", 20, "put")
_JSON = ("/lib/json/encoder.py", 30, "encode")
_C = ("~", 0, "<built-in method len>")
_COUNTED: Counted = {
    _LINKS: (1, 1, 0.25, 1.0, {}),
    _STORAGE: (1, 1, 0.5, 2.0, {}),
    _JSON: (4, 4, 1.0, 1.5, {_LINKS: (1, 1, 0.25, 0.375), _STORAGE: (3, 3, 0.75, 1.125)}),
    _C: (4, 4, 0.5, 0.5, {_JSON: (4, 4, 0.5, 0.5)}),
}


def test_what_libraries_do_belongs_to_what_calls_them() -> None:
    """The encoder works a quarter for the link, three quarters for the database, and so does what it calls."""
    assert by_part(_COUNTED) == {"HTTP to players": 0.625, "journal and database": 1.625}


def test_functions_without_a_caller_are_others() -> None:
    assert by_part({_JSON: (1, 1, 2.0, 2.0, {})}) == {"other": 2.0}


def test_the_report_counts_for_each_step() -> None:
    lines = report(_COUNTED, 10, "step", 1).splitlines()
    assert lines[2:5] == [
        "| journal and database | 162.50 | 72% |",
        "| HTTP to players | 62.50 | 28% |",
        "| all | 225.00 | |",
    ]
    assert lines[-2].endswith("json/encoder.py:30(encode)")


def test_profiles_count_from_one_call_to_the_next() -> None:
    profiles = profiling.Profiles()
    with profiles.thread():
        sorted([3, 1, 2])
    first = profiles.take()
    assert _n_calls(first, "sorted") == 1
    with profiles.thread():
        sorted([3, 1, 2])
        sorted([3, 1, 2])
    assert _n_calls(profiles.take(), "sorted") == 2


def _n_calls(counted: Counted, name: str) -> int:
    return sum(times[1] for function, times in counted.items() if name in function[2])
