"""A rule file under examination: forms, rules and names where they stand, clauses, the graph of relations."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from gdl.datalog.clauses import Clause
from gdl.datalog.dependencies import Dependencies
from gdl.datalog.disjunctions import is_passing
from gdl.datalog.translation import MAX_CLAUSES, check_depth, clauses_of, is_written_out
from gdl.diagnostics import LINE_END, Diagnostic, Source, Span, diagnostic
from gdl.errors import LimitExceeded, RuleFileError
from gdl.language.kif import Form, ReadLimits, read_forms
from gdl.language.rules import RuleReading, read_forms_as_rules
from gdl.language.syntax import KEYWORDS, And, Atom, Condition, Not, Or, Rule
from gdl.language.terms import Signature, signature

_NO_LIMITS = ReadLimits(max_characters=1 << 62, max_depth=1 << 62)
"""The text has been read before, within the limits that hold."""


def part(whole: Span, *path: int) -> Span:
    """Return where a part of the form at *whole* stands: `part(span, 2, 1)` is the first argument of the second.

    A path that leads nowhere stops at the last form there is.
    """
    form = read_forms(Source("", whole.text), _NO_LIMITS)[0]
    for index in path:
        if form.children is None or index >= len(form.children):
            break
        form = form.children[index]
    return Span(whole.source, whole.start + form.start, whole.start + form.end)


def parts(whole: Span) -> tuple[Span, ...]:
    """Return where the parts of the form at *whole* stand: its name, then its arguments."""
    form = read_forms(Source("", whole.text), _NO_LIMITS)[0]
    return tuple(Span(whole.source, whole.start + one.start, whole.start + one.end) for one in form.children or ())


@dataclass(frozen=True, slots=True)
class Use:
    """An atom in the body of a rule; `is_negative` where it stands under a `not`."""

    rule: Rule
    atom: Atom
    is_negative: bool


def uses(rules: Iterable[Rule]) -> Iterator[Use]:
    """Yield the atoms in the bodies of *rules*, in the order of the text."""
    for rule in rules:
        for condition in rule.body:
            yield from _uses(rule, condition, is_negative=False)


def _uses(rule: Rule, condition: Condition, *, is_negative: bool) -> Iterator[Use]:
    match condition:
        case Atom():
            yield Use(rule, condition, is_negative)
        case Not(inner):
            yield from _uses(rule, inner, is_negative=not is_negative)
        case And(parts) | Or(parts):
            for one in parts:
                yield from _uses(rule, one, is_negative=is_negative)


@dataclass(frozen=True)
class Alternatives:
    """The clauses of some rules, with the rule of each; `refused` are rules that every engine refuses, and why.

    `passing` are the rules of which not every choice of branches is a clause.
    """

    clauses: tuple[tuple[Rule, Clause], ...]
    refused: tuple[tuple[Rule, LimitExceeded], ...]
    passing: tuple[Rule, ...]

    @cached_property
    def choices(self) -> tuple[tuple[Rule, Clause], ...]:
        """The clauses that are choices of branches: those that pass nothing from one `or` to the next."""
        return tuple(
            (rule, clause)
            for rule, clause in self.clauses
            if not any(is_passing(atom) for atom in (clause.head, *clause.positive))
        )


def alternatives(rules: Iterable[Rule]) -> Alternatives:
    """Return the clauses of *rules*; those that follow when there are too many are not looked at."""
    found: list[tuple[Rule, Clause]] = []
    refused: list[tuple[Rule, LimitExceeded]] = []
    passing: list[Rule] = []
    for number, rule in enumerate(rules, 1):
        try:
            clauses = clauses_of([rule])
            for clause in clauses:
                check_depth(clause)
        except LimitExceeded as error:
            refused.append((rule, error))
            continue
        found += ((rule, clause) for clause in clauses)
        if not is_written_out(rule):
            passing.append(rule)
        if len(found) > number + MAX_CLAUSES:
            refused.append((rule, LimitExceeded("alternatives in all rules", MAX_CLAUSES)))
            break
    return Alternatives(tuple(found), tuple(refused), tuple(passing))


class NameKind(StrEnum):
    """What a name is used as, in the words of a message."""

    RELATION = "a relation"
    FUNCTION = "a function"
    OBJECT = "an object"


class NameUse(NamedTuple):
    """A name as one kind of thing with one number of arguments."""

    kind: NameKind
    name: str
    arity: int


def arguments_in_words(arity: int) -> str:
    """Return how many arguments a name stands with, as messages say it.

    Example:
        >>> arguments_in_words(0), arguments_in_words(1), arguments_in_words(2)
        ('no argument', '1 argument', '2 arguments')
    """
    return f"{arity or 'no'} argument{'s' if arity > 1 else ''}"


def occurrences(forms: Iterable[Form]) -> Mapping[NameUse, list[Form]]:
    """Return the tokens of *forms*, facts and rules, by what they are used as, in the order of the text.

    Variables and connectives are left out; `p` and `(p)` are the same.
    """
    found: dict[NameUse, list[Form]] = {}
    for form in forms:
        _visit_sentence(form, found)
    return found


def _visit_sentence(form: Form, found: dict[NameUse, list[Form]]) -> None:
    todo = [form]
    while todo:
        top = todo.pop()
        name = top.children[0].name if top.children else top.name
        if name == "distinct":
            _visit_terms(_arguments(top), found)
        elif name in ("<=", "not", "and", "or"):
            todo += reversed(_arguments(top))
        else:
            _note(NameKind.RELATION, top, found)
            _visit_terms(_arguments(top), found)


def _visit_terms(forms: Iterable[Form], found: dict[NameUse, list[Form]]) -> None:
    todo = list(forms)
    todo.reverse()
    while todo:
        top = todo.pop()
        children = top.children
        if children is not None and len(children) > 1:
            _note(NameKind.FUNCTION, top, found)
            todo += reversed(children[1:])
        elif not top.is_variable:
            _note(NameKind.OBJECT, top, found)


def _note(kind: NameKind, form: Form, found: dict[NameUse, list[Form]]) -> None:
    if form.children is None:
        found.setdefault(NameUse(kind, form.name, 0), []).append(form)
    else:
        token = form.children[0]
        found.setdefault(NameUse(kind, token.name, len(form.children) - 1), []).append(token)


def _arguments(form: Form) -> tuple[Form, ...]:
    return form.children[1:] if form.children else ()


class RelationGraph:
    """What the relations of some rules depend on."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.defined: dict[Signature, Rule] = {}
        """The first rule or fact of every relation that has one."""
        self.uses: dict[tuple[Signature, Signature], list[Use]] = defaultdict(list)
        """The conditions through which one relation needs another."""
        self.users: dict[Signature, list[Use]] = defaultdict(list)
        """The conditions that name a relation."""
        for rule in rules:
            self.defined.setdefault(signature(rule.head.term), rule)
        for use in uses(rules):
            head, needed = signature(use.rule.head.term), signature(use.atom.term)
            self.uses[head, needed].append(use)
            self.users[needed].append(use)

    @cached_property
    def relations(self) -> tuple[Signature, ...]:
        """All relations; their numbers are their places here."""
        return tuple(dict.fromkeys((*self.defined, *self.users)))

    @cached_property
    def numbers(self) -> dict[Signature, int]:
        """The number of every relation."""
        return {relation: number for number, relation in enumerate(self.relations)}

    @cached_property
    def dependencies(self) -> Dependencies:
        """Which relation needs which, by number."""
        edges: list[dict[int, bool]] = [{} for _ in self.relations]
        for (head, needed), between in self.uses.items():
            edges[self.numbers[head]][self.numbers[needed]] = any(use.is_negative for use in between)
        return Dependencies(edges)

    def needed_by(self, relation: Signature) -> tuple[Signature, ...]:
        """Return the relations in the bodies of the rules for *relation*."""
        return tuple(self.relations[number] for number in self.dependencies.edges[self.numbers[relation]])

    def chains(self, starts: Iterable[Signature], ends: Collection[str]) -> Iterator[list[Signature]]:
        """Yield the shortest chain of dependencies from each of *starts* to a relation with one of the names *ends*."""
        targets = (number for number, (name, _) in enumerate(self.relations) if name in ends)
        distances = self.dependencies.distances_to(targets)
        for start in starts:
            if self.numbers[start] in distances:
                yield self._downwards(self.numbers[start], distances)

    def _downwards(self, node: int, distances: Mapping[int, int]) -> list[Signature]:
        way = [node]
        while distances[way[-1]]:
            wanted = distances[way[-1]] - 1
            way.append(next(one for one in self.dependencies.edges[way[-1]] if distances.get(one) == wanted))
        return [self.relations[number] for number in way]

    def is_recursive(self, head: Signature, needed: Signature) -> bool:
        """Return whether *needed*, which *head* needs, needs *head* in turn."""
        return self.dependencies.are_mutual(self.numbers[head], self.numbers[needed])

    def reached_from(self, roots: Iterable[Signature]) -> set[Signature]:
        """Return those of *roots* that there are, and all relations that they depend on."""
        found = {root for root in roots if root in self.numbers}
        todo = list(found)
        while todo:
            new = set(self.needed_by(todo.pop())) - found
            found |= new
            todo += new
        return found


MAX_PROBLEMS: Final = 1_000
"""The most problems of reading that are reported; a file that has more is no rule file."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What the checks look at: each of `forms` is a fact or rule, `rules` are the same, part by part, in that order.

    Keywords are in lower case in both. `stray` are words side by side outside of parentheses, which mean nothing and
    are in neither. `broken` are the forms that could not be read as a fact or a rule;
    `diagnostics` tell why. Where `is_whole` is False, reading stopped before the end of the text, and nothing was kept.
    """

    source: Source
    forms: tuple[Form, ...]
    rules: tuple[Rule, ...]
    stray: tuple[tuple[Form, ...], ...]
    broken: tuple[Form, ...]
    is_gdl2: bool
    is_whole: bool
    diagnostics: tuple[Diagnostic, ...]

    @cached_property
    def occurrences(self) -> Mapping[NameUse, list[Form]]:
        """Where every name stands, by what it is used as."""
        return occurrences(self.forms)

    @cached_property
    def graph(self) -> RelationGraph:
        """Which relation depends on which others."""
        return RelationGraph(self.rules)

    @cached_property
    def alternatives(self) -> Alternatives:
        """The rules as the engines take them."""
        return alternatives(self.rules)


def examine(source: Source, limits: ReadLimits, *, is_gdl2: bool | None = None) -> Subject:
    """Return *source* as far as it can be read; a bad form costs no other."""
    found: list[Diagnostic] = []

    def collect(error: RuleFileError) -> None:
        if len(found) < MAX_PROBLEMS:
            span = error.span or Span(source, 0, 0)
            found.append(diagnostic(error.code, span, error.message, error.hint, error.related))

    reading = read_forms_as_rules(source, limits, collect, is_gdl2=is_gdl2)
    runs = tuple(_runs_of_words(source, reading))
    aside = {form.start for run in runs for form in run}
    refused = {form.start for form in reading.broken if form.start in aside}
    told = {start for run in runs for start in [one.start for one in run if one.start in refused][1:]}
    kept = [number for number, form in enumerate(reading.forms) if form.start not in aside]
    return Subject(
        source,
        tuple(reading.forms[number] for number in kept),
        tuple(reading.rules[number] for number in kept),
        tuple(run for run in runs if not any(form.start in refused for form in run)),
        tuple(form for form in reading.broken if form.start not in aside),
        reading.is_gdl2,
        reading.is_whole,
        tuple(one for one in found if one.span.start not in told),
    )


_BRACKETS: Final = frozenset("[{")
"""What begins a word where other brackets stand for parentheses."""


def _runs_of_words(source: Source, reading: RuleReading) -> Iterator[tuple[Form, ...]]:
    """Yield words side by side at the top of the file, and the lists behind them, that no condition asks for."""
    asked = {signature(use.atom.term)[0] for use in uses(reading.rules)}
    run: list[Form] = []
    for form in sorted((*reading.forms, *reading.broken), key=lambda form: form.start):
        is_word = form.children is None
        name = form.children[0].name if form.children else form.name
        is_meant = not (run and is_word) if name in KEYWORDS else name in asked
        is_next = is_word or len(run) > 1 or (run and run[0].name[0] in _BRACKETS)
        if run and (is_meant or not is_next or LINE_END.search(source.text, run[-1].end, form.start) is not None):
            yield from _several_words(run)
            run = []
        if not is_meant and (is_word or run):
            run.append(form)
    yield from _several_words(run)


def _several_words(run: Sequence[Form]) -> Iterator[tuple[Form, ...]]:
    if sum(form.children is None for form in run) > 1:
        yield tuple(run)
