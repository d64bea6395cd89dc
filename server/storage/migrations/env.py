"""Run by alembic: the connection comes from `server.storage.migration`, which begins and ends the transaction."""

from __future__ import annotations

from alembic import context

from server.storage.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
