"""The model that the interpreter finds is the one that a naive evaluator finds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice, product
from random import Random
from typing import Final

import pytest

from gdl.datalog.program import Layer
from gdl.errors import LimitExceeded, StratificationError
from gdl.game import EvaluationLimits, Game, State
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.gdl.oracle import Facts, TooLarge, Tree, model, text_of, trees
from tests.kit.gdl.programs import rule_file

N_BATCHES: Final = int(os.environ.get("GGP_RANDOM_BATCHES", "6" if IS_EXHAUSTIVE else "3"))
BATCH: Final = 25
N_STEPS: Final = 3
N_JOINT_MOVES: Final = 3

Answers = tuple[frozenset[str], bool, dict[str, frozenset[str]], dict[str, int | None]]
"""Facts, whether the state is terminal, legal moves by role, goals by role."""


def of(known: Facts, *head: str) -> frozenset[str]:
    """Return the last arguments of all facts that begin with *head*."""
    return frozenset(text_of(fact[-1]) for fact in known if fact[: len(head)] == head)


def naive_answers(rules: list[Tree], facts: frozenset[str], roles: list[str]) -> Answers:
    known = model(rules, truths(facts))
    legal = {role: of(known, "legal", role) for role in roles}
    goals = {role: only_number(of(known, "goal", role)) for role in roles}
    return facts, "terminal" in known, legal, goals


def truths(facts: Iterable[str]) -> Facts:
    return frozenset(("true", trees(fact)[0]) for fact in facts)


def only_number(values: frozenset[str]) -> int | None:
    number = next(iter(values)) if len(values) == 1 else ""
    return int(number) if number.isdecimal() else None


def naive_next(rules: list[Tree], facts: frozenset[str], moves: dict[str, str]) -> frozenset[str]:
    does = frozenset(("does", role, trees(move)[0]) for role, move in moves.items())
    return of(model(rules, truths(facts) | does), "next")


def answers(state: State, game: Game) -> Answers:
    legal = {role.name: texts(state.legal_moves(role)) for role in game.roles}
    return texts(state.facts), state.is_terminal, legal, {role.name: state.goal(role) for role in game.roles}


def texts(terms: Iterable[Term]) -> frozenset[str]:
    return frozenset(map(str, terms))


def joint_moves(state: State, game: Game, random: Random) -> Iterator[tuple[Term, ...]]:
    """Yield some joint moves, no two the same."""
    found = list(islice(product(*(state.legal_moves(role) for role in game.roles)), 1_000))
    yield from random.sample(found, min(N_JOINT_MOVES, len(found)))


def compare(text: str, random: Random) -> None:
    """Compare all answers along a play of the rules *text*."""
    rules = trees(text)
    facts = of(model(rules, frozenset()), "init")
    game: Game = InterpretedGame(read_rules(text), limits=EvaluationLimits(max_rows=100_000, max_term_depth=50))
    roles, state = [role.name for role in game.roles], game.initial_state
    for _ in range(N_STEPS):
        assert answers(state, game) == naive_answers(rules, facts, roles), text
        if state.is_terminal:
            return
        before = state
        for moves in joint_moves(before, game, random):
            state = before.next_state(moves)
            facts = naive_next(rules, texts(before.facts), dict(zip(roles, map(str, moves), strict=True)))
            assert texts(state.facts) == facts, (moves, text)


@pytest.mark.exhaustive
@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_random_rules_mean_what_a_naive_evaluator_finds(batch: int) -> None:
    compare_batch(batch)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_relations_derived_on_demand_mean_the_same(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    few_rows = batch % 3
    monkeypatch.setattr("gdl.datalog.model.LARGE_ROWS", dict.fromkeys(Layer, few_rows))
    compare_batch(N_BATCHES + batch)


def compare_batch(batch: int) -> None:
    """Compare a batch of random rule files, of which few may be too large or not stratified."""
    n_compared = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        try:
            compare(rule_file(seed), Random(seed))
        except (TooLarge, StratificationError, LimitExceeded):
            continue
        n_compared += 1
    assert n_compared > BATCH // 2
