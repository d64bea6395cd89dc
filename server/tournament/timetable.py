"""What a tournament does by the clock: its start, its rounds, and how long it waits for an absent player."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Annotated, Final, Self, TypeAlias
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticKnownError

MAX_WAIT_S: Final = 30 * 86_400
"""The longest time between two rounds, or for an absent player. *Units*: seconds."""
_HAS_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")
_WEEK: Final = timedelta(days=7)
_SLACK_MS: Final = 12 * 3_600_000
"""How long before a weekly moment a round may begin and count as its round: clocks differ, and hosts resume early."""
_FIRST_MS: Final = -62_135_596_800_000
"""The beginning of the year 1, in UTC."""
_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, in UTC."""


class Weekday(StrEnum):
    """A day of the week."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


def _zone(name: str) -> str:
    """Return *name* if it is that of a time zone.

    Raises:
        ValueError: it is not.
    """
    try:
        ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name!r}; one is called Europe/Berlin") from error
    return name


def _local(at: time) -> time:
    """Return *at* if it is a time of day without an offset of its own.

    Raises:
        ValueError: it is not.
    """
    if at.tzinfo is not None:
        raise ValueError("the time is that of the zone, without an offset of its own")
    return at


def _dated(at: object) -> object:
    """Return *at*, read if it is a text; pydantic takes numbers, also in texts, for seconds, and strictly no text.

    Raises:
        PydanticKnownError: it is a number, or a text without a date and a time.
    """
    if isinstance(at, str) and _HAS_TIME.match(at):
        with suppress(ValueError):
            return datetime.fromisoformat(at)
    if isinstance(at, int | float | str):
        raise PydanticKnownError("datetime_type")
    return at


_Moment: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_dated)]


class _Part(BaseModel):
    """A part of a timetable; its keys are in camel case in JSON."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True
    )


class Weekly(_Part):
    """Rounds that begin once a week; `zone` is a name of the IANA database, as Europe/Berlin."""

    weekday: Weekday
    time: Annotated[time, AfterValidator(_local)]
    zone: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_zone)]

    def after(self, at_ms: int) -> int:
        """Return when the round after the one that began at *at_ms* begins: at the next such moment.

        One less than half a day later is still that of the round before. Where a clock is set forward over a moment,
        it is what the clock shows then.
        """
        zone, earliest_ms = ZoneInfo(self.zone), at_ms + _SLACK_MS
        here = datetime.fromtimestamp(earliest_ms / 1000, zone)
        n_days = (list(Weekday).index(self.weekday) - here.weekday()) % 7
        found = datetime.combine(here.date() + timedelta(days=n_days), self.time, zone)
        while _ms(found) < earliest_ms:
            found += _WEEK  # of the calendar: the time of day stays, also where the offset changes
        return _ms(found)


class Every(_Part):
    """Rounds that begin so long after the beginning of the one before. *Units*: seconds."""

    every_seconds: Annotated[float, Field(ge=0.1, le=MAX_WAIT_S)]

    def after(self, at_ms: int) -> int:
        """Return when the round after the one that began at *at_ms* begins."""
        return at_ms + round(1000 * self.every_seconds)


def _by_its_keys(rounds: object) -> object:
    """Return when rounds begin, read as what its keys mean, so that errors are about that alone.

    Raises:
        ValidationError: it is wrong.
        PydanticKnownError: it has no keys.
    """
    if isinstance(rounds, Mapping):
        kind = Weekly if rounds.keys() & Weekly.model_fields.keys() else Every
        return kind.model_validate(rounds)
    if rounds is None or isinstance(rounds, _Part):
        return rounds
    raise PydanticKnownError("dict_type")


class Timetable(_Part):
    """What a tournament does by the clock.

    Attributes:
        entry_closes: when players can no longer enter by themselves; at the start, if nothing is said.
        starts: when it starts by itself.
        rounds_begin: when rounds begin; as soon as the schedule gives them, if nothing is said.
        absence_limit: after how many seconds a match is lost to a player that is not there; None: it is waited for.
    """

    entry_closes: _Moment | None = None
    starts: _Moment | None = None
    rounds_begin: Annotated[Weekly | Every | None, BeforeValidator(_by_its_keys)] = None
    absence_limit: Annotated[float, Field(ge=1, le=MAX_WAIT_S)] | None = None

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.entry_closes is not None and self.starts is not None and self.entry_closes > self.starts:
            raise ValueError("entry closes after the start")
        return self

    @property
    def starts_ms(self) -> int | None:
        """When the tournament starts by itself, in milliseconds since 1970."""
        return None if self.starts is None else _ms(self.starts)

    @property
    def entry_closes_ms(self) -> int | None:
        """When players can no longer enter by themselves, in milliseconds since 1970."""
        closes = self.entry_closes or self.starts
        return None if closes is None else _ms(closes)

    def admits(self, at_ms: int) -> bool:
        """Return whether players can enter by themselves at *at_ms*, as far as the clock says."""
        return self.entry_closes_ms is None or at_ms < self.entry_closes_ms

    def round_begins_ms(self, last_ms: int | None) -> int:
        """Return from when on the next round may begin, if the one before began at *last_ms*; 0: at any time."""
        return 0 if last_ms is None or self.rounds_begin is None else self.rounds_begin.after(last_ms)


AT_ONCE: Final = Timetable()
"""That of a tournament that a host starts, and whose rounds follow one another."""


def _ms(at: datetime) -> int:
    """Return *at* in milliseconds since 1970; one that is outside of the calendar in UTC is at its end."""
    return min(max(round(at.timestamp() * 1000), _FIRST_MS), _LAST_MS)
