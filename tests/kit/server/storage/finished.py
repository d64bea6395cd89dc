"""Many matches that are over, kept at once: how tests fill a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Final

import sqlalchemy as sa

from server.records.entries import Entry
from server.storage.database import Database
from server.storage.journals import line_of, packed
from server.storage.rows import MatchRow, MatchSummary, SeatRow
from server.storage.schema import matches, records, seats

_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """A match with its whole journal; `ended` brings row and seats to what the journal tells."""

    row: MatchRow
    seats: Sequence[SeatRow]
    entries: Sequence[Entry]

    def ended(self, summary: MatchSummary) -> FinishedMatch:
        """Return the match as its rows are when it has ended like *summary*."""
        row = replace(
            self.row,
            status=summary.status,
            started_ms=self.entries[0].at_ms if self.entries else None,
            ended_ms=summary.ended_ms,
            n_steps=summary.n_steps,
            n_errors=summary.n_errors,
            goals=summary.goals,
        )
        return FinishedMatch(row, [_ended(seat, summary) for seat in self.seats], self.entries)


def _ended(seat: SeatRow, summary: MatchSummary) -> SeatRow:
    result = summary.seats.get(seat.role)
    return seat if result is None else replace(seat, **asdict(result))


async def add_finished(database: Database, finished: Iterable[FinishedMatch]) -> int:
    """Keep matches that are over, a few hundred in each transaction, and return how many there were.

    Raises:
        StorageError: a match is there already; those of the transactions before are kept.
    """
    n_added = 0
    for part in _parts(iter(finished)):
        rows = [match.row.columns() for match in part]
        seat_rows = [_seat_row(match, seat) for match in part for seat in match.seats]
        bodies = [{"match_id": match.row.id, "body": packed([*map(line_of, match.entries)])} for match in part]
        async with database.begin() as connection:
            await connection.execute(sa.insert(matches), rows)
            await connection.execute(sa.insert(seats), seat_rows)
            await connection.execute(sa.insert(records), bodies)
        n_added += len(part)
    return n_added


def _parts(finished: Iterator[FinishedMatch]) -> Iterator[list[FinishedMatch]]:
    while part := list(islice(finished, _AT_ONCE)):
        yield part


def _seat_row(match: FinishedMatch, seat: SeatRow) -> dict[str, object]:
    return asdict(seat) | {"game": match.row.game, "created_ms": match.row.created_ms}
