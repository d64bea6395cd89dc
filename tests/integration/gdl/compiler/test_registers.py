"""Rows taken again by other gates: plays come out the same, in fewer rows."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from gdl.compiler.circuit import build
from gdl.compiler.decomposition import decompose
from gdl.compiler.gates import Lit
from gdl.compiler.grounding import ground
from gdl.compiler.kernels import scalar
from gdl.compiler.kernels.choice import work_for
from gdl.compiler.kernels.lanes import N_LANES, Tally, lanes_for, play
from gdl.compiler.kernels.words import W, rows
from gdl.compiler.phases import phases, plain
from gdl.compiler.registers import reuse
from gdl.compiler.tables import Tables, tables
from gdl.compiler.verification import verify, verify_reuse
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from tests.kit.gdl.compiler.circuits import CircuitWriter, least_values

# A counter with a loop in its rules: the chain of links that hold reaches from a to b in a random number of steps.
LOOPS = """
(role robot) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(place a) (place b) (place c) (place d)
(<= (legal robot (join ?x ?y)) (place ?x) (place ?y) (distinct ?x ?y) (not (true (link ?x ?y))))
(<= (next (link ?x ?y)) (true (link ?x ?y)))
(<= (next (link ?x ?y)) (does robot (join ?x ?y)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (reach ?x ?y) (true (link ?x ?y)))
(<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))
(<= terminal (reach a b))
(<= terminal (true (step 4)))
(<= (goal robot 100) (reach a b))
(<= (goal robot 0) (not (reach a b)))
"""


def compiled(text: str) -> tuple[Tables, frozenset[int], list[int]]:
    """Return the tables for plays, the fluents of the first state, and where each role's goals begin."""
    clauses = clauses_of(read_rules(text).rules)
    circuit = build(ground(decompose(clauses)), [Constant("robot")])
    return tables(circuit, phases(circuit)), circuit.initial, [0, *(len(goals) for goals in circuit.goals)]


def results(found: Tables, initial: frozenset[int], goal_start: list[int]) -> list[list[int]]:
    start = rows(found.n_fluents)
    start[sorted(initial)] = ~np.uint64(0)
    lanes = lanes_for(found.n_rows, np.full(N_LANES, 20), np.zeros(N_LANES, np.int64), start)
    tally = Tally(np.zeros((1, goal_start[-1]), np.int64), np.zeros((1, 4), np.int64), np.array(goal_start, np.int32))
    play(found, lanes, work_for(len(found.choice_legal), 1), 10_000, tally, np.zeros((0, 1, W), np.uint64))
    return [tally.goal_counts[0].tolist(), tally.lengths[0].tolist()]


def test_plays_come_out_the_same_in_fewer_rows() -> None:
    found, initial, goal_start = compiled(LOOPS)
    fewer = reuse(found)
    assert fewer.n_rows < found.n_rows
    assert (found.segments[:, 2] != found.segments[:, 3]).any()
    assert results(fewer, initial, goal_start) == results(found, initial, goal_start)


def test_what_is_given_stays_as_it_was() -> None:
    found, _, _ = compiled(LOOPS)
    copies = [np.array(part).copy() for part in found]
    reuse(found)
    assert all((np.array(part) == copy).all() for part, copy in zip(found, copies, strict=True))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(150))
def test_random_circuits_play_the_same_in_fewer_rows(seed: int) -> None:
    """Loops of all kinds, those without gates among them; what is verified is also played, and asked for percepts."""
    circuit = CircuitWriter(seed).circuit()
    found = tables(circuit, (plain(circuit),))
    reads = verify(found)
    fewer = reuse(found, reads)
    verify_reuse(found, reads, fewer)
    assert fewer.n_rows <= found.n_rows
    goal_start = [0, 3]
    assert results(fewer, circuit.initial, goal_start) == results(found, circuit.initial, goal_start)
    random = Random(seed)
    for _ in range(8):
        facts = [random.random() < 0.5 for _ in circuit.fluents]
        expected = least_values(circuit.gates, circuit.loops, [True, *facts, *[False] * 3])
        made = least_values(circuit.gates, circuit.loops, [True, *facts, False, True, False])
        bits = np.array(facts, np.uint8)
        for kind in (found, fewer):
            values, legal, is_terminal = scalar.legal_and_terminal(kind, bits)
            assert legal.tolist() == truths(circuit.legal, expected)
            assert [is_terminal] == truths([circuit.terminal], expected)
            assert scalar.goals(kind, values.copy()).tolist() == truths([x for _, x in circuit.goals[0]], expected)
            following, sees = scalar.step(kind, values, np.array([1], np.int64))
            assert following.tolist() == truths(circuit.next, made)
            assert sees.tolist() == truths([x for _, x in circuit.sees[0]], made)


def truths(literals: Sequence[Lit], values: Sequence[bool]) -> list[bool]:
    return [values[x >> 1] ^ bool(x & 1) for x in literals]
