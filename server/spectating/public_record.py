"""The record of a match as the public may see it now, and the transcript of a seat."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

from server.clock import now_ms
from server.errors import UnknownMatchError
from server.principal import Principal
from server.records.record import MatchRecord, error_words, record_of, understood
from server.refusals import RequestError
from server.registry.queueing import WaitReason
from server.spectating.broadcast import broadcast_of, delay_of
from server.spectating.viewers import end_reason, has_in_seat, secrecy_at, secrecy_of, viewer_of
from server.storage.accounts import PlayerStore
from server.storage.database import Database
from server.storage.errors import DamagedRowError
from server.storage.games import GameStore
from server.storage.journals import JournalStore
from server.storage.matches import MatchStore
from server.storage.notifications import Notifier
from server.storage.rows import WAITING_STATUSES, MatchRow, MatchStatus, PlayerRow
from server.threads import in_own_thread
from server.visibility import Aspect, Viewer, may_see


class MatchSource(Protocol):
    """Where matches are read that are shown: a game manager, or its database alone."""

    @property
    def games(self) -> GameStore:
        """The games, and the versions of their rules."""

    @property
    def players(self) -> PlayerStore:
        """The registered players."""

    @property
    def matches(self) -> MatchStore:
        """The matches."""

    @property
    def journals(self) -> JournalStore:
        """The journals of the matches."""


class LiveSource(MatchSource, Protocol):
    """The matches of a game manager, which knows what happens just now.

    Attributes:
        notifier: wakes the tasks that wait for new events.
    """

    notifier: Notifier

    @property
    def wait_reasons(self) -> Mapping[str, WaitReason]:
        """What matches of the queue wait for, by their ids."""


@dataclass(frozen=True, slots=True)
class StoredMatches:
    """The matches of a database, whichever process plays them."""

    games: GameStore
    players: PlayerStore
    matches: MatchStore
    journals: JournalStore

    @classmethod
    def of(cls, database: Database) -> StoredMatches:
        """Return the matches of *database*."""
        return cls(GameStore(database), PlayerStore(database), MatchStore(database), JournalStore(database))


async def as_broadcast(journals: JournalStore, rows: Sequence[MatchRow]) -> list[MatchRow]:
    """Return *rows* with the steps that spectators see of them, as *journals* tell, by now.

    Of a match that is shown late the errors come at its end.
    """
    late = {row.id: delay for row in rows if not row.has_ended and not (delay := delay_of(row)).is_live}
    at_ms = now_ms()
    timed = {match_id: at_ms - 1000 * delay.seconds for match_id, delay in late.items() if delay.seconds}
    steps = dict.fromkeys(timed, 0) | (await journals.steps_at(timed) if timed else {})
    return [
        replace(row, n_steps=steps.get(row.id, late[row.id].last_step(row.n_steps)), n_errors=0)
        if row.id in late
        else row
        for row in rows
    ]


_LONG: Final = 100_000
"""From so many characters on, records are written beside the event loop."""


async def known_match(source: MatchSource, match_id: str) -> MatchRow:
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


async def public_record(source: MatchSource, match_id: str) -> dict[str, Any]:
    """Return the match record: all of it after the end, before it what helps no player, with its `x-status`.

    Raises:
        UnknownMatchError: there is no such match.
    """
    match = await known_match(source, match_id)
    entries = broadcast_of(match, await source.journals.entries(match_id))
    record = record_of(entries)
    if not record.has_begun:
        return _not_begun(match, await missing_roles(source, match))
    if secrecy_of(match).is_over:
        return record.as_json() | (await source.journals.signature(match_id) or {})
    late = {} if delay_of(match).is_live or match.has_ended else {"x-delay": str(delay_of(match))}
    return record.public_view(secrecy_at(match, entries)) | {"x-status": record.status} | late


async def public_record_text(source: MatchSource, match_id: str) -> str:
    """Return the match record of `public_record` as JSON; a long one is written beside the event loop.

    Raises:
        UnknownMatchError: there is no such match.
    """
    record = await public_record(source, match_id)
    texts = *record.get("states", ()), *(line.get("text", "") for line in record.get("x-wire", ()))
    is_long = sum(map(len, texts)) > _LONG
    return await in_own_thread(partial(_in_pieces, record)) if is_long else json.dumps(record)


def _in_pieces(record: dict[str, Any]) -> str:
    """Return *record* as JSON. No other thread runs while a piece is written."""
    return "{" + ", ".join(f"{json.dumps(name)}: {_piece(value)}" for name, value in record.items()) + "}"


def _piece(value: object) -> str:
    return "[" + ", ".join(map(json.dumps, value)) + "]" if isinstance(value, list) else json.dumps(value)


async def journal(source: MatchSource, match_id: str) -> MatchRecord:
    """Return what the journal of a match tells up to now."""
    return record_of(await source.journals.entries(match_id))


async def missing_roles(source: MatchSource, match: MatchRow) -> list[str]:
    """Return the roles of the people whom the match waits for in the lobby."""
    if match.status != MatchStatus.LOBBY:
        return []
    return [seat.role for seat in (await source.matches.seats([match.id]))[match.id] if seat.is_missing]


def _not_begun(match: MatchRow, missing: list[str]) -> dict[str, Any]:
    """Return what there is of a match that waits, or that ended before it began."""
    known = (*WAITING_STATUSES, MatchStatus.FAILED, MatchStatus.ABORTED)
    status = match.status.value if match.status in known else "starting"
    found = {"matchId": match.id, "isCompleted": False, "isAborted": match.has_ended, "x-status": status}
    if secrecy_of(match).hides_game:  # roles tell the game
        return found
    reason = end_reason(match)
    end = {"how": status, "at": match.ended_ms, "reason": reason}
    return found | ({"x-missing": missing} if missing else {}) | ({"x-end": end} if reason else {})


async def viewer_of_seat(source: MatchSource, match: MatchRow, role: str, who: Principal | None) -> Viewer:
    """Return as whom *who* asks about the seat of *role*."""
    for seat in (await source.matches.seats([match.id]))[match.id]:
        player = await _player(source, seat.player) if seat.role == role else None
        if has_in_seat(who, player, seat, match):
            return Viewer.OWNER
    # A request that comes so far was admitted: everybody may watch here, or the viewer is authenticated.
    return Viewer.SPECTATOR if who is None else viewer_of(who, match)


async def _player(source: MatchSource, name: str) -> PlayerRow | None:
    try:
        return await source.players.get(name)
    except DamagedRowError:  # its owner is not known
        return None


async def transcript(source: MatchSource, match_id: str, seat: str, viewer: Principal | None) -> list[dict[str, Any]]:
    """Return what a seat was sent and answered, in order, as the record's `x-wire` has it.

    Before the end only for who registered its player, and where names are scrambled in those names alone. *seat* is
    its role, or while the game is not public its number, by which events call it.

    Raises:
        UnknownMatchError: there is no such match.
        RequestError: the match has no such role, or its transcript is not public yet.
    """
    match = await known_match(source, match_id)
    record, secrecy = await journal(source, match_id), secrecy_of(match)
    seats = (await source.matches.seats([match.id]))[match.id]
    called = {str(one.position) if secrecy.hides_game else one.role: one.role for one in seats}
    role = called.get(seat, "")
    if not may_see(Aspect.WIRE, await viewer_of_seat(source, match, role, viewer), secrecy):
        raise RequestError("not_public_yet", f"the transcript of a seat is shown {secrecy.opening}", status=403)
    if not role:
        raise RequestError("unknown_seat", f"the match has no role {seat[:100]!r}", status=404)
    with understood(match_id):
        wire = record.as_json()["x-wire"] if record.has_begun else []
        lines = [line for line in wire if line["role"] == role]
        is_named = may_see(Aspect.VIEW, Viewer.OWNER, secrecy)
        return lines if is_named else [_scrambled(line) for line in lines]


def _scrambled(line: dict[str, Any]) -> dict[str, Any]:
    """Return *line* without what tells the game's own names."""
    kept = {name: value for name, value in line.items() if name not in ("role", "move", "detail")}
    return kept | ({"error": error_words([line["error"]])[0]} if "error" in line else {})
