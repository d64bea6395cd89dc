"""Circuits written by hand, and the whole of the tables that they become."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import FALSE, TRUE, Loop
from gdl.compiler.phases import Phase, plain
from gdl.compiler.tables import Tables, tables
from gdl.language.terms import Constant

NO_GATES: Final = (None,) * 8
"""The constant, the fluents a, b, c and d, two moves of a role and one of another."""
A, B, C, D, FIRST, SECOND, ONLY = range(2, 16, 2)
"""The literals of these, but for the constant."""

CIRCUIT: Final = Circuit(
    roles=(Constant("x"), Constant("y")),
    fluents=tuple(map(Constant, "abcd")),
    moves=tuple(map(Constant, "mno")),
    moves_of=(range(2), range(2, 3)),
    initial=frozenset(),
    gates=(*NO_GATES, (A, B ^ 1), None, (18, C), (SECOND, 20)),
    loops=(Loop((9,), (20,)),),
    next=(B, 17, C, TRUE),
    legal=(16, 18, TRUE),
    terminal=20,
    goals=((("100", 16), ("0", 17)), (("50", TRUE),)),
    sees=((), ((Constant("p"), 22),)),
)
"""What is next: a fluent, a gate, the same again, and the constant. One loop of a node and a gate, numbers 9 and 10."""

OTHER: Final = Phase(
    known={0: False},
    gates=(*NO_GATES, (B, C), (C, D ^ 1), (B ^ 1, C ^ 1), (16, 18)),
    loops=(),
    next=(B, FIRST, D ^ 1, 22),
    legal=(FALSE, 20, TRUE),
    terminal=FALSE,
    goals=((("100", 16), ("0", 22)), (("50", TRUE),)),
    sees=(D,),
    choices=((1,),),
    forced=(2,),
)
"""Another phase of it, in which one fluent is known, and one role has a choice; its gates have two shapes."""

THIRD: Final = replace(
    OTHER, known={}, gates=(*NO_GATES, (B, C), (C, D), (B ^ 1, C ^ 1), (16, 18)), next=(B, A ^ 1, D ^ 1, 22)
)
"""Another, in which no fluent is known, three are next what others are, and the gates of a part have one shape."""


def written(found: Tables) -> dict[str, Any]:
    """Return the numbers and arrays of *found*; arrays are of int32, and lists here."""
    arrays = found._asdict()
    assert {arrays[name].dtype for name in Tables._fields[3:]} == {np.dtype(np.int32)}
    return arrays | {name: arrays[name].tolist() for name in Tables._fields[3:]}


def test_each_phase_begins_in_every_table_where_that_before_it_ends() -> None:
    assert written(tables(CIRCUIT, [plain(CIRCUIT), OTHER, THIRD])) == {
        "n_rows": 13,
        "n_fluents": 4,
        "n_inputs": 8,
        "segments": [
            [0, 1, 0, 0], [1, 2, 0, 1], [2, 3, 1, 1],
            [3, 4, 1, 1], [4, 7, 1, 1], [7, 10, 1, 1],
            [10, 11, 1, 1], [11, 14, 1, 1], [14, 17, 1, 1],
        ],
        "parts": [[0, 2, 2, 2, 3], [3, 4, 5, 6, 6], [6, 7, 8, 9, 9]],
        "run_start": [0, 1, 2, 3, 4, 7, 10, 11, 12, 13],
        "runs": [
            [1, 1, 1], [2, 0, 2], [2, 0, 3],
            [0, 2, 4], [2, 0, 5], [1, 1, 6], [2, 0, 7], [2, 0, 8], [1, 1, 9], [2, 0, 10],
            [0, 2, 11], [2, 0, 14], [2, 0, 17],
        ],
        "gate_start": [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34],
        "gate_middle": [1, 4, 6, 6, 10, 11, 14, 16, 17, 20, 20, 24, 26, 28, 30, 32, 34],
        "gate_row": [8, 10, 11, 8, 9, 10, 11, 9, 10, 11, 8, 9, 10, 11, 9, 10, 11],
        "gate_input": [
            1, 2, 9, 3, 6, 10,
            2, 3, 2, 3, 3, 4, 9, 10, 2, 3, 3, 4, 9, 10,
            2, 3, 2, 3, 3, 4, 9, 10, 2, 3, 3, 4, 9, 10,
        ],
        "loop_row": [9],
        "loop_value": [20],
        "copy_start": [[0, 1, 3], [3, 4, 6], [6, 9, 10]],
        "copy_row": [1, 2, 4, 3, 2, 4, 1, 2, 3, 4],
        "copy_value": [4, 17, 0, 9, 10, 22, 4, 3, 9, 22],
        "role_start": [[0, 2, 3], [3, 4, 4], [4, 5, 5]],
        "choice_legal": [16, 18, 0, 16, 16],
        "choice_row": [5, 6, 7, 6, 6],
        "block_start": [[0, 8, 16], [16, 24, 24], [24, 32, 32]],
        "block_legal": [
            16, 18, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1,
            16, 1, 1, 1, 1, 1, 1, 1,
            16, 1, 1, 1, 1, 1, 1, 1,
        ],
        "block_row": [
            5, 6, 12, 12, 12, 12, 12, 12, 7, 12, 12, 12, 12, 12, 12, 12,
            6, 12, 12, 12, 12, 12, 12, 12,
            6, 12, 12, 12, 12, 12, 12, 12,
        ],
        "terminal": [20, 1, 1],
        "goal_value": [[16, 17, 0], [18, 22, 0], [18, 22, 0]],
        "sees_value": [[22], [8], [8]],
    }  # fmt: skip


def test_a_circuit_of_nothing_has_a_phase_and_no_gates() -> None:
    nothing = Circuit((), (), (), (), frozenset(), (None,), (), (), (), TRUE, (), ())
    empty: dict[str, Any] = {name: [] for name in Tables._fields}
    assert written(tables(nothing, [plain(nothing)])) == empty | {
        "n_rows": 2,
        "n_fluents": 0,
        "n_inputs": 1,
        "parts": [[0, 0, 0, 0, 0]],
        "run_start": [0],
        "gate_start": [0],
        "copy_start": [[0, 0, 0]],
        "role_start": [[0]],
        "block_start": [[0]],
        "terminal": [TRUE],
        "goal_value": [[]],
        "sees_value": [[]],
    }


def test_only_the_last_block_of_a_role_is_filled_up_with_moves_that_are_never_legal() -> None:
    nine, eight = tuple(range(5, 14)), tuple(range(14, 22))
    many = replace(
        CIRCUIT, moves=tuple(Constant(str(row)) for row in (*nine, *eight)), moves_of=(range(9), range(9, 17)),
        legal=(TRUE,) * 9 + (A,) * 8, gates=(None,) * 22, loops=(), next=(TRUE,) * 4, terminal=TRUE, goals=((), ()),
        sees=((), ()),
    )  # fmt: skip
    found = tables(many, [plain(many)])
    assert found.block_start.tolist() == [[0, 16, 24]]
    assert found.block_row.tolist() == [*nine, *[22] * 7, *eight]
    assert found.block_legal.tolist() == [*[TRUE] * 9, *[FALSE] * 7, *[A] * 8]
