"""How fast journals are written: `python -m benchmarks.journals [DATABASE]`, by default a temporary file.

These matches wait for nothing but the commits of their answers; those of a server wait for players, too.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Final

import click

from server.hosting.order import MatchRequest, StoredOrder
from server.match.exchange import Message, MoveOrigin
from server.records.entries import AnsweredEntry, Entry, SentEntry, StateEntry, StepEntry
from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.queue import MatchQueue
from server.storage.rows import MatchRow, SeatKind, SeatRow
from server.storage.writer import EventWriter

N_MATCHES: Final = (1, 10, 100, 500)
DURATION_S: Final = 5.0
_WAITED_FOR: Final = (AnsweredEntry, StepEntry)
_ORDER: Final = StoredOrder(MatchRequest.model_validate({"game": "rate", "players": {}}), 1, 1, "").as_json()
_TEXT: Final = "(PLAY match.a ((mark 1 1) noop))"


@dataclass(slots=True)
class WriteRate:
    """The measured rate of events with *n_matches* at once, and how long commits took. *Units*: seconds."""

    n_matches: int
    duration_s: float
    n_events: int = 0
    flushing_s: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        cuts = quantiles(self.flushing_s or [0.0, 0.0], n=100)
        events_per_s = self.n_events / self.duration_s
        return (
            f"{self.n_matches:4} matches: {events_per_s:7,.0f} events/s, "
            f"flushed after {cuts[49] * 1000:.1f} ms (median), {cuts[98] * 1000:.1f} ms (99 of 100)"
        )


async def measure(address: str, n_matches: int, duration_s: float = DURATION_S) -> WriteRate:
    """Return the rate at which *n_matches* new matches at once are written to the database at *address*.

    Raises:
        StorageError: the database failed.
    """
    database, holder = await Database.open(address), secrets.token_hex(8)
    names = [f"rate.{secrets.token_hex(8)}" for _ in range(n_matches)]
    try:
        found = [(MatchRow(name, "rate", "", _ORDER, created_ms=0), _seats(name)) for name in names]
        await MatchStore(database).add_all(found, sys.maxsize, must_be_current=False)
        await MatchQueue(database).claim(names, holder, lease_s=3600)
        writer, rate = EventWriter(database, holder), WriteRate(n_matches, duration_s)
        await asyncio.gather(*(_play(writer, name, rate) for name in names))
        await writer.close()
    finally:
        await database.close()
    return rate


def _seats(match_id: str) -> list[SeatRow]:
    return [SeatRow(match_id, role, 0, "random", SeatKind.OWN) for role in "xo"]


async def _play(writer: EventWriter, name: str, rate: WriteRate) -> None:
    """Write the events of one match until the time is over, waiting for the commits of its answers."""
    end_s, number = time.perf_counter() + rate.duration_s, 0
    while time.perf_counter() < end_s:
        entry = _entry(number)
        writer.put(name, number, entry)
        number += 1
        if isinstance(entry, _WAITED_FOR):
            start_s = time.perf_counter()
            await writer.flush(name)
            rate.flushing_s.append(time.perf_counter() - start_s)
    rate.n_events += number


def _entry(number: int) -> Entry:
    """Return one of the six entries of a step of a game for two, as long as those of tic-tac-toe."""
    step, place = divmod(number, 6)
    match place:
        case 0:
            return StateEntry(0, step, "( ( cell 1 1 b ) )" * 9, None)
        case 1 | 2:
            return SentEntry(0, step, "x", Message.PLAY, _TEXT)
        case 3 | 4:
            return AnsweredEntry(0, step, "x", Message.PLAY, _TEXT, 700, "", "", "( mark 1 2 )")
        case _:
            origins = (MoveOrigin.PLAYER,) * 2
            return StepEntry(0, step, ("( mark 1 2 )", "noop"), ("", ""), ("", ""), (700, 700), origins)


@click.command()
@click.argument("database", required=False)
def main(database: str | None) -> None:
    """Measure how fast journals are written to DATABASE, a file or an address; by default to a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        address = database or str(Path(folder) / "journals.sqlite")
        for n_matches in N_MATCHES:
            click.echo(str(asyncio.run(measure(address, n_matches))))


if __name__ == "__main__":
    main()
