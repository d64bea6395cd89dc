"""Phases with simpler gates are the same wherever each role makes one of its legal moves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from random import Random

import pytest

from gdl.compiler.circuit import Circuit, build
from gdl.compiler.decomposition import decompose
from gdl.compiler.exclusion import exclusive
from gdl.compiler.gates import Gates, Lit, Loop
from gdl.compiler.grounding import ground
from gdl.compiler.netlist import cone_of
from gdl.compiler.phases import Phase, phases
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules
from gdl.language.terms import Constant

N_FLUENTS = 4
# A piece goes from any of five cells to any other; the others stay where they are.
WALK = """
(role r) (init (at 1 king)) (init (at 3 rook)) (cell 1) (cell 2) (cell 3) (cell 4) (cell 5) (kind king) (kind rook)
(<= (legal r (go ?x ?y)) (true (at ?x ?k)) (cell ?y) (distinct ?x ?y))
(<= (next (at ?y ?k)) (does r (go ?x ?y)) (true (at ?x ?k)))
(<= (next (at ?z ?k)) (does r (go ?x ?y)) (true (at ?z ?k)) (distinct ?x ?z) (distinct ?y ?z))
(<= terminal (true (at 5 king)) (true (at 5 rook))) (goal r 100)
"""


def circuit_of(text: str) -> Circuit:
    return build(ground(decompose(clauses_of(read_rules(text).rules))), [Constant("r")])


def values_of(phase: Phase, inputs: Sequence[bool]) -> list[bool]:
    values = [True, *inputs]
    for gate in phase.gates[len(values) :]:
        values.append(all(values[x >> 1] ^ bool(x & 1) for x in gate or ()))
    return values


def read(values: Sequence[bool], literals: Sequence[Lit]) -> list[bool]:
    return [values[x >> 1] ^ bool(x & 1) for x in literals]


def n_inputs_of_next(phase: Phase) -> int:
    return sum(len(phase.gates[node] or ()) for node in cone_of(phase.gates, phase.next))


def random_game(random: Random, sizes: Sequence[int]) -> tuple[Circuit, Phase]:
    """Return a circuit with a few moves of each role, and a phase of random gates."""
    n_moves = sum(sizes)
    gates = Gates([None])
    of_state = [gates.input() for _ in range(N_FLUENTS)]
    moves = [gates.input() for _ in range(n_moves)]

    def some(among: Sequence[Lit]) -> Lit:
        chosen = random.sample(among, random.randint(1, min(4, len(among))))
        return gates.conjunction(x ^ random.randint(0, 1) for x in chosen) ^ random.randint(0, 1)

    for _ in range(8):
        of_state.append(some(of_state))
    legal = [random.choice(of_state) ^ random.randint(0, 1) for _ in moves]
    above = [*moves, *moves, *of_state]
    for _ in range(40):
        above.append(some(above))
    limits = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    choices = tuple(tuple(range(a, b)) for a, b in pairwise(limits))
    following = tuple(random.choice(above[n_moves:]) ^ random.randint(0, 1) for _ in range(N_FLUENTS))
    phase = Phase({}, tuple(gates.gates), (), following, tuple(legal), of_state[-1], (), (), choices, ())
    names = tuple(Constant(f"x{i}") for i in range(N_FLUENTS + n_moves))
    ranges = tuple(range(choice[0], choice[-1] + 1) for choice in choices)
    roles = tuple(map(Constant, "rst"[: len(sizes)]))
    fluents, terms = names[:N_FLUENTS], names[N_FLUENTS:]
    circuit = Circuit(
        roles, fluents, terms, ranges, frozenset(), phase.gates, (), following, phase.legal, phase.terminal, (), ()
    )
    return circuit, phase


@pytest.mark.parametrize("sizes", [(3,), (7,), (3, 2)])
@pytest.mark.parametrize("seed", range(30))
def test_every_legal_move_leads_to_the_same_state(seed: int, sizes: Sequence[int]) -> None:
    circuit, phase = random_game(Random(seed), sizes)
    found = exclusive(circuit, phase)
    assert (found.legal, found.terminal) == (phase.legal, phase.terminal)
    for facts in product((False, True), repeat=N_FLUENTS):
        for joint in product(*phase.choices):
            inputs = [*facts, *(move in joint for move in range(sum(sizes)))]
            before, after = values_of(phase, inputs), values_of(found, inputs)
            assert read(after, found.legal) == read(before, phase.legal)
            if all(read(before, [phase.legal[move] for move in joint])):
                assert read(after, found.next) == read(before, phase.next)


@pytest.mark.exhaustive
def test_what_stays_is_what_few_moves_touch() -> None:
    """Sets of moves, and what they select, take fewer inputs than the moves one by one."""
    circuit = circuit_of(WALK)
    (phase,) = phases(circuit)
    found = exclusive(circuit, phase)
    assert n_inputs_of_next(found) < n_inputs_of_next(phase)
    n_moves = len(circuit.moves)
    for facts in product((False, True), repeat=len(circuit.fluents)):
        legal = read(values_of(phase, [*facts, *[False] * n_moves]), phase.legal)
        for move in range(n_moves):
            inputs = [*facts, *(move == each for each in range(n_moves))]
            if legal[move]:
                expected = read(values_of(phase, inputs), phase.next)
                assert read(values_of(found, inputs), found.next) == expected


def test_a_phase_with_loops_is_left_alone() -> None:
    circuit, phase = random_game(Random(1), (3,))
    with_loop = Phase(
        {}, (*phase.gates, None), (Loop((len(phase.gates),), (2,)),), phase.next, phase.legal, phase.terminal, (), (),
        phase.choices, (),
    )  # fmt: skip
    assert exclusive(circuit, with_loop) is with_loop
