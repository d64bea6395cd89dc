"""The runner of a match: it opens the players, drives the match with its referee, and has it recorded to its end.

A match that broke off is resumed from the entries of its journal.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final, Protocol

from gdl.game import Role
from server.links import own_player, queued_player, seating
from server.match.driver import DEFAULT_OPTIONS, DriverOptions, MatchDriver, Observer
from server.match.exchange import Event, Message
from server.match.link import PlayerLink, PlayerRequest, ReplyBuffer
from server.match.referee import Referee
from server.match.setup import MatchSetup
from server.records.entries import AnsweredEntry, ClosedEntry, Entry, SentEntry
from server.records.resumption import resume_state_of

CATCHING_UP_S: Final = 30.0
"""How long a new process of a player may take to learn what was played before."""
DIALLING_S: Final = 15.0
"""How long a match that broke off waits for players that dial in to come back, before their clocks run."""
_ASKING: Final = (Message.START, Message.PLAY)
_LOG: Final = logging.getLogger(__name__)


class Recorder(Protocol):
    """Keeps the events of one match: in memory and a file, or in the database."""

    @property
    def excess(self) -> str:
        """Why no more of the match can be kept; empty as long as more can be."""

    async def earlier(self) -> Sequence[Entry]:
        """Return what was kept of the match before it broke off, before the first event is taken."""

    def take(self, event: Event) -> None:
        """Take the next event, which is kept when `flush` returns."""

    async def flush(self) -> None:
        """Return when everything that was taken is kept."""

    async def finish(self) -> dict[str, Any]:
        """Return the whole record, which is kept in place of the journal."""


class MatchRunner:
    """Runs the match of *setup* between *players*, from its first step or from where it broke off; `play` it once.

    *referee* works out the states, and *recorder* keeps the events. *options* are those of the driver, but for `flush`:
    the driver flushes the recorder.
    """

    def __init__(
        self,
        setup: MatchSetup,
        players: Mapping[Role, seating.PlayerReference],
        referee: Referee,
        recorder: Recorder,
        options: DriverOptions = DEFAULT_OPTIONS,
    ) -> None:
        self._setup, self._players = setup, players
        self._referee, self._recorder = referee, recorder
        self._options = replace(options, flush=recorder.flush)
        self._driver: MatchDriver | None = None
        self._abort_reason: str | None = None

    def abort(self, reason: str) -> None:
        """End the match soon; the players get ABORT. For the loop's thread."""
        self._abort_reason = reason
        if self._driver is not None:
            self._driver.abort(reason)

    async def play(self, observers: Sequence[Observer] = ()) -> dict[str, Any]:
        """Play the match to its end, and return its record; *observers* get the events after the recorder.

        However this ends, the players that it started have ended too. When it is cancelled, the recorder keeps what it
        took, and the match may go on elsewhere.

        Raises:
            PlayerStartError: one of our players did not come up; nothing was recorded then.
            OSError, StorageError: the match cannot be recorded.
            SystemRefusalError: a state cannot be worked out now.
            LostMatchError: another process plays it.
            MatchRecordError: what was recorded earlier makes no sense.
        """
        entries = await self._recorder.earlier()
        if not entries or not isinstance(entries[-1], ClosedEntry):
            async with opened(self._players) as links:
                await self._catch_up(links, entries)
                await self._drive(links, entries, observers)
        return await self._recorder.finish()

    async def abandon(self, reason: str) -> dict[str, Any]:
        """Abort the match, whose players cannot be opened, for *reason*, and return its record; raises as `play`."""
        self.abort(reason)
        await self._drive({}, await self._recorder.earlier(), ())
        return await self._recorder.finish()

    async def _drive(
        self, links: Mapping[Role, PlayerLink], entries: Sequence[Entry], observers: Sequence[Observer]
    ) -> None:
        taking: list[Observer] = [self._take, *observers]
        self._driver = MatchDriver(self._referee, self._setup, links, taking, self._options)
        if self._abort_reason is not None:
            self._driver.abort(self._abort_reason)
        try:
            await self._driver.run(resume_state_of(entries) if entries else None)
        finally:
            self._driver = None  # it observes through this runner: the cycle would outlive the match

    def _take(self, event: Event) -> None:
        self._recorder.take(event)
        if self._abort_reason is None and self._recorder.excess:
            self.abort(self._recorder.excess)

    async def _catch_up(self, links: Mapping[Role, PlayerLink], entries: Sequence[Entry]) -> None:
        """Send players whose processes are new their earlier requests, each with its answer."""
        if not entries:
            return
        new = {str(role): link for role, link in links.items() if isinstance(link, own_player.WorkerPlayer)}
        waiting = {str(role): link for role, link in links.items() if isinstance(link, queued_player.QueueLink)}
        for role, link in waiting.items():
            link.remember(self._setup.match_id, self._answered_requests(role, entries))
        await asyncio.gather(
            *(self._send_answered(link, role, entries) for role, link in new.items()),
            *(link.until_connected(DIALLING_S) for link in waiting.values()),
        )

    async def _send_answered(self, link: own_player.WorkerPlayer, role: str, entries: Sequence[Entry]) -> None:
        try:
            async with asyncio.timeout(CATCHING_UP_S):
                for request in self._answered_requests(role, entries):
                    await link.deliver(request, ReplyBuffer())
                await link.until_caught_up()
        except Exception as error:  # whatever it is, the player is asked, and answers or does not
            match_id, reason = self._setup.match_id, error or type(error)
            _LOG.warning("match %s: %s did not get all of its earlier requests: %s", match_id, role, reason)

    def _answered_requests(self, role: str, entries: Sequence[Entry]) -> list[PlayerRequest]:
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
                requests.append(PlayerRequest(asked[question], self._setup.match_id, entry.step, answered=entry.text))
        return requests


@asynccontextmanager
async def opened(players: Mapping[Role, seating.PlayerReference]) -> AsyncIterator[dict[Role, PlayerLink]]:
    """Open the ways to *players*, all at once; in the end those that were started are stopped, whatever happened.

    Raises:
        PlayerStartError: one did not come up; the others are stopped.
    """
    opening = [asyncio.create_task(spec.open(role)) for role, spec in players.items()]
    try:
        links = await asyncio.gather(*opening)
        seating.number_seats(links)
        yield dict(zip(players, links, strict=True))
    finally:
        await _finished(asyncio.create_task(_close(opening)))


async def _finished(task: asyncio.Task[None]) -> None:
    """Wait until *task* has ended, however often this one is cancelled meanwhile."""
    is_cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled:
        raise asyncio.CancelledError


async def _close(opening: Sequence[asyncio.Task[PlayerLink]]) -> None:
    for task in opening:
        task.cancel()
    links = await asyncio.gather(*opening, return_exceptions=True)
    await asyncio.gather(
        *(link.stop() for link in links if isinstance(link, own_player.OwnPlayer | own_player.WorkerPlayer)),
        # The driver closes the links, but not of a match that stops before that, while it waits for its players.
        *(link.close() for link in links if isinstance(link, queued_player.QueueLink)),
    )
