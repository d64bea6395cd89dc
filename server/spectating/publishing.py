"""Publishing matches to a spectator server of the field: after each step it is posted the record up to then.

A post is a form with AUTH, which no other client knows while the match is played, and DATA, the record in the public
format; the answer is the record's key. A spectator server that is slow, gone, or refuses never holds up a match:
updates that did not arrive are replaced by later ones. The end of a match is tried again for a day, also by servers
that come after the one that played it.

Source: the public match publisher and spectator server.
"""

import asyncio
import hashlib
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import aiohttp
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from gdl.errors import GdlError
from server.records.entries import ClosedEntry, EndEntry, Entry, OnEntry, StateEntry
from server.records.signature import PUBLIC_KEY, SIGNATURE, signed
from server.spectating.public_record import MatchSource, StoredMatches, known_match, public_record
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.notifications import something_new
from server.storage.publications import PublicationStore
from server.storage.rows import MatchRow

Post: TypeAlias = Callable[[dict[str, str]], Awaitable[None]]
"""Posts a form to the spectator server."""
WORTH: Final = StateEntry | EndEntry | ClosedEntry
"""What makes an update."""
WATCH_S: Final = 30.0
"""How often to look which matches are over, public, and not published to their end."""
LIMIT_S: Final = 10.0
ENDING_S: Final = 3.0
_MAX_ANSWER: Final = 10_000
_MAX_DOUBLINGS: Final = 7
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """How matches are published.

    Attributes:
        address: the spectator server's.
        games_url: what `gameMetaURL` begins with, before the game's name and version: readers fetch the rules there.
        signing_key: signs what is published.
        n_at_once: how many updates are under way at once.
        n_attempts: how often an update is tried at a time.
        pause_s: how long to wait before the first update of a step, and longer after each failure.
    """

    address: str = ""
    games_url: str = ""
    signing_key: RSAPrivateKey | None = None
    n_at_once: int = 4
    n_attempts: int = 6
    pause_s: float = 0.5


DEFAULT_SETTINGS: Final = PublishSettings()


class Publisher:
    """Publishes the matches of *source* with *post*, while `watch` runs.

    It is called with every entry (`take`) and with every match that is played no more (`take_end`).
    """

    def __init__(
        self,
        source: MatchSource,
        publications: PublicationStore,
        post: Post,
        settings: PublishSettings = DEFAULT_SETTINGS,
        wait: Callable[[asyncio.Event, float], Awaitable[None]] = something_new,
    ) -> None:
        self._source, self._publications, self._post = source, publications, post
        self._settings, self._wait = settings, wait
        self._closing = asyncio.Event()
        self._attempts_left: dict[str, int] = {}  # of the latest update of each match that waits
        self._begun: set[str] = set()  # the matches that are known to be among the publications
        self._has_recalled = False  # what was withheld before this process began
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(settings.n_at_once)

    def take(self, match_id: str, _number: int, entry: Entry) -> None:
        """Take notice of what happened in a match."""
        if isinstance(entry, WORTH):
            self._begin(match_id)

    def take_end(self, match_id: str) -> None:
        """Take notice that a match is played no more: only now is its end certainly in the database."""
        self._begin(match_id)

    async def watch(self) -> None:
        """Publish the ends of matches that are owed, each when its set is over, until `close`."""
        while not self._closing.is_set():
            with suppress(StorageError):  # a database that does not answer now does so at the next look
                await self.look()
            await self._wait(self._closing, WATCH_S)

    async def look(self) -> None:
        """Publish the matches that are over and public, and not published to their end, whichever process played them.

        Raises:
            StorageError: the database failed.
        """
        if not self._has_recalled:
            await self._publications.begin(await self._source.matches.withheld())
            self._has_recalled = True
        for match_id in await self._publications.claim():
            if match_id not in self._tasks:
                self._begin(match_id)

    def _begin(self, match_id: str) -> None:
        self._attempts_left[match_id] = self._settings.n_attempts
        if match_id not in self._tasks:
            self._tasks[match_id] = asyncio.create_task(self._publish(match_id))

    async def close(self, limit_s: float = ENDING_S) -> None:
        """Send what waits, at once and once more each; an end that has not arrived after *limit_s* is owed."""
        self._closing.set()
        if not self._tasks:
            return
        matches = {task: match_id for match_id, task in self._tasks.items()}
        _, late = await asyncio.wait(matches, timeout=limit_s)
        for task in late:
            task.cancel()
            _LOG.warning("match %s was not published to its last change: the server ends", matches[task])
        await asyncio.gather(*late, return_exceptions=True)

    async def _publish(self, match_id: str) -> None:
        try:
            await self._publish_changes(match_id)
        finally:
            # Here, not when the task is done: what is taken in between would find a task that publishes no more.
            del self._tasks[match_id]

    async def _publish_changes(self, match_id: str) -> None:
        """Post the match until nothing new is left; failures are retried with growing pauses, then given up.

        Once the publisher closes there are neither pauses nor retries.
        What comes meanwhile is tried as often as any update, however often earlier ones have failed.
        """
        failures: Counter[str] = Counter()
        with suppress(StorageError):  # it is noted again before the match is read
            await self._note(match_id)
        while match_id in self._attempts_left:
            await self._wait(self._closing, self._settings.pause_s * 2 ** min(failures.total(), _MAX_DOUBLINGS))
            n_left = self._attempts_left.pop(match_id) - 1
            try:
                async with self._slots:
                    await self._send(match_id)
                failures.clear()
            except (OSError, TimeoutError, aiohttp.ClientError, GdlError) as error:
                failures[str(error) or type(error).__name__] += 1
                if n_left > 0 and not self._closing.is_set():
                    self._attempts_left.setdefault(match_id, n_left)
        if failures:
            _LOG.warning("match %s was not published: %s", match_id, "; ".join(failures))

    async def _note(self, match_id: str) -> None:
        """Note in the database that the end of the match is owed, whichever process is there then."""
        if match_id not in self._begun:
            await self._publications.begin([match_id])
            self._begun.add(match_id)

    async def _send(self, match_id: str) -> None:
        await self._note(match_id)
        match = await known_match(self._source, match_id)
        record = publication(await public_record(self._source, match_id), await self._game_url(match))
        # A hidden match is not public before its end, and that of its set; one shown late has no state at first.
        if record.get("states"):
            if self._settings.signing_key is not None:
                record = signed(record, self._settings.signing_key)
            await self._post({"AUTH": _authority(match), "DATA": json.dumps(record)})
        if match.has_ended and not match.is_set_open:
            self._begun.discard(match_id)
            await self._publications.end(match_id)

    async def _game_url(self, match: MatchRow) -> str:
        versions = await self._source.games.versions(match.game)
        hashes = [version.sha256 for version in reversed(versions)]
        number = hashes.index(match.sha256) if match.sha256 in hashes else 0  # rules without a name have no version
        return f"{self._settings.games_url}{match.game}/v{number}/"


def publication(record: dict[str, Any], game_url: str) -> dict[str, Any]:
    """Return what is published of a public *record*: the public keys, and where the rules are.

    The errors are left out until START is over: a spectator server refuses what takes back an earlier update.
    """
    left_out = (PUBLIC_KEY, SIGNATURE) if _is_start_over(record) else (PUBLIC_KEY, SIGNATURE, "errors")
    found = {name: value for name, value in record.items() if not name.startswith("x-") and name not in left_out}
    return found | {"gameMetaURL": found.get("gameMetaURL") or game_url}


def _is_start_over(record: Mapping[str, Any]) -> bool:
    """Return whether the answers to START are known: until then the record has blanks in their place."""
    thinking_ms = record.get("x-thinking-ms", ())
    return any(each is not None for step in thinking_ms[:1] for each in step)


def _authority(match: MatchRow) -> str:
    """Return what entitles to update the match there: the same after a restart, and made of what is not public yet."""
    secret = f"{match.id} {match.order['seed']} {match.order['scrambleSeed']}"
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class PublishingObservers:
    """What observes the matches of a process to publish them; each as that of `GameManagerObservers`."""

    on_entry: OnEntry = lambda *_: None
    on_end: Callable[[str], None] = lambda _: None


@asynccontextmanager
async def published(database: Database, settings: PublishSettings | None) -> AsyncIterator[PublishingObservers]:
    """Publish matches of *database*, as *settings* say, while the block runs; what is yielded is to observe them."""
    if settings is None:
        yield PublishingObservers()
        return
    async with posting(settings.address) as post:
        publisher = Publisher(StoredMatches.of(database), PublicationStore(database), post, settings)
        watching = asyncio.create_task(publisher.watch(), name="publishing")
        try:
            yield PublishingObservers(publisher.take, publisher.take_end)
        finally:
            watching.cancel()
            await publisher.close()


@asynccontextmanager
async def posting(address: str) -> AsyncIterator[Post]:
    """Yield how a form is posted to the spectator server at *address*."""
    timeout = aiohttp.ClientTimeout(total=LIMIT_S)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:

        async def post(form: dict[str, str]) -> None:
            async with session.post(address, data=form, allow_redirects=False) as answer:
                await answer.content.read(_MAX_ANSWER)
                if answer.status != 200:
                    raise OSError(f"the spectator server answered {answer.status}")

        yield post
