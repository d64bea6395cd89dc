"""What players of the kit tell of their own failures, from their processes to the record."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from players.kit.http_transport import serving
from server.links.errors import RemotePlayerError
from server.links.http_reply import HttpReply
from server.match.link import MAX_FAILURE, ReplyBuffer
from server.records.record import record_of
from server.records.stored_record import stored
from server.storage.accounts import PlayerStore, ReasonToPause
from server.storage.database import Database
from server.storage.errors import StorageError
from server.terminal.commentary import error_lines
from tests.kit.players import odd_players
from tests.kit.players.peers import settings
from tests.kit.server.hosting.managing import YES, managing, order, until
from tests.kit.server.peers import listening


@pytest.mark.sampled(2)
async def test_a_player_that_crashes_at_every_move_says_so_in_the_record(database: Database) -> None:
    async with (
        serving(odd_players.Failing, settings()) as failing,
        listening(YES) as good,
        managing(database) as manager,
    ):
        ordered = await manager.order(order(failing, good))
        row = await until(manager, ordered.row.id, "completed")
        record = record_of(await manager.journals.entries(row.id)).as_json()
    found = [[failure.partition(" [")[0] for failure in step] for step in record["x-failures"]]
    assert found == [["KeyError: 'start'", ""], ["KeyError: 'move'", ""], ["KeyError: 'perceive'", ""]]
    assert record["errors"] == [["", ""]] * 3
    told = stored(record)
    assert [line.failure != "" for line in told.wire if line.role == "left" and line.direction == "answered"] == [
        True, True, True, False
    ]  # fmt: skip
    (line,) = error_lines(("left", "right"), told.errors, told.failures)
    assert line.startswith(
        "errors of left: the player failed in 3 of 3 answers, first: KeyError: 'start' [odd_players.py:"
    )


@pytest.mark.sampled(2)
async def test_a_match_without_failures_has_no_key_for_them(database: Database) -> None:
    async with listening(YES) as good, managing(database) as manager:
        ordered = await manager.order(order(good, good))
        row = await until(manager, ordered.row.id, "completed")
        record = record_of(await manager.journals.entries(row.id)).as_json()
    assert "x-failures" not in record
    assert all("failure" not in line for line in record["x-wire"])


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (b"IndexError: 3", "IndexError: 3"),
        (b"\x1b[31mred\x00\xff", "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"),
        (b"x" * 9_000, "x" * MAX_FAILURE),
        (b"", ""),
    ],
)
def test_what_a_player_tells_is_bounded_and_leaves_a_terminal_as_it_is(told: bytes, kept: str) -> None:
    body = ReplyBuffer()
    HttpReply(body).feed(b"HTTP/1.0 200 OK\r\nggp-player-failure: " + told + b"\r\n\r\n(a)")
    assert (body.failure, bytes(body.raw)) == (kept, b"(a)")


def test_a_reply_with_an_error_tells_none() -> None:
    body = ReplyBuffer()
    with pytest.raises(RemotePlayerError):
        HttpReply(body).feed(b"HTTP/1.0 500 Oops\r\nGGP-Player-Failure: x\r\n\r\n(a)")
    assert body.failure == ""


@pytest.mark.sampled(2)
async def test_a_match_counts_once_although_the_database_fails_at_first(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, counted, errors = PlayerStore.count_match, asyncio.Event(), [StorageError("here", "locked")]

    async def count_at_the_second_try(
        store: PlayerStore, ordered_ms: int, has_failed: Mapping[str, bool], reason_to_pause: ReasonToPause
    ) -> None:
        if errors:
            raise errors.pop()
        await count(store, ordered_ms, has_failed, reason_to_pause)
        counted.set()

    monkeypatch.setattr(PlayerStore, "count_match", count_at_the_second_try)
    async with listening(YES) as good, managing(database) as manager, asyncio.timeout(30):
        await manager.registry.register("absent", "ann", "http://127.0.0.1:1")
        await manager.order(order("absent", good, startClock=1, playClock=1))
        await counted.wait()
        assert (await manager.registry.get("absent")).n_failures == 1
