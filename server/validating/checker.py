"""Validations of rules from outside: how many child processes work on them at once, for all callers."""

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from gdl.diagnostics import Source
from gdl.errors import GdlError
from gdl.language.kif import ReadLimits
from gdl.simulation import SimulationBudget
from gdl.worker import NotWanted
from server.refusals import RequestError
from server.threads import in_own_thread
from server.validating.validation import Validation, ValidationOptions, check_description, check_source, play_file

Result = TypeVar("Result")
IsWanted = Callable[[], bool]

_ASKING_S: Final = 0.25


class ChildSlots:
    """Places for child processes; a place is free again when its child is gone, whatever became of its caller.

    Work in the background never takes the last place, so that a short question does not wait for a long check.
    *n_waiting* callers may wait for a place, those in the background not counted.
    """

    def __init__(self, n_slots: int, n_waiting: int) -> None:
        self._slots = threading.BoundedSemaphore(n_slots)
        self._background = threading.BoundedSemaphore(max(1, n_slots - 1))
        self._most = n_slots + n_waiting
        self._n_inside = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[[IsWanted], Result], *, is_background: bool = False) -> Result:
        """Return what *work* returns, called in a thread once there is a place; it starts one child at a time.

        *work* gets a function that says whether the answer is still wanted: it is not when the caller is cancelled.

        Raises:
            RequestError: many others are waiting.
            OSError: no thread can be started; or as *work*.
        """
        if not is_background:
            self._enter()
        begun, gone = threading.Event(), threading.Event()

        def worked() -> Result:
            begun.set()
            return self._worked(work, gone, is_background=is_background)

        try:
            return await in_own_thread(worked)
        except asyncio.CancelledError:
            gone.set()
            raise
        except OSError:
            if not (begun.is_set() or is_background):
                self._leave()
            raise

    def _enter(self) -> None:
        with self._lock:
            if self._n_inside >= self._most:
                raise RequestError("busy", "many rules are being checked just now", "try again in a minute", 503)
            self._n_inside += 1

    def _leave(self) -> None:
        with self._lock:
            self._n_inside -= 1

    def _worked(self, work: Callable[[IsWanted], Result], gone: threading.Event, *, is_background: bool) -> Result:
        """Do *work* when a slot is free, unless the caller is *gone*; background work takes one of both kinds."""
        places = (self._background, self._slots) if is_background else (self._slots,)
        taken = []
        try:
            for place in places:
                while not place.acquire(timeout=_ASKING_S):
                    if gone.is_set():
                        raise NotWanted
                taken.append(place)
            return work(lambda: not gone.is_set())
        finally:
            for place in reversed(taken):
                place.release()
            if not is_background:
                self._leave()


CHILDREN: Final = ChildSlots(max(2, os.cpu_count() or 1), 16)
"""The places of this process."""


MAX_CHARACTERS: Final = 500_000
"""The longest rules that are taken."""
_MOST_FOLLOWED: Final = 200
"""How many long checks may wait; rules that come later get none."""
_LOOKING: Final = ValidationOptions(
    max_seconds=15.0, max_memory_mb=1024, read_limits=ReadLimits(max_characters=MAX_CHARACTERS)
)
_FIRST: Final = SimulationBudget(plays=20, seconds=2.5, states=500)
_LONG: Final = SimulationBudget(plays=100, seconds=30.0, states=5_000)
"""What is played. *Units*: seconds of processor time."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Following:
    task: asyncio.Task[None]
    n_plays: int = 0


class Checker:
    """Validates texts in child processes, of which there are only so many at once."""

    def __init__(self, long: SimulationBudget = _LONG) -> None:
        self._long = long
        self._following: dict[str, _Following] = {}

    async def validation(self, text: str, name: str, *, is_played: bool) -> Validation:
        """Return what is to be said of the rules *text* at a first look; where *is_played*, after some random plays.

        Raises:
            RequestError: many others are waiting.
        """
        source = Source(name, text)
        return await CHILDREN.run(lambda is_wanted: _first_look(source, is_wanted, is_played=is_played))

    async def description(self, about: str, checked: Validation) -> Validation | None:
        """Return what is wrong with the TOML description *about* beside the rules *checked*; None where nothing is.

        Raises:
            RequestError: many others are waiting.
        """
        source = Source("description", about)
        return await CHILDREN.run(
            lambda is_wanted: check_description(source, checked, replace(_LOOKING, is_wanted=is_wanted))
        )

    def follow(self, key: str, first: Validation, done: Callable[[Validation], Awaitable[object]]) -> None:
        """Play the rules of *first* at length behind the scenes, and call *done* with what is to be said then.

        The compiled engine plays, if it can. *key* is what `n_plays` tells the plays by.
        """
        if key not in self._following and len(self._following) < _MOST_FOLLOWED:
            self._following[key] = _Following(asyncio.create_task(self._followed(key, first, done)))

    def n_plays(self, key: str) -> int | None:
        """Return how many plays of a long check under way have ended; None where there is none."""
        found = self._following.get(key)
        return None if found is None else found.n_plays

    async def _followed(self, key: str, first: Validation, done: Callable[[Validation], Awaitable[object]]) -> None:
        """Make the long check of *first*, and hand its validation to *done*."""

        def count() -> None:
            if key in self._following:
                self._following[key].n_plays += 1

        try:
            await done(
                await CHILDREN.run(
                    lambda is_wanted: _long_check(first, self._long, is_wanted, count), is_background=True
                )
            )
        except (GdlError, OSError):
            _LOG.exception("the long check of %s failed", first.source.name)
        finally:
            del self._following[key]

    async def close(self) -> None:
        """End the long checks."""
        tasks = [following.task for following in self._following.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _first_look(source: Source, is_wanted: IsWanted, *, is_played: bool) -> Validation:
    options = replace(_LOOKING, budget=_FIRST, is_wanted=is_wanted)
    found = check_source(source, options)
    if not is_played or found.has_error or not found.is_checked:
        return found
    return play_file(source.name, found, options)


def _long_check(
    first: Validation, budget: SimulationBudget, is_wanted: IsWanted, on_play: Callable[[], None]
) -> Validation:
    options = replace(_LOOKING, max_memory_mb=2048, budget=budget, is_compiled=True, is_wanted=is_wanted)
    found = check_source(first.source, options)
    return play_file(first.source.name, found, options, on_play) if found.is_checked else found
