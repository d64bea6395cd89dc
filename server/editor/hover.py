"""What an editor shows of the name under the pointer: what it is, and how it is defined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gdl.editing.grammar import MEANINGS, Part
from gdl.editing.symbols import Kind, Occurrence, SymbolIndex, comment_above
from gdl.kif import Form
from gdl.rules import USAGE

_PARTS: Final = frozenset({Part.ROLE, Part.FLUENT, Part.MOVE, Part.PERCEPT})
_MOST_DEFINITIONS: Final = 12
_MOST_LINES: Final = 40
_MOST_CHARACTERS: Final = 2_000


def describe(index: SymbolIndex, found: Occurrence) -> str:
    """Return, as Markdown, what is known of the name *found*."""
    if found.kind is Kind.VARIABLE:
        return f"variable `{found.symbol.name}`: {_number(len(index.uses(found.symbol)), 'place')} in this rule"
    defining = index.definitions(found)
    definitions = _items(defining)
    title = _keyword(found) if found.kind is Kind.KEYWORD else _title(found, defining)
    n_places = _number(len(index.uses(found.symbol)), "place")
    counts = f"{_number(len(definitions), 'definition')}, {n_places} in this file" if definitions else n_places
    shown = list(_shown(definitions))
    left = len(definitions) - len(shown)
    more = [f"and {_number(left, 'more definition')}"] if left and shown else []
    code = ["```gdl\n" + "\n".join(shown) + "\n```"] if shown else []
    return "\n\n".join([f"{title}  \n{counts}", *code, *more])


def _title(found: Occurrence, defining: Sequence[Occurrence]) -> str:
    parts = [one.part for one in (*defining, found) if one.part in _PARTS]
    what = parts[0] if parts else found.kind
    arity = f": {_number(found.arity, 'argument')}" if found.arity else ""
    return f"{what} `{found.symbol.name}`{arity}"


def _keyword(found: Occurrence) -> str:
    name = found.symbol.name
    return f"`{USAGE.get(name, name)}`: {MEANINGS[name]}"


def _items(definitions: Sequence[Occurrence]) -> list[Form]:
    return list({found.item.start: found.item for found in definitions}.values())


def _shown(items: Sequence[Form]) -> Iterator[str]:
    """Yield the text of *items* with the comments above them, as much as fits a small window."""
    n_lines = 0
    for item in items[:_MOST_DEFINITIONS]:
        text = "\n".join(filter(None, [comment_above(item), item.span.text]))
        n_lines += text.count("\n") + 1
        if n_lines > _MOST_LINES or len(text) > _MOST_CHARACTERS:
            return
        yield text


def _number(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"
