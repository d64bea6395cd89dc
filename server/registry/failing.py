"""Which players of a match did nothing but fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from server.match.verdicts import CONNECTION_ERROR, TIME_OUT

_FAILURES = frozenset((TIME_OUT, CONNECTION_ERROR))


def has_only_failed(record: Mapping[str, Any]) -> dict[str, bool]:
    """Return by player whether nothing but time-outs and dead connections came of it in the match of a public *record*.

    A player that nobody asked anything has not failed; one in several seats has only failed if it did so in all.
    """
    found: dict[str, bool] = {}
    for place, player in enumerate(record.get("playerNamesFromHost", ())):
        errors = [step[place] for step in record.get("errors", ()) if place < len(step)]
        found[player] = _is_failure(errors) and found.get(player, True)
    return found


def _is_failure(errors: Sequence[str]) -> bool:
    return bool(errors) and all(error in _FAILURES for error in errors)
