"""Add what leagues need: timetables, what hosts did, versions and wishes of players, what matches are for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.storage.schema import Words

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add what leagues need: timetables, what hosts did, versions and wishes of players, what matches are for."""
    op.add_column("players", sa.Column("version", Words(), nullable=True))
    for name, default in (("allows_challenges", sa.false()), ("joins_ladder", sa.true())):
        op.add_column("players", sa.Column(name, sa.Boolean(), nullable=False, server_default=default))
    op.add_column("matches", sa.Column("purpose", Words(), nullable=True))
    op.add_column("seats", sa.Column("version", Words(), nullable=True))
    op.add_column("tournaments", sa.Column("timetable", sa.JSON(none_as_null=True), nullable=True))
    op.create_table(
        "interventions",
        sa.Column("tournament", Words(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", Words(), nullable=False),
        sa.Column("made_by", Words(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("reason", Words(), nullable=False),
        sa.Column("match_id", Words(), nullable=True),
        sa.Column("entrant", Words(), nullable=True),
        sa.Column("player", Words(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tournament"], ["tournaments.name"], name=op.f("fk_interventions_tournament"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tournament", "position", name=op.f("pk_interventions")),
    )
