"""A rule file under examination: its forms, its rules, and what was wrong in reading them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gdl.checks.alternatives import Alternatives, alternatives
from gdl.checks.graph import RelationGraph
from gdl.checks.literals import uses
from gdl.checks.occurrences import Use, occurrences
from gdl.diagnostics import Diagnostic, diagnostic
from gdl.errors import RuleFileError
from gdl.kif import Form, ReadLimits
from gdl.rules import KEYWORDS, Rule, read_forms_as_rules
from gdl.source import Source, Span

MAX_PROBLEMS: Final = 1_000
"""How many problems of reading are told; a file that has more is no rule file."""


@dataclass(frozen=True)
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
    def occurrences(self) -> Mapping[Use, list[Form]]:
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
    stray = tuple(_runs_of_words(source, reading.forms, reading.rules))
    starts = {word.start for words in stray for word in words}
    kept = [number for number, form in enumerate(reading.forms) if form.start not in starts]
    return Subject(
        source,
        tuple(reading.forms[number] for number in kept),
        tuple(reading.rules[number] for number in kept),
        stray,
        reading.broken,
        reading.is_gdl2,
        reading.is_whole,
        tuple(found),
    )


def _runs_of_words(source: Source, forms: Sequence[Form], rules: Sequence[Rule]) -> Iterator[tuple[Form, ...]]:
    """Yield the words that stand side by side at the top of the file, and that no condition asks for."""
    asked = {use.atom.term for use in uses(rules)}
    run: list[Form] = []
    for form, rule in zip(forms, rules, strict=True):
        is_word = form.children is None and form.name not in KEYWORDS and rule.head.term not in asked
        if run and not (is_word and "\n" not in source.text[run[-1].end : form.start]):
            if len(run) > 1:
                yield tuple(run)
            run = []
        if is_word:
            run.append(form)
    if len(run) > 1:
        yield tuple(run)
