"""Numbers, times and codes in the words of the pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from server.match import clock

_ERRORS: Final = {"TO": "too late", "CE": "no connection", "IL": "illegal move"}
_STATUSES: Final = {
    "queued": "waiting",
    "running": "live",
    "completed": "completed",
    "aborted": "aborted",
    "failed": "failed",
}
_UNITS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"))


def date(at_ms: int | None) -> str:
    """Return a moment as people read it, in universal time: `2026-11-22 02:40`."""
    return "" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")


def machine_date(at_ms: int | None) -> str:
    """Return a moment as the attribute `datetime` has it."""
    return "" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")


def ago(at_ms: int | None, now_ms: int | None = None) -> str:
    """Return how long ago a moment was, in the largest unit that fits."""
    if at_ms is None:
        return ""
    passed = (clock.now_ms() if now_ms is None else now_ms) - at_ms
    for size, name in _UNITS:
        if passed >= size:
            return f"{counted(passed // size, name)} ago"
    return "just now"


def seconds(elapsed_ms: float | None) -> str:
    """Return a time that somebody took: `0.42 s`."""
    if elapsed_ms is None:
        return ""
    taken_s = elapsed_ms / 1000
    return f"{taken_s:.2f} s" if taken_s < 10 else f"{taken_s:.1f} s" if taken_s < 60 else _minutes(taken_s)


def _minutes(taken_s: float) -> str:
    minutes, left_s = divmod(round(taken_s), 60)
    return f"{minutes} min {left_s:02} s"


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 step`, `2,500 steps`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def error_words(code: str) -> str:
    """Return in words what is wrong with a reply: the codes of records, such as `TO` or `IL ( mark 9 9 )`."""
    kind, _, rest = code.partition(" ")
    told = _ERRORS.get(kind, kind)
    return f"{told}: {plain_term(rest)}" if rest else told


def plain_term(text: str) -> str:
    """Return a term of a record as rule files write it, without the blanks inside parentheses."""
    return text.replace("( ", "(").replace(" )", ")")


def status_word(status: str) -> str:
    """Return the status of a match as pages call it."""
    return _STATUSES.get(status, status)


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "ago": ago,
    "counted": counted,
    "date": date,
    "error_words": error_words,
    "machine_date": machine_date,
    "plain_term": plain_term,
    "seconds": seconds,
    "status_word": status_word,
}
