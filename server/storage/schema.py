"""The tables, the same on SQLite and PostgreSQL. *Units*: every time is in milliseconds since 1970."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.operators import OperatorType
from sqlalchemy.types import TypeDecorator, TypeEngine

_Process: TypeAlias = Callable[[Any], Any]

METADATA: Final = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    }
)


class Words(TypeDecorator[str]):
    """Text of any length, ordered by code point; what a database cannot keep becomes U+FFFD.

    PostgreSQL refuses zero characters, and both refuse halves of surrogate pairs.
    """

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type that keeps the order of Python's own comparison."""
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(sa.Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 -- SQLAlchemy calls it so
        """Return *value* as every database can keep it."""
        return None if value is None else storable(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002 -- as above
        """Return text also where SQLite, which takes anything, was given bytes."""
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def storable(text: str) -> str:
    """Return *text* as every database can keep it."""
    if text.isascii() and "\0" not in text:
        return text
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


class Unreadable:
    """In the place of a value that cannot be read: that costs its row, and not the query."""


UNREADABLE: Final = Unreadable()


def _readable(process: _Process | None) -> _Process:
    """Return *process*, which raises nothing."""

    def read(value: Any) -> Any:
        try:
            return value if process is None else process(value)
        except (ValueError, TypeError, RecursionError, OverflowError, MemoryError):
            return UNREADABLE

    return read


class Json(TypeDecorator[Any]):
    """A JSON value, None as NULL."""

    impl = sa.JSON
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(none_as_null=True)

    def coerce_compared_value(self, op: OperatorType | None, value: Any) -> TypeEngine[Any]:
        """Return the type of what a value of JSON is indexed by."""
        return self.impl_instance.coerce_compared_value(op, value)

    def result_processor(self, dialect: Dialect, coltype: object) -> _Process:
        """Return what reads the value."""
        return _readable(super().result_processor(dialect, coltype))


class Bytes(TypeDecorator[bytes]):
    """Bytes of any length."""

    impl = sa.LargeBinary
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> _Process:
        """Return what reads the value."""
        return _readable(super().result_processor(dialect, coltype))


_JSON: Final = Json()

games: Final = sa.Table(
    "games",
    METADATA,
    sa.Column("name", Words, primary_key=True),
    sa.Column("sha256", Words, nullable=False),
    sa.Column("is_library", sa.Boolean, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.ForeignKeyConstraint(["name", "sha256"], ["versions.name", "versions.sha256"]),
)
"""Games by name; `sha256` is the version that is current."""

versions: Final = sa.Table(
    "versions",
    METADATA,
    sa.Column("name", Words, primary_key=True),
    sa.Column("sha256", Words, primary_key=True),
    sa.Column("rules", Words, nullable=False),
    sa.Column("about", Words),
    sa.Column("roles", _JSON, nullable=False),
    sa.Column("is_gdl2", sa.Boolean, nullable=False),
    sa.Column("verdict", Words, nullable=False),
    sa.Column("report", _JSON),
    sa.Column("uploaded_by", Words, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Index(None, "sha256"),
)
"""The rules by content; several games may have the same."""

players: Final = sa.Table(
    "players",
    METADATA,
    sa.Column("name", Words, primary_key=True),
    sa.Column("kind", Words, nullable=False),
    sa.Column("url", Words),
    sa.Column("owner", Words, nullable=False),
    sa.Column("status", Words, nullable=False),
    sa.Column("pause_reason", Words, nullable=False),
    sa.Column("n_failures", sa.Integer, nullable=False),
    sa.Column("max_matches", sa.Integer, nullable=False),
    sa.Column("info", _JSON),
    sa.Column("seen_ms", sa.BigInteger),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("version", Words),
    sa.Column("allows_challenges", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("joins_ladder", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Index(None, "owner"),
)

tokens: Final = sa.Table(
    "tokens",
    METADATA,
    sa.Column("id", Words, primary_key=True),
    sa.Column("name", Words, nullable=False),
    sa.Column("role", Words, nullable=False),
    sa.Column("hash", Words, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("expires_ms", sa.BigInteger),
    sa.Column("revoked_ms", sa.BigInteger),
    sa.Column("used_ms", sa.BigInteger),
    sa.Column("note", Words, nullable=False),
    sa.Index(None, "hash", unique=True),
    sa.Index(None, "name"),
)

matches: Final = sa.Table(
    "matches",
    METADATA,
    sa.Column("id", Words, primary_key=True),
    sa.Column("game", Words, nullable=False),
    sa.Column("sha256", Words, nullable=False),
    sa.Column("status", Words, nullable=False),
    sa.Column("order", _JSON, nullable=False),
    sa.Column("ordered_by", Words, nullable=False),
    sa.Column("tournament", Words),
    sa.Column("is_hidden", sa.Boolean, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("started_ms", sa.BigInteger),
    sa.Column("ended_ms", sa.BigInteger),
    sa.Column("n_steps", sa.Integer, nullable=False),
    sa.Column("n_errors", sa.Integer, nullable=False),
    sa.Column("goals", _JSON),
    sa.Column("holder", Words),
    sa.Column("lease_until_ms", sa.BigInteger),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("abort_reason", Words),
    sa.Column("purpose", Words),
    # Lists and results are read newest first, from one of these indexes and no further than the page.
    sa.Index(None, "created_ms", "id"),
    sa.Index(None, "status", "created_ms", "id"),
    sa.Index(None, "game", "created_ms", "id"),
    sa.Index(None, "game", "status", "created_ms", "id"),
    sa.Index(None, "tournament", "created_ms", "id"),
    sa.Index(None, "ended_ms"),
    sa.Index(None, "status", "ended_ms", "id"),
    sa.Index(None, "game", "status", "ended_ms", "id"),
    sa.Index(None, "holder", "status"),
)

seats: Final = sa.Table(
    "seats",
    METADATA,
    sa.Column("match_id", Words, sa.ForeignKey("matches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("role", Words, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("player", Words, nullable=False),
    sa.Column("kind", Words, nullable=False),
    sa.Column("goal", sa.Integer),
    sa.Column("n_errors", sa.Integer, nullable=False),
    sa.Column("thinking_ms", sa.BigInteger, nullable=False),
    sa.Column("n_moves", sa.Integer, nullable=False),
    sa.Column("came_ms", sa.BigInteger),
    sa.Column("version", Words),
    # Of the match, once more: so that a player's matches, and goals by game, are each read from one index.
    sa.Column("game", Words, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Index(None, "player", "created_ms", "match_id"),
    sa.Index("ix_seats_player_results", "player", "game", "goal", "n_errors", "thinking_ms", "n_moves"),
    sa.Index("ix_seats_game_results", "game", "role", "goal", "n_moves"),
)

events: Final = sa.Table(
    "events",
    METADATA,
    sa.Column("match_id", Words, sa.ForeignKey("matches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", Words, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("step", sa.Integer),
    sa.Column("role", Words),
    sa.Column("body", sa.Text, nullable=False),
)
"""The journals of matches that are not over: `body` is a journal entry as ASCII JSON, `started` without its rules."""

records: Final = sa.Table(
    "records",
    METADATA,
    sa.Column("match_id", Words, sa.ForeignKey("matches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("body", Bytes, nullable=False),
    sa.Column("signature", _JSON),
)
"""The journals of matches that are over: `body` is the zlib-compressed lines of what `events` held."""

sessions: Final = sa.Table(
    "sessions",
    METADATA,
    sa.Column("hash", Words, primary_key=True),
    sa.Column("token_id", Words, sa.ForeignKey("tokens.id", ondelete="CASCADE"), nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("expires_ms", sa.BigInteger, nullable=False),
    sa.Index(None, "token_id"),
)
"""Browser sessions, logged in by a token: `hash` is the SHA-256 of the cookie's secret."""

heartbeats: Final = sa.Table(
    "heartbeats",
    METADATA,
    sa.Column("holder", Words, primary_key=True),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)
"""When a process last tried whether the database can be written: its only purpose is to be written."""

publications: Final = sa.Table(
    "publications",
    METADATA,
    sa.Column("match_id", Words, sa.ForeignKey("matches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("claimed_ms", sa.BigInteger, nullable=False),
    sa.Column("n_claims", sa.Integer, nullable=False),
)
"""The matches that the spectator server has not got to their end, and when and how often a process claimed each."""

tournaments: Final = sa.Table(
    "tournaments",
    METADATA,
    sa.Column("name", Words, primary_key=True),
    sa.Column("owner", Words, nullable=False),
    sa.Column("status", Words, nullable=False),
    sa.Column("entry", Words, nullable=False),
    sa.Column("terms", _JSON, nullable=False),
    sa.Column("games", _JSON, nullable=False),
    sa.Column("timetable", _JSON),
    sa.Column("reason", Words, nullable=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("started_ms", sa.BigInteger),
    sa.Column("ended_ms", sa.BigInteger),
    sa.Index(None, "status"),
    sa.Index(None, "created_ms", "name"),
)
"""Tournaments: `revision` counts the changes, so that of two that begin from the same state one is refused."""

entrants: Final = sa.Table(
    "entrants",
    METADATA,
    sa.Column("tournament", Words, sa.ForeignKey("tournaments.name", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", Words, primary_key=True),
    sa.Column("player", Words, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("entered_by", Words, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("since_round", sa.Integer, nullable=False),
    sa.Column("withdrawn_after", sa.Integer),
)

fixtures: Final = sa.Table(
    "fixtures",
    METADATA,
    sa.Column("match_id", Words, primary_key=True),
    sa.Column("tournament", Words, sa.ForeignKey("tournaments.name", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("set_id", Words, nullable=False, index=True),
    sa.Column("body", _JSON, nullable=False),
    sa.Column("forfeited", _JSON),
    sa.Index(None, "tournament", "position", unique=True),
)
"""The matches that tournaments have scheduled; those that were ordered are in `matches`, with the same id."""

annulments: Final = sa.Table(
    "annulments",
    METADATA,
    sa.Column("match_id", Words, sa.ForeignKey("fixtures.match_id", ondelete="CASCADE"), primary_key=True),
    sa.Column("is_replayed", sa.Boolean, nullable=False),
    sa.Column("reason", Words, nullable=False),
    sa.Column("annulled_by", Words, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)
"""The matches of tournaments that do not count."""

interventions: Final = sa.Table(
    "interventions",
    METADATA,
    sa.Column("tournament", Words, sa.ForeignKey("tournaments.name", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("kind", Words, nullable=False),
    sa.Column("made_by", Words, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("reason", Words, nullable=False),
    sa.Column("match_id", Words),
    sa.Column("entrant", Words),
    sa.Column("player", Words),
)
"""What hosts did with tournaments that ran, in this order."""
