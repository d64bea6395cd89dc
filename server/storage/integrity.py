"""The integrity of rows that are read: a value that no version of this program writes costs its row, not the query.

SQLite keeps any value in any column, and disks, tools and people damage files.
"""

import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar

import sqlalchemy as sa

from server.storage import rows, tournament_rows
from server.storage.errors import DamagedRowError
from server.storage.schema import Json, fixtures, interventions, matches, players, records, tournaments, versions
from server.tournament.fixtures import MAX_ROLES

Row = TypeVar("Row")
Found: TypeAlias = Mapping[Any, Any]
"""A row by the names of its columns."""
_Check: TypeAlias = Callable[[Any], bool]
MAX_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last one that dates know."""
_MAX_INT: Final = 2**53
_LOG: Final = logging.getLogger(__name__)


def _is_list_of(*kinds: type) -> _Check:
    return lambda value: isinstance(value, list) and all(type(one) in kinds for one in value)


def _is_order(value: Any) -> bool:
    """Return whether *value* has what every reader of an order takes for granted."""
    text = value.get("text") if isinstance(value, dict) else None
    if not (isinstance(text, dict) and isinstance(value.get("people", {}), dict)):
        return False
    clocks = [type(text.get(name)) for name in ("startClock", "playClock")]
    is_clear = isinstance(text.get("broadcastDelay", ""), str) and _is_start(text.get("from"))
    return is_clear and clocks == [int, int] and are_seats(text.get("players"))


def _is_start(value: Any) -> bool:
    """Return whether *value* is from where a match begins: a step of another match, or None for its own beginning."""
    types = (type(value.get("match")), type(value.get("step"))) if isinstance(value, dict) else ()
    return value is None or types == (str, int)


def are_seats(value: Any) -> bool:
    """Return whether *value* are the seats by role, as a match is ordered with them."""
    return isinstance(value, dict) and all(map(_is_seat, value.values()))


def _is_seat(value: Any) -> bool:
    if not (isinstance(value, dict) and isinstance(value.get("player"), str)):
        return False
    n_matches = value.get("maxMatches", 1)
    return type(n_matches) is int and n_matches >= 1


def _is_scheduled(value: Any) -> bool:
    """Return whether *value* has the attributes of a scheduled match, each of its type."""
    if not (isinstance(value, dict) and _is_list_of(str)(value.get("players"))):
        return False
    words = [value.get(name) for name in ("match_id", "game", "pairing_id", "set_id")]
    numbers = [value.get(name) for name in ("seed", "scramble_seed", "round")] + [value.get("attempt", 1)]
    return all(isinstance(one, str) for one in words) and all(type(one) is int for one in numbers)


def _are_pinned(value: Any) -> bool:
    """Return whether *value* are the games of a tournament, by name."""
    return isinstance(value, dict) and all(map(_is_pinned, value.values()))


def _is_pinned(value: Any) -> bool:
    if not (isinstance(value, dict) and isinstance(value.get("sha256"), str)):
        return False
    n_roles = value.get("n_roles")
    return type(n_roles) is int and 1 <= n_roles <= MAX_ROLES


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    """Return whether *value* is a number that can be computed with and shown: a float holds it."""
    return type(value) in (int, float) and 0 <= value <= sys.float_info.max


def _is_count(value: Any) -> bool:
    return type(value) is int and _is_number(value)


def _is_object(**members: _Check) -> _Check:
    """Return a check of an object: each of the *members* has its shape, or is missing, or null."""
    return lambda value: (
        isinstance(value, dict)
        and all(value.get(name) is None or is_right(value[name]) for name, is_right in members.items())
    )


def _is_diagnostic(value: Any) -> bool:
    places, texts = ("line", "column", "endLine", "endColumn"), ("severity", "code", "message", "hint")
    return (
        isinstance(value, dict)
        and all(type(value.get(name)) is int and value[name] >= 1 for name in places)
        and all(isinstance(value.get(name), str) for name in texts)
    )


_is_spread = _is_object(min=_is_count, mean=_is_number, max=_is_count)
_is_report = _is_object(
    limit=_is_text,
    diagnostics=lambda value: isinstance(value, list) and all(map(_is_diagnostic, value)),
    simulation=_is_object(
        board=_is_text,
        jointMoves=_is_spread,
        steps=_is_spread,
        playsPerSecond=_is_number,
        exhaustive=_is_object(states=_is_count),
    ),
)


def report_of(value: Any) -> dict[str, Any] | None:
    """Return the report of the validator that a row holds; None where there is none, or it is damaged.

    A report can be made anew by the rules, so a damaged one does not cost its row.
    """
    return value if _is_report(value) else None


_SHAPES: Final[dict[sa.Column[Any], _Check]] = {
    matches.c.status: lambda value: value in tuple(rows.MatchStatus),
    matches.c.order: _is_order,
    matches.c.purpose: lambda value: value in tuple(rows.MatchPurpose),
    matches.c.goals: _is_list_of(int, type(None)),
    versions.c.roles: _is_list_of(str),
    players.c.url: lambda value: isinstance(value, str) and value.startswith(("http://", "https://")),
    players.c.kind: lambda value: value in (rows.SeatKind.HTTP, rows.SeatKind.DIAL_IN),
    players.c.status: lambda value: value in tuple(rows.PlayerStatus),
    tournaments.c.status: lambda value: value in tuple(tournament_rows.TournamentStatus),
    tournaments.c.entry: lambda value: value in tuple(tournament_rows.EntryRule),
    tournaments.c.games: _are_pinned,
    fixtures.c.body: _is_scheduled,
    fixtures.c.forfeited: _is_list_of(str),
    interventions.c.kind: lambda value: value in tuple(tournament_rows.InterventionKind),
    records.c.signature: lambda value: isinstance(value, dict),
}
"""What a column holds, where its type does not say it all."""
_ANY_JSON: Final = (dict, list, str, int, float, bool, type(None))


def damage(table: sa.Table, found: Found) -> str:
    """Return what of a row of *table* is damaged, as words; empty where nothing is."""
    wrong = [name for name, is_right in _checks(table) if name in found and not is_right(found[name])]
    return ", ".join(f"{name} holds {_shown(found[name])}" for name in wrong)


def sound(database: str, table: sa.Table, found: Found) -> Found:
    """Return the row *found* if nothing of it is damaged.

    Raises:
        DamagedRowError: something is.
    """
    what = damage(table, found)
    if what:
        key = " ".join(str(found[column.name]) for column in table.primary_key if column.name in found)
        raise DamagedRowError(database, table.name, key, what)
    return found


def each_sound(database: str, table: sa.Table, found: Iterable[Found], make: Callable[[Found], Row]) -> list[Row]:
    """Return what *make* makes of each row of which nothing is damaged; the others are named in the log."""
    made = []
    for row in found:
        try:
            made.append(make(sound(database, table, row)))
        except DamagedRowError as error:
            _LOG.error("%s", error)
    return made


@cache
def _checks(table: sa.Table) -> tuple[tuple[str, _Check], ...]:
    return tuple((column.name, _check(column)) for column in table.columns)


def _check(column: sa.Column[Any]) -> _Check:
    is_right = _SHAPES.get(column) or _of_type(column)
    if not column.nullable:
        return is_right
    return lambda value: value is None or is_right(value)


def _of_type(column: sa.Column[Any]) -> _Check:
    if isinstance(column.type, Json):
        return lambda value: isinstance(value, _ANY_JSON)
    kind = getattr(column.type, "impl_instance", column.type).python_type
    if kind is not int or column.name == "goal":
        return lambda value: type(value) is kind
    most = MAX_MS if column.name.endswith("_ms") else _MAX_INT
    return lambda value: type(value) is int and 0 <= value <= most


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, (str, bytes, int, float, list, dict)) else "what cannot be read"
    return text if len(text) <= 40 else f"{text[:37]}..."
