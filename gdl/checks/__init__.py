"""The static checks: everything that is wrong with a rule file, at once.

`check` runs them all. Each module holds the checks of one theme; each check takes the file under examination and
yields diagnostics, and `CHECKS` lists them in the order of the language's reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from gdl.checks import (
    arguments,
    arities,
    dependencies,
    fluents,
    keywords,
    names,
    recursion,
    safety,
    spelling,
    structure,
    values,
)
from gdl.checks.subject import Subject, examine
from gdl.diagnostics import Diagnostic, in_order
from gdl.kif import DEFAULT_LIMITS, ReadLimits
from gdl.source import Source
from gdl.suppression import sift

Check: TypeAlias = Callable[[Subject], Iterator[Diagnostic]]

MAX_FINDINGS: Final = 1_000
"""How many findings of each check are told."""

CHECKS: Final[tuple[Check, ...]] = (
    structure.missing_relations,
    structure.stray_words,
    structure.empty_bodies,
    structure.lone_names_in_parentheses,
    structure.open_facts,
    structure.misplaced_connectives,
    arities.several_arities,
    arities.relations_as_functions,
    keywords.keywords_as_names,
    keywords.roles,
    keywords.reserved_conditions,
    keywords.gdl2_keywords_in_gdl1,
    keywords.blind_roles,
    dependencies.premature_questions,
    safety.rules_too_large,
    safety.unsafe_variables,
    dependencies.negative_cycles,
    recursion.recursive_arguments,
    spelling.capitalisation,
    spelling.variable_capitalisation,
    names.undefined_relations,
    names.unused_relations,
    names.unusual_characters,
    fluents.undefined_fluents,
    fluents.undefined_moves,
    fluents.unused_fluents,
    arguments.unmatched_conditions,
    values.goal_values,
    values.undeclared_roles,
    values.idle_roles,
)


def check(source: Source, limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None) -> list[Diagnostic]:
    """Return all that is wrong with the rule file *source*, by place, but for what its comments allow.

    *is_gdl2* None leaves it to the text. A bad form is reported and passed over, so that the rest is checked too.
    """
    return list(sift(source, findings(source, limits, is_gdl2=is_gdl2), limits).diagnostics)


def findings(source: Source, limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None) -> list[Diagnostic]:
    """Return all that is wrong with the rule file *source*, by place, whatever its comments allow."""
    subject = examine(source, limits, is_gdl2=is_gdl2)
    found = [*subject.diagnostics, *(diagnostic for one in CHECKS for diagnostic in islice(one(subject), MAX_FINDINGS))]
    return list(in_order(found))
