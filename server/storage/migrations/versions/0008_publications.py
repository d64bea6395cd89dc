"""Create the table of the matches that are still to be published to their end."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.storage.schema import Words

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table of the matches that are still to be published to their end."""
    op.create_table(
        "publications",
        sa.Column("match_id", Words(), nullable=False),
        sa.Column("claimed_ms", sa.BigInteger(), nullable=False),
        sa.Column("n_claims", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match_id"], ["matches.id"], name=op.f("fk_publications_match_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_publications")),
    )
