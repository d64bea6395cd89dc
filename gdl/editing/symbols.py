"""Every name of a rule file with its places: definitions, uses, renaming, and the outline of the file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

from gdl.diagnostics import Source, Span
from gdl.editing.edits import Edit
from gdl.editing.grammar import DEFINED, SENTENCES, Part, inside
from gdl.errors import RenamingError, RuleFileError
from gdl.game import RANDOM
from gdl.language.kif import BINARY, DEFAULT_LIMITS, NAME_CHARACTER, NUMBER, Form, ReadLimits
from gdl.language.rules import read_forms_as_rules
from gdl.language.syntax import CONNECTIVES, GDL2_KEYWORDS, KEYWORDS

_HEADS: Final = frozenset({Part.ITEM, Part.HEAD})


class SymbolKind(StrEnum):
    """What a name is."""

    KEYWORD = "keyword"
    RELATION = "relation"
    FUNCTION = "function"
    CONSTANT = "constant"
    VARIABLE = "variable"


class Space(StrEnum):
    """Names of different spaces have nothing to do with each other, even if they are spelt alike."""

    RELATIONS = "relations"
    TERMS = "terms"
    VARIABLES = "variables"


@dataclass(frozen=True, slots=True)
class Symbol:
    """What two places have in common that name the same; `rule` is where the rule of a variable begins, else -1.

    The number of arguments does not count: a name with two of them is most likely one that is being typed.
    """

    space: Space
    name: str
    rule: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """A name where it stands: `token`, in the fact or rule `item`, with `arity` arguments, as that `part` of it."""

    symbol: Symbol
    kind: SymbolKind
    part: Part
    token: Form
    item: Form
    arity: int
    is_definition: bool

    @property
    def span(self) -> Span:
        """Where the name stands."""
        return self.token.span


class SymbolIndex:
    """The names of one text, in the order of the text.

    `items` are its facts and rules, whole or not; `broken` are those that cannot be read, in whole or in part.
    """

    def __init__(
        self, source: Source, items: Iterable[Form], broken: Iterable[Form] = (), *, is_gdl2: bool = False
    ) -> None:
        self.source = source
        self.items = tuple(_outermost(items))
        self.broken = tuple(broken)
        keywords = KEYWORDS | GDL2_KEYWORDS if is_gdl2 else KEYWORDS
        self.occurrences = tuple(found for item in self.items for found in _occurrences(item, keywords))
        self._starts = [found.token.start for found in self.occurrences]
        self._by_symbol: dict[Symbol, list[Occurrence]] = defaultdict(list)
        for found in self.occurrences:
            self._by_symbol[found.symbol].append(found)

    def at(self, offset: int) -> Occurrence | None:
        """Return the name at *offset*, or that ends there; None where there is none."""
        number = bisect_right(self._starts, offset) - 1
        found = self.occurrences[number] if number >= 0 else None
        return found if found and offset <= found.token.end else None

    def item_before(self, offset: int) -> Form | None:
        """Return the last fact or rule that begins before *offset*: where it is broken, its end is not sure."""
        number = bisect_right(self.items, offset - 1, key=lambda item: item.start) - 1
        return self.items[number] if number >= 0 else None

    def uses(self, symbol: Symbol) -> Sequence[Occurrence]:
        """Return all places of *symbol*, definitions among them."""
        return self._by_symbol.get(symbol, ())

    def definitions(self, used: Occurrence) -> list[Occurrence]:
        """Return where the name *used* is defined.

        A relation: in heads. A fluent, move, percept or role: where such a head makes it. A variable: where it stands
        first in its rule. Those with as many arguments come alone, if there are any.
        """
        uses = self.uses(used.symbol)
        if used.kind is SymbolKind.VARIABLE:
            return list(uses[:1])
        defining = [found for found in uses if found.is_definition]
        return [found for found in defining if found.arity == used.arity] or defining


def index_symbols(source: Source, limits: ReadLimits = DEFAULT_LIMITS) -> SymbolIndex:
    """Return the names of *source*; there are none where it is no text, or larger or deeper than *limits* allow."""
    reading = read_forms_as_rules(source, limits, _go_on)
    return SymbolIndex(source, [*reading.forms, *reading.broken], reading.broken, is_gdl2=reading.is_gdl2)


def comment_above(item: Form) -> str:
    """Return the lines of comment that stand right above a fact or rule, as they are written."""
    source = item.source
    line, column = source.line_column(item.start)
    if source.line_text(line)[: column - 1].strip():
        return ""
    above: list[str] = []
    while line > 1 and (text := source.line_text(line - 1).strip()).startswith(";"):
        above.append(text)
        line -= 1
    return "\n".join(reversed(above))


def _go_on(error: RuleFileError) -> None:
    """Leave *error* to the checks, which tell it."""


def _outermost(items: Iterable[Form]) -> Iterator[Form]:
    """Yield *items* by place, without those inside others: a rule inside a rule is read for itself, too."""
    end = 0
    for item in sorted(items, key=lambda item: (item.start, -item.end)):
        if item.start >= end:
            yield item
            end = item.end


class _Spot(NamedTuple):
    """A form at its place: in which fact or rule, as which part, and whether a head makes it come about there."""

    form: Form
    item: Form
    part: Part
    is_made: bool = False


def _occurrences(item: Form, keywords: frozenset[str]) -> Iterator[Occurrence]:
    todo = [_Spot(item, item, Part.ITEM)]
    while todo:
        spot = todo.pop()
        children = spot.form.children
        if children is None:
            yield _occurrence(spot.form, 0, spot, keywords)
        elif children and children[0].children is None:
            yield _occurrence(children[0], len(children) - 1, spot, keywords)
            todo += reversed(list(_arguments(spot, children, keywords)))
        else:
            todo += (spot._replace(form=child, is_made=False) for child in reversed(children))


def _arguments(spot: _Spot, children: Sequence[Form], keywords: frozenset[str]) -> Iterator[_Spot]:
    name = children[0].name
    functor = name.lower() if name.lower() in keywords else name
    item = spot.form if functor == "<=" else spot.item
    made = DEFINED.get(functor) if spot.part in _HEADS else None
    for number, form in enumerate(children[1:]):
        yield _Spot(form, item, inside(spot.part, functor, number), number == made)


def _occurrence(token: Form, arity: int, spot: _Spot, keywords: frozenset[str]) -> Occurrence:
    item, part = spot.item, spot.part
    if token.is_variable:
        symbol = Symbol(Space.VARIABLES, token.name, item.start)
        return Occurrence(symbol, SymbolKind.VARIABLE, part, token, item, arity, is_definition=False)
    word = token.name.lower()
    is_relation = part in SENTENCES or (arity > 0 and word in KEYWORDS)
    is_keyword = word in keywords and (is_relation or word == RANDOM.name)
    kind = (
        SymbolKind.KEYWORD
        if is_keyword
        else SymbolKind.RELATION
        if is_relation
        else SymbolKind.FUNCTION
        if arity
        else SymbolKind.CONSTANT
    )
    symbol = Symbol(Space.RELATIONS if is_relation else Space.TERMS, word if word in keywords else token.name)
    is_definition = spot.is_made or (is_relation and part in _HEADS and word not in CONNECTIVES)
    return Occurrence(symbol, kind, part, token, item, arity, is_definition)


_NAME: Final = re.compile(rf"(?!\?)(?:(?![{BINARY}]){NAME_CHARACTER})+")
_NUMBER: Final = re.compile(NUMBER)
_WORDS: Final = KEYWORDS | GDL2_KEYWORDS


def renamable(index: SymbolIndex, offset: int) -> Occurrence:
    """Return the name at *offset*, if it may have another.

    Raises:
        RenamingError: there is none, or it is a word of the language or a number, or stands where all is not readable.
    """
    found = index.at(offset)
    if found is None:
        raise RenamingError("there is no name here")
    if found.kind is SymbolKind.KEYWORD:
        raise RenamingError(f"`{found.symbol.name}` is a word of the language")
    if found.kind is SymbolKind.CONSTANT and _NUMBER.fullmatch(found.symbol.name):
        raise RenamingError(f"{found.symbol.name} is a number")
    broken = [item for item in index.broken if _concerns(item, found)]
    if broken:
        place = broken[0].span
        raise RenamingError(f"the rule in line {place.line} has `{found.token.name}` and cannot be read: mend it first")
    return found


def rename(index: SymbolIndex, offset: int, name: str) -> list[Edit]:
    """Return the edits that give the name at *offset* the spelling *name*; a variable's question mark may be left out.

    Raises:
        RenamingError: as `renamable`, or *name* is none, or is taken, be it in other upper and lower case.
    """
    found = renamable(index, offset)
    is_variable = found.kind is SymbolKind.VARIABLE
    new = f"?{name.removeprefix('?')}" if is_variable else name
    if new == found.token.name:
        return []
    if not _NAME.fullmatch(new.removeprefix("?") if is_variable else new):
        raise RenamingError(f"{name!r} is no name: it needs a character, and no blanks, parentheses or semicolons")
    if not is_variable and (new.lower() in _WORDS or _NUMBER.fullmatch(new)):
        raise RenamingError(f"`{new}` is {'a number' if _NUMBER.fullmatch(new) else 'a word of the language'}")
    for other in index.occurrences:
        if other.symbol != found.symbol and other.token.name.lower() == new.lower() and _shares(found, other):
            where = "this rule" if is_variable else "this file"
            raise RenamingError(f"{where} has the name {other.token.name} already")
    return [Edit(use.span, new) for use in index.uses(found.symbol)]


def _concerns(broken: Form, found: Occurrence) -> bool:
    """Return whether what *broken* means may matter for *found*."""
    if found.kind is SymbolKind.VARIABLE:
        return broken.start <= found.token.start < broken.end
    return any(part.name == found.token.name for part in broken.walk())


def _shares(found: Occurrence, other: Occurrence) -> bool:
    """Return whether the two names must stay apart: those of one file, or variables of one rule."""
    return found.kind is not SymbolKind.VARIABLE or other.symbol.rule == found.symbol.rule


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
    form = head.item
    if _is_rule(head) and form.children:
        form = form.children[1]
    text = _short(form)
    n_conditions = len(head.item.children or ()) - 2 if _is_rule(head) else 0
    detail = f"{n_conditions} condition{'s' if n_conditions != 1 else ''}" if _is_rule(head) else "fact"
    return Entry(text, detail, head.item.span, head.span, _is_rule(head))


def _count(heads: Sequence[Occurrence]) -> str:
    n_rules = sum(map(_is_rule, heads))
    counts = {"fact": len(heads) - n_rules, "rule": n_rules}
    return ", ".join(f"{n} {what}{'s' if n > 1 else ''}" for what, n in counts.items() if n)


def _is_rule(head: Occurrence) -> bool:
    children = head.item.children or ()
    return bool(children) and children[0].name == "<="


def _short(form: Form) -> str:
    text = " ".join(form.source.text[form.start : min(form.end, form.start + 4 * _MOST_CHARACTERS)].split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
