"""Clauses that are rewritten answer what they answered before: random games, in states that plays reach."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import pytest

from gdl.datalog.clauses import Clause
from gdl.datalog.demand import asked_with_constants, can_be_chosen, narrowed, on_demand
from gdl.datalog.reasoner import Reasoner
from gdl.datalog.relations import Key, Row
from gdl.datalog.splitting import split
from gdl.datalog.translation import clauses_of
from gdl.game import DEFAULT_LIMITS
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Constant, Variable, signature
from tests.fuzz.evaluator import Moves, Position
from tests.fuzz.generator import random_game
from tests.fuzz.interpretation import compare_interpreted, term_of

SEEDS: Final = (1, 3, 8, 10, 13, 14, 17, 24, 28, 31, 38, 40)
"""Games of which no rewriting takes away the strata, as it may."""
N_STATES: Final = 6
N_STEPS: Final = 8
QUESTIONS: Final[tuple[Constant | Compound, ...]] = (
    Constant("terminal"),
    *(Compound(name, (Variable("?x"),)) for name in ("role", "init", "next")),
    *(Compound(name, (Variable("?x"), Variable("?y"))) for name in ("legal", "goal", "sees")),
)


def derived_on_demand(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    return on_demand(clauses, frozenset(filter(can_be_chosen, {signature(clause.head) for clause in clauses})))


def with_constants_on_demand(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    return on_demand(clauses, asked_with_constants(clauses), may_change=True)


def all_in_turn(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    return narrowed(split(with_constants_on_demand(clauses)))


REWRITINGS: Final = (split, narrowed, derived_on_demand, with_constants_on_demand, all_in_turn)


def answers(reasoner: Reasoner, roles: Moves, position: Position, moves: Moves) -> set[tuple[Key, Row]]:
    """Return all that GDL gives a meaning, in one state, after a joint move or (no moves) before it."""
    true = frozenset(map(term_of, position.fluents))
    does = [(Constant(role), term_of(move)) for role, move in zip(roles, moves, strict=False)]
    return {answer for question in QUESTIONS for answer in reasoner.answers(question, true, does)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_rewritten_clauses_answer_the_same(seed: int) -> None:
    text = random_game(seed).text
    _, naive, met, steps = compare_interpreted(text, Random(seed))
    clauses = clauses_of(read_rules(text).rules)
    reasoner = Reasoner(clauses, DEFAULT_LIMITS)
    asked = [*((position, ()) for position in met[:N_STATES]), *steps[:N_STEPS]]
    expected = [answers(reasoner, naive.roles, *each) for each in asked]
    for rewriting in REWRITINGS:
        rewritten = Reasoner(rewriting(clauses), DEFAULT_LIMITS)
        assert [answers(rewritten, naive.roles, *each) for each in asked] == expected, rewriting.__name__
