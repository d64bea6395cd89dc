"""One match of the database, played by this process: from its first step, or from the step where it broke off."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from gdl.game import Role
from server.errors import PlayerStartError
from server.hosting.hosted import opened
from server.hosting.order import StoredOrder
from server.hosting.referees import ChildReferee
from server.links.human_seat import QueueLink
from server.links.own_player import WorkerPlayer
from server.links.seating import PlayerReference
from server.match.driver import DEFAULT_OPTIONS, DriverOptions, MatchDriver
from server.match.events import Event, Message, StateReached
from server.match.link import PlayerLink, PlayerRequest, ReplyBuffer
from server.match.referee import Referee, in_own_thread
from server.records.entries import (
    AnsweredEntry,
    Circumstances,
    ClosedEntry,
    Entry,
    OnEntry,
    SentEntry,
    StateEntry,
    entry_of,
)
from server.records.record import MatchRecord, record_of
from server.records.resumption import resume_state_of
from server.records.signature import signed
from server.storage.journals import summary_of
from server.storage.matches import MatchStore
from server.storage.rows import MatchRow
from server.storage.writer import EventWriter

CATCHING_UP_S: Final = 30.0
"""How long a new process of a player may take to learn what was played before."""
DIALLING_S: Final = 15.0
"""How long a match that broke off waits for players that dial in to come back, before their clocks run."""
MAX_CHARACTERS: Final = 16 * 1024 * 1024
"""How long the texts of all states of a match may be."""
_ASKING: Final = (Message.START, Message.PLAY)
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MatchContext:
    """What the matches of one process share: where they are kept, how they are signed, who observes them."""

    matches: MatchStore
    writer: EventWriter
    signing_key: RSAPrivateKey | None = None
    on_step_overhead: Callable[[float], None] = lambda _: None
    on_entry: OnEntry = lambda *_: None


class StoredMatch:
    """The match of *row*, between *entrants*; `play` it once."""

    def __init__(
        self,
        row: MatchRow,
        order: StoredOrder,
        entrants: Mapping[Role, PlayerReference],
        referee: Referee,
        context: MatchContext,
    ) -> None:
        self.row, self.entrants = row, entrants
        self.setup = order.setup(row.id, entrants)
        self._referee, self._context = referee, context
        self._circumstances = Circumstances(row.game, order.random_token, tournament=row.tournament)
        self._n_entries = self._n_characters = 0
        self._driver: MatchDriver | None = None
        self._abort_reason: str | None = None

    def abort(self, reason: str) -> None:
        """End the match soon; the players get ABORT. For the loop's thread."""
        self._abort_reason = reason
        if self._driver is not None:
            self._driver.abort(reason)

    async def play(self) -> MatchRecord:
        """Play the match to its end, close it in the database, and return its record.

        When it is cancelled, the match stays as it is, and may go on elsewhere.

        Raises:
            LostMatchError: another process plays it.
            StorageError: the database failed.
            MatchRecordError: its journal makes no sense.
        """
        writer, matches = self._context.writer, self._context.matches
        entries = await writer.patiently(partial(matches.mended, self.row.id, writer.holder))
        self._n_entries = len(entries)
        self._n_characters = sum(len(entry.state) for entry in entries if isinstance(entry, StateEntry))
        if not entries or not isinstance(entries[-1], ClosedEntry):
            await self._play_on(entries)
        return await self._finish()

    async def _play_on(self, entries: Sequence[Entry]) -> None:
        try:
            async with opened(self.entrants) as links:
                await self._catch_up(links, entries)
                await self._drive(links, entries)
        except PlayerStartError as error:
            self._abort_reason = str(error)
            await self._drive({}, entries)

    async def _drive(self, links: Mapping[Role, PlayerLink], entries: Sequence[Entry]) -> None:
        # A referee in a process counts the time of its questions itself: it may have to wait before it can ask them.
        limit_s = math.inf if isinstance(self._referee, ChildReferee) else DEFAULT_OPTIONS.evaluation_limit_s
        options = DriverOptions(
            flush=self._flush, on_step_overhead=self._context.on_step_overhead, evaluation_limit_s=limit_s
        )
        self._driver = MatchDriver(self._referee, self.setup, links, [self._take], options)
        if self._abort_reason is not None:
            self._driver.abort(self._abort_reason)
        await self._driver.run(resume_state_of(entries) if entries else None)

    def _take(self, event: Event) -> None:
        entry = entry_of(event, self._circumstances)
        self._context.writer.put(self.row.id, self._n_entries, entry)
        self._context.on_entry(self.row.id, self._n_entries, entry)
        self._n_entries += 1
        if isinstance(event, StateReached):
            self._count(event)

    def _count(self, state: StateReached) -> None:
        """Count the text of the states, which are kept for ever, and end a match whose rules make too much of it."""
        self._n_characters += len(state.text)
        if self._n_characters > MAX_CHARACTERS:
            self.abort(f"these rules make states of more than {MAX_CHARACTERS:,} characters in one match")

    async def _flush(self) -> None:
        await self._context.writer.flush(self.row.id)

    async def _catch_up(self, links: Mapping[Role, PlayerLink], entries: Sequence[Entry]) -> None:
        """Send players whose processes are new their earlier requests, each with its answer."""
        new = {str(role): link for role, link in links.items() if isinstance(link, WorkerPlayer)}
        waiting = {str(role): link for role, link in links.items() if isinstance(link, QueueLink) and entries}
        for role, link in waiting.items():
            link.remember(self.row.id, _answered_requests(self.row.id, role, entries))
        await asyncio.gather(
            *(self._send_answered(link, role, entries) for role, link in new.items()),
            *(link.until_connected(DIALLING_S) for link in waiting.values()),
        )

    async def _send_answered(self, link: PlayerLink, role: str, entries: Sequence[Entry]) -> None:
        try:
            async with asyncio.timeout(CATCHING_UP_S):
                for request in _answered_requests(self.row.id, role, entries):
                    await link.deliver(request, ReplyBuffer())
        except Exception as error:  # whatever it is, the player is asked, and answers or does not
            _LOG.warning(
                "match %s: %s did not get all of its earlier requests: %s", self.row.id, role, error or type(error)
            )

    async def _finish(self) -> MatchRecord:
        await self._flush()
        writer, matches = self._context.writer, self._context.matches
        journal = await writer.patiently(partial(matches.whole_journal, self.row.id))
        record = record_of(journal.entries)
        signature = await self._signature(record)
        await writer.finish(self.row.id, summary_of(journal.entries), signature, journal.body)
        return record

    async def _signature(self, record: MatchRecord) -> dict[str, str] | None:
        if self._context.signing_key is None:
            return None
        # The whole record is written for it, which takes a second for each few megabytes.
        whole = await in_own_thread(partial(signed, record.as_json(), self._context.signing_key))
        return {key: str(whole[key]) for key in ("matchHostPK", "matchHostSignature")}


def _answered_requests(match_id: str, role: str, entries: Sequence[Entry]) -> list[PlayerRequest]:
    """Return the START and the PLAYs that the player of *role* has answered, each with the answer."""
    asked: dict[tuple[Message, int], str] = {}
    requests: list[PlayerRequest] = []
    for entry in entries:
        if not isinstance(entry, SentEntry | AnsweredEntry) or entry.role != role or entry.message not in _ASKING:
            continue
        question = entry.message, entry.step
        if isinstance(entry, SentEntry):
            asked[question] = entry.text
        elif question in asked:
            requests.append(PlayerRequest(asked[question], match_id, entry.step, answered=entry.text))
    return requests
