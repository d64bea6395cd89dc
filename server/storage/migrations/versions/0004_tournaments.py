"""Create the tables of tournaments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.storage.schema import Words

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables of tournaments."""
    op.create_table(
        "tournaments",
        sa.Column("name", Words(), nullable=False),
        sa.Column("owner", Words(), nullable=False),
        sa.Column("status", Words(), nullable=False),
        sa.Column("entry", Words(), nullable=False),
        sa.Column("terms", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("games", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("reason", Words(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tournaments")),
    )
    op.create_index(op.f("ix_tournaments_status"), "tournaments", ["status"], unique=False)
    op.create_index(op.f("ix_tournaments_created_ms_name"), "tournaments", ["created_ms", "name"], unique=False)
    op.create_table(
        "entrants",
        sa.Column("tournament", Words(), nullable=False),
        sa.Column("name", Words(), nullable=False),
        sa.Column("player", Words(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("entered_by", Words(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("since_round", sa.Integer(), nullable=False),
        sa.Column("withdrawn_after", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tournament"], ["tournaments.name"], name=op.f("fk_entrants_tournament"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tournament", "name", name=op.f("pk_entrants")),
    )
    op.create_table(
        "fixtures",
        sa.Column("match_id", Words(), nullable=False),
        sa.Column("tournament", Words(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("forfeited", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tournament"], ["tournaments.name"], name=op.f("fk_fixtures_tournament"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_fixtures")),
    )
    op.create_index(op.f("ix_fixtures_tournament_position"), "fixtures", ["tournament", "position"], unique=True)
    op.create_table(
        "annulments",
        sa.Column("match_id", Words(), nullable=False),
        sa.Column("is_replayed", sa.Boolean(), nullable=False),
        sa.Column("reason", Words(), nullable=False),
        sa.Column("annulled_by", Words(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match_id"], ["fixtures.match_id"], name=op.f("fk_annulments_match_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_annulments")),
    )
