"""What players answer: a move among the legal ones, and who they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gdl.errors import MessageError
from gdl.terms import Term
from gdl.wire import elements, first_element, first_term, is_complete, spans

__all__ = ["InfoReply", "Status", "find_move", "first_term", "info_text", "is_complete", "read_info"]

_MAX_INFO_CHARACTERS: Final = 100_000
_UNFIT: Final = re.compile(r"[ \t\r\n\f\v();]+")


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


def find_move(said: Term, legal_moves: Sequence[Term]) -> Term | None:
    """Return the legal move that *said* names: itself, else the only one that differs in upper and lower case alone.

    Example:
        >>> from gdl.kif import read_term
        >>> find_move(read_term("(MARK 1 1)"), [read_term("(mark 1 1)"), read_term("noop")])
        <Compound (mark 1 1)>
    """
    if said in legal_moves:
        return said
    folded = str(said).casefold()
    alike = [move for move in legal_moves if str(move).casefold() == folded]
    return alike[0] if len(alike) == 1 else None


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
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessageError("an answer to INFO that is no JSON", text) from error
    if isinstance(value, str):
        return read_info(value.lstrip('{" '))
    if not isinstance(value, dict):
        raise MessageError("an answer to INFO that is no JSON object", text)
    return _from_fields((key, item if isinstance(item, str) else json.dumps(item)) for key, item in value.items())


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
