"""How often somebody may ask: so many requests, orders, uploads and failed log-ins in a time, so many at once."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from limits import parse
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import FixedWindowRateLimiter

from server.access.errors import TooManyRequestsError
from server.access.settings import Limits

KINDS: Final = (
    ("POST", re.compile(r"/api/v1/matches|/start"), "orders"),
    ("PUT", re.compile(r"/api/v1/games/[^/]+"), "uploads"),
    ("POST", re.compile(r"/games|/validate|/api/v1/validations"), "uploads"),
    ("GET", re.compile(r"/api/v1/info|/api/v1/players/[^/]+/info"), "calls"),
    ("POST", re.compile(r"(/api/v1)?/players(/[^/]+)?"), "calls"),
    ("PATCH", re.compile(r"/api/v1/players/[^/]+"), "calls"),
)
"""What is dearer than other requests, by method and path."""
LOGINS: Final = "logins"
REQUESTS: Final = "requests"


class Pace:
    """Counts what each party asks for, and refuses what is beyond *limits*."""

    def __init__(self, limits: Limits) -> None:
        self._counted = FixedWindowRateLimiter(MemoryStorage())
        self._rates = {name: parse(getattr(limits, name)) for name in (REQUESTS, "orders", "uploads", "calls", LOGINS)}
        self._n_at_once = limits.n_at_once
        self._open: Counter[str] = Counter()

    async def count(self, party: str, method: str, path: str) -> None:
        """Count a request of *party*.

        Raises:
            TooManyRequestsError: it is one too many.
        """
        await self.count_one(REQUESTS, party)
        for its_method, pattern, kind in KINDS:
            if method == its_method and pattern.fullmatch(path):
                await self.count_one(kind, party)

    async def count_one(self, kind: str, party: str) -> None:
        """Count something of a *kind* that *party* does; raises as `count`."""
        limit = self._rates[kind]
        if not await self._counted.hit(limit, kind, party):
            window = await self._counted.get_window_stats(limit, kind, party)
            raise TooManyRequestsError(kind, window.reset_time - time.time())

    @contextmanager
    def at_once(self, party: str) -> Iterator[None]:
        """Count a request of *party* while it is answered; raises as `count`."""
        if self._open[party] >= self._n_at_once:
            raise TooManyRequestsError("requests at once", 1)
        self._open[party] += 1
        try:
            yield
        finally:
            self._open[party] -= 1
            if not self._open[party]:
                del self._open[party]
