"""Gates and loops rebuilt: they mean the same, and what is left of loops are cycles."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from gdl.compiler.folding import Folding
from gdl.compiler.gates import FALSE, TRUE, Gates, Loop
from tests.kit.gdl.compiler.circuits import CircuitWriter, least_values

A, B = 2, 4
"""The literals of two inputs."""


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", range(200))
def test_what_is_folded_means_the_same(seed: int) -> None:
    """All values of the inputs that are not known, of every literal."""
    circuit = CircuitWriter(seed, n_fluents=4, n_moves=2).circuit()
    random = Random(seed)
    known = {node: random.random() < 0.5 for node in range(1, 5) if random.random() < 0.4}
    found = Folding(circuit.n_inputs, circuit.gates, circuit.loops).folded(known)
    for inputs in product([False, True], repeat=circuit.n_inputs - 1):
        values = [True, *(known.get(node, value) for node, value in enumerate(inputs, 1))]
        before = least_values(circuit.gates, circuit.loops, values)
        after = least_values(found.gates, found.loops, values)
        assert [after[x >> 1] ^ bool(x & 1) for x in map(found.of, range(0, 2 * len(before), 2))] == before


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(200))
def test_every_node_of_a_loop_that_is_left_depends_on_itself(seed: int) -> None:
    circuit = CircuitWriter(seed).circuit()
    found = Folding(circuit.n_inputs, circuit.gates, circuit.loops).folded({1: True, 2: False})
    below = {node: [x >> 1 for x in inputs or ()] for node, inputs in enumerate(found.gates)}
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


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(200))
def test_gates_that_known_inputs_reach_are_made_again_in_their_places(seed: int) -> None:
    """Without loops it is as if all were made again, one after the other, but that no gate moves."""
    random = Random(seed)
    gates = Gates([None] * 7)
    for _ in range(60):
        below = [random.randrange(2, 2 * len(gates.gates)) for _ in range(random.randint(2, 3))]
        gates.conjunction(below)
    known = {node: random.random() < 0.5 for node in range(1, 7) if random.random() < 0.4}
    made = Gates([None] * 7)
    literals = [(FALSE, TRUE)[known[node]] if node in known else 2 * node for node in range(7)]
    for inputs in gates.gates[7:]:
        literals.append(made.conjunction(literals[x >> 1] ^ (x & 1) for x in inputs or ()))
    found = Folding(7, gates.gates, ()).folded(known)
    kept = [node for node, inputs in enumerate(found.gates) if inputs != ()]
    now = {2 * node + sign: 2 * place + sign for place, node in enumerate(kept) for sign in (0, 1)}
    gates_now = [found.gates[node] for node in kept]
    assert [inputs and tuple(now[x] for x in inputs) for inputs in gates_now] == made.gates
    assert [now[found.of(x)] for x in range(0, 2 * len(literals), 2)] == literals


def test_known_inputs_leave_alone_what_they_do_not_reach() -> None:
    gates = Gates([None] * 4)
    apart, reached = gates.conjunction([A, B]), gates.conjunction([A, 6])
    found = Folding(4, gates.gates, ()).folded({3: True})
    assert found.gates == (None, None, None, None, (A, B), ())
    assert (found.of(apart), found.of(reached ^ 1)) == (apart, A ^ 1)


def test_a_loop_that_a_known_input_cuts_is_a_gate() -> None:
    gates = Gates([None] * 3)
    p, q = gates.input(), gates.input()
    loop = Loop((p >> 1, q >> 1), (gates.disjunction([gates.conjunction([q, B]), A]), p))
    cut = Folding(3, gates.gates, [loop]).folded({2: False})
    assert (cut.loops, cut.of(p), cut.of(q)) == ((), A, A)
    kept = Folding(3, gates.gates, [loop]).folded({1: False})
    assert [len(loop.nodes) for loop in kept.loops] == [2]


def test_cutting_one_loop_cuts_those_that_hang_on_it() -> None:
    gates = Gates([None] * 3)
    p, q = gates.input(), gates.input()
    loops = [
        Loop((p >> 1,), (gates.conjunction([p, A]),)),
        Loop((q >> 1,), (gates.disjunction([B, gates.conjunction([q, p])]),)),
    ]
    found = Folding(3, gates.gates, loops).folded({1: False})
    assert (found.loops, found.of(p), found.of(q)) == ((), FALSE, B)
    assert Folding(3, gates.gates, loops).folded({2: True}).of(q) == TRUE
