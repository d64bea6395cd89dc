"""Replies to INFO, and to PING of older game managers: what a player says of itself, written and read."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gdl.errors import MessageError
from gdl.language.kif import BLANKS
from gdl.wire.replies import elements, first_element, has_more_tokens, spans

_MAX_INFO_CHARACTERS: Final = 100_000
_MAX_BUSY_CHARACTERS: Final = 100
_MAX_INFO_TOKENS: Final = 2_000
_UNFIT: Final = re.compile(f"[{BLANKS}();]+")


class Status(StrEnum):
    """Whether a player would take a match now."""

    AVAILABLE = "available"
    BUSY = "busy"


_STATUS_WORDS: Final = {"available": Status.AVAILABLE, "ready": Status.AVAILABLE, "busy": Status.BUSY, "nil": None}


@dataclass(frozen=True, slots=True)
class InfoReply:
    """What a player says of itself; None where it does not say. `others` are its further fields, by name."""

    name: str | None = None
    status: Status | None = None
    others: tuple[tuple[str, str], ...] = ()

    @property
    def is_busy(self) -> bool:
        """Whether the player says that it would take no match now."""
        return self.status is Status.BUSY


def is_busy(reply: str) -> bool:
    """Return whether *reply* says of the player that it would take no match now, and nothing else.

    Example:
        >>> is_busy("BUSY"), is_busy("(busy)"), is_busy("busybody"), is_busy("ready")
        (True, True, False, False)
    """
    return len(reply) < _MAX_BUSY_CHARACTERS and reply.strip(f"(){BLANKS}").lower() == Status.BUSY.value


def info_text(info: InfoReply) -> str:
    """Return *info* as players answer INFO: `((name N) (status available) ...)`."""
    named = (("name", info.name), ("status", info.status), *info.others)
    fields = [f"({_as_name(key)} {_as_name(value)})" for key, value in named if value is not None]
    return f"({' '.join(fields)})"


def _as_name(text: str) -> str:
    return _UNFIT.sub("_", text) or "_"


def read_info(reply: str) -> InfoReply:
    """Return what *reply* to INFO or PING says, in any of its shapes: fields, a single word, JSON.

    Raises:
        MessageError: it is none of these.

    Example:
        >>> read_info("((name Deep) (status busy))")
        InfoReply(name='Deep', status=<Status.BUSY: 'busy'>, others=())
        >>> read_info("ready").status
        <Status.AVAILABLE: 'available'>
    """
    text = reply.strip()
    if len(text) > _MAX_INFO_CHARACTERS:
        raise MessageError(f"an answer to INFO longer than {_MAX_INFO_CHARACTERS:,} characters", text)
    if text.startswith(("{", '"')):
        return _from_json(text)
    if has_more_tokens(text, _MAX_INFO_TOKENS):
        raise MessageError(f"an answer to INFO with more than {_MAX_INFO_TOKENS:,} names and parentheses", text)
    word = _first_word(text)
    if word in _STATUS_WORDS:
        return InfoReply(status=_STATUS_WORDS[word])
    fields = tuple(_fields(text))
    if not fields:
        raise MessageError("no answer to INFO", text)
    return _from_fields(fields)


def _first_word(text: str) -> str:
    first = first_element(text)
    return first.strip("() ").lower()


def _from_json(text: str) -> InfoReply:
    """Return what *text* says, which begins as an object of JSON or as a text with one of the other shapes."""
    try:
        value = json.loads(text)
        if isinstance(value, dict):
            return _from_fields((key, _json_text(item)) for key, item in value.items() if item is not None)
    except (ValueError, RecursionError) as error:
        raise MessageError("an answer to INFO that is no JSON", text) from error
    return read_info(value.lstrip('{" '))


def _json_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _from_fields(fields: Iterable[tuple[str, str]]) -> InfoReply:
    found = {key.lower(): value for key, value in fields}
    name, status = found.pop("name", None), found.pop("status", "nil")
    return InfoReply(name, _STATUS_WORDS.get(status.lower()), tuple(found.items()))


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the `(key value ...)` pairs of *text*, one level inside a list or not."""
    for start, end in spans(text):
        parts = elements(text[start:end]) or ()
        if len(parts) > 1 and not any(part.startswith("(") for part in parts):
            yield parts[0], " ".join(parts[1:])
            continue
        for part in parts:
            pair = elements(part) or ()
            if len(pair) > 1:
                yield pair[0], " ".join(pair[1:])
