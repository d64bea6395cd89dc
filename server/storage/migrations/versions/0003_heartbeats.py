"""Create the table by which servers try whether the database can be written."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.storage.schema import Words

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table by which servers try whether the database can be written."""
    op.create_table(
        "heartbeats",
        sa.Column("holder", Words(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("holder", name=op.f("pk_heartbeats")),
    )
