"""A database with one match whose journal is written entry by entry, as a game manager would do it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from gdl.language.rules import Description
from server.hosting.order import MatchRequest, new_order
from server.match.profiles import Profile
from server.records.entries import Entry, entry_of
from server.registry.queueing import WaitReason
from server.storage.accounts import PlayerStore
from server.storage.database import Database
from server.storage.games import GameStore
from server.storage.journals import JournalStore
from server.storage.match_changes import summary_of
from server.storage.matches import MatchStore
from server.storage.notifications import Notifier
from server.storage.publications import PublicationStore
from server.storage.queue import MatchQueue
from server.storage.rows import CLOCK_SLACK_MS, GameVersion, MatchRow, PlayerRow, SeatKind, SeatRow
from server.storage.writer import EventWriter, WriterObservers
from tests.kit.server.databases import new_sqlite
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, START_MS, events, start_of
from tests.kit.server.storage.samples import keep

MATCH = "match.m1"
OWNER = "alice-and-co"
SEEDS = {"seed": 7, "scrambleSeed": 8}


class WrittenMatch:
    """The stores of a database, and the journal of the match `match.m1` that is not all written yet."""

    def __init__(self, database: Database, journal: Sequence[Entry]) -> None:
        self.games, self.players, self.matches = GameStore(database), PlayerStore(database), MatchStore(database)
        self.queue, self.journals = MatchQueue(database), JournalStore(database)
        self.publications = PublicationStore(database)
        self.notifier, self.journal = Notifier(), list(journal)
        self.writer = EventWriter(database, "holder", WriterObservers(self.notifier.tell))
        self.wait_reasons: Mapping[str, WaitReason] = {}
        self.n_written = 0

    async def begin(self, description: Description, profile: Profile) -> None:
        """Keep the game, its match, and the player of the first role, which `alice` registered."""
        first = start_of(self.journal)
        sha256, text = description.sha256, description.source.text
        await self.games.put(GameVersion("turns", sha256, text, first.roles, description.is_gdl2, 1))
        order = new_order(MatchRequest(game="turns", players={}, scramble=profile.is_scrambled), "turns", {})
        terms = replace(order, seed=first.seed, scramble_seed=first.scramble_seed).as_json()
        is_hidden = description.is_gdl2 or profile.is_scrambled
        match = MatchRow(MATCH, "turns", sha256, terms, START_MS - 1, is_hidden=is_hidden)
        names = [seat.player for seat in first.seats]
        seats = [SeatRow(MATCH, role, i, names[i], SeatKind.DIAL_IN) for i, role in enumerate(first.roles)]
        await keep(self.matches, match, seats)
        await self.players.put(PlayerRow(names[0], SeatKind.DIAL_IN, OWNER, START_MS - 2))
        await self.queue.claim([MATCH], "holder", 1e6)

    async def register_again(self, owner: str) -> None:
        """Have *owner* register a player of the first one's name, now that the match is played."""
        name = start_of(self.journal).seats[0].player
        await self.players.delete(name)
        await self.players.put(PlayerRow(name, SeatKind.DIAL_IN, owner, START_MS + CLOCK_SLACK_MS))

    async def write(self, until: str, nth: int = 1) -> None:
        """Write the journal up to and with the *nth* more entry of kind *until*."""
        while nth:
            entry = self.journal[self.n_written]
            self.writer.put(MATCH, self.n_written, entry)
            self.n_written += 1
            nth -= entry.kind == until
        await self.writer.flush(MATCH)

    async def finish(self) -> None:
        """Write all of the journal, and close the match."""
        for number, entry in enumerate(self.journal[self.n_written :], self.n_written):
            self.writer.put(MATCH, number, entry)
        self.n_written = len(self.journal)
        await self.writer.finish(MATCH, summary_of(self.journal), None)


@asynccontextmanager
async def written_match(
    folder: Path,
    description: Description,
    moves: Sequence[Sequence[str]],
    profile: Profile = PLAIN,
    seeds: Mapping[str, int] = SEEDS,
) -> AsyncIterator[WrittenMatch]:
    """Yield a match in which *moves* are played, in a SQLite file in *folder*; *seeds* stand in the journal."""
    database = await new_sqlite(folder)
    journal = [entry_of(event, CIRCUMSTANCES) for event in events(description, moves, profile)]
    first = start_of(journal)
    # The scripted players have their roles in their names.
    journal_seats = tuple(replace(seat, player=f"player-{number}") for number, seat in enumerate(first.seats))
    journal[0] = replace(first, seed=seeds["seed"], scramble_seed=seeds["scrambleSeed"], seats=journal_seats)
    found = WrittenMatch(database, journal)
    await found.begin(description, profile)
    try:
        yield found
    finally:
        await found.writer.close()
        await database.close()
