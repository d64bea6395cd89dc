"""The tables' revision, and how they are brought to the newest one."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from server.errors import DatabaseOpenError
from server.storage.schema import METADATA

FOLDER: Final = Path(__file__).parent / "migrations"
_LOCK: Final = 0x676770
"""The number under which servers that start at once on one PostgreSQL wait for each other."""


def found_revision(connection: sa.Connection) -> str:
    """Return the revision of the tables that are there; empty where there are none.

    Raises:
        DatabaseOpenError: the file holds tables of something else.
    """
    names = set(sa.inspect(connection).get_table_names())
    if "alembic_version" in names:
        return str(connection.scalar(sa.text("SELECT version_num FROM alembic_version")) or "")
    if names and (connection.dialect.name == "sqlite" or names & METADATA.tables.keys()):
        raise DatabaseOpenError(str(connection.engine.url.database), "it holds something else; name another one")
    return ""


def migrate(connection: sa.Connection) -> None:
    """Bring the tables to the newest revision, within the transaction of *connection*."""
    from alembic import command  # noqa: PLC0415 -- slow to load, and hardly ever needed
    from alembic.config import Config  # noqa: PLC0415 -- as above

    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
