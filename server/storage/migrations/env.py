"""Run by alembic: the connection comes from `server.storage.migration`, which begins and ends the transaction."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from server.storage.schema import METADATA, Words


def _render(kind: str, item: Any, drafting: AutogenContext) -> str | Literal[False]:
    """Return how a draft of a migration writes our own type of column."""
    if kind == "type" and isinstance(item, Words):
        drafting.imports.add("from server.storage.schema import Words")
        return "Words()"
    return False


context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_item=_render)
context.run_migrations()
