"""Run by alembic: the connection comes from `server.storage.database`, which begins and ends the transaction."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from server.storage.schema import METADATA, Bytes, Json, Words


def _render(kind: str, item: Any, drafting: AutogenContext) -> str | Literal[False]:
    """Return how a draft of a migration writes our own type of column."""
    if kind == "type" and isinstance(item, Words | Json | Bytes):
        name = type(item).__name__
        drafting.imports.add(f"from server.storage.schema import {name}")
        return f"{name}()"
    return False


context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_item=_render)
context.run_migrations()
