"""Tables that could lead a kernel astray are refused; what is not refused does no harm."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.compiler.circuit import Circuit, build
from gdl.compiler.compilation import CompileLimits
from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.gates import TRUE, Loop
from gdl.compiler.kernels import scalar
from gdl.compiler.kernels.batches import Batch
from gdl.compiler.kernels.playouts import LanePlayer
from gdl.compiler.phases import phases
from gdl.compiler.pipeline import compile_rules, ground_rules, rules_of
from gdl.compiler.registers import Accesses, reuse
from gdl.compiler.tables import CompiledRules, PhaseInputs, Tables, tables
from gdl.compiler.verification import verify, verify_reuse, verify_rules
from gdl.datalog.translation import clauses_of
from gdl.engines import BestGame
from gdl.errors import FaultyTablesError, LimitExceeded, StuckPlayError, UnstableLoopError
from gdl.game import Playouts
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from tests.kit.gdl.compiler.rules import GAME

MAX_STEPS: Final = 200


ROWS: Final = ("gate_row", "gate_input", "loop_row", "copy_row", "choice_row", "block_row")
LITERALS: Final = (
    "loop_value", "copy_value", "choice_legal", "block_legal", "terminal", "goal_value", "sees_value",
)  # fmt: skip
ARRAYS: Final = Tables._fields[3:]
KINDS: Final = st.sampled_from(["single", "phased"])


@cache
def game() -> InterpretedGame:
    return InterpretedGame(read_rules(GAME))


@cache
def circuit() -> Circuit:
    _, program = ground_rules(clauses_of(game().description.rules), 100_000)
    return build(program, game().roles)


@cache
def rules() -> CompiledRules:
    return rules_of(circuit())


def upper_limit(found: Tables, name: str) -> int:
    """Return the least number that no entry of a table can be."""
    if name in ROWS:
        return found.n_rows
    if name in LITERALS:
        return 2 * found.n_rows
    return int(getattr(found, name).max()) + 1  # it says where something begins, and last where it ends


def changed(found: Tables, name: str, number: int, value: int) -> Tables:
    """Return tables with one entry replaced."""
    array = getattr(found, name).copy()
    array.ravel()[number] = value
    return found._replace(**{name: array})


def with_tables(kind: str, found: Tables) -> CompiledRules:
    tables_of: dict[str, Any] = {kind: found}
    return replace(rules(), **tables_of)


@st.composite
def entries(draw: st.DrawFn, found: Tables, names: Sequence[str] = ARRAYS) -> tuple[str, int]:
    """Draw an entry of the tables: a name and a number."""
    name = draw(st.sampled_from([name for name in names if getattr(found, name).size]))
    return name, draw(st.integers(0, getattr(found, name).size - 1))


def ask_everything(mutant: CompiledRules) -> None:
    """Let every kernel run over the tables."""
    asked = CompiledGame(game(), mutant)
    first = asked.initial_state
    assert isinstance(first, CompiledState)
    packed = np.frombuffer(first.packed, np.uint8)[None].repeat(3, axis=0)
    moves = [numbers.start for numbers in mutant.moves_of]
    with suppress(StuckPlayError, LimitExceeded, UnstableLoopError):
        asked.playouts_each(packed, 200, 1, MAX_STEPS)
    with suppress(UnstableLoopError):
        asked.batch.legal(packed)
        asked.batch.goals(packed)
        asked.batch.next(packed, np.array([moves] * 3))
        asked.next_and_legal(first.packed, moves)
        asked.goals_of(first.packed)
        asked.sees_of(first.packed, moves)


def test_the_tables_of_the_game_have_all_that_can_go_wrong() -> None:
    assert [name for name in ARRAYS if not getattr(rules().single, name).size] == []
    assert len(rules().phased.parts) == 2
    assert len(rules().phased.loop_row) > 0
    ask_everything(rules())


@given(st.data(), KINDS)
def test_an_entry_out_of_range_is_refused(data: st.DataObject, kind: str) -> None:
    found: Tables = getattr(rules(), kind)
    name, number = data.draw(entries(found))
    beyond = upper_limit(found, name)
    least, most = -(2**31), 2**31 - 1
    wrong = data.draw(st.sampled_from([least, -1, beyond, most]) | st.integers(least, -1) | st.integers(beyond, most))
    with pytest.raises(FaultyTablesError):
        verify(changed(found, name, number, wrong))


@given(st.data(), KINDS)
def test_an_entry_in_range_is_refused_or_harmless(data: st.DataObject, kind: str) -> None:
    """What is not refused is run, and ends; whatever it comes to."""
    found: Tables = getattr(rules(), kind)
    name, number = data.draw(entries(found))
    other = changed(found, name, number, data.draw(st.integers(0, upper_limit(found, name) - 1)))
    mutant = with_tables(kind, other)
    try:
        verify(other)
        verify_rules(mutant)
    except FaultyTablesError:
        return
    ask_everything(mutant)


@given(st.data())
def test_a_row_that_is_not_written_yet_is_refused(data: st.DataObject) -> None:
    """A gate that reads itself, and anything that reads the spare row."""
    found = rules().single
    gate = data.draw(st.integers(0, len(found.gate_row) - 1))
    number = data.draw(st.integers(found.gate_start[gate], found.gate_start[gate + 1] - 1))
    with pytest.raises(FaultyTablesError):
        verify(changed(found, "gate_input", number, found.gate_row[gate]))
    name, number = data.draw(entries(found, ("gate_input", *LITERALS)))
    spare = found.n_rows - 1
    with pytest.raises(FaultyTablesError):
        verify(changed(found, name, number, spare if name == "gate_input" else 2 * spare))


def test_a_row_that_is_written_later_is_refused() -> None:
    """What percepts alone need is read by nothing else, and goals, which only ends of plays need, by goals alone."""
    found = rules().single
    parts = [found.segments[a:b] for a, b in pairwise(found.parts[0])]
    rows = [{row for start, end, *_ in part.tolist() for row in found.gate_row[start:end].tolist()} for part in parts]
    (of_state, of_next, of_goals, of_percepts) = rows
    for row, readers in [
        (min(of_percepts), ("choice_legal", "terminal", "goal_value", "copy_value")),
        (min(of_next - of_state), ("terminal", "goal_value")),
        (min(of_goals - of_next), ("terminal", "copy_value", "sees_value")),
    ]:
        for name in readers:
            with pytest.raises(FaultyTablesError):
                verify(changed(found, name, getattr(found, name).size - 1, 2 * row))


@given(st.data(), KINDS)
def test_a_run_of_another_shape_or_length_is_refused(data: st.DataObject, kind: str) -> None:
    found: Tables = getattr(rules(), kind)
    number = data.draw(st.integers(0, found.runs.size - 1))
    right = int(found.runs.ravel()[number])
    wrong = data.draw(st.integers(0, upper_limit(found, "runs")).filter(lambda value: value != right))
    with pytest.raises(FaultyTablesError):
        verify(changed(found, "runs", number, wrong))


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_kind_is_refused(name: str) -> None:
    found = rules().phased
    array = getattr(found, name)
    others = [array.astype(np.int64), array[..., None], array[:-1]]
    if array.size:
        others.append(np.repeat(array, 2, axis=0)[::2])  # every other entry
    for other in others:
        with pytest.raises(FaultyTablesError):
            verify(found._replace(**{name: other}))


@pytest.mark.parametrize("name", ["n_rows", "n_fluents", "n_inputs"])
@pytest.mark.parametrize("number", [-1, 0, 2**31])
def test_a_number_that_cannot_be_is_refused(name: str, number: int) -> None:
    wrong: dict[str, Any] = {name: number}
    with pytest.raises(FaultyTablesError):
        verify(rules().phased._replace(**wrong))


@given(st.data())
def test_a_row_reused_too_early_is_refused_or_not_read(data: st.DataObject) -> None:
    """Tables with rows reused are refused unless they make the same plays."""
    before = tables(circuit(), phases(circuit()))
    reads = verify(before)
    after = reuse(before, reads)
    name, number = data.draw(entries(after, (*ROWS, *LITERALS)))
    mutant = changed(after, name, number, data.draw(st.integers(0, upper_limit(after, name) - 1)))
    try:
        verify_reuse(before, reads, mutant)
    except FaultyTablesError:
        return
    assert plays(replace(rules(), phased=mutant)) == plays(rules())


def plays(compiled: CompiledRules) -> Playouts:
    asked = CompiledGame(game(), compiled)
    return asked.playouts(asked.initial_state, 600, 1, MAX_STEPS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"fluents": ()},
        {"moves_of": (range(3), range(2, 4))},
        {"initial": (10_000,)},
        {"goals": ((1,), (2,))},
        {"sees": ((), ())},
        {"phases": ()},
        {"phases": (PhaseInputs({0: True}, (-1,)), PhaseInputs({}, ()))},
    ],
)
def test_names_that_do_not_fit_the_tables_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(FaultyTablesError):
        verify_rules(replace(rules(), **wrong))


def one_row_for_all(found: Tables, _reads: Sequence[Accesses]) -> Tables:
    """Give all gates one row, as if none was read any more."""
    row = np.int32(found.n_inputs)
    inputs = np.minimum(found.gate_input, row)
    return found._replace(gate_row=np.full_like(found.gate_row, row), gate_input=inputs)


def test_a_compiler_that_errs_leaves_the_game_to_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_here(interpreted: InterpretedGame, _limits: CompileLimits) -> CompiledGame:
        clauses = clauses_of(interpreted.description.rules)
        return CompiledGame(interpreted, compile_rules(clauses, interpreted.roles, 100_000))

    monkeypatch.setattr("gdl.compiler.pipeline.reuse", one_row_for_all)
    monkeypatch.setattr("gdl.engines.compile_game", compile_here)
    best = BestGame(game())
    assert not best.wait()
    assert isinstance(best.note, FaultyTablesError)
    assert best.playouts(best.initial_state, 2, 1, MAX_STEPS).n_plays == 2


def liar() -> CompiledRules:
    """Return a game with a loop that never becomes stable, which no stratified rules have: p where not p."""
    loop_node = 3
    return rules_of(
        Circuit(
            roles=(Constant("r"),),
            fluents=(Constant("f"),),
            moves=(Constant("m"),),
            moves_of=(range(1),),
            initial=frozenset({0}),
            gates=(None, None, None, None),
            loops=(Loop((loop_node,), (2 * loop_node + 1,)),),
            next=(TRUE,),
            legal=(TRUE,),
            terminal=2 * loop_node,
            goals=((("100", 2 * loop_node),),),
            sees=((),),
        )
    )


def test_a_loop_that_never_becomes_stable_is_stopped() -> None:
    found = liar()
    state = np.array([[128]], np.uint8)
    with pytest.raises(UnstableLoopError):
        LanePlayer(found).play_each(state, 1, 0)
    with pytest.raises(UnstableLoopError):
        Batch(found).terminal(state)
    with pytest.raises(UnstableLoopError):
        scalar.legal_and_terminal(found.single, np.array([1], np.uint8))
