"""The supervisor of the matches that this process plays: it holds their leases, and takes over those that broke off."""

import asyncio
import logging
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Final

from cachetools import LRUCache

from gdl.errors import GdlError
from gdl.game import Role
from server.errors import SystemRefusalError
from server.hosting import cores, referees
from server.hosting.game_finder import MAX_OUTLINES
from server.hosting.order import StoredOrder, order_of
from server.hosting.runner import MatchRunner
from server.hosting.settings import GameManagerSettings
from server.links.errors import PlayerStartError
from server.links.player_spec import HUMAN
from server.links.seating import PlayerReference
from server.match.driver import DEFAULT_OPTIONS, DriverOptions
from server.match.referee import Referee
from server.records.entries import Circumstances, OnEntry
from server.records.errors import MatchRecordError
from server.registry.health import busy_players, has_only_failed
from server.registry.queueing import addresses
from server.registry.registry import Registry
from server.storage import games, matches, queue
from server.storage.database import Database
from server.storage.errors import DamagedRowError, LostMatchError, StorageError, UnwritableError
from server.storage.journals import JournalStore
from server.storage.recorder import DatabaseRecorder, RecorderContext
from server.storage.rows import GameVersion, MatchRow
from server.storage.writer import EventWriter, OnBatch

MAX_ATTEMPTS: Final = 5
"""How often a match that cannot go on is tried, once in a third of a lease."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GameManagerObservers:
    """What observes the matches of a process, as metrics and publishers do; called from the event loop.

    Attributes:
        on_entry: called with each entry of a journal.
        on_step_overhead: called after each question with the step overhead. *Units*: seconds.
        on_batch: called after each transaction with how many events it wrote, and how many seconds it took.
        on_end: called with each match that is played no more.
    """

    on_entry: OnEntry = lambda *_: None
    on_step_overhead: Callable[[float], None] = lambda _: None
    on_batch: OnBatch = lambda *_: None
    on_end: Callable[[str], None] = lambda _: None


NO_OBSERVERS: Final = GameManagerObservers()


class MatchSupervisor:
    """Has matches played side by side, each in a task of its own.

    A match of which the database kept something not is stopped, and goes on from its journal later. One that cannot
    go on, for whatever reason of its own, is tried `MAX_ATTEMPTS` times and has failed then.

    Attributes:
        holder: what this process is called in the database.
        cores: what players of ours may think on.
        may_take_over: whether there may be matches that broke off, which were not looked for or for which there was no
            room.
    """

    def __init__(
        self,
        database: Database,
        registry: Registry,
        settings: GameManagerSettings,
        writer: EventWriter,
        observers: GameManagerObservers,
    ) -> None:
        self.holder, self._writer = writer.holder, writer
        self._games, self._matches = games.GameStore(database), matches.MatchStore(database)
        self._queue = queue.MatchQueue(database)
        self._registry, self._settings = registry, settings
        self._observers = observers
        self._recorder_context = RecorderContext(
            JournalStore(database), writer, settings.signing_key, observers.on_entry
        )
        self.cores = cores.CoreBudget(settings.player_cores)
        self.may_take_over = True
        self._referees = referees.Referees(settings.referee_limits)
        self._versions: LRUCache[str, GameVersion] = LRUCache(MAX_OUTLINES)
        self._runners: dict[str, MatchRunner] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stopped: dict[str, StorageError] = {}
        self._n_attempts: Counter[str] = Counter()
        self._called: dict[str, tuple[str, ...]] = {}

    async def addresses(self) -> Counter[str]:
        """Return in how many of the matches that are played now, here or elsewhere, each address plays.

        What a match was ordered with never changes, so it is read once.

        Raises:
            StorageError: the database failed.
        """
        playing = await self._queue.playing()
        named = await self._queue.named([match_id for match_id in playing if match_id not in self._called])
        called = self._called | {match_id: tuple(addresses(seats)) for match_id, seats in named.items()}
        self._called = {match_id: called.get(match_id, ()) for match_id in playing}
        return Counter(chain.from_iterable(self._called.values()))

    @property
    def n_free(self) -> int:
        """How many more matches may be played at once."""
        return max(0, self._settings.max_running - len(self._tasks))

    @property
    def n_running(self) -> int:
        """How many matches are played here."""
        return len(self._tasks)

    async def begin(self, match_ids: Collection[str]) -> None:
        """Begin to play those of the matches that still wait.

        Raises:
            StorageError: the database failed.
        """
        rows = await self._queue.claim(match_ids, self.holder, self._settings.lease_s)
        for row in sorted(rows, key=lambda row: row.damage):  # those that can be played are not to wait for the others
            await self._go_on(row)

    async def take_over(self) -> None:
        """Go on with matches that broke off, as many as there is room for.

        Raises:
            StorageError: the database failed.
        """
        n_wanted = self.n_free
        taken = await self._matches.take_over(self.holder, self._settings.lease_s, n_wanted) if n_wanted else []
        self.may_take_over = len(taken) == n_wanted
        for match_id in taken:
            row = await self._matches.find(match_id)
            if row is not None and match_id not in self._tasks:
                _LOG.info("match %s goes on at step %d", match_id, row.n_steps)
                await self._go_on(row)

    async def keep_leases(self, on_renewed: Callable[[], None]) -> None:
        """Renew the leases again and again, and call *on_renewed*, as those of others may be over; never returns."""
        while True:
            await asyncio.sleep(self._settings.lease_s / 3)
            try:
                await self._renew()
                self.may_take_over = True
                on_renewed()
            except StorageError as error:
                _LOG.error("leases cannot be renewed: %s", error)
            except Exception:  # whatever it is, leases must be renewed
                _LOG.exception("leases cannot be renewed")

    async def _renew(self) -> None:
        held = await self._matches.renew(self.holder, self._settings.lease_s)
        for match_id in self._tasks.keys() - held:
            await self._check_lost(match_id)
        # What stands still here, since something failed, may go on elsewhere.
        await self._matches.release(held - self._tasks.keys(), self.holder)

    async def _check_lost(self, match_id: str) -> None:
        row = await self._matches.find(match_id)
        if row is not None and not row.has_ended and row.holder != self.holder and match_id in self._tasks:
            _LOG.warning("match %s is played by another manager now", match_id)
            self._tasks[match_id].cancel()

    async def _go_on(self, row: MatchRow) -> None:
        if row.damage:
            await self._fail(row.id, f"its row is damaged: {row.damage}")
        else:
            self._spawn(row)

    def _spawn(self, row: MatchRow) -> None:
        task = self._tasks[row.id] = asyncio.create_task(self._play(row), name=f"match {row.id}")
        task.add_done_callback(lambda _task: self._forget(row.id))

    def _forget(self, match_id: str) -> None:
        self._runners.pop(match_id, None)
        self._tasks.pop(match_id, None)
        self._stopped.pop(match_id, None)
        self.cores.release(match_id)
        self._writer.forget(match_id)
        self._observers.on_end(match_id)

    async def _play(self, row: MatchRow) -> None:
        """Play a match; whatever ends its play early leaves it to go on later, or fails it."""
        try:
            await self._play_out(row)
        except asyncio.CancelledError:
            if row.id not in self._stopped:
                raise
            await self._stand_still(row, self._stopped[row.id])
        except Exception as error:  # the game manager outlives whatever a match does
            await self._stand_still(row, error)
        else:
            del self._n_attempts[row.id]

    def stop(self, match_id: str, error: StorageError) -> None:
        """Play a match no further of which something could not be written."""
        if match_id in self._tasks:
            self._stopped[match_id] = error
            self._tasks[match_id].cancel()

    async def _stand_still(self, row: MatchRow, error: Exception) -> None:
        """Leave a match as its journal has it, to go on later; or end it, where that is in vain."""
        if isinstance(error, LostMatchError):
            _LOG.warning("match %s: %s", row.id, error)
            return
        if isinstance(error, StorageError) and not isinstance(error, UnwritableError | DamagedRowError):
            _LOG.error("match %s stands still until the database can be written: %s", row.id, error)
            return
        is_foreseen = isinstance(error, GdlError | OSError)
        _LOG.error("match %s stands still: %s", row.id, error, exc_info=None if is_foreseen else error)
        # What the system refuses now, as with too many open files, says nothing about the match.
        self._n_attempts[row.id] += not isinstance(error, OSError | SystemRefusalError)
        is_in_vain = isinstance(error, MatchRecordError | DamagedRowError) or row.abort_reason is not None
        if is_in_vain or self._n_attempts[row.id] >= MAX_ATTEMPTS:
            await self._fail(row.id, f"{type(error).__name__}: {error}")

    async def _fail(self, match_id: str, reason: str) -> None:
        try:
            if await self._matches.fail(match_id, self.holder, reason):
                _LOG.error("match %s has failed: %s", match_id, reason)
        except StorageError as error:
            _LOG.error("match %s stands still: %s", match_id, error)
        except Exception:  # whatever it is, other matches must go on
            _LOG.exception("match %s stands still", match_id)
        else:
            del self._n_attempts[match_id]

    async def _play_out(self, row: MatchRow) -> None:
        """Lend the referee of the match, play it on the cores that it is granted, and note how its players answered."""
        order = _order(row)
        # Before anything is waited for, so that the queue knows what is left.
        named = order.request.named_players
        players = tuple(named.values())
        n_slots, n_processes = self.cores.slots_for(players), cores.processes_for(players)
        self.cores.request(row.id, n_slots, n_processes, has_person=HUMAN in players)
        version = await self._version(row.sha256)
        async with self._referees.lent(version) as referee:
            # Another process may have taken the order, and players may have moved since then, or gone.
            seating = partial(self._registry.seated_again, referee, named, row.created_ms)
            entrants = await self._writer.patiently(seating)
            runner = self._runners[row.id] = self._runner(row, order, entrants, referee)
            if row.abort_reason is not None:
                self.abort(row.id, row.abort_reason)
            await self.cores.granted(row.id)
            try:
                record = await runner.play()
            except PlayerStartError as error:
                record = await runner.abandon(str(error))
        await self._note_players(row, record)

    async def _version(self, sha256: str) -> GameVersion:
        """Return the rules with that hash, which never change."""
        known = self._versions.get(sha256)
        if known is None:
            known = await self._writer.patiently(partial(self._games.version, sha256))
            if known is None:
                raise MatchRecordError("the rules are not there any more", sha256)
            self._versions[sha256] = known
        return known

    async def _note_players(self, row: MatchRow, record: Mapping[str, Any]) -> None:
        """Note how the players answered in a match that is over, whatever the database does now."""
        note = partial(self._registry.note_match, row.created_ms, has_only_failed(record), busy_players(record))
        try:
            await self._writer.patiently(note)
        except StorageError as error:
            _LOG.error("how the players of match %s answered is not counted: %s", row.id, error)

    def _runner(
        self, row: MatchRow, order: StoredOrder, entrants: Mapping[Role, PlayerReference], referee: Referee
    ) -> MatchRunner:
        circumstances = Circumstances(row.game, order.random_token, tournament=row.tournament)
        # What no process has held before has no journal yet.
        recorder = DatabaseRecorder(row.id, circumstances, self._recorder_context, is_new=row.epoch == 1)
        # A referee in a process counts the time of its questions itself: it may have to wait before it can ask them.
        limit_s = math.inf if isinstance(referee, referees.ChildReferee) else DEFAULT_OPTIONS.evaluation_limit_s
        options = DriverOptions(on_step_overhead=self._observers.on_step_overhead, evaluation_limit_s=limit_s)
        return MatchRunner(order.setup(row.id, entrants), entrants, referee, recorder, options)

    def abort(self, match_id: str, reason: str) -> None:
        """End the match soon, if it is played here."""
        runner = self._runners.get(match_id)
        if runner is not None:
            runner.abort(reason)
            self.cores.waive(match_id)

    async def abort_all(self, reason: str, limit_s: float) -> None:
        """Abort every match, and wait until the players have got ABORT, *limit_s* at most."""
        for match_id in tuple(self._runners):
            self.abort(match_id, reason)
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=limit_s)

    async def close(self) -> None:
        """Play no more: what is not over stays in the database as it is."""
        await cancelled(self._tasks.values())
        await self._referees.close()


def _order(row: MatchRow) -> StoredOrder:
    try:
        return order_of(row.order)
    except (LookupError, TypeError, ValueError) as error:
        raise MatchRecordError(f"what was ordered cannot be read ({error!r})", row.id) from error


async def cancelled(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel *tasks* and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
