"""A page of matches is read from an index, and no further than the page, whatever is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from server.storage.database import Database
from server.storage.listing import Filter, listing
from server.storage.matches import MatchStore
from tests.kit.server.storage.samples import add, match

FILTERS = [
    Filter(),
    Filter(status="completed"),
    Filter(game="tiny"),
    Filter(game="tiny", status="running"),
    Filter(tournament="cup"),
    Filter(player="ann"),
    Filter(player="ann", status="completed"),
    Filter(player="ann", game="tiny"),
    Filter(player="ann", status="running"),
    Filter(player="ann", is_public=True),
]


@pytest.fixture(params=FILTERS, ids=repr)
def plan(request: pytest.FixtureRequest) -> str:
    query = listing(request.param, (10, "m"), 50)
    text = query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    return f"EXPLAIN QUERY PLAN {text}"


async def test_no_list_looks_through_a_table_or_sorts(plan: str, tmp_path: Path) -> None:
    database = await Database.open(str(tmp_path / "a.sqlite"))
    async with database.reading() as connection:
        steps = [row[3] for row in await connection.execute(sa.text(plan))]
    await database.close()
    assert [step for step in steps if step.startswith(("SCAN", "USE TEMP B-TREE"))] == []


async def test_a_public_list_leaves_out_what_is_hidden_until_it_is_over(database: Database) -> None:
    store = MatchStore(database)
    for name, is_hidden in (("open", False), ("hidden", True), ("over", True)):
        await add(store, match(name, is_hidden=is_hidden))
    await store.request_abort("over", "enough")
    found = [[row.id for row in await store.listed(game="tiny", is_public=is_public)] for is_public in (True, False)]
    assert found == [["over", "open"], ["over", "open", "hidden"]]
