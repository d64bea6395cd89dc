"""The measurement of how fast journals are written counts what is in the database."""

from __future__ import annotations

import sqlalchemy as sa

from benchmarks.journals import WriteRate, measure
from server.storage.database import Database


async def test_every_event_that_is_counted_is_written(database_address: str) -> None:
    rate = await measure(database_address, 3, duration_s=0.2)
    database = await Database.open(database_address)
    async with database.reading() as connection:
        n_events = await connection.scalar(sa.text("SELECT count(*) FROM events"))
    await database.close()
    assert (rate.n_matches, rate.n_events) == (3, n_events)
    assert 0 < len(rate.flushing_s) < rate.n_events


def test_a_rate_is_printed_in_a_line() -> None:
    rate = WriteRate(500, 2.0, 30_000, [0.001] * 99 + [0.001])
    assert str(rate) == " 500 matches:  15,000 events/s, flushed after 1.0 ms (median), 1.0 ms (99 of 100)"
