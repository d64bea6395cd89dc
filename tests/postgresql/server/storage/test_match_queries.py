"""A page of matches or results is read from an index, and no further than the page, whatever is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from server.storage.database import Database
from server.storage.match_queries import MatchFilter, page_query
from server.storage.matches import MatchStore
from server.storage.results import matches_with_results
from tests.kit.server.storage.samples import add, match

FILTERS = [
    MatchFilter(),
    MatchFilter(status="completed"),
    MatchFilter(game="tiny"),
    MatchFilter(game="tiny", status="running"),
    MatchFilter(tournament="cup"),
    MatchFilter(player="ann"),
    MatchFilter(player="ann", status="completed"),
    MatchFilter(player="ann", game="tiny"),
    MatchFilter(player="ann", status="running"),
    MatchFilter(player="ann", is_public=True),
]


QUERIES = [page_query(wanted, (10, "m"), 50) for wanted in FILTERS]
RESULTS = [matches_with_results(*wanted).limit(50) for wanted in ((None, ()), ("tiny", ()), (None, ("ann",)))]
NAMES = [*map(repr, FILTERS), "results", "results of a game", "results of a player"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("query", QUERIES + RESULTS, ids=NAMES)
async def test_no_list_looks_through_a_table_or_sorts(query: sa.Select[Any], tmp_path: Path) -> None:
    text = query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
    database = await Database.open(str(tmp_path / "a.sqlite"))
    async with database.reading() as connection:
        steps = [row[3] for row in await connection.execute(sa.text(f"EXPLAIN QUERY PLAN {text}"))]
    await database.close()
    assert [step for step in steps if step.startswith(("SCAN", "USE TEMP B-TREE"))] == []


async def test_a_public_list_leaves_out_what_is_hidden_until_it_is_over(database: Database) -> None:
    store = MatchStore(database)
    for name, is_hidden in (("open", False), ("hidden", True), ("over", True)):
        await add(store, match(name, is_hidden=is_hidden))
    await store.request_abort("over", "enough")
    wanted = [MatchFilter(game="tiny", is_public=is_public) for is_public in (True, False)]
    found = [[row.id for row in await store.listed(each)] for each in wanted]
    assert found == [["over", "open"], ["over", "open", "hidden"]]
