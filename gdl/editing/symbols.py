"""Every name of a rule file with its places: what it is there, where it is defined, and where it is used."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from gdl.diagnostics import Source, Span
from gdl.editing.grammar import DEFINED, SENTENCES, Part, inside
from gdl.errors import RuleFileError
from gdl.game import RANDOM
from gdl.language.kif import DEFAULT_LIMITS, Form, ReadLimits
from gdl.language.rules import read_forms_as_rules
from gdl.language.syntax import CONNECTIVES, GDL2_KEYWORDS, KEYWORDS

_HEADS: Final = frozenset({Part.ITEM, Part.HEAD})


class SymbolKind(StrEnum):
    """What a name of a rule file stands for."""

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

    def __init__(self, source: Source, items: Iterable[Form], broken: Iterable[Form], *, is_gdl2: bool) -> None:
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
