"""Alternatives with something in common take fewer gates, and mean the same."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from gdl.compiler.gates import FALSE, TRUE, Gates, Lit, any_of

N_INPUTS = 6


def circuit() -> Gates:
    gates = Gates([None])
    for _ in range(N_INPUTS):
        gates.input()
    return gates


def value(gates: Gates, literal: Lit, inputs: tuple[bool, ...]) -> bool:
    node = literal >> 1
    its = gates.gates[node]
    holds = (True, *inputs)[node] if its is None else all(value(gates, x, inputs) for x in its)
    return holds ^ bool(literal & 1)


def test_what_alternatives_share_is_one_gate() -> None:
    gates = circuit()
    found = any_of(gates, [frozenset({2, 4}), frozenset({2, 6}), frozenset({2, 9})])
    assert gates.gates[1 + N_INPUTS :] == [(5, 7, 8), (2, 15)]
    assert found == 16


def test_an_alternative_that_needs_nothing_more_takes_in_the_others() -> None:
    gates = circuit()
    assert any_of(gates, [frozenset({2, 4}), frozenset({2}), frozenset({2, 6})]) == 2
    assert gates.gates[1 + N_INPUTS :] == []


def test_no_alternative_is_false_and_one_without_a_condition_is_true() -> None:
    assert (any_of(circuit(), []), any_of(circuit(), [frozenset({2}), frozenset()])) == (FALSE, TRUE)


@pytest.mark.parametrize("seed", range(40))
def test_factoring_changes_no_value(seed: int) -> None:
    random, gates = Random(seed), circuit()
    products = []
    for _ in range(random.randint(1, 8)):
        nodes = random.sample(range(1, 1 + N_INPUTS), random.randint(1, 4))
        products.append(frozenset(2 * node + random.randint(0, 1) for node in nodes))
    found = any_of(gates, products)
    for inputs in product((False, True), repeat=N_INPUTS):
        expected = any(all(value(gates, x, inputs) for x in each) for each in products)
        assert value(gates, found, inputs) == expected
