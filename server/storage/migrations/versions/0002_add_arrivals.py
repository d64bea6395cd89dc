"""Add when the person of a seat came."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add when the person of a seat came."""
    op.add_column("seats", sa.Column("came_ms", sa.BigInteger(), nullable=True))
