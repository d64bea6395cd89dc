"""Inserts that know what to do where the row is there already, in the words of either database."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from server.storage.database import Database

Insert: TypeAlias = sqlite.Insert | postgresql.Insert


def insert(database: Database, table: sa.Table) -> Insert:
    """Return an insert into *table* that has `on_conflict_do_update` and `on_conflict_do_nothing`."""
    return sqlite.insert(table) if database.is_sqlite else postgresql.insert(table)


def upsert(database: Database, table: sa.Table, kept: Collection[str] = ()) -> Insert:
    """Return an insert into *table* that replaces the row with the same primary key, but for the columns *kept*."""
    made = insert(database, table)
    keys = [column.name for column in table.primary_key]
    changed = [column.name for column in table.columns if column.name not in (*keys, *kept)]
    return made.on_conflict_do_update(index_elements=keys, set_={name: made.excluded[name] for name in changed})
