"""Match records read from files and texts, complete or not, of this program or of others."""

import json
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError

from gdl.diagnostics import Source
from gdl.display import board_svg
from gdl.errors import KifSyntaxError
from gdl.games.library import same_game
from gdl.language.kif import ReadLimits, read_forms, term_of
from gdl.language.rules import Description, read_rules, rules_from
from gdl.language.terms import Compound, Term
from gdl.toml import INTEGERS
from gdl.violations import violation_message, violation_place, violations
from gdl.wire.insights import Insight, insight_of
from server.records.errors import MatchRecordError
from server.records.journal import journal_path, read_entries
from server.records.record import record_of

MAX_BYTES: Final = 256_000_000
"""The largest record that is read."""
KIF_LIMITS: Final = ReadLimits(max_depth=1_000)
"""How deep the states and moves of a record may nest."""


_FIRST_STEP: Final = {"states": 0, "stateTimes": 0, "errors": 0, "x-failures": 0} | {
    "moves": 1, "x-percepts": 1, "x-insights": 1,
}  # fmt: skip
"""The keys that have an entry for each step, and which step their first one is: step 1 is the first joint move."""
_Milliseconds: TypeAlias = Annotated[int, Field(ge=INTEGERS.start, lt=INTEGERS.stop)]
"""A time of a record, short enough to be counted in seconds."""


class WireLine(BaseModel):
    """A message as it went to a player (`sent`), or what came back (`answered`)."""

    model_config = ConfigDict(frozen=True)

    direction: str
    at: _Milliseconds
    step: int
    role: str
    message: str
    text: str
    elapsed_ms: int | None = Field(None, alias="elapsedMs")
    error: str = ""
    detail: str = ""
    move: str | None = None
    failure: str = ""


_Name = Annotated[str, BeforeValidator(lambda name: "" if name is None else name)]
_StoredInsight = Annotated[Insight, PlainValidator(insight_of)]


class StoredRecord(BaseModel):
    """A match record with what its keys tell; what other hosts leave out is None or empty, as is the name of a player.

    Attributes:
        raw: the JSON object as it was read, which is what a signature signs.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    match_id: str = Field("", alias="matchId")
    start_time_ms: _Milliseconds | None = Field(None, alias="startTime")
    game_url: str | None = Field(None, alias="gameMetaURL")
    is_completed: bool | None = Field(None, alias="isCompleted")
    is_aborted: bool = Field(False, alias="isAborted")
    states: tuple[str, ...] = ()
    moves: tuple[tuple[str, ...], ...] = ()
    state_times_ms: tuple[int, ...] = Field((), alias="stateTimes")
    errors: tuple[tuple[str, ...], ...] = ()
    failures: tuple[tuple[str, ...], ...] = Field((), alias="x-failures")
    insights: tuple[tuple[_StoredInsight | None, ...], ...] = Field((), alias="x-insights")
    goals: tuple[int, ...] = Field((), alias="goalValues")
    player_names: tuple[_Name, ...] | None = Field(None, alias="playerNamesFromHost")
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

    def description(self) -> Description | None:
        """Return the rules that the record carries; None where it has none.

        Raises:
            RuleFileError: as `gdl.language.rules.read_rules`.
        """
        return None if self.rules is None else read_rules(self.rules, "the record's rules", is_gdl2=self.is_gdl2)

    def _repr_svg_(self) -> str | None:
        """Return the last position for notebooks, by the layout of the library if the game is there."""
        description = self.description()
        if description is None or not self.states:
            return None
        file = same_game(self.game or "", description)
        return board_svg(description, facts_of(self.states[-1]), file.metadata() if file else None)


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
        first = violations(error)[0]
        raise MatchRecordError(violation_message(first), _place(violation_place(first))) from error


def _place(path: tuple[int | str, ...]) -> str:
    match path:
        case (str(key), int(index), *inner) if key in _FIRST_STEP:
            begun = place_in(key, index)
        case _:
            begun, inner = "", [*path]
    return (begun + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in inner)).lstrip(".")


def place_in(key: str, index: int) -> str:
    """Return where in a record the entry *index* of *key* is, which has one for each step, with the step for people.

    >>> place_in("moves", 0), place_in("states", 0)
    ('step 1, moves[0]', 'step 0, states[0]')
    """
    return f"step {index + _FIRST_STEP[key]}, {key}[{index}]"


def facts_of(text: str, where: str = "state") -> frozenset[Term]:
    """Return the facts of a state as records print it: a list of facts, or facts one after another.

    `true` around a fact is taken off.

    Raises:
        MatchRecordError: the text is no KIF.

    Example:
        >>> sorted(map(str, facts_of("( ( cell 1 1 b ) ( true ( control white ) ) )")))
        ['(cell 1 1 b)', '(control white)']
    """
    try:
        forms = read_forms(Source(where, text), KIF_LIMITS)
        if len(forms) == 1 and forms[0].children is not None:
            forms = forms[0].children
        return frozenset(_without_true(term_of(form)) for form in forms)
    except KifSyntaxError as error:
        raise MatchRecordError(error.message, where) from error


def rules_at(rules: str, name: str, state: str, where: str) -> str:
    """Return the text of *rules* with the state that the text *state* prints as the first one.

    Raises:
        RuleFileError: the rules cannot be read.
        MatchRecordError: the state is no KIF.
    """
    return rules_from(read_rules(rules, name), facts_of(state, where))


def _without_true(term: Term) -> Term:
    if isinstance(term, Compound) and term.functor.casefold() == "true" and len(term.arguments) == 1:
        return term.arguments[0]
    return term
