"""What may be written at a place of a rule file: the names of the file that fit there, and words of the language."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from gdl.diagnostics import Source
from gdl.editing.grammar import MEANINGS, SENTENCES, Part, inside
from gdl.editing.symbols import Occurrence, SymbolIndex, SymbolKind
from gdl.errors import KifSyntaxError
from gdl.language.kif import DEFAULT_LIMITS, Token, tokens
from gdl.language.syntax import KEYWORDS, USAGE

_WORDS: Final = {
    Part.ITEM: ("<=", "role", "base", "input", "init", "legal", "next", "sees", "goal", "terminal"),
    Part.HEAD: ("base", "input", "init", "legal", "next", "sees", "goal", "terminal"),
    Part.CONDITION: ("true", "does", "role", "not", "or", "and", "distinct", "legal", "goal", "terminal"),
}
"""The words of the language that may stand there, the usual first."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name that may stand at a place, with a word on what it is."""

    name: str
    kind: SymbolKind
    detail: str


@dataclass(frozen=True, slots=True)
class TextCompletion:
    """Proposals, the likeliest first, for the text from the offset `start` up to the place asked about."""

    start: int
    proposals: tuple[Proposal, ...] = ()


@dataclass(slots=True)
class _List:
    """A list that is open at the place asked about: what it is, and the members before."""

    part: Part
    functor: str = ""
    n_members: int = 0

    @property
    def next_part(self) -> Part:
        return inside(self.part, self.functor, self.n_members - 1) if self.n_members else self.part


@dataclass(slots=True)
class _Place:
    """The place asked about: the lists it is in, and where the name begins that ends there."""

    start: int
    typed: str = ""
    is_comment: bool = False
    lists: list[_List] = field(default_factory=list)

    @property
    def part(self) -> Part:
        return self.lists[-1].next_part if self.lists else Part.ITEM

    @property
    def is_after_parenthesis(self) -> bool:
        return bool(self.lists) and not self.lists[-1].n_members


def complete(index: SymbolIndex, offset: int) -> TextCompletion:
    """Return what may stand at *offset*: which names of the file, in place of what is typed right before it.

    Names are not left out for how they are spelt: editors do that, each in its way.
    """
    item = index.item_before(offset)
    place = _place(index.source, 0 if item is None else item.start, offset)
    if place.is_comment:
        return TextCompletion(offset)
    elsewhere = [found for found in index.occurrences if found.token.start != place.start]
    variables = _variables(elsewhere, index, offset) if place.part not in SENTENCES else ()
    if place.typed.startswith("?"):
        return TextCompletion(place.start, tuple(variables))
    names = [] if place.is_after_parenthesis else [*variables]
    return TextCompletion(place.start, (*names, *_names(elsewhere, place), *_words(place.part)))


def _place(source: Source, start: int, offset: int) -> _Place:
    place = _Place(offset)
    try:
        before = list(tokens(Source(source.name, source.text[:offset]), DEFAULT_LIMITS, start))
    except KifSyntaxError:
        return _Place(offset, is_comment=True)
    if before and before[-1].end == offset and before[-1].text not in "()":
        last = before.pop()
        place.start, place.typed, place.is_comment = last.start, last.text, last.text.startswith(";")
    for token in before:
        _step(place.lists, token)
    return place


def _step(lists: list[_List], token: Token) -> None:
    if token.text == "(":
        lists.append(_List(lists[-1].next_part if lists else Part.ITEM))
    elif token.text == ")":
        if lists:
            lists.pop()
        if lists:
            lists[-1].n_members += 1
    elif lists and not token.text.startswith(";"):
        top = lists[-1]
        if not top.n_members:
            word = token.text.lower()
            top.functor = word if word in KEYWORDS else token.text
        top.n_members += 1


def _variables(elsewhere: Iterable[Occurrence], index: SymbolIndex, offset: int) -> Iterator[Proposal]:
    item = index.item_before(offset)
    names = {
        found.symbol.name: None
        for found in elsewhere
        if found.kind is SymbolKind.VARIABLE
        and item is not None
        and item.start <= found.token.start < max(item.end, offset)
    }
    for name in names:
        yield Proposal(name, SymbolKind.VARIABLE, "variable of this rule")


def _names(elsewhere: Iterable[Occurrence], place: _Place) -> Iterator[Proposal]:
    """Yield the names that stand in such a place elsewhere; after a parenthesis those with arguments."""
    found: dict[tuple[str, SymbolKind], int] = {}
    for one in elsewhere:
        if one.kind in (SymbolKind.VARIABLE, SymbolKind.KEYWORD) or (place.is_after_parenthesis and not one.arity):
            continue
        if one.part is place.part or (one.part in SENTENCES and place.part in SENTENCES):
            key = (one.symbol.name, one.kind)
            found[key] = max(found.get(key, 0), one.arity)
    for (name, kind), arity in found.items():
        yield Proposal(name, kind, _shape(name, place.part if kind is not SymbolKind.RELATION else kind, arity))


def _shape(name: str, what: str, arity: int) -> str:
    return f"{what} ({name}{' _' * arity})" if arity else what


def _words(part: Part) -> Iterator[Proposal]:
    for word in _WORDS.get(part, ()):
        yield Proposal(word, SymbolKind.KEYWORD, f"{USAGE.get(word, word)}: {MEANINGS[word]}")
