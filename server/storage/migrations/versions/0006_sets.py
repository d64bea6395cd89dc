"""Add the set of each scheduled match, by which those with the same seeds are found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.storage.schema import Words

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the set of each scheduled match, by which those with the same seeds are found."""
    op.add_column("fixtures", sa.Column("set_id", Words(), nullable=False, server_default=""))
    op.create_index(op.f("ix_fixtures_set_id"), "fixtures", ["set_id"])
    table = sa.table("fixtures", sa.column("match_id", Words()), sa.column("set_id", Words()))
    match_ids = list(op.get_bind().scalars(sa.select(table.c.match_id)))
    filling = sa.update(table).where(table.c.match_id == sa.bindparam("of_match"))
    # The id of a match begins with that of its set.
    values = [{"of_match": match_id, "of_set": match_id.partition(".")[0]} for match_id in match_ids]
    if values:
        op.get_bind().execute(filling.values(set_id=sa.bindparam("of_set")), values)
