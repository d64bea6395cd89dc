"""Rate limits: how many requests of each kind a party may send, and how many it may have answered at once."""

import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final, NoReturn

from aiohttp import hdrs
from limits import parse
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from server.access.settings import Limits
from server.refusals import TooManyRequestsError

KINDS: Final = (
    ("POST", re.compile(r"/api/v1/matches(/[^/]+/rematch)?|/start|/games/[^/]+/play"), "orders"),
    ("PUT", re.compile(r"/api/v1/games/[^/]+"), "uploads"),
    ("POST", re.compile(r"/games(/import)?|/validate|/api/v1/(validations|imports)"), "uploads"),
    ("GET", re.compile(r"/api/v1/info|/api/v1/players/[^/]+/info"), "calls"),
    ("POST", re.compile(r"(/api/v1)?/players(/[^/]+)?|/api/v1/players/[^/]+/(pause|resume)"), "calls"),
    ("PATCH", re.compile(r"/api/v1/players/[^/]+"), "calls"),
)
"""Requests with a rate limit of their own, by method and path."""
_REPLY: Final = re.compile(r"/api/v1/players/[^/]+/replies")
_REFUSED_REPLIES: Final = "refused replies"
LOGINS: Final = "logins"
REQUESTS: Final = "requests"
_CLOCK_SET_S: Final = 1.0
"""By how much the clock has to move beside the time that passes to have been set."""


class _Counts(MemoryStorage):
    """Counts whose windows end when their time has passed, also where the clock of the machine is set meanwhile.

    The library says by that clock when a window ends: set back by an hour, the window would last for an hour more.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ahead_s = _wall_clock_ahead_s()

    async def get(self, key: str) -> int:
        """Return the count of *key*, which the library asks for before it does anything else with it."""
        moved_s = _wall_clock_ahead_s() - self._ahead_s
        if abs(moved_s) > _CLOCK_SET_S:
            self._ahead_s += moved_s
            self.expirations = {name: end_s + moved_s for name, end_s in self.expirations.items()}
        return await super().get(key)


def _wall_clock_ahead_s() -> float:
    return time.time() - time.monotonic()


class RateLimiter:
    """Limits the rate of requests of each party, and how many it has open, to *limits*."""

    def __init__(self, limits: Limits) -> None:
        self._counted = FixedWindowRateLimiter(_Counts())
        self._rates = {name: parse(getattr(limits, name)) for name in (REQUESTS, "orders", "uploads", "calls", LOGINS)}
        self._rates[_REFUSED_REPLIES] = self._rates[REQUESTS]
        self._n_at_once = limits.n_at_once
        self._open: Counter[str] = Counter()

    @asynccontextmanager
    async def counted(self, party: str, method: str, path: str) -> AsyncIterator[None]:
        """Count a request of *party*, which the block answers; a reply of its players only if that raises.

        How often players reply is for their matches to say: no reply that is taken counts.

        Raises:
            TooManyRequestsError: the party's rate is above the limit.
        """
        if method != "POST" or not _REPLY.fullmatch(path):
            await self._count(party, method, path)
            yield
            return
        limit = self._rates[_REFUSED_REPLIES]
        if not await self._counted.test(limit, _REFUSED_REPLIES, party):
            await self._refuse(_REFUSED_REPLIES, party)
        try:
            yield
        except Exception:
            await self._counted.hit(limit, _REFUSED_REPLIES, party)
            raise

    async def _count(self, party: str, method: str, path: str) -> None:
        await self.count_one(REQUESTS, party)
        counted_as = hdrs.METH_GET if method == hdrs.METH_HEAD else method
        for its_method, pattern, kind in KINDS:
            if counted_as == its_method and pattern.fullmatch(path):
                await self.count_one(kind, party)

    async def count_one(self, kind: str, party: str) -> None:
        """Count something of a *kind* that *party* does; raises as `counted`."""
        if not await self._counted.hit(self._rates[kind], kind, party):
            await self._refuse(kind, party)

    async def _refuse(self, kind: str, party: str) -> NoReturn:
        window = await self._counted.get_window_stats(self._rates[kind], kind, party)
        raise TooManyRequestsError(kind, window.reset_time - time.time())

    @contextmanager
    def at_once(self, party: str) -> Iterator[None]:
        """Count a request of *party* while it is answered; raises as `counted`."""
        if self._open[party] >= self._n_at_once:
            raise TooManyRequestsError("requests at once", 1)
        self._open[party] += 1
        try:
            yield
        finally:
            self._open[party] -= 1
            if not self._open[party]:
                del self._open[party]
