"""One match of the database, played by this process: from its first step, or from the step where it broke off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from gdl.game import Role
from server.errors import PlayerStartError
from server.hosting.hosted import opened
from server.hosting.seating import Entrant
from server.hosting.terms import Terms
from server.links.mailbox_link import MailboxLink
from server.links.own_player import OwnPlayer
from server.match.driver import DriverOptions, MatchDriver
from server.match.events import Event
from server.match.link import Letter, PlayerLink, ReplyBuffer
from server.match.referee import Referee
from server.records.entries import Circumstances, Entry, OnEntry, entry_of
from server.records.past import past_of
from server.records.record import MatchRecord, record_of
from server.records.signature import signed
from server.storage.matches import MatchStore
from server.storage.rows import MatchRow
from server.storage.summary import summary_of
from server.storage.writer import EventWriter

CATCHING_UP_S: Final = 30.0
"""How long a new process of a player may take to learn what was played before."""
DIALLING_S: Final = 15.0
"""How long a match that broke off waits for players that dial in to come back, before their clocks run."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Desk:
    """What the matches of one process share: where they are kept, how they are signed, who is told."""

    matches: MatchStore
    writer: EventWriter
    signing_key: RSAPrivateKey | None = None
    on_share: Callable[[float], None] = lambda _: None
    on_entry: OnEntry = lambda *_: None


class StoredMatch:
    """The match of *row*, between *entrants*; `play` it once."""

    def __init__(
        self, row: MatchRow, terms: Terms, entrants: Mapping[Role, Entrant], referee: Referee, desk: Desk
    ) -> None:
        self.row, self.entrants = row, entrants
        self.setup = terms.setup(row.id, entrants)
        self._referee, self._desk = referee, desk
        self._circumstances = Circumstances(row.game, terms.random_token, tournament=row.tournament)
        self._n_entries = 0
        self._driver: MatchDriver | None = None
        self._abort_reason: str | None = None

    def abort(self, reason: str) -> None:
        """End the match soon; the players are told. For the loop's thread."""
        self._abort_reason = reason
        if self._driver is not None:
            self._driver.abort(reason)

    async def play(self) -> MatchRecord:
        """Play the match to its end, close it in the database, and return its record.

        When it is cancelled, the match stays as it is, and may go on elsewhere.

        Raises:
            LostMatchError: another process plays it.
            StorageError: the database failed.
        """
        entries = await self._desk.matches.entries(self.row.id)
        self._n_entries = len(entries)
        if not entries or entries[-1]["event"] != "closed":
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
        options = DriverOptions(settle=self._settled, on_share=self._desk.on_share)
        self._driver = MatchDriver(self._referee, self.setup, links, [self._take], options)
        if self._abort_reason is not None:
            self._driver.abort(self._abort_reason)
        await self._driver.run(past_of(entries) if entries else None)

    def _take(self, event: Event) -> None:
        entry = entry_of(event, self._circumstances)
        self._desk.writer.put(self.row.id, self._n_entries, entry)
        self._desk.on_entry(self.row.id, self._n_entries, entry)
        self._n_entries += 1

    async def _settled(self) -> None:
        await self._desk.writer.settled(self.row.id)

    async def _catch_up(self, links: Mapping[Role, PlayerLink], entries: Sequence[Entry]) -> None:
        """Tell the players whose processes are new what they were told before, and what they answered."""
        new = {str(role): link for role, link in links.items() if isinstance(link, OwnPlayer)}
        waiting = {str(role): link for role, link in links.items() if isinstance(link, MailboxLink) and entries}
        for role, link in waiting.items():
            link.remember(self.row.id, _answered_letters(self.row.id, role, entries))
        await asyncio.gather(
            *(self._tell_past(link, role, entries) for role, link in new.items()),
            *(link.until_connected(DIALLING_S) for link in waiting.values()),
        )

    async def _tell_past(self, link: PlayerLink, role: str, entries: Sequence[Entry]) -> None:
        try:
            async with asyncio.timeout(CATCHING_UP_S):
                for letter in _answered_letters(self.row.id, role, entries):
                    await link.deliver(letter, ReplyBuffer())
        except Exception as error:  # whatever it is, the player is asked, and answers or does not
            _LOG.warning("match %s: %s was not told all of its past: %s", self.row.id, role, error or type(error))

    async def _finish(self) -> MatchRecord:
        await self._settled()
        entries = await self._desk.matches.entries(self.row.id)
        record = record_of(entries)
        await self._desk.writer.finish(self.row.id, summary_of(entries), self._signature(record))
        return record

    def _signature(self, record: MatchRecord) -> dict[str, str] | None:
        if self._desk.signing_key is None:
            return None
        whole = signed(record.as_json(), self._desk.signing_key)
        return {key: str(whole[key]) for key in ("matchHostPK", "matchHostSignature")}


def _answered_letters(match_id: str, role: str, entries: Sequence[Entry]) -> list[Letter]:
    """Return the START and the PLAYs that the player of *role* has answered, each with the answer."""
    asked: dict[tuple[str, int], str] = {}
    letters: list[Letter] = []
    for entry in entries:
        if entry.get("role") != role or entry.get("message") not in ("START", "PLAY"):
            continue
        question = entry["message"], entry["step"]
        if entry["event"] == "sent":
            asked[question] = entry["text"]
        elif entry["event"] == "answered" and question in asked:
            letters.append(Letter(asked[question], match_id, entry["step"], answered=entry["text"]))
    return letters
