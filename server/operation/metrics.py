"""What a running game manager counts and measures, in the format of Prometheus."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import Final

import prometheus_client as prometheus
from aiohttp import web
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from server.match.exchange import Message
from server.records import entries

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
LAG_INTERVAL_S: Final = 0.25

_SHORT_S: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_LONG_S: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_SIZES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OUTCOME_BY_ERROR: Final = {"": "ok", "TO": "timeout", "CE": "connection"}
"""How a reply came out, by its error in the record of the match; any other error is `illegal`."""


class Metrics:
    """The figures of one game manager."""

    def __init__(self) -> None:
        self.registry = prometheus.CollectorRegistry()
        gauge = partial(prometheus.Gauge, registry=self.registry)
        counter = partial(prometheus.Counter, registry=self.registry)
        histogram = partial(prometheus.Histogram, registry=self.registry)
        prometheus.ProcessCollector(registry=self.registry)
        prometheus.PlatformCollector(registry=self.registry)
        self._running = gauge("ggp_matches_running", "Matches that this process plays now")
        self._queued = gauge("ggp_matches_queued", "Matches that wait for their players or for room")
        self._started = counter("ggp_matches_started", "Matches that began here")
        self._ended = counter("ggp_matches_ended", "Matches that ended here", ["status"])
        self._steps = counter("ggp_steps", "Joint moves made")
        replies = counter("ggp_replies", "Replies of players, by outcome", ["message", "outcome"])
        self._replies_of = cache(replies.labels)  # which takes longer than counting
        self._thinking = histogram("ggp_reply_seconds", "Time of players for PLAY", buckets=_LONG_S)
        share = "From the last reply of a step to the next request"
        self._share = histogram("ggp_step_share_seconds", share, buckets=_SHORT_S)
        self._batch_events = histogram("ggp_writer_batch_events", "Events in one commit", buckets=_SIZES)
        self._batch_s = histogram("ggp_writer_batch_seconds", "Time of one commit", buckets=_SHORT_S)
        self._lag = histogram("ggp_loop_lag_seconds", "How late the event loop is", buckets=_SHORT_S)
        self._requests = counter("ggp_http_requests", "HTTP requests answered", ["method", "route", "status"])
        answers = "Time of answers that are no streams"
        self._request_s = histogram("ggp_http_request_seconds", answers, ["route"], buckets=_SHORT_S)
        self._open = gauge("ggp_http_open_requests", "HTTP requests being answered, streams included")

    def set_running(self, n_running: int) -> None:
        """Note how many matches this process plays."""
        self._running.set(n_running)

    def set_queued(self, n_queued: int) -> None:
        """Note how many matches wait, in the whole database."""
        self._queued.set(n_queued)

    def take(self, _match_id: str, _number: int, entry: entries.Entry) -> None:
        """Count an entry of a match's journal."""
        match entry:
            case entries.StartedEntry():
                self._started.inc()
            case entries.AnsweredEntry():
                self._take_reply(entry)
            case entries.StepEntry() if entry.moves is not None:
                self._steps.inc()
            case entries.CompletedEntry() | entries.AbortedEntry() | entries.FailedEntry():
                self._ended.labels(entry.kind).inc()

    def _take_reply(self, entry: entries.AnsweredEntry) -> None:
        self._replies_of(entry.message.value, _OUTCOME_BY_ERROR.get(entry.error, "illegal")).inc()
        if entry.message is Message.PLAY:
            self._thinking.observe(entry.elapsed_ms / 1000)

    def take_share(self, share_s: float) -> None:
        """Note what the manager itself took of a step: from the last reply in to the next request out."""
        self._share.observe(share_s)

    def take_batch(self, n_events: int, elapsed_s: float) -> None:
        """Note a commit of the event writer."""
        self._batch_events.observe(n_events)
        self._batch_s.observe(elapsed_s)

    def take_lag(self, lag_s: float) -> None:
        """Note how late the event loop came to something."""
        self._lag.observe(lag_s)

    def open_request(self, n_more: int) -> None:
        """Note that a request came (1) or was answered (-1)."""
        self._open.inc(n_more)

    def take_request(self, method: str, route: str, status: int, elapsed_s: float | None) -> None:
        """Count an answered request; *elapsed_s* is None for a stream, which lasts as long as its reader likes."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        if elapsed_s is not None:
            self._request_s.labels(route).observe(elapsed_s)

    def text(self) -> bytes:
        """Return all figures as the text of GET /metrics."""
        return prometheus.generate_latest(self.registry)


METRICS: Final = web.AppKey("metrics", Metrics)


@asynccontextmanager
async def lag_measured(metrics: Metrics, interval_s: float = LAG_INTERVAL_S) -> AsyncIterator[None]:
    """Measure how late the event loop is while the block runs, every *interval_s* seconds."""
    task = asyncio.create_task(_measure_lag(metrics, interval_s), name="loop-lag")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _measure_lag(metrics: Metrics, interval_s: float) -> None:
    loop = asyncio.get_running_loop()
    while True:
        expected_s = loop.time() + interval_s
        await asyncio.sleep(interval_s)
        metrics.take_lag(max(0.0, loop.time() - expected_s))
