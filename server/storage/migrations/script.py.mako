"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
${"\n" + imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """${message}."""
    ${upgrades if upgrades else "pass"}
