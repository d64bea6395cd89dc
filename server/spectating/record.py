"""The record of a match as anybody may see it now."""

from __future__ import annotations

from typing import Any

from server.errors import UnknownMatchError
from server.records.record import MatchRecord, record_of
from server.spectating.source import Source
from server.storage.rows import QUEUED, MatchRow


async def known_match(source: Source, match_id: str) -> MatchRow:
    """Return the match of that id.

    Raises:
        UnknownMatchError: there is none.
    """
    found = await source.matches.get(match_id) if is_id(match_id) else None
    if found is None:
        raise UnknownMatchError(match_id)
    return found


def is_id(text: str) -> bool:
    """Return whether *text* could be the id of a match; a database may not even be asked for some texts."""
    return 0 < len(text) <= 200 and text.isascii() and text.isprintable()


async def public_record(source: Source, match_id: str) -> dict[str, Any]:
    """Return the match record: all of it after the end, before it what helps no player, with its `x-status`.

    Raises:
        UnknownMatchError: there is no such match.
    """
    match = await known_match(source, match_id)
    record = await journal(source, match_id)
    if not record.has_begun:
        return _not_begun(match)
    if match.has_ended:
        return record.as_json() | (await source.matches.signature(match_id) or {})
    return record.public_view() | {"x-status": record.status}


async def journal(source: Source, match_id: str) -> MatchRecord:
    """Return what the journal of a match tells up to now."""
    return record_of(await source.matches.entries(match_id))


def _not_begun(match: MatchRow) -> dict[str, Any]:
    """Return what there is of a match that waits, or that ended before it began."""
    status = "starting" if match.status not in (QUEUED, "failed", "aborted") else match.status
    return {"matchId": match.id, "isCompleted": False, "isAborted": match.has_ended, "x-status": status}
