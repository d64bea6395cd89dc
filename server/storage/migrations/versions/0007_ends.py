"""Index the matches in the order of their ends, in which the latest results are read."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Index the matches in the order of their ends, in which the latest results are read."""
    op.create_index(op.f("ix_matches_status_ended_ms_id"), "matches", ["status", "ended_ms", "id"])
    op.create_index(op.f("ix_matches_game_status_ended_ms_id"), "matches", ["game", "status", "ended_ms", "id"])
