"""A rule file under examination: its forms and rules as far as they can be read, and the clauses that these make."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gdl.checks.name_uses import NameUse, occurrences
from gdl.checks.relation_graph import RelationGraph, uses
from gdl.datalog.clauses import Clause
from gdl.datalog.disjunctions import is_passing
from gdl.datalog.translation import MAX_CLAUSES, check_depth, clauses_of, is_written_out
from gdl.diagnostics import LINE_END, Diagnostic, Source, Span, diagnostic
from gdl.errors import LimitExceeded, RuleFileError
from gdl.language.kif import Form, ReadLimits, read_forms
from gdl.language.rules import RuleReading, read_forms_as_rules
from gdl.language.syntax import KEYWORDS, Rule
from gdl.language.terms import signature

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
        source=source,
        forms=tuple(reading.forms[number] for number in kept),
        rules=tuple(reading.rules[number] for number in kept),
        stray=tuple(run for run in runs if not any(form.start in refused for form in run)),
        broken=tuple(form for form in reading.broken if form.start not in aside),
        is_gdl2=reading.is_gdl2,
        is_whole=reading.is_whole,
        diagnostics=tuple(one for one in found if one.span.start not in told),
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
