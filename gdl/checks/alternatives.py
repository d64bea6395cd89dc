"""Rules as the engines take them: one clause for every way through the `or`s of a rule, as far as limits allow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gdl.clauses import MAX_CLAUSES, Clause, clauses_of
from gdl.errors import LimitExceeded
from gdl.rules import Rule
from gdl.safety import check_depth


@dataclass(frozen=True)
class Alternatives:
    """The clauses of some rules, with the rule of each; `refused` are rules that every engine refuses, and why."""

    clauses: tuple[tuple[Rule, Clause], ...]
    refused: tuple[tuple[Rule, LimitExceeded], ...]


def alternatives(rules: Iterable[Rule]) -> Alternatives:
    """Return the clauses of *rules*."""
    found: list[tuple[Rule, Clause]] = []
    refused: list[tuple[Rule, LimitExceeded]] = []
    for number, rule in enumerate(rules):
        try:
            clauses = clauses_of([rule])
            for clause in clauses:
                check_depth(clause)
            if len(found) + len(clauses) > number + MAX_CLAUSES:
                raise LimitExceeded("alternatives in all rules", MAX_CLAUSES)
        except LimitExceeded as error:
            refused.append((rule, error))
        else:
            found += ((rule, clause) for clause in clauses)
    return Alternatives(tuple(found), tuple(refused))
