"""Imports of many games at a server: each rule file becomes a game of the database, one after the other."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

from cachetools import LRUCache

from gdl.editing.differences import normal_sha256
from gdl.errors import CallerError, GdlError
from gdl.games.library import free_name
from gdl.language.rules import read_rules
from server.hosting.uploads import Upload, keep_game
from server.importing import intake
from server.importing.collection import CandidateGame, candidates, description_of
from server.importing.sources import FoundFiles, ImportLimits, files_of_bytes, files_of_path
from server.refusals import RequestError
from server.storage.errors import StorageError
from server.storage.games import GameStore
from server.storage.rows import GameVersion
from server.threads import in_own_thread
from server.validating.checker import CHILDREN, Checker

UPLOADED: Final = ImportLimits(files=5_000, games=500, archive_bytes=2_000_000, total_bytes=20_000_000)
"""What an upload may hold; one more than two megabytes does not get here."""
_MOST_KEPT: Final = 50
"""How many imports are remembered."""
_MOST_RUNNING: Final = 2
_N_HASHES: Final = 10_000
_RETRY_S: Final = 2.0
_PATIENCE_S: Final = 60.0
"""How long the start of a server waits for the games of its folder."""
_PROGRESS_S: Final = 5.0
"""How often it is logged meanwhile how far it is."""
_TAKES_LONG: Final = (
    "looking at the games of %s takes long: the server starts with those that were seen, %d of %s so far; the others "
    "come one after the other, and a request for one is told so"
)
_SAME: Final = "the same rules are kept"
_OF_OURS: Final = "an error of this server, which its log describes"
_LOG: Final = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(slots=True)
class GameImport:
    """An import: what became of each rule file so far.

    Attributes:
        by: whose games these are.
        replaces: whether rules under a name that is taken are a new version, as those of a folder of the server's are.
        n_at_once: how many games are looked at at once.
        n_games: how many rule files there are; None before that is known.
        n_seen: how many of them have been looked at.
        problem: why it ended before all of them were looked at; empty where it did not.
    """

    id: str
    source: str
    by: str
    replaces: bool = False
    n_at_once: int = 1
    n_games: int | None = None
    n_seen: int = 0
    rows: list[intake.ImportRow] = field(default_factory=list)
    problem: str = ""
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return self.ended.is_set()

    @property
    def counts(self) -> Mapping[intake.ImportOutcome, int]:
        """How many rule files came to each end."""
        return {outcome: sum(row.outcome is outcome for row in self.rows) for outcome in intake.ImportOutcome}


@dataclass(frozen=True, slots=True)
class _Fit:
    """A game that is fit to be kept, and the normal hash of its rules."""

    game: intake.AcceptedGame
    sha256: str


class _Look:
    """A look at *game*, which *examined* makes; `sha256` is the normal hash of its rules, once that is known."""

    def __init__(
        self, game: CandidateGame, examined: Callable[[_Look], Coroutine[Any, Any, intake.ImportRow | _Fit]]
    ) -> None:
        self.game, self.sha256 = game, ""
        self.task = asyncio.create_task(examined(self))

    def may_end(self, before: Iterable[_Look]) -> bool:
        """Return whether it is over, and none of those *before* can be a look at the same rules."""
        if not self.task.done():
            return False
        is_fit = self.task.exception() is None and isinstance(self.task.result(), _Fit)
        return not is_fit or all(look.sha256 not in ("", self.sha256) for look in before)


class _KnownRules:
    """The games of a database by the normal hash of their rules, which *read* returns when they are first asked for."""

    def __init__(self, read: Callable[[], Awaitable[dict[str, str]]]) -> None:
        self._read, self._names = read, dict[str, str]()
        self._reading = asyncio.Lock()

    async def names(self) -> dict[str, str]:
        """Return the names by hash; they grow by each game that is kept."""
        async with self._reading:
            self._names = self._names or await self._read()
        return self._names


class GameImports:
    """The imports of a server, which go on in the background.

    *coming* has the games of the server's own folder for as long as they are to be looked at.
    """

    def __init__(self, games: GameStore, checker: Checker, max_roles: int, coming: set[str]) -> None:
        self._games, self._checker, self._max_roles, self._coming = games, checker, max_roles, coming
        self._known: LRUCache[str, GameImport] = LRUCache(_MOST_KEPT)
        self._hashes: LRUCache[str, str] = LRUCache(_N_HASHES)
        self._tasks: set[asyncio.Task[None]] = set()
        self._n_unpacked = 0  # archives that are just being unpacked; their imports begin then
        self._turn = asyncio.Lock()

    @property
    def running(self) -> list[GameImport]:
        """The imports that are under way, or wait."""
        return [work for work in self._known.values() if not work.is_over]

    def find(self, import_id: str) -> GameImport | None:
        """Return the import of that id, if it is still remembered."""
        return self._known.get(import_id)

    async def begin(self, raw: bytes, source: str, by: str) -> GameImport:
        """Begin to import the ZIP archive, or the rule file, *raw*, which *by* uploads; *source* is its file's name.

        Raises:
            ImportSourceError: it is neither, or larger than it may be.
            RequestError: other imports are under way.
        """
        if len(self._tasks) + self._n_unpacked >= _MOST_RUNNING:
            raise RequestError("busy", "other games are being imported just now", "try again in some minutes", 503)
        self._n_unpacked += 1
        try:
            found = await in_own_thread(partial(files_of_bytes, raw, source, UPLOADED))
        finally:
            self._n_unpacked -= 1
        return self._begun(GameImport(secrets.token_hex(8), source, by), found)

    async def keep_folder(
        self, folder: Path, needed: Collection[str] = (), patience_s: float = _PATIENCE_S
    ) -> GameImport:
        """Keep the games of *folder*, in the versions that are there, on all processors.

        What is not done after *patience_s* seconds is to come, on one processor, unless a game that is *needed* is
        among it.

        Raises:
            OSError: it cannot be read.
            ImportSourceError: it is larger than it may be.
        """
        _LOG.info("looking at the games of %s", folder)
        found = await in_own_thread(partial(files_of_path, folder, ImportLimits()))
        n_at_once = os.cpu_count() or 1
        work = self._begun(GameImport(secrets.token_hex(8), folder.name, "", replaces=True, n_at_once=n_at_once), found)
        loop = asyncio.get_running_loop()
        until_s = loop.time() + patience_s
        while not work.is_over:
            rest_s = until_s - loop.time()
            if rest_s <= 0 and {*await self._games.names()}.issuperset(needed):
                work.n_at_once = 1
                _LOG.warning(_TAKES_LONG, folder, work.n_seen, work.n_games or "some")
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(work.ended.wait(), min(rest_s, _PROGRESS_S) if rest_s > 0 else _PROGRESS_S)
            if not work.is_over:
                _LOG.info("looked at %d of %s games of %s", work.n_seen, work.n_games or "some", folder)
        return work

    def _begun(self, work: GameImport, found: FoundFiles) -> GameImport:
        self._known[work.id] = work
        task = asyncio.create_task(self._run(work, found))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return work

    async def _run(self, work: GameImport, found: FoundFiles) -> None:
        """Import the games of *found*, each import when the one before is over."""
        try:
            async with self._turn:
                limits = ImportLimits() if work.replaces else UPLOADED
                games = await in_own_thread(partial(candidates, found, limits))
                work.n_games = len(games)
                passed = found.passed_over.items()
                work.rows += [
                    intake.ImportRow(path, intake.ImportOutcome.REFUSED, reason=reason) for path, reason in passed
                ]
                if work.replaces:
                    self._coming.update(game.name for game in games)
                await self._look_at(games, work)
        except Exception as error:  # whatever it is, the page has to say that not all files were looked at
            _LOG.exception("the import of %s failed", work.source)
            work.problem = str(error).split("\n")[0] if isinstance(error, GdlError) else _OF_OURS
        finally:
            if work.replaces:
                self._coming.clear()
            work.ended.set()
            self._log(work)

    async def _look_at(self, games: Sequence[CandidateGame], work: GameImport) -> None:
        """Look at *games*, at as many at once as *work* has, and keep those that are fit, one that takes long last.

        Of games with the same rules the first one is kept.
        """
        known, looks, waiting = _KnownRules(self._known_games), list[_Look](), iter(games)
        try:
            while True:
                n_free = work.n_at_once - sum(not look.task.done() for look in looks)
                looks += [_Look(game, partial(self._examined, work, known)) for game in islice(waiting, max(0, n_free))]
                if not looks:
                    break
                ended = next((look for n, look in enumerate(looks) if look.may_end(looks[:n])), None)
                if ended is None:
                    open_tasks = [look.task for look in looks if not look.task.done()]
                    await asyncio.wait(open_tasks, return_when=asyncio.FIRST_COMPLETED)
                    continue
                found = ended.task.result()
                work.rows.append(found if isinstance(found, intake.ImportRow) else await self._kept(found, work, known))
                looks.remove(ended)
                work.n_seen += 1
                self._coming.discard(ended.game.name)
            places = {game.path: n for n, game in enumerate(games)}
            work.rows.sort(key=lambda row: places.get(row.path, -1))
        finally:
            for look in looks:
                look.task.cancel()
            await asyncio.gather(*(look.task for look in looks), return_exceptions=True)

    @staticmethod
    def _log(work: GameImport) -> None:
        """Log what came of an import: of a folder's files, which no page tells of, each that is refused."""
        for row in work.rows if work.replaces else ():
            if row.outcome is intake.ImportOutcome.REFUSED:
                _LOG.warning("%s of %s is refused: %s", row.path, work.source, row.reason)
        counts = ", ".join(f"{n} {outcome}" for outcome, n in work.counts.items())
        _LOG.info("import of %s by %s: %s", work.source, work.by or "the server", counts)

    async def _known_games(self) -> dict[str, str]:
        """Return the games of the database: the normal hash of each with its name."""
        return {await in_own_thread(partial(self._normal, one)): one.name for one in await self._games.listed()}

    def _normal(self, version: GameVersion) -> str:
        if version.sha256 not in self._hashes:
            self._hashes[version.sha256] = normal_sha256(read_rules(version.rules, version.name))
        return self._hashes[version.sha256]

    async def _unchanged(self, game: CandidateGame, work: GameImport) -> intake.ImportRow | None:
        """Return that the rules of *game*, one of the server's folder, are kept already; its description is kept anew.

        None where they are not, or its description fits them no more.
        """
        kept = await self._games.find(game.name) if work.replaces else None
        if kept is None or kept.is_library or kept.rules != game.rules:
            return None
        about = kept.about if game.about is None else description_of(game, kept.roles, work.source)
        if about == kept.about:
            return intake.ImportRow(game.path, intake.ImportOutcome.DOUBLE, title=game.title, reason=_SAME)
        if about is None:
            return None
        await self._games.put(replace(kept, about=about))
        return intake.ImportRow(game.path, intake.ImportOutcome.IMPORTED, game.name, game.title, roles=kept.roles)

    async def _examined(self, work: GameImport, known: _KnownRules, look: _Look) -> intake.ImportRow | _Fit:
        """Return what became of the game of *look*, or that it is fit to be kept."""
        game = look.game
        unchanged = await self._unchanged(game, work)
        if unchanged is not None:
            return unchanged
        sha256 = await in_own_thread(partial(intake.normal_hash, game))
        if isinstance(sha256, intake.ImportRow):
            return sha256
        look.sha256 = sha256
        double = self._double_of(game, sha256, work, await known.names())
        if double is not None:
            return double
        try:
            verdict = await _when_free(lambda: CHILDREN.run(partial(intake.examined, game)))
        except StorageError:  # no fault of the game: the import ends
            raise
        except (CallerError, GdlError) as error:
            return intake.refused(game, str(error).split("\n")[0])
        return verdict if isinstance(verdict, intake.ImportRow) else _Fit(verdict, sha256)

    @staticmethod
    def _double_of(
        game: CandidateGame, sha256: str, work: GameImport, known: Mapping[str, str]
    ) -> intake.ImportRow | None:
        """Return that the rules of *game* are there; not where they are its own, written otherwise or described."""
        return None if work.replaces and known.get(sha256) == game.name else intake.double_of(game, sha256, known)

    async def _kept(self, fit: _Fit, work: GameImport, known: _KnownRules) -> intake.ImportRow:
        """Keep a game that is *fit*, by the name that is free, and return what became of it.

        It may be a double of one that was kept while it was examined.
        """
        game, names = fit.game.candidate, await known.names()
        double = self._double_of(game, fit.sha256, work, names)
        if double is not None:
            return double
        name = game.name if work.replaces else free_name(game.name, {*await self._games.names()})
        about = description_of(game, fit.game.roles, work.source)
        upload = Upload(name, game.rules, work.by, about, fit.game.validation)
        replaces, max_roles = work.replaces, self._max_roles
        try:
            await _when_free(
                lambda: keep_game(self._games, self._checker, upload, may_replace_any=replaces, max_roles=max_roles)
            )
        except StorageError:  # no fault of the game: the import ends
            raise
        except (CallerError, GdlError) as error:
            return intake.refused(game, str(error).split("\n")[0])
        names[fit.sha256] = name
        return intake.row_of(fit.game, name, about)

    async def close(self) -> None:
        """End what is under way; what was kept stays."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _when_free(work: Callable[[], Awaitable[T]]) -> T:
    """Return what *work* does once child processes are free for it: people who wait for an answer come first."""
    while True:
        try:
            return await work()
        except RequestError as error:
            if error.status != HTTPStatus.SERVICE_UNAVAILABLE:
                raise
            await asyncio.sleep(_RETRY_S)
