"""Match records from files: ours, those of other hosts with keys missing, and journals that a crash left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gdl.complaints import complaint
from server.errors import MatchRecordError
from server.records.journal import journal_path, read_entries
from server.records.record import record_of

MAX_BYTES: Final = 256_000_000
"""The largest record that is read."""


class WireLine(BaseModel):
    """A message as it went to a player (`sent`), or what came back (`answered`)."""

    model_config = ConfigDict(frozen=True)

    direction: str
    at: int
    step: int
    role: str
    message: str
    text: str
    elapsed_ms: int | None = Field(None, alias="elapsedMs")
    error: str = ""
    detail: str = ""
    move: str | None = None


class StoredRecord(BaseModel):
    """A match record with what its keys tell; what other hosts leave out is None or empty.

    Attributes:
        raw: the JSON object as it was read, which is what a signature signs.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    match_id: str = Field("", alias="matchId")
    start_time_ms: int | None = Field(None, alias="startTime")
    game_url: str | None = Field(None, alias="gameMetaURL")
    is_completed: bool | None = Field(None, alias="isCompleted")
    is_aborted: bool = Field(False, alias="isAborted")
    states: tuple[str, ...] = ()
    moves: tuple[tuple[str, ...], ...] = ()
    state_times_ms: tuple[int, ...] = Field((), alias="stateTimes")
    errors: tuple[tuple[str, ...], ...] = ()
    goals: tuple[int, ...] = Field((), alias="goalValues")
    player_names: tuple[str, ...] | None = Field(None, alias="playerNamesFromHost")
    game: str | None = Field(None, alias="x-game")
    rules: str | None = Field(None, alias="x-rules")
    rules_sha256: str | None = Field(None, alias="x-rules-sha256")
    is_gdl2: bool | None = Field(None, alias="x-gdl2")
    own_goals: tuple[int | None, ...] | None = Field(None, alias="x-goals")
    percepts: tuple[tuple[tuple[str, ...], ...], ...] | None = Field(None, alias="x-percepts")
    pending: dict[str, str] = Field(default_factory=dict, alias="x-pending")
    scrambling: dict[str, str] = Field(default_factory=dict, alias="x-scrambling")
    wire: tuple[WireLine, ...] = Field((), alias="x-wire")
    raw: Annotated[dict[str, Any], Field(exclude=True, repr=False)] = Field(default_factory=dict)


def read_stored(path: Path) -> StoredRecord:
    """Return the match record at *path*; where only the journal of a broken-off match is left, what it tells.

    Raises:
        OSError: the file cannot be read.
        MatchRecordError: it is no match record.
    """
    if not path.exists() and journal_path(path).exists():
        path = journal_path(path)
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise MatchRecordError(f"more than {MAX_BYTES:,} bytes", str(path))
    try:
        return stored(json_object(raw.decode("utf-8-sig", "replace")))
    except MatchRecordError as error:
        raise MatchRecordError(str(error), str(path)) from error


def json_object(text: str) -> dict[str, Any]:
    """Return the record that *text* writes, be it a record or a journal.

    Raises:
        MatchRecordError: it is neither.
    """
    first, _, rest = text.partition("\n")
    if first.startswith('{"event":') and (rest or first.endswith("}")):
        return record_of(read_entries(text)).as_json()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MatchRecordError(f"no JSON ({error})") from error
    if not isinstance(found, dict):
        raise MatchRecordError("a match record is a JSON object")
    return found


def stored(raw: dict[str, Any]) -> StoredRecord:
    """Return what the keys of the JSON object *raw* tell.

    Raises:
        MatchRecordError: a key holds what it may not hold, or there is no key of a match record at all.
    """
    if not raw.keys() & {"matchId", "moves", "states"}:
        raise MatchRecordError("no match record: none of `matchId`, `moves`, `states` is there")
    try:
        return StoredRecord.model_validate(
            {name: value for name, value in raw.items() if value is not None} | {"raw": raw}
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        raise MatchRecordError(complaint(first), where) from error
