"""The outline of a rule file: its facts and rules, those of one relation that follow each other as one entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from gdl.diagnostics import Span
from gdl.editing.symbols import Occurrence, SymbolIndex
from gdl.language.kif import Form
from gdl.quantities import quantity

_MOST_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact, a rule, or a run of those of one relation; `name_span` is in `span`, and the `inner` entries are, too."""

    name: str
    detail: str
    span: Span
    name_span: Span
    is_rule: bool
    inner: tuple[Entry, ...] = ()


def outline(index: SymbolIndex) -> list[Entry]:
    """Return the outline of the file: facts and rules of one relation that follow each other are one entry."""
    return [_run(list(group)) for _, group in groupby(_heads(index), key=lambda head: head.symbol)]


def _heads(index: SymbolIndex) -> Iterator[Occurrence]:
    """Yield the names that facts and rules begin with, but not those of rules inside others."""
    end = 0
    items = {item.start: item for item in index.items}
    for found in index.occurrences:
        if found.is_definition and found.item.start in items and found.token.start >= end and _is_head(found):
            yield found
            end = found.item.end


def _is_head(found: Occurrence) -> bool:
    form = found.item
    if _is_rule(found) and form.children and len(form.children) > 1:
        form = form.children[1]
    return found.token is (form.children[0] if form.children else form)


def _run(heads: Sequence[Occurrence]) -> Entry:
    first, last = heads[0], heads[-1]
    if len(heads) == 1:
        return _entry(first)
    inner = tuple(map(_entry, heads)) if any(map(_is_rule, heads)) else ()
    span = Span(first.span.source, first.item.start, last.item.end)
    return Entry(first.symbol.name, _count(heads), span, first.span, bool(inner), inner)


def _entry(head: Occurrence) -> Entry:
    item, children = head.item, head.item.children or ()
    if not _is_rule(head):
        return Entry(_short(item), "fact", item.span, head.span, is_rule=False)
    detail = quantity(len(children) - 2, "condition")
    return Entry(_short(children[1]), detail, item.span, head.span, is_rule=True)


def _count(heads: Sequence[Occurrence]) -> str:
    n_rules = sum(map(_is_rule, heads))
    counts = {"fact": len(heads) - n_rules, "rule": n_rules}
    return ", ".join(quantity(n, what) for what, n in counts.items() if n)


def _is_rule(head: Occurrence) -> bool:
    children = head.item.children or ()
    return bool(children) and children[0].name == "<="


def _short(form: Form) -> str:
    text = " ".join(form.source.text[form.start : min(form.end, form.start + 4 * _MOST_CHARACTERS)].split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
