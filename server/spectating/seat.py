"""One's own seat: what its player was told and answered, which nobody else sees before the end."""

from __future__ import annotations

from typing import Any

from server.access.role import Principal
from server.errors import RequestError
from server.records.record import error_words
from server.spectating.record import journal, known_match
from server.spectating.source import Source
from server.storage.rows import MatchRow


async def may_see_seat(source: Source, match: MatchRow, role: str, viewer: Principal | None) -> bool:
    """Return whether the player in the seat of *role* is one that *viewer* had registered before the match."""
    if viewer is None:
        return False
    for seat in (await source.matches.seats([match.id]))[match.id]:
        player = await source.players.get(seat.player) if seat.role == role else None
        if player is not None and player.kind == seat.kind and player.created_ms <= match.created_ms:
            return player.owner == viewer.name
    return False


async def transcript(source: Source, match_id: str, role: str, viewer: Principal | None) -> list[dict[str, Any]]:
    """Return what the seat of *role* was sent and answered, in order, as the record's `x-wire` has it.

    Before the end only for who registered its player, and where names are scrambled in those names alone.

    Raises:
        UnknownMatchError: there is no such match.
        RequestError: nobody is asked for that role, or it is not to be seen yet.
    """
    match = await known_match(source, match_id)
    record = await journal(source, match_id)
    whole = record.as_json() if record.has_begun else {"x-roles": [], "x-wire": []}
    if not record.has_ended and not await may_see_seat(source, match, role, viewer):
        raise RequestError("not_public_yet", "what a role is told is shown after the match", status=403)
    if role not in whole["x-roles"]:
        raise RequestError("unknown_seat", f"the match has no role {role[:100]!r}", status=404)
    lines = [line for line in whole["x-wire"] if line["role"] == role]
    return lines if record.has_ended or not whole["scrambled"] else [_scrambled(line) for line in lines]


def _scrambled(line: dict[str, Any]) -> dict[str, Any]:
    """Return *line* without what tells the game's own names."""
    kept = {name: value for name, value in line.items() if name not in ("role", "move", "detail")}
    return kept | ({"error": error_words([line["error"]])[0]} if "error" in line else {})
