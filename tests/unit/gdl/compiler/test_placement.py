"""The order of gates: topological, without those that nothing needs, and gates of a shape together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import TRUE, Gates, Lit
from gdl.compiler.phases import plain
from gdl.compiler.placement import Placement, place
from gdl.language.terms import Constant
from tests.kit.gdl.compiler.circuits import CircuitWriter

A, B, C, MOVE = 2, 4, 6, 8
"""The literals of three fluents and a move."""


def circuit_of(gates: Gates, following: Sequence[Lit], terminal: Lit) -> Circuit:
    fluents = tuple(map(Constant, "abc"))
    return Circuit(
        (Constant("r"),), fluents, (Constant("m"),), (range(1),), frozenset(), tuple(gates.gates), (), tuple(following),
        (TRUE,), terminal, ((("100", TRUE),),), ((),),
    )  # fmt: skip


def inputs_of(found: Placement) -> Iterator[tuple[int, ...]]:
    """Yield the rows of the inputs of each gate."""
    begin = 0
    for size in found.n_inputs.tolist():
        yield tuple(found.gate_input[begin : begin + size].tolist())
        begin += size


def test_gates_are_placed_part_by_part_and_only_if_they_are_needed() -> None:
    gates = Gates([None] * 5)
    of_state, unread = gates.conjunction([A, B]), gates.conjunction([A, C])
    of_move = gates.conjunction([of_state ^ 1, C ^ 1, MOVE])
    circuit = circuit_of(gates, [of_move, B, C], of_state)
    found = place(circuit, plain(circuit))
    assert (found.segments, found.parts) == ([(0, 1, 0, 0), (1, 2, 0, 0)], [0, 1, 2, 2, 2])
    assert found.rows.tolist() == [0, 1, 2, 3, 4, 5, -1, 6]
    assert found.rows[unread >> 1] == -1
    assert found.gate_row.tolist() == [5, 6]
    assert list(inputs_of(found)) == [(1, 2), (4, 3, 5)]
    assert found.n_plain.tolist() == [2, 1]
    assert found.literals([of_move ^ 1, B]) == [13, 4]


def test_gates_of_a_shape_are_together_where_what_they_need_allows_it() -> None:
    gates = Gates([None] * 5)
    pairs = [gates.conjunction([A, B]), gates.conjunction([A, C])]
    triple = gates.conjunction([A, B ^ 1, C])
    pairs.append(gates.conjunction([B, C]))
    last = gates.conjunction([*pairs, triple])
    circuit = circuit_of(gates, [A, B, C], last)
    found = place(circuit, plain(circuit))
    in_order = [pairs[0], pairs[1], pairs[2], triple, last]
    assert found.gate_row.tolist() == found.rows[[x >> 1 for x in in_order]].tolist() == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("seed", range(50))
def test_what_a_gate_reads_is_placed_before_it_but_for_nodes_of_loops(seed: int) -> None:
    circuit = CircuitWriter(seed).circuit()
    found = place(circuit, plain(circuit))
    loop_rows = set(found.loop_row.tolist())
    there = set(range(circuit.n_inputs)) | loop_rows
    for row, inputs in zip(found.gate_row.tolist(), inputs_of(found), strict=True):
        assert there.issuperset(inputs)
        there.add(row)
    assert there == set(range(circuit.n_inputs)) | set(found.rows[found.rows >= 0].tolist())


def test_a_phase_may_have_no_gates() -> None:
    circuit = circuit_of(Gates([None] * 5), [A, B, C], A)
    found = place(circuit, plain(circuit))
    assert (found.segments, found.parts, found.rows.tolist()) == ([], [0, 0, 0, 0, 0], [0, 1, 2, 3, 4])
