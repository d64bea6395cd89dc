"""Revisions of the tables: which one a database has, how it comes to the newest, and how the next is drafted."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from server.storage.errors import DatabaseOpenError
from server.storage.schema import METADATA

if TYPE_CHECKING:
    from alembic.config import Config

FOLDER: Final = Path(__file__).parent / "migrations"
REVISION: Final = max(path.name.partition("_")[0] for path in (FOLDER / "versions").glob("[0-9]*_*.py"))
"""The revision of the tables that this program works with: that of the newest migration."""
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


def migrate(connection: sa.Connection, revision: str = REVISION) -> None:
    """Bring the tables to *revision*, within the transaction of *connection*."""
    from alembic import command  # noqa: PLC0415 -- slow to load, and hardly ever needed

    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
    logging.getLogger("alembic").setLevel(logging.WARNING)
    command.upgrade(_config(connection, FOLDER), revision)


def draft(message: str, folder: Path = FOLDER) -> Path:
    """Write a migration from the newest revision in *folder* to the schema, and return its path."""
    from alembic import command  # noqa: PLC0415 -- as above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 -- as above

    with sa.create_engine("sqlite://", poolclass=sa.NullPool).connect() as connection:
        config = _config(connection, folder)
        command.upgrade(config, "head")
        number = int(ScriptDirectory.from_config(config).get_current_head() or 0) + 1
        made = command.revision(config, message, autogenerate=True, rev_id=f"{number:04}")
    assert made is not None
    assert not isinstance(made, list)
    return Path(made.path)


def _config(connection: sa.Connection, folder: Path) -> Config:
    from alembic.config import Config  # noqa: PLC0415 -- as above

    config = Config(stdout=sys.stderr)
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


if __name__ == "__main__":
    draft(" ".join(sys.argv[1:]))
