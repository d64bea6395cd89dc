"""What is wrong with the TOML description of a game, each finding at its key: by itself, and beside the rules."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal

from gdl.boards.boards import outside_of
from gdl.boards.layout import Layout, Table
from gdl.boards.metadata import GameMetadata, KeyPath, metadata_of, problem_at, read_bytes
from gdl.boards.pieces import facts_of, shown
from gdl.datalog.domains import values_of_relations
from gdl.datalog.translation import clauses_of
from gdl.datalog.values import BOTTOM, TOP, Known, Values, values_of_heads
from gdl.diagnostics import Diagnostic, Source, Span, diagnostic, in_order
from gdl.errors import LimitExceeded, MetadataError
from gdl.language.kif import read_term
from gdl.language.rules import Description
from gdl.language.terms import Compound, Constant, Term, Variable, arguments_of, signature
from gdl.toml import toml_of
from gdl.violations import OF_KEY, UNKNOWN_KEY

_NAMED_LINE: Final = re.compile(r"\(at line (\d{1,9}), column \d{1,9}\)$")
_AT_END: Final = "(at end of document)"
_HEADER: Final = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")
_GIVEN: Final = re.compile(r"\s*([^\s=#\[{][^=#]*)=")
_PATTERNS: Final = "docs/games.md, *Patterns*, says what a pattern matches"
_MAX_NAMED: Final = 8
"""How many names of the rules a hint lists."""


@dataclass(frozen=True, slots=True)
class _Difference:
    key: KeyPath
    what: str
    hint: str


def metadata_findings(metadata: Path | Source, rules: Description | None = None) -> list[Diagnostic]:
    """Return what is wrong with the TOML description *metadata*, a file or its text, each problem where its key is.

    Where *rules*, which have no error, are given, so is what the description says of them that they do not.

    Raises:
        OSError: the file cannot be read.
    """
    source = metadata if isinstance(metadata, Source) else Source(str(metadata), "")
    try:
        raw = read_bytes(metadata) if isinstance(metadata, Path) else source.text.encode("utf-8", "surrogatepass")
        source = Source(source.name, raw.decode("utf-8", "replace"))
        said = metadata_of(raw, source.name)
    except MetadataError as error:
        return _wrong(source, error)
    differences = () if rules is None else _differences(said, rules)
    found = (_mismatch(source, one) for one in differences)
    return list(in_order(found))


def _mismatch(source: Source, one: _Difference) -> Diagnostic:
    return diagnostic("description-mismatch", _span(source, one.key, ""), problem_at(one.key, one.what), one.hint)


def _wrong(source: Source, error: MetadataError) -> list[Diagnostic]:
    keys, words = error.keys or [()] * len(error.problems), error.words or [()] * len(error.problems)
    found = (
        diagnostic("wrong-description", _span(source, key, problem), problem, _hint(source, key, problem, allowed))
        for key, problem, allowed in zip(keys, error.problems, words, strict=True)
    )
    return list(in_order(found))


def _differences(metadata: GameMetadata, rules: Description) -> Iterator[_Difference]:
    """Yield what *metadata* says of *rules* that these do not."""
    yield from _differing_roles(metadata, rules)
    facts = tuple(facts_of(rules))
    known = {"state": _fluents(rules), "rules": _terms(values_of_heads(facts))}
    for key, pattern, source in _patterns(metadata.board):
        term = read_term(pattern)
        if not _can_be(term, known[source]):
            yield _Difference(key, *_without_match(term, known[source], "fluent" if source == "state" else "fact"))
    first = [fact.arguments[0] for fact in facts if isinstance(fact, Compound) and signature(fact) == ("init", 1)]
    for number, fact in outside_of(metadata.board, rules, first):
        what = f"{fact} holds at first, and is in none of the cells that `columns` and `rows` name"
        yield _Difference(("board", "pieces", number, "fluent"), what, "name the columns and rows that the facts have")


def _differing_roles(metadata: GameMetadata, rules: Description) -> Iterator[_Difference]:
    heads = [rule.head.term for rule in rules.rules if signature(rule.head.term) == ("role", 1)]
    named = {shown(argument) for head in heads for argument in arguments_of(head)}
    if all(head.is_ground for head in heads) and named and named != set(metadata.roles):
        yield _Difference(("roles",), f"the roles of the rules are {_listed(named)}", "name these, as the rules do")


def _patterns(board: Layout) -> Iterator[tuple[KeyPath, str, Literal["state", "rules"]]]:
    """Yield the patterns of *board*, each with its key and with what it matches."""
    if board.turn is not None:
        yield ("board", "turn"), board.turn, "state"
    if board.heaps is not None:
        yield ("board", "heaps", "fluent"), board.heaps.fluent, "state"
    for name in ("pieces", "walls", "lines", "places", "stacks", "trays", "captions"):
        for number, entry in enumerate(getattr(board, name)):
            yield ("board", name, number, "fluent"), entry.fluent, entry.source


def _fluents(rules: Description) -> Values:
    """Return all terms that can be fluents of a state; any term at all where that takes too long to find out."""
    try:
        return values_of_relations(clauses_of(rules.rules)).get(("true", 1), (BOTTOM,))[0]
    except LimitExceeded:
        return TOP


def _terms(relations: Known) -> Values:
    """Return the atoms of *relations* as a set of terms."""
    propositions = frozenset(Constant(name) for name, n_arguments in relations if not n_arguments)
    return Values(propositions, {relation: values for relation, values in relations.items() if relation[1]})


def _can_be(pattern: Term, known: Values) -> bool:
    """Return whether a term that *pattern* matches is among *known*, as far as *known* tells these apart."""
    todo = [(pattern, known)]
    while todo:
        term, values = todo.pop()
        if isinstance(term, Variable) or values.is_all:
            continue
        if isinstance(term, Constant):
            if term not in values.constants:
                return False
        elif (arguments := values.compounds.get(signature(term))) is not None:
            todo += zip(arguments_of(term), arguments, strict=True)
        else:
            return False
    return True


def _without_match(pattern: Term, known: Values, kind: str) -> tuple[str, str]:
    """Return that nothing of the rules matches *pattern*, and what to do: the nearest that they have."""
    name, n_arguments = signature(pattern)
    there = [(constant.name, 0) for constant in known.constants] + list(known.compounds)
    counts = [n for other, n in there if other == name]
    if n_arguments in counts:
        return f"no {kind} of the rules is ever of the form {shown(pattern)}", _PATTERNS
    if counts:
        what = f"{name:.40} of the rules has another number of arguments: {counts[0]}, not {n_arguments}"
        return what, _PATTERNS
    names = sorted({other for other, _ in there})
    near = difflib.get_close_matches(name[:100], names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the rules have {_listed(names)}"
    return f"no {kind} of the rules is called {name:.40}", hint


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _MAX_NAMED:,} more" if len(ordered) > _MAX_NAMED else ""
    return ", ".join(f"{name:.40}" for name in ordered[:_MAX_NAMED]) + more or "none"


def _hint(source: Source, key: KeyPath, problem: str, words: Sequence[str]) -> str:
    if not problem.endswith(UNKNOWN_KEY):
        word = str(key[-2])[:100] if key[-1:] == (OF_KEY,) else _text_at(source, key) if words else ""
        near = difflib.get_close_matches(word, words, n=1)
        return f"did you mean {near[0]}?" if near else "docs/games.md shows what a description says, and how"
    known = {name for table in _tables(Table) for name in table.model_fields}
    near = difflib.get_close_matches(str(key[-1])[:100], sorted(known), n=1)
    return f"did you mean {near[0]}?" if near else "remove it; docs/games.md shows the keys that there are"


def _text_at(source: Source, key: KeyPath) -> str:
    """Return the text that the description, which can be read, has at *key*; the empty one where it has no text."""
    found: Any = toml_of(source.text)
    for part in key:
        is_there = part in found if isinstance(found, dict) else isinstance(found, list) and part in range(len(found))
        if not is_there:
            return ""
        found = found[part]
    return found[:100] if isinstance(found, str) else ""


def _tables(table: type[Table]) -> Iterator[type[Table]]:
    for inner in table.__subclasses__():
        yield inner
        yield from _tables(inner)


def _span(source: Source, key: KeyPath, problem: str) -> Span:
    """Return the line that gives *key*, else that of the table which should; or the line that *problem* names."""
    if not key and problem.endswith(_AT_END):
        line = max(1, source.text.rstrip().count("\n") + 1)
    elif not key and (named := _NAMED_LINE.search(problem)) is not None:
        line = int(named[1])
    else:
        around = [(len(path), line) for line, path in _key_lines(source.text) if path == key[: len(path)]]
        line = max(around, key=itemgetter(0), default=(0, 1))[1]
    text = source.line_text(line)
    start = source.line_starts[line - 1] + len(text) - len(text.lstrip())
    return Span(source, start, start + len(text.strip()))


def _key_lines(text: str) -> Iterator[tuple[int, KeyPath]]:
    """Yield the number of each line that begins a table or gives a key, with the key's path.

    It does not tell lines within a text of several lines, or keys of inline tables, apart: places are for readers.
    """
    table: KeyPath = ()
    n_tables: Counter[KeyPath] = Counter()
    for number, line in enumerate(text.split("\n"), 1):
        if (header := _HEADER.match(line)) is not None:
            table = _parts(header[2])
            if header[1] == "[[":
                n_tables[table] += 1
                table = (*table, n_tables[table] - 1)
            yield number, table
        elif (given := _GIVEN.match(line)) is not None:
            yield number, (*table, *_parts(given[1]))


def _parts(dotted: str) -> KeyPath:
    return tuple(part.strip(" \t\"'") for part in dotted.split("."))
