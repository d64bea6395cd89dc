"""What is counted, as Prometheus reads it."""

from __future__ import annotations

import asyncio

from server.match.exchange import Message
from server.operation.metrics import Metrics, lag_measured
from server.records.entries import AnsweredEntry, ClosedEntry, CompletedEntry, Entry, StepEntry
from tests.kit.server.metrics import told
from tests.kit.server.storage.samples import journal


def test_entries_of_matches_are_counted_by_what_they_say() -> None:
    metrics = Metrics()
    entries: list[Entry] = [
        journal()[0],
        AnsweredEntry(1, 0, "x", Message.START, "ready", 3, "", "", None),
        StepEntry(1, 0, None, ("", ""), ("", ""), (3, 3), ()),
        AnsweredEntry(1, 0, "x", Message.PLAY, "", 9, "TO", "late", "a"),
        AnsweredEntry(1, 0, "o", Message.PLAY, "(mark 1 1)", 9, "IL ( mark 1 1 )", "illegal", "b"),
        StepEntry(1, 0, ("a", "b"), ("TO", "IL ( mark 1 1 )"), ("late", "illegal"), (9, 9), ()),
        CompletedEntry(1, 1, (50, 50)),
        ClosedEntry(1),
    ]
    for number, entry in enumerate(entries):
        metrics.take("match.a", number, entry)
    assert told(metrics, "ggp_matches_started", "ggp_matches_ended", "ggp_steps", "ggp_replies") == {
        "ggp_matches_started_total": 1,
        'ggp_matches_ended_total{status="completed"}': 1,
        "ggp_steps_total": 1,
        'ggp_replies_total{message="START",outcome="ok"}': 1,
        'ggp_replies_total{message="PLAY",outcome="timeout"}': 1,
        'ggp_replies_total{message="PLAY",outcome="illegal"}': 1,
    }


def test_the_present_numbers_of_matches_are_the_last_that_were_noted() -> None:
    metrics = Metrics()
    metrics.set_running(3)
    metrics.set_queued(7)
    metrics.set_running(4)
    assert told(metrics, "ggp_matches_running", "ggp_matches_queued") == {
        "ggp_matches_running": 4,
        "ggp_matches_queued": 7,
    }


def test_a_share_falls_into_the_bucket_of_its_size() -> None:
    metrics = Metrics()
    metrics.take_share(0.004)
    found = told(metrics, "ggp_step_share_seconds_bucket")
    assert [name.split('"')[1] for name, n in found.items() if n == 0] == ["0.0005", "0.001", "0.002"]


def test_a_stream_counts_and_has_no_time() -> None:
    metrics = Metrics()
    metrics.take_request("GET", "/a", 200, 0.1)
    metrics.take_request("BREW", "/b", 200, None)
    assert told(metrics, "ggp_http_requests", "ggp_http_request_seconds_count") == {
        'ggp_http_requests_total{method="GET",route="/a",status="200"}': 1,
        'ggp_http_requests_total{method="other",route="/b",status="200"}': 1,
        'ggp_http_request_seconds_count{route="/a"}': 1,
    }


def test_two_servers_in_one_process_share_no_counter() -> None:
    first, second = Metrics(), Metrics()
    first.take_batch(10, 0.01)
    assert told(second, "ggp_writer_batch_events_count") == {"ggp_writer_batch_events_count": 0}


class Watched(Metrics):
    """Metrics that tell when the lag of the loop was measured."""

    def __init__(self) -> None:
        super().__init__()
        self.measured = asyncio.Event()

    def take_lag(self, lag_s: float) -> None:
        assert lag_s >= 0
        self.measured.set()


async def test_the_lag_of_the_loop_is_measured_while_the_block_runs() -> None:
    metrics = Watched()
    async with lag_measured(metrics, interval_s=0):
        await metrics.measured.wait()
