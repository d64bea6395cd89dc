"""Gates and loops rebuilt: they mean the same, and what is left of loops are cycles."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from gdl.compiler.gates import FALSE, TRUE, Gates, Loop, folded
from tests.kit.gdl.compiler.circuits import CircuitWriter, least_values

A, B = 2, 4
"""The literals of two inputs."""


@pytest.mark.parametrize("seed", range(200))
def test_what_is_folded_means_the_same(seed: int) -> None:
    """All values of the inputs that are not known, of every literal."""
    circuit = CircuitWriter(seed, n_fluents=4, n_moves=2).circuit()
    random = Random(seed)
    known = {node: random.random() < 0.5 for node in range(1, 5) if random.random() < 0.4}
    found = folded(circuit.n_inputs, circuit.gates, circuit.loops, known)
    for inputs in product([False, True], repeat=circuit.n_inputs - 1):
        values = [True, *(known.get(node, value) for node, value in enumerate(inputs, 1))]
        before = least_values(circuit.gates, circuit.loops, values)
        after = least_values(found.gates.gates, found.loops, values)
        assert [after[x >> 1] ^ bool(x & 1) for x in map(found.of, range(0, 2 * len(before), 2))] == before


@pytest.mark.parametrize("seed", range(200))
def test_every_node_of_a_loop_that_is_left_depends_on_itself(seed: int) -> None:
    circuit = CircuitWriter(seed).circuit()
    found = folded(circuit.n_inputs, circuit.gates, circuit.loops, {1: True, 2: False})
    below = {node: [x >> 1 for x in inputs or ()] for node, inputs in enumerate(found.gates.gates)}
    below |= {node: [x >> 1] for loop in found.loops for node, x in zip(loop.nodes, loop.values, strict=True)}
    for loop in found.loops:
        for node in loop.nodes:
            reached, todo = set(), [*below[node]]
            while todo:
                new = todo.pop()
                if new not in reached:
                    reached.add(new)
                    todo += below[new]
            assert node in reached


def test_a_loop_that_a_known_input_cuts_is_a_gate() -> None:
    gates = Gates([None] * 3)
    p, q = gates.input(), gates.input()
    loop = Loop((p >> 1, q >> 1), (gates.disjunction([gates.conjunction([q, B]), A]), p))
    cut = folded(3, gates.gates, [loop], {2: False})
    assert (cut.loops, cut.of(p), cut.of(q)) == ((), A, A)
    kept = folded(3, gates.gates, [loop], {1: False})
    assert [len(loop.nodes) for loop in kept.loops] == [2]


def test_cutting_one_loop_cuts_those_that_hang_on_it() -> None:
    gates = Gates([None] * 3)
    p, q = gates.input(), gates.input()
    loops = [
        Loop((p >> 1,), (gates.conjunction([p, A]),)),
        Loop((q >> 1,), (gates.disjunction([B, gates.conjunction([q, p])]),)),
    ]
    found = folded(3, gates.gates, loops, {1: False})
    assert (found.loops, found.of(p), found.of(q)) == ((), FALSE, B)
    assert folded(3, gates.gates, loops, {2: True}).of(q) == TRUE
