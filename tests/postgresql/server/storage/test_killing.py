"""A server that is killed at any moment has lost nothing that it reported as flushed."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys

import pytest

from server.storage.database import Database
from server.storage.journals import JournalStore
from server.storage.matches import MatchStore
from tests.kit.server.processes import ROOT


def killed_after(n_lines: int, address: str) -> dict[str, int]:
    """Return how many entries of each match a child had reported before it was killed, as it wrote on."""
    command = (sys.executable, "-m", "tests.kit.server.storage.writing", address)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(n_lines)]
        child.kill()
        lines += child.stdout.readlines()
    reported = [line.split() for line in lines if line.endswith("\n") and line != "\n"]
    return {name: int(number) for name, number in reported}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
async def test_what_was_reported_is_there_and_without_gaps(database_address: str, seed: int) -> None:
    n_lines = random.Random(seed).randrange(1, 1_500)
    reported = await asyncio.to_thread(killed_after, n_lines, database_address)
    database = await Database.open(database_address)
    journals = JournalStore(database)
    found = {name: [entry.at_ms for entry in await journals.entries(name)] for name in reported}
    await database.close()
    assert reported
    assert {name for name, number in reported.items() if len(found[name]) < number} == set()
    assert {name for name, numbers in found.items() if numbers != list(range(len(numbers)))} == set()


@pytest.mark.sampled(2)
async def test_a_server_that_was_killed_leaves_a_file_that_the_next_one_opens_at_once(
    database_address: str,
) -> None:
    await asyncio.to_thread(killed_after, 50, database_address)
    database = await Database.open(database_address)
    store = MatchStore(database)
    await store.free_all()
    taken = await store.take_over("next", 10, 100)
    await database.close()
    assert taken == [f"m{number:02}" for number in range(20)]
