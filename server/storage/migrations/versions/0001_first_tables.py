"""Create the first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.storage.schema import Words

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "matches",
        sa.Column("id", Words(), nullable=False),
        sa.Column("game", Words(), nullable=False),
        sa.Column("sha256", Words(), nullable=False),
        sa.Column("status", Words(), nullable=False),
        sa.Column("order", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("ordered_by", Words(), nullable=False),
        sa.Column("tournament", Words(), nullable=True),
        sa.Column("is_hidden", sa.Boolean(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("started_ms", sa.BigInteger(), nullable=True),
        sa.Column("ended_ms", sa.BigInteger(), nullable=True),
        sa.Column("n_steps", sa.Integer(), nullable=False),
        sa.Column("n_errors", sa.Integer(), nullable=False),
        sa.Column("goals", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("holder", Words(), nullable=True),
        sa.Column("lease_until_ms", sa.BigInteger(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("abort_reason", Words(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_matches")),
    )
    op.create_index(op.f("ix_matches_created_ms_id"), "matches", ["created_ms", "id"], unique=False)
    op.create_index(op.f("ix_matches_ended_ms"), "matches", ["ended_ms"], unique=False)
    op.create_index(op.f("ix_matches_game_created_ms_id"), "matches", ["game", "created_ms", "id"], unique=False)
    op.create_index(
        op.f("ix_matches_game_status_created_ms_id"), "matches", ["game", "status", "created_ms", "id"], unique=False
    )
    op.create_index(op.f("ix_matches_holder_status"), "matches", ["holder", "status"], unique=False)
    op.create_index(op.f("ix_matches_status_created_ms_id"), "matches", ["status", "created_ms", "id"], unique=False)
    op.create_index(
        op.f("ix_matches_tournament_created_ms_id"), "matches", ["tournament", "created_ms", "id"], unique=False
    )
    op.create_table(
        "players",
        sa.Column("name", Words(), nullable=False),
        sa.Column("kind", Words(), nullable=False),
        sa.Column("url", Words(), nullable=True),
        sa.Column("owner", Words(), nullable=False),
        sa.Column("status", Words(), nullable=False),
        sa.Column("pause_reason", Words(), nullable=False),
        sa.Column("n_failures", sa.Integer(), nullable=False),
        sa.Column("max_matches", sa.Integer(), nullable=False),
        sa.Column("info", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("seen_ms", sa.BigInteger(), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_players")),
    )
    op.create_index(op.f("ix_players_owner"), "players", ["owner"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", Words(), nullable=False),
        sa.Column("name", Words(), nullable=False),
        sa.Column("role", Words(), nullable=False),
        sa.Column("hash", Words(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=True),
        sa.Column("revoked_ms", sa.BigInteger(), nullable=True),
        sa.Column("used_ms", sa.BigInteger(), nullable=True),
        sa.Column("note", Words(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    op.create_index(op.f("ix_tokens_hash"), "tokens", ["hash"], unique=True)
    op.create_index(op.f("ix_tokens_name"), "tokens", ["name"], unique=False)
    op.create_table(
        "versions",
        sa.Column("name", Words(), nullable=False),
        sa.Column("sha256", Words(), nullable=False),
        sa.Column("rules", Words(), nullable=False),
        sa.Column("about", Words(), nullable=True),
        sa.Column("roles", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("is_gdl2", sa.Boolean(), nullable=False),
        sa.Column("verdict", Words(), nullable=False),
        sa.Column("report", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("uploaded_by", Words(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", "sha256", name=op.f("pk_versions")),
    )
    op.create_index(op.f("ix_versions_sha256"), "versions", ["sha256"], unique=False)
    op.create_table(
        "events",
        sa.Column("match_id", Words(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", Words(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("role", Words(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_events_match_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("match_id", "number", name=op.f("pk_events")),
    )
    op.create_table(
        "games",
        sa.Column("name", Words(), nullable=False),
        sa.Column("sha256", Words(), nullable=False),
        sa.Column("is_library", sa.Boolean(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["name", "sha256"], ["versions.name", "versions.sha256"], name=op.f("fk_games_name_sha256")
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_games")),
    )
    op.create_table(
        "records",
        sa.Column("match_id", Words(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("signature", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_records_match_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_records")),
    )
    op.create_table(
        "seats",
        sa.Column("match_id", Words(), nullable=False),
        sa.Column("role", Words(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("player", Words(), nullable=False),
        sa.Column("kind", Words(), nullable=False),
        sa.Column("goal", sa.Integer(), nullable=True),
        sa.Column("n_errors", sa.Integer(), nullable=False),
        sa.Column("thinking_ms", sa.BigInteger(), nullable=False),
        sa.Column("n_moves", sa.Integer(), nullable=False),
        sa.Column("game", Words(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_seats_match_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("match_id", "role", name=op.f("pk_seats")),
    )
    op.create_index("ix_seats_game_results", "seats", ["game", "role", "goal", "n_moves"], unique=False)
    op.create_index(
        op.f("ix_seats_player_created_ms_match_id"), "seats", ["player", "created_ms", "match_id"], unique=False
    )
    op.create_index(
        "ix_seats_player_results",
        "seats",
        ["player", "game", "goal", "n_errors", "thinking_ms", "n_moves"],
        unique=False,
    )
    op.create_table(
        "sessions",
        sa.Column("hash", Words(), nullable=False),
        sa.Column("token_id", Words(), nullable=False),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("expires_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_sessions_token_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_token_id"), "sessions", ["token_id"], unique=False)
