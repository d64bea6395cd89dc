"""Entries of a journal as JSON objects, and back: the one place that knows their names in the format.

The names, their order, and what is left out where it says nothing, are those of every journal and record that was ever
written. Plain functions do it, one for each kind: pydantic neither reads nor writes JSON with the lone surrogates that
players may send, and its models take the event loop longer to make and to write.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from gdl.wire.insights import Insight, insight_json, insight_of
from server.match.exchange import Message, MoveOrigin
from server.records import entries
from server.records.errors import MatchRecordError

Value = TypeVar("Value")
JsonObject: TypeAlias = dict[str, Any]
_SHOWN: Final = 100
_MESSAGES: Final = {message.value: message for message in Message}
_ORIGINS: Final = {origin.value: origin for origin in MoveOrigin}
_NO_PREVIEW: Final = -1


def entry_json(entry: entries.Entry) -> JsonObject:
    """Return *entry* as the JSON object that a line of a journal is."""
    return _WRITERS[type(entry)](entry)


def read_entry(found: object) -> entries.Entry:
    """Return the entry that the JSON value *found* tells; keys that are not known are passed over.

    Raises:
        MatchRecordError: it is of no known kind or format, or lacks something.
    """
    if not isinstance(found, dict):
        raise MatchRecordError("an entry that is no JSON object")
    try:
        return _one_of(_READERS, found, "event")(found)
    except KeyError as error:
        raise MatchRecordError(f"an entry that cannot be understood: it has no {error}") from error
    except (TypeError, ValueError) as error:
        raise MatchRecordError(f"an entry that cannot be understood: {error}") from error


def seat_json(seat: entries.JournalSeat) -> JsonObject:
    """Return *seat* as journals and records have it."""
    found: JsonObject = {"player": seat.player, "isHuman": seat.is_human}
    if seat.dialect is not None:
        found |= {"dialect": seat.dialect, "case": seat.case, "graceMs": seat.grace_ms}
    return found | {"isScrambled": seat.is_scrambled}


def preview_clock_json(clock_s: int | None) -> int:
    """Return a preview clock as the public format has it: -1 where there is none."""
    return _NO_PREVIEW if clock_s is None else clock_s


def _started_json(entry: entries.StartedEntry) -> JsonObject:
    return {
        "event": "started",
        "at": entry.at_ms,
        "format": entries.FORMAT,
        "matchId": entry.match_id,
        "randomToken": entry.random_token,
        "game": entry.game,
        "gameMetaURL": entry.game_url,
        "tournament": entry.tournament,
        "rules": entry.rules,
        "rulesSha256": entry.rules_sha256,
        "isGdl2": entry.is_gdl2,
        "roles": list(entry.roles),
        "seats": [seat_json(seat) for seat in entry.seats],
        "startClock": entry.start_clock_s,
        "playClock": entry.play_clock_s,
        "previewClock": preview_clock_json(entry.preview_clock_s),
        "seed": entry.seed,
        "scrambleSeed": entry.scramble_seed,
        "scrambling": dict(entry.scrambling),
        "substitute": entry.substitute,
        "versions": dict(entry.versions),
    }


def _read_started(found: JsonObject) -> entries.StartedEntry:
    if found["format"] != entries.FORMAT:
        raise MatchRecordError(f"format {found['format']!r} is not known; this version reads format {entries.FORMAT}")
    preview_clock_s = _number(found, "previewClock")
    return entries.StartedEntry(
        at_ms=_number(found, "at"),
        match_id=_text(found, "matchId"),
        random_token=_text(found, "randomToken"),
        game=_text(found, "game"),
        game_url=_text(found, "gameMetaURL"),
        tournament=_text_or_none(found, "tournament"),
        rules=_text_or_none(found, "rules"),
        rules_sha256=_text(found, "rulesSha256"),
        is_gdl2=_truth(found, "isGdl2"),
        roles=_texts(found, "roles"),
        seats=tuple(map(_read_seat, _list(found, "seats"))),
        start_clock_s=_number(found, "startClock"),
        play_clock_s=_number(found, "playClock"),
        preview_clock_s=None if preview_clock_s == _NO_PREVIEW else preview_clock_s,
        seed=_number(found, "seed"),
        scramble_seed=_number(found, "scrambleSeed"),
        scrambling=_words(found, "scrambling") if "scrambling" in found else {},
        substitute=_text(found, "substitute"),
        versions=_words(found, "versions"),
    )


def _read_seat(found: JsonObject) -> entries.JournalSeat:
    player, is_human, is_scrambled = _text(found, "player"), _truth(found, "isHuman"), _truth(found, "isScrambled")
    if "dialect" not in found:
        return entries.JournalSeat(player, is_human, is_scrambled)
    dialect, case = _text(found, "dialect"), _text(found, "case")
    return entries.JournalSeat(player, is_human, is_scrambled, dialect, case, _number(found, "graceMs"))


def _state_json(entry: entries.StateEntry) -> JsonObject:
    percepts = None if entry.percepts is None else list(map(list, entry.percepts))
    found = {"event": "state", "at": entry.at_ms, "step": entry.step, "state": entry.state, "percepts": percepts}
    return found | {"isCommon": True} if entry.is_common else found


def _read_state(found: JsonObject) -> entries.StateEntry:
    percepts = None if found["percepts"] is None else tuple(map(_all_texts, _list(found, "percepts")))
    return entries.StateEntry(
        _number(found, "at"), _number(found, "step"), _text(found, "state"), percepts, found.get("isCommon") is True
    )


def _sent_json(entry: entries.SentEntry) -> JsonObject:
    return {
        "event": "sent",
        "at": entry.at_ms,
        "step": entry.step,
        "role": entry.role,
        "message": entry.message,
        "text": entry.text,
    }


def _read_sent(found: JsonObject) -> entries.SentEntry:
    return entries.SentEntry(
        _number(found, "at"),
        _number(found, "step"),
        _text(found, "role"),
        _one_of(_MESSAGES, found, "message"),
        _text(found, "text"),
    )


def _answered_json(entry: entries.AnsweredEntry) -> JsonObject:
    found = {
        "event": "answered",
        "at": entry.at_ms,
        "step": entry.step,
        "role": entry.role,
        "message": entry.message,
        "text": entry.text,
        "elapsedMs": entry.elapsed_ms,
        "error": entry.error,
        "detail": entry.detail,
        "move": entry.move,
    }
    if entry.failure:
        found["failure"] = entry.failure
    if entry.insight is not None:
        found["insight"] = insight_json(entry.insight)
    return found


def _read_answered(found: JsonObject) -> entries.AnsweredEntry:
    return entries.AnsweredEntry(
        _number(found, "at"),
        _number(found, "step"),
        _text(found, "role"),
        _one_of(_MESSAGES, found, "message"),
        _text(found, "text"),
        _number(found, "elapsedMs"),
        _text(found, "error"),
        _text(found, "detail"),
        _text_or_none(found, "move"),
        _text(found, "failure") if "failure" in found else "",
        insight_of(found["insight"]) if "insight" in found else None,
    )


def _step_json(entry: entries.StepEntry) -> JsonObject:
    found = {
        "event": "step",
        "at": entry.at_ms,
        "step": entry.step,
        "moves": None if entry.moves is None else list(entry.moves),
        "errors": list(entry.errors),
        "details": list(entry.details),
        "elapsedMs": list(entry.elapsed_ms),
        "origins": list(entry.origins),
    }
    if entry.failures:
        found["failures"] = list(entry.failures)
    if entry.insights:
        found["insights"] = insights_json(entry.insights)
    return found


def insights_json(insights: Iterable[Insight | None]) -> list[JsonObject | None]:
    """Return *insights* as journals and records have them, one for each role."""
    return [None if insight is None else insight_json(insight) for insight in insights]


def _read_insights(found: JsonObject) -> tuple[Insight | None, ...]:
    return tuple(None if told is None else insight_of(told) for told in _list(found, "insights"))


def _read_step(found: JsonObject) -> entries.StepEntry:
    return entries.StepEntry(
        _number(found, "at"),
        _number(found, "step"),
        None if found["moves"] is None else _texts(found, "moves"),
        _texts(found, "errors"),
        _texts(found, "details"),
        _numbers(found, "elapsedMs"),
        tuple([_one_of(_ORIGINS, {"origins": word}, "origins") for word in _list(found, "origins")]),
        _texts(found, "failures") if "failures" in found else (),
        _read_insights(found) if "insights" in found else (),
    )


def _completed_json(entry: entries.CompletedEntry) -> JsonObject:
    return {"event": "completed", "at": entry.at_ms, "step": entry.step, "goals": list(entry.goals)}


def _read_completed(found: JsonObject) -> entries.CompletedEntry:
    return entries.CompletedEntry(_number(found, "at"), _number(found, "step"), _numbers(found, "goals"))


def _broken_off_json(entry: entries.AbortedEntry | entries.FailedEntry) -> JsonObject:
    return {"event": entry.kind, "at": entry.at_ms, "step": entry.step, "reason": entry.reason}


def _read_aborted(found: JsonObject) -> entries.AbortedEntry:
    return entries.AbortedEntry(_number(found, "at"), _number(found, "step"), _text(found, "reason"))


def _read_failed(found: JsonObject) -> entries.FailedEntry:
    return entries.FailedEntry(_number(found, "at"), _number(found, "step"), _text(found, "reason"))


def _closed_json(entry: entries.ClosedEntry) -> JsonObject:
    return {"event": "closed", "at": entry.at_ms}


def _read_closed(found: JsonObject) -> entries.ClosedEntry:
    return entries.ClosedEntry(_number(found, "at"))


def _wrong(value: object, key: str = "") -> TypeError:
    shown = repr(value)
    return TypeError(f"{key and f'{key} holds '}{shown[:_SHOWN]}{'...' if len(shown) > _SHOWN else ''}")


def _one_of(known: Mapping[str, Value], found: JsonObject, key: str) -> Value:
    value = known.get(found[key])
    if value is None:
        raise _wrong(found[key], key)
    return value


def _of(kind: type[Value], found: JsonObject, key: str) -> Value:
    value = found[key]
    if type(value) is not kind:  # True and False are no numbers
        raise _wrong(value, key)
    return value


_number: Final = partial(_of, int)
_text: Final = partial(_of, str)
_truth: Final = partial(_of, bool)
_list: Final[Callable[[JsonObject, str], list[Any]]] = partial(_of, list)


def _text_or_none(found: JsonObject, key: str) -> str | None:
    return None if found[key] is None else _text(found, key)


def _texts(found: JsonObject, key: str) -> tuple[str, ...]:
    return _all_texts(_list(found, key))


def _all_texts(values: list[Any]) -> tuple[str, ...]:
    if type(values) is not list or not _TEXT_ALONE.issuperset(map(type, values)):
        raise _wrong(values)
    return tuple(values)


def _numbers(found: JsonObject, key: str) -> tuple[int | None, ...]:
    values = _list(found, key)
    if not _NUMBERS_ALONE.issuperset(map(type, values)):
        raise _wrong(values, key)
    return tuple(values)


def _words(found: JsonObject, key: str) -> Mapping[str, str]:
    value = found[key]
    if type(value) is not dict or not _TEXT_ALONE.issuperset(map(type, value.values())):
        raise _wrong(value, key)
    return value


_TEXT_ALONE: Final = frozenset({str})
_NUMBERS_ALONE: Final = frozenset({int, type(None)})
_WRITERS: Final[Mapping[type[entries.Entry], Callable[[Any], JsonObject]]] = {
    entries.StartedEntry: _started_json,
    entries.StateEntry: _state_json,
    entries.SentEntry: _sent_json,
    entries.AnsweredEntry: _answered_json,
    entries.StepEntry: _step_json,
    entries.CompletedEntry: _completed_json,
    entries.AbortedEntry: _broken_off_json,
    entries.FailedEntry: _broken_off_json,
    entries.ClosedEntry: _closed_json,
}
_READERS: Final[Mapping[str, Callable[[JsonObject], entries.Entry]]] = {
    entries.StartedEntry.kind: _read_started,
    entries.StateEntry.kind: _read_state,
    entries.SentEntry.kind: _read_sent,
    entries.AnsweredEntry.kind: _read_answered,
    entries.StepEntry.kind: _read_step,
    entries.CompletedEntry.kind: _read_completed,
    entries.AbortedEntry.kind: _read_aborted,
    entries.FailedEntry.kind: _read_failed,
    entries.ClosedEntry.kind: _read_closed,
}
