"""The static checks: everything that is wrong with a rule file, at once.

`check` runs them all. Each module holds the checks of one theme; each check takes the file under examination and
yields diagnostics, and `CHECKS` lists them in the order of the language's reference.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from gdl.checks import arguments, dependencies, goals, names, roles, safety, structure
from gdl.checks.subject import Subject, examine
from gdl.checks.suppression import sift
from gdl.diagnostics import Diagnostic, Source, in_order
from gdl.language.kif import DEFAULT_LIMITS, ReadLimits

Check: TypeAlias = Callable[[Subject], Iterator[Diagnostic]]

MAX_FINDINGS: Final = 1_000
"""The most findings that one check reports."""

CHECKS: Final[tuple[Check, ...]] = (
    structure.missing_relations,
    structure.stray_words,
    structure.empty_bodies,
    structure.lone_names_in_parentheses,
    structure.open_facts,
    structure.misplaced_connectives,
    structure.several_arities,
    structure.relations_as_functions,
    structure.keywords_as_names,
    structure.roles,
    structure.reserved_conditions,
    structure.gdl2_keywords_in_gdl1,
    roles.blind_roles,
    dependencies.premature_questions,
    dependencies.rules_too_large,
    safety.unsafe_variables,
    dependencies.negative_cycles,
    dependencies.recursive_arguments,
    names.capitalisation,
    names.variable_capitalisation,
    names.undefined_relations,
    names.unused_relations,
    names.unusual_characters,
    arguments.undefined_fluents,
    arguments.undefined_moves,
    arguments.unused_fluents,
    arguments.unlisted_fluents,
    arguments.unlisted_moves,
    arguments.unmatched_conditions,
    arguments.equal_terms,
    goals.goal_values,
    goals.variable_goal_values,
    roles.undeclared_roles,
    roles.idle_roles,
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
