"""Rules as the engines take them: one clause for every way through the `or`s of a rule, as far as limits allow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gdl.datalog.clauses import MAX_CLAUSES, Clause, clauses_of, count_alternatives
from gdl.datalog.safety import check_depth
from gdl.errors import LimitExceeded
from gdl.rules import Rule


@dataclass(frozen=True)
class Alternatives:
    """The clauses of some rules, with the rule of each; `refused` are rules that every engine refuses, and why."""

    clauses: tuple[tuple[Rule, Clause], ...]
    refused: tuple[tuple[Rule, LimitExceeded], ...]


def alternatives(rules: Iterable[Rule]) -> Alternatives:
    """Return the clauses of *rules*; those that follow when there are too many are not looked at."""
    found: list[tuple[Rule, Clause]] = []
    refused: list[tuple[Rule, LimitExceeded]] = []
    n_alternatives = 0
    for number, rule in enumerate(rules):
        try:
            clauses = clauses_of([rule])
            for clause in clauses:
                check_depth(clause)
        except LimitExceeded as error:
            refused.append((rule, error))
            continue
        found += ((rule, clause) for clause in clauses)
        n_alternatives += count_alternatives(rule)
        if n_alternatives > number + MAX_CLAUSES:
            refused.append((rule, LimitExceeded("alternatives in all rules", MAX_CLAUSES)))
            break
    return Alternatives(tuple(found), tuple(refused))
