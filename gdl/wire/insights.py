"""What players think, as text beside their replies: one line of JSON in ASCII, bounded, and read with suspicion."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, Final

from gdl.errors import MessageError

INSIGHT_HEADER: Final = "GGP-Player-Insight"
"""The header of a player's reply in which an insight stands."""
TAKES_INSIGHT: Final = "GGP_TAKES_INSIGHT"
"""The environment variable that is 1 where a child process may write an insight before its reply."""
MAX_INSIGHT: Final = 4_000
"""How long the text of an insight may be. *Units*: characters; many servers take headers of 8 KiB."""
MAX_LINE: Final = 12
"""How many moves an insight lists of the line that a player expects."""
MAX_MOVE: Final = 200
"""How long a move of that line may be. *Units*: characters."""
_MAX_COUNT: Final = 2**53 - 1
"""The largest whole number that every reader of JSON takes."""
_MAX_DEPTH: Final = 1e6
_MAX_GOAL: Final = 100.0
_DIGITS: Final = 2


@dataclass(frozen=True, slots=True)
class Insight:
    """What a player thinks, after its last search.

    Attributes:
        n_leaves, n_playouts: how many states the search came to, and how many random plays it made from them.
        depth: the mean length of the ways to those states, in steps.
        value: the goal that the role expects, in percent; None where it is not known.
        line: the moves that the player expects, of those roles that choose, its own first.
        is_proven: whether the value is certain.
    """

    n_leaves: int
    n_playouts: int
    depth: float
    value: float | None
    line: tuple[str, ...] = ()
    is_proven: bool = False


def insight_text(insight: Insight) -> str:
    r"""Return *insight* as players tell it; of a line that is too long the first moves.

    Raises:
        MessageError: a number is none, or out of its bounds.

    Example:
        >>> insight_text(Insight(1200, 800, 9.5, 63.25, ("(mark 1 1)",)))
        '{"leaves": 1200, "plays": 800, "depth": 9.5, "value": 63.25, "line": ["(mark 1 1)"]}'
    """
    numbers = (int(insight.n_leaves), int(insight.n_playouts), _rounded(insight.depth))
    value = None if insight.value is None else _rounded(insight.value)
    found = insight_json(Insight(*numbers, value, told_line(map(str, insight.line)), bool(insight.is_proven)))
    while len(text := json.dumps(found)) > MAX_INSIGHT:
        found["line"].pop()
    insight_of(found)
    return text


def _rounded(number: float) -> float:
    return round(float(number), _DIGITS)


def told_line(line: Iterable[str]) -> tuple[str, ...]:
    """Return the first moves of *line*, at most `MAX_LINE`, before one that is too long or cannot be printed."""
    return tuple(takewhile(_is_move, islice(line, MAX_LINE)))


def _is_move(move: object) -> bool:
    return isinstance(move, str) and 0 < len(move) <= MAX_MOVE and move.isprintable()


def insight_comment(text: str) -> str:
    """Return the line on which a child process writes the *text* of an insight: a comment of KIF."""
    return f"; {INSIGHT_HEADER}: {text}"


def commented_insight(line: str) -> str:
    """Return the text of the insight on *line*; empty where it is another comment.

    Example:
        >>> commented_insight(insight_comment("{}"))
        '{}'
    """
    name, colon, text = line.removeprefix(";").partition(":")
    return text.strip() if colon and name.strip() == INSIGHT_HEADER else ""


def insight_json(insight: Insight) -> dict[str, Any]:
    """Return *insight* as the JSON object that replies, journals and records have."""
    found = {
        "leaves": insight.n_leaves,
        "plays": insight.n_playouts,
        "depth": insight.depth,
        "value": insight.value,
        "line": list(insight.line),
    }
    return found | {"proven": True} if insight.is_proven else found


def insight_words(insight: Insight) -> str:
    """Return *insight* on a line for people.

    Example:
        >>> insight_words(Insight(1200, 800, 9.5, 100.0, ("(mark 1 1)",), is_proven=True))
        'value 100 (proven), 1200 leaves, 800 plays, depth 9.5, line (mark 1 1)'
    """
    told = "unknown" if insight.value is None else f"{insight.value:g}{' (proven)' if insight.is_proven else ''}"
    numbers = f"{insight.n_leaves} leaves, {insight.n_playouts} plays, depth {insight.depth:g}"
    return f"value {told}, {numbers}, line {' '.join(insight.line)}"


def read_insight(text: str) -> Insight:
    """Return the insight that a player tells as *text*; keys that are not known are passed over.

    Raises:
        MessageError: it is none, or a part of it is out of its bounds.

    Example:
        >>> read_insight('{"value": 100, "proven": true}')
        Insight(n_leaves=0, n_playouts=0, depth=0.0, value=100.0, line=(), is_proven=True)
    """
    if len(text) > MAX_INSIGHT:
        raise MessageError(f"an insight longer than {MAX_INSIGHT:,} characters", text)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessageError("an insight that is no JSON", text) from error
    return insight_of(found)


def insight_of(found: object) -> Insight:
    """Return the insight that the JSON value *found* tells; what it leaves out is 0, unknown or empty.

    Raises:
        MessageError: it is none, or a part of it is out of its bounds.
    """
    if not isinstance(found, dict):
        raise MessageError("an insight that is no JSON object", repr(found)[:MAX_MOVE])
    value = found.get("value")
    return Insight(
        _count(found, "leaves"),
        _count(found, "plays"),
        _number(found.get("depth", 0.0), "depth", _MAX_DEPTH),
        None if value is None else _number(value, "value", _MAX_GOAL),
        _line(found.get("line", [])),
        _truth(found.get("proven", False)),
    )


def _count(found: Mapping[str, object], key: str) -> int:
    value = found.get(key, 0)
    if type(value) is not int or not 0 <= value <= _MAX_COUNT:
        raise MessageError(f"an insight whose {key} are no number from 0 to {_MAX_COUNT:,}")
    return value


def _number(value: object, key: str, most: float) -> float:
    if type(value) not in (int, float):
        raise MessageError(f"an insight whose {key} is no number")
    assert isinstance(value, int | float)
    if not 0 <= value <= most:
        raise MessageError(f"an insight whose {key} is not from 0 to {most:,.0f}")
    return float(value)


def _line(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_LINE or not all(map(_is_move, value)):
        raise MessageError(f"an insight whose line is no list of at most {MAX_LINE} moves")
    return tuple(value)


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise MessageError("an insight that does not say whether it is proven")
    return value
