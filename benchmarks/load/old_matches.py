"""A week of matches in a database at once: copies of a few that were really played, by many players."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

import sqlalchemy as sa

from server.storage.database import Database
from server.storage.journals import JournalStore, line_of, packed
from server.storage.match_queries import MatchFilter
from server.storage.matches import MatchStore
from server.storage.rows import MatchRow, SeatRow
from server.storage.schema import matches, records, seats

PLAYERS: Final = tuple(f"player-{number}" for number in range(60))
_WEEK_MS: Final = 7 * 86_400_000
_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Template:
    """A match that is over, with its seats and the lines of its record."""

    match: MatchRow
    seats: Sequence[SeatRow]
    lines: Sequence[str]


async def templates(database: Database, limit: int = 20) -> list[Template]:
    """Return matches of *database* that were completed."""
    store, journals = MatchStore(database), JournalStore(database)
    rows = await store.listed(MatchFilter("completed"), limit=limit)
    seat_rows = await store.seats([row.id for row in rows])
    return [
        Template(row, seat_rows[row.id], [line_of(entry) for entry in await journals.entries(row.id)]) for row in rows
    ]


async def fill(database: Database, n_matches: int, seed: int = 1) -> None:
    """Add *n_matches* copies of the completed matches of *database*, spread over the week before the latest of them.

    Raises:
        ValueError: there is none to copy.
        StorageError: the database failed.
    """
    models = await templates(database)
    if not models:
        raise ValueError("no match was completed that could be copied")
    copying = _copies(models, n_matches, random.Random(seed))
    while part := list(islice(copying, _AT_ONCE)):
        await database.write(partial(_insert, part))


def _insert(part: Sequence[tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]], to: sa.Connection) -> None:
    to.execute(sa.insert(matches), [match for match, _, _ in part])
    to.execute(sa.insert(seats), [row for _, seat_rows, _ in part for row in seat_rows])
    to.execute(sa.insert(records), [record for _, _, record in part])


def _copies(
    models: Sequence[Template], n_matches: int, chance: random.Random
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]]:
    """Yield rows of copies, the oldest first."""
    last_ms = max(model.match.created_ms for model in models)
    for number in range(n_matches):
        model, match_id = chance.choice(models), f"week.{number:07d}"
        earlier_ms = model.match.created_ms - last_ms + _WEEK_MS * (n_matches - number) // n_matches
        yield _copy(model, match_id, earlier_ms, chance)


def _copy(
    model: Template, match_id: str, earlier_ms: int, chance: random.Random
) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    """Return the rows of a copy of *model*: match, seats and record."""
    match = model.match.columns() | {"id": match_id}
    for name in ("created_ms", "started_ms", "ended_ms"):
        match[name] -= earlier_ms
    kept = {"match_id": match_id, "game": match["game"], "created_ms": match["created_ms"]}
    names = chance.sample(PLAYERS, len(model.seats))
    seat_rows = [asdict(seat) | kept | {"player": name} for seat, name in zip(model.seats, names, strict=True)]
    lines = [line.replace(model.match.id, match_id) for line in model.lines]
    return match, seat_rows, {"match_id": match_id, "body": packed(lines), "signature": None}
