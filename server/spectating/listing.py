"""Matches in lists, as anybody may see them: what each is, who plays, how far it is, how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from server.spectating.source import Source
from server.storage.listing import Filter
from server.storage.rows import MatchRow, SeatRow

Listed: TypeAlias = dict[str, Any]


def is_veiled(match: MatchRow) -> bool:
    """Return whether nobody is to know yet which game is played: names are scrambled, and the match is not over."""
    if not match.is_secret:
        return False
    text = match.order["text"]
    return bool(text["scramble"]) or any(seat.get("scramble") for seat in text["players"].values())


async def listed(source: Source, matches: Sequence[MatchRow]) -> list[Listed]:
    """Return what lists show of *matches*, in their order."""
    seats = await source.matches.seats([match.id for match in matches])
    return [_listed(match, seats[match.id]) for match in matches]


def _listed(match: MatchRow, seats: Iterable[SeatRow]) -> Listed:
    text = match.order["text"]
    found: Listed = {
        "id": match.id,
        "status": match.status,
        "steps": match.n_steps,
        "errors": match.n_errors,
        "startClock": text["startClock"],
        "playClock": text["playClock"],
        "isHidden": match.is_secret,
        "created": match.created_ms,
    }
    times = {"started": match.started_ms, "ended": match.ended_ms, "tournament": match.tournament}
    found |= {name: value for name, value in times.items() if value is not None}
    if is_veiled(match):
        return found
    found |= {"game": match.game, "players": {seat.role: seat.player for seat in seats}}
    if "from" in text:
        found["from"] = {"match": text["from"]["match"], "step": text["from"]["step"]}
    return found if match.goals is None else found | {"result": {seat.role: seat.goal for seat in seats}}


async def page(
    source: Source, wanted: Filter, before: str | None = None, limit: int = 50
) -> tuple[list[Listed], str | None]:
    """Return up to *limit* matches that are as *wanted*, the newest first, and the id to go on from, if there are more.

    Whoever asks for a game is not shown the matches of which nobody may know yet that they are of it.

    Raises:
        UnknownMatchError: there is no match with the id *before*.
    """
    rows = await source.matches.listed(**asdict(wanted), before=before, limit=limit)
    shown = [match for match in rows if wanted.game is None or not is_veiled(match)]
    return await listed(source, shown), rows[-1].id if len(rows) == limit else None
