"""The filters of templates: numbers, times and codes in words, as pages show them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup, escape

from gdl.quantities import quantity
from server import clock
from server.match.verdicts import BUSY
from server.storage.tournament_rows import TournamentRow

_ERRORS: Final = {"TO": "too late", "CE": "no connection", "IL": "illegal move"}
_STATUSES: Final = {
    "lobby": "waiting for people",
    "queued": "waiting",
    "running": "live",
    "completed": "completed",
    "aborted": "aborted",
    "failed": "failed",
}
_UNITS: Final = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"))
_CODE: Final = re.compile(r"`([^`]+)`")


def sentence(said: object) -> str:
    """Return what was *said* with a full stop, unless it ends like a sentence already.

    >>> sentence("no such player"), sentence("did you mean mcts?")
    ('no such player.', 'did you mean mcts?')
    """
    text = str(said)
    return text if text.endswith((".", "?", "!")) else f"{text}."


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
            return f"{quantity(passed // size, name)} ago"
    return "just now"


def minutes_left(until_ms: int, now_ms: int | None = None) -> str:
    """Return how long it is to a moment, in minutes begun: `27 minutes`."""
    left_ms = until_ms - (clock.now_ms() if now_ms is None else now_ms)
    return quantity(max(1, -(-left_ms // 60_000)), "minute")


def seconds(elapsed_ms: float | None) -> str:
    """Return a time that a player took: `0.42 s`."""
    if elapsed_ms is None:
        return ""
    taken_s = elapsed_ms / 1000
    return f"{taken_s:.2f} s" if taken_s < 10 else f"{taken_s:.1f} s" if taken_s < 60 else _minutes(taken_s)


def _minutes(taken_s: float) -> str:
    minutes, left_s = divmod(round(taken_s), 60)
    return f"{minutes} min {left_s:02} s"


def error_words(code: str) -> str:
    """Return in words what is wrong with a reply: the codes of records, such as `TO` or `IL ( mark 9 9 )`."""
    if code == BUSY:
        return "busy"
    kind, _, rest = code.partition(" ")
    words = _ERRORS.get(kind, kind)
    return f"{words}: {plain_term(rest)}" if rest else words


def plain_term(text: str) -> str:
    """Return a term of a record as rule files write it, without the blanks inside parentheses."""
    return text.replace("( ", "(").replace(" )", ")")


def points(value: float) -> str:
    """Return a score as tables show it, halves as a fraction.

    >>> points(2.5), points(0.5), points(3.0), points(66.666)
    ('2½', '½', '3', '66.67')
    """
    if (2 * value).is_integer() and value >= 0:
        whole, has_half = int(value), not float(value).is_integer()
        return f"{whole:,}" if not has_half else f"{whole:,}½" if whole else "½"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def status_word(status: str) -> str:
    """Return the status of a match as pages call it."""
    return _STATUSES.get(status, status)


def segment(text: str) -> str:
    """Return *text* as one segment of the path of an address, whatever it holds.

    >>> segment("a/b {x}")
    'a%2Fb%20%7Bx%7D'
    """
    return quote(text, safe="")


def with_code(text: str) -> Markup:
    """Return *text* as HTML, in which what stands between backticks is code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 -- the text is escaped


def takes_entries(row: TournamentRow) -> bool:
    """Return whether owners can enter their players in the tournament now."""
    return row.admits(clock.now_ms())


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "ago": ago,
    "quantity": quantity,
    "date": date,
    "error_words": error_words,
    "machine_date": machine_date,
    "minutes_left": minutes_left,
    "plain_term": plain_term,
    "points": points,
    "seconds": seconds,
    "segment": segment,
    "status_word": status_word,
    "takes_entries": takes_entries,
    "with_code": with_code,
}
