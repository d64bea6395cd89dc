"""Tables written by hand: as they stand they are right, and each thing that is wrong with them is said for itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np
import pytest

from gdl.compiler.tables import CompiledRules, Ints, PhaseInputs, Tables
from gdl.compiler.verification import verify, verify_reuse, verify_rules
from gdl.errors import FaultyTablesError
from gdl.language.terms import Constant

Place: TypeAlias = int | tuple[int | slice, ...]


def ints(*values: object) -> Ints:
    return np.array(values, np.int32)


def blocks(*moves: tuple[int, ...], filled_with: int) -> Ints:
    """Return the moves of each role in a block of eight."""
    return ints(*(each for some in moves for each in [*some, *[filled_with] * (8 - len(some))]))


def with_array(found: Tables, name: str, array: Ints) -> Tables:
    """Return *found* with another table called *name*."""
    changes: dict[str, Any] = {name: array}
    return found._replace(**changes)


def with_entries(found: Tables, *entries: tuple[str, Place, int]) -> Tables:
    """Return *found* with other values at places of its tables."""
    for name, place, value in entries:
        array = getattr(found, name).copy()
        array[place] = value
        found = with_array(found, name, array)
    return found


PHASED: Final = Tables(
    n_rows=14,
    n_fluents=2,
    n_inputs=6,
    segments=ints((0, 2, 0, 0), (2, 3, 0, 1), (3, 4, 1, 1), (4, 5, 1, 1), (5, 6, 1, 1), (6, 8, 1, 1)),
    parts=ints((0, 2, 3, 4, 5), (5, 6, 6, 6, 6), (6, 6, 6, 6, 6)),
    run_start=ints(0, 1, 2, 3, 4, 5, 7),
    runs=ints((1, 1, 2), (2, 0, 3), (2, 0, 4), (1, 2, 5), (0, 2, 6), (1, 1, 7), (2, 1, 8)),
    gate_start=ints(0, 2, 4, 6, 8, 11, 13, 15, 18),
    gate_middle=ints(1, 3, 6, 8, 9, 11, 14, 17),
    gate_row=ints(6, 7, 9, 10, 11, 12, 6, 7),
    gate_input=ints(1, 2, 1, 6, 8, 6, 3, 9, 6, 7, 9, 10, 4, 2, 1, 1, 2, 6),
    loop_row=ints(8),
    loop_value=ints(18),
    copy_start=ints((0, 1, 2), (2, 2, 4), (4, 4, 4)),
    copy_row=ints(1, 2, 1, 2),
    copy_value=ints(4, 21, 0, 6),
    role_start=ints((0, 2, 3), (3, 4, 5), (5, 6, 7)),
    choice_legal=ints(12, 14, 16, 0, 15, 0, 0),
    choice_row=ints(3, 4, 5, 4, 5, 3, 5),
    block_start=ints((0, 8, 16), (16, 24, 32), (32, 40, 48)),
    block_legal=blocks((12, 14), (16,), (0,), (15,), (0,), (0,), filled_with=1),
    block_row=blocks((3, 4), (5,), (4,), (5,), (3,), (5,), filled_with=13),
    terminal=ints(19, 12, 0),
    goal_value=ints((22, 23, 12), (14, 0, 1), (0, 0, 0)),
    sees_value=ints((24,), (2,), (0,)),
)
"""Two fluents, a role of two moves and one of one, and three phases; in the first a loop, and a gate in every part."""

NOTHING: Final = Tables(
    n_rows=2,
    n_fluents=0,
    n_inputs=1,
    segments=np.zeros((0, 4), np.int32),
    parts=ints((0, 0, 0, 0, 0)),
    run_start=ints(0),
    runs=np.zeros((0, 3), np.int32),
    gate_start=ints(0),
    gate_middle=ints(),
    gate_row=ints(),
    gate_input=ints(),
    loop_row=ints(),
    loop_value=ints(),
    copy_start=ints((0, 0, 0)),
    copy_row=ints(),
    copy_value=ints(),
    role_start=ints((0,)),
    choice_legal=ints(),
    choice_row=ints(),
    block_start=ints((0,)),
    block_legal=ints(),
    block_row=ints(),
    terminal=ints(0),
    goal_value=np.zeros((1, 0), np.int32),
    sees_value=np.zeros((1, 0), np.int32),
)
"""No fluent, no role, and a state that is terminal."""

MANY_PHASES: Final = NOTHING._replace(
    n_rows=4,
    n_fluents=2,
    n_inputs=3,
    parts=np.zeros((5, 5), np.int32),
    copy_start=ints((0, 0, 2), (2, 2, 4), (4, 4, 6), (6, 6, 8), (8, 8, 10)),
    copy_row=ints(1, 2, 1, 2, 1, 2, 1, 2, 1, 2),
    copy_value=ints(0, 1, 1, 0, 0, 0, 1, 1, 0, 1),
    role_start=np.zeros((5, 1), np.int32),
    block_start=np.zeros((5, 1), np.int32),
    terminal=ints(1, 1, 1, 1, 0),
    goal_value=np.zeros((5, 0), np.int32),
    sees_value=np.zeros((5, 0), np.int32),
)
"""Two fluents that every phase sets, and more phases than rows."""

ARRAYS: Final = Tables._fields[3:]
LITERALS: Final = ("loop_value", "copy_value", "choice_legal", "block_legal", "terminal", "goal_value", "sees_value")


def length_of_the_first_phase() -> dict[str, int]:
    """Return how much of each table of PHASED is of its first phase."""
    one = dict.fromkeys(("parts", "copy_start", "role_start", "block_start", "terminal", "goal_value", "sees_value"), 1)
    return one | {
        "segments": 5, "run_start": 6, "runs": 5, "gate_start": 7, "gate_middle": 6, "gate_row": 6, "gate_input": 13,
        "loop_row": 1, "loop_value": 1, "copy_row": 2, "copy_value": 2, "choice_legal": 3, "choice_row": 3,
        "block_legal": 16, "block_row": 16,
    }  # fmt: skip


SINGLE: Final = PHASED._replace(**{name: getattr(PHASED, name)[:n] for name, n in length_of_the_first_phase().items()})

RULES: Final = CompiledRules(
    fluents=(Constant("f"), Constant("g")),
    moves=(Constant("a"), Constant("b"), Constant("a")),
    moves_of=(range(2), range(2, 3)),
    initial=(0,),
    goals=((0, 100), (50,)),
    sees=((Constant("p"),), ()),
    single=SINGLE,
    phased=PHASED,
    phases=(PhaseInputs({0: True}, (2,)), PhaseInputs({0: False, 1: True}, (0, 1)), PhaseInputs({}, ())),
    decisive=PHASED,
)


def reason(check: Callable[[], object]) -> str | None:
    """Return why *check* refuses tables; None if it does not."""
    try:
        check()
    except FaultyTablesError as error:
        return error.reason
    return None


def said(table: str, problem: str) -> str:
    return f"its table `{table}` is faulty, {problem}"


@pytest.mark.parametrize(
    "found",
    [PHASED, SINGLE, NOTHING, MANY_PHASES, with_entries(PHASED, ("gate_input", 0, 0))],
    ids=["three phases", "one phase", "nothing", "more phases than rows", "a gate that reads the constant"],
)
def test_right_tables_are_not_refused(found: Tables) -> None:
    reads = verify(found)
    assert len(reads) == len(found.parts)
    verify_reuse(found, reads, found)


@pytest.mark.parametrize("rules", [RULES, replace(RULES, decisive=None)], ids=["looks ahead", "does not"])
def test_right_rules_are_not_refused(rules: CompiledRules) -> None:
    verify_rules(rules)


def test_rules_without_anything_are_not_refused() -> None:
    verify_rules(CompiledRules((), (), (), (), (), (), NOTHING, NOTHING, (PhaseInputs({}, ()),)))


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ({"n_fluents": -1}, "not (-1, 6, 14)"),
        ({"n_fluents": 6}, "not (6, 6, 14)"),
        ({"n_inputs": 14}, "not (2, 14, 14)"),
        ({"n_rows": 2**30 + 1}, "not (2, 6, 1073741825)"),
    ],
)
def test_numbers_of_rows_that_cannot_be_are_refused(numbers: dict[str, Any], problem: str) -> None:
    assert reason(lambda: verify(PHASED._replace(**numbers))) == said("n_rows", problem)


def test_there_may_be_as_many_rows_as_literals_can_name() -> None:
    """What is wrong then are the blocks, which are filled up with the spare row."""
    found = PHASED._replace(n_rows=2**30)
    assert reason(lambda: verify(found)) == said("block_row", "the blocks have other moves")


@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_holds_int32(name: str) -> None:
    wrong = with_array(PHASED, name, getattr(PHASED, name).astype(np.int64))
    assert reason(lambda: verify(wrong)) == said(name, "it is no array of int32 in a row")


@pytest.mark.parametrize("name", [name for name in ARRAYS if len(getattr(PHASED, name)) > 1])
def test_the_entries_of_every_array_are_in_a_row(name: str) -> None:
    every_other = np.repeat(getattr(PHASED, name), 2, axis=0)[::2]
    wrong = with_array(PHASED, name, every_other)
    assert reason(lambda: verify(wrong)) == said(name, "it is no array of int32 in a row")


@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_has_its_axes(name: str) -> None:
    array = getattr(PHASED, name)
    wrong = with_array(PHASED, name, array[..., None])
    assert reason(lambda: verify(wrong)) == said(name, f"it has {array.ndim + 1} axes")


@pytest.mark.parametrize("name", ["segments", "parts", "runs", "copy_start"])
def test_what_has_a_width_has_it(name: str) -> None:
    wrong = with_array(PHASED, name, np.ascontiguousarray(getattr(PHASED, name)[:, :-1]))
    assert reason(lambda: verify(wrong)) == said(name, "it has another width")


@pytest.mark.parametrize("name", ["copy_start", "role_start", "block_start", "terminal", "goal_value", "sees_value"])
def test_what_is_of_every_phase_has_as_many_entries_as_there_are_phases(name: str) -> None:
    array = getattr(PHASED, name)
    wrong = with_array(PHASED, name, np.concatenate([array, array[-1:]]))
    assert reason(lambda: verify(wrong)) == said(name, "it has another length")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gate_row", "gate_middle"),
        ("loop_row", "loop_value"),
        ("copy_row", "copy_value"),
        ("choice_row", "choice_legal"),
        ("block_row", "block_legal"),
    ],
)
def test_what_goes_together_has_one_length(one: str, other: str) -> None:
    wrong = with_array(PHASED, other, getattr(PHASED, other)[:-1])
    assert reason(lambda: verify(wrong)) == said(other, "it has another length")


@pytest.mark.parametrize(
    ("arrays", "table", "problem"),
    [
        (
            {
                "parts": np.zeros((0, 5), np.int32), "copy_start": np.zeros((0, 3), np.int32), "terminal": ints(),
                "role_start": np.zeros((0, 1), np.int32), "block_start": np.zeros((0, 1), np.int32),
                "goal_value": np.zeros((0, 0), np.int32), "sees_value": np.zeros((0, 0), np.int32),
            },
            "parts", "there is no phase",
        ),
        ({"block_start": ints((0,))}, None, None),
        ({"block_start": ints((0, 0))}, "block_start", "it has another shape"),
        (
            {"role_start": np.zeros((1, 0), np.int32), "block_start": np.zeros((1, 0), np.int32)},
            "role_start", "it has no beginning",
        ),
        ({"run_start": ints(0, 0)}, "run_start", "it has another length"),
        ({"gate_start": ints(0, 0)}, "gate_start", "it has another length"),
    ],
)  # fmt: skip
def test_tables_of_nothing_have_a_phase_and_beginnings(
    arrays: dict[str, Any], table: str | None, problem: str | None
) -> None:
    expected = None if table is None or problem is None else said(table, problem)
    assert reason(lambda: verify(NOTHING._replace(**arrays))) == expected


@pytest.mark.parametrize(
    ("name", "place", "value", "problem"),
    [
        ("parts", (0, 0), 1, "it does not go from 0 to the end"),
        ("parts", (2, 4), 7, "it does not go from 0 to the end"),
        ("parts", (0, 1), 4, "it does not ascend"),
        ("parts", (1, 0), 6, "a phase does not begin where that before it ends"),
        ("run_start", 0, 1, "it does not go from 0 to the end"),
        ("run_start", 6, 6, "it does not go from 0 to the end"),
        ("run_start", 1, 3, "it does not ascend"),
        ("run_start", 1, 2, "a segment's runs are other gates"),
        ("gate_start", 0, 1, "it does not go from 0 to the end"),
        ("gate_start", 8, 17, "it does not go from 0 to the end"),
        ("gate_start", 1, 5, "it does not ascend"),
        ("copy_start", (0, 0), 1, "it does not go from 0 to the end"),
        ("copy_start", (2, 2), 5, "it does not go from 0 to the end"),
        ("copy_start", (0, 1), 3, "it does not ascend"),
        ("copy_start", (1, slice(2)), 3, "a phase does not begin where that before it ends"),
        ("role_start", (0, 0), 1, "it does not go from 0 to the end"),
        ("role_start", (2, 2), 6, "it does not go from 0 to the end"),
        ("role_start", (0, 1), 4, "it does not ascend"),
        ("role_start", (1, 0), 4, "a phase does not begin where that before it ends"),
        ("block_start", (0, 0), 8, "it does not go from 0 to the end"),
        ("block_start", (2, 2), 40, "it does not go from 0 to the end"),
        ("block_start", (0, 1), 24, "it does not ascend"),
        ("block_start", (1, 0), 24, "a phase does not begin where that before it ends"),
        ("block_start", (0, 1), 0, "the blocks have another number of moves"),
        ("segments", (0, 0), 1, "it does not go from 0 to the end"),
        ("segments", (5, 1), 7, "it does not go from 0 to the end"),
        ("segments", (0, 1), 3, "it does not ascend"),
        ("segments", (1, 0), 3, "one does not begin where that before it ends"),
        ("segments", (0, 2), 1, "it does not go from 0 to the end"),
        ("segments", (5, 3), 2, "it does not go from 0 to the end"),
        ("segments", (1, 2), 2, "it does not ascend"),
        ("segments", (1, 2), 1, "one does not begin where that before it ends"),
        ("gate_middle", 0, -1, "it is not among the gate's inputs"),
        ("gate_middle", 1, 1, "it is not among the gate's inputs"),
        ("gate_middle", 0, 3, "it is not among the gate's inputs"),
        ("runs", (6, 2), 7, "it does not go from 0 to the end"),
        ("runs", (1, 2), 5, "it does not ascend"),
        ("runs", (0, 0), 2, "a gate has another shape"),
        ("runs", (6, 0), 1, "a gate has another shape"),
        ("runs", (0, 1), 2, "a gate has another shape"),
        ("runs", (6, 1), 2, "a gate has another shape"),
        ("gate_row", 0, 5, "a row is no gate's"),
        ("gate_row", 7, 13, "a row is no gate's"),
        ("loop_row", 0, 5, "a row is no gate's"),
        ("loop_row", 0, 13, "a row is no gate's"),
        ("gate_input", 0, -1, "a row is out of range"),
        ("gate_input", 17, 13, "a row is out of range"),
        ("gate_input", 3, 9, "a row is read before it is written"),
        ("gate_input", 3, 12, "a row is read before it is written"),
        ("choice_row", 0, 2, "a row is no move's"),
        ("choice_row", 6, 6, "a row is no move's"),
        ("block_row", 0, 4, "the blocks have other moves"),
        ("block_row", 2, 3, "the blocks have other moves"),
        ("block_legal", 0, 14, "the blocks have other moves"),
        ("block_legal", 2, 12, "the blocks have other moves"),
        ("copy_row", 0, 0, "a row is no fluent's"),
        ("copy_row", 3, 3, "a row is no fluent's"),
        ("copy_row", 1, 1, "a fluent gets two values"),
        ("copy_row", 2, 2, "a fluent gets two values"),
        ("copy_value", 1, 2, "a fluent is read too late"),
        ("copy_value", 1, 5, "a fluent is read too late"),
        ("copy_value", 2, 3, "a fluent is read too late"),
    ],
)
def test_an_entry_that_cannot_be_is_refused_for_what_it_is(name: str, place: Place, value: int, problem: str) -> None:
    wrong = with_entries(PHASED, (name, place, value))
    assert reason(lambda: verify(wrong)) == said(name, problem)


@pytest.mark.parametrize("name", LITERALS)
@pytest.mark.parametrize("value", [-1, 26])
def test_a_literal_names_a_row_that_is_not_spare(name: str, value: int) -> None:
    place = (0,) * getattr(PHASED, name).ndim
    wrong = with_entries(PHASED, (name, place, value))
    assert reason(lambda: verify(wrong)) == said(name, "a literal is out of range")


def test_gates_are_in_segments() -> None:
    wrong = PHASED._replace(
        segments=np.zeros((0, 4), np.int32), parts=np.zeros((3, 5), np.int32), run_start=ints(0),
        runs=np.zeros((0, 3), np.int32),
    )  # fmt: skip
    assert reason(lambda: verify(wrong)) == said("segments", "it is empty")


def test_what_only_ends_of_plays_write_is_not_read_elsewhere() -> None:
    wrong = with_entries(PHASED, ("copy_value", 1, 22))
    problem = "a row is read that is written only where a play ends"
    assert reason(lambda: verify(wrong)) == said("gate_input", problem)


def test_a_loop_reads_the_same_in_every_round() -> None:
    """The gate of the loop writes a row that it reads: in the first round, it is that of the gate before the loop."""
    entries: list[tuple[str, Place, int]] = [
        ("gate_row", 2, 6), ("loop_value", 0, 12), ("terminal", 0, 13), ("gate_input", 7, 6), ("gate_input", 10, 6),
    ]  # fmt: skip
    wrong = with_entries(PHASED, *entries)
    assert reason(lambda: verify(wrong)) == said("loop_row", "a later pass of a loop reads other rows")


@pytest.mark.parametrize(("limit", "problem"), [(2, said("role_start", "a role has too many moves")), (3, None)])
def test_a_role_has_no_more_moves_than_lanes_count(
    limit: int, problem: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gdl.compiler.verification._MAX_CHOICES", limit)
    assert reason(lambda: verify(PHASED)) == problem


FEWER_ROWS: Final = with_entries(
    PHASED._replace(n_rows=13, block_row=np.where(PHASED.block_row == 13, 12, PHASED.block_row).astype(np.int32)),
    ("gate_row", 5, 11), ("sees_value", (0, 0), 22),
)  # fmt: skip
"""PHASED, in which the gate for percepts takes the row of that for goals, which is then read no more."""


def reason_against_reuse(before: Tables, after: Tables) -> str | None:
    return reason(lambda: verify_reuse(before, verify(PHASED), after))


def test_a_row_may_be_taken_after_its_last_read() -> None:
    assert reason_against_reuse(PHASED, FEWER_ROWS) is None


def test_a_row_is_not_taken_before_its_last_read() -> None:
    """The second gate takes the row of the first, which all that read either then read."""
    wrong = with_entries(
        FEWER_ROWS, ("gate_row", 1, 6), ("choice_legal", 1, 12), ("block_legal", 1, 12), ("gate_input", 9, 6)
    )
    assert reason_against_reuse(PHASED, wrong) == said("gate_row", "a row is taken while its value is still to be read")


def test_tables_with_fewer_rows_are_verified_themselves() -> None:
    wrong = with_entries(FEWER_ROWS, ("gate_row", 7, 12))
    assert reason_against_reuse(PHASED, wrong) == said("gate_row", "a row is no gate's")


@pytest.mark.parametrize("name", LITERALS)
def test_reuse_complements_no_literal(name: str) -> None:
    place = (-1,) * getattr(PHASED, name).ndim
    other = with_entries(PHASED, (name, place, getattr(PHASED, name)[place] ^ 1))
    problem = "it is not that of the tables before rows were reused"
    assert reason_against_reuse(other, FEWER_ROWS) == said(name, problem)


@pytest.mark.parametrize(
    "name",
    ["n_fluents", "n_inputs", "segments", "parts", "run_start", "runs", "gate_start", "gate_middle", "copy_start",
     "copy_row", "role_start", "choice_row", "block_start"],
)  # fmt: skip
def test_reuse_changes_nothing_but_rows(name: str) -> None:
    other: dict[str, Any] = {name: getattr(PHASED, name) + 1}
    problem = "it is not that of the tables before rows were reused"
    assert reason_against_reuse(PHASED._replace(**other), FEWER_ROWS) == said(name, problem)


FIT: Final = ("n_inputs", "it does not fit the names")
PHASES: Final = ("parts", "it has not as many phases as are named")
WALKER: Final = ("gate_row", "two gates of a walker have one row")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"fluents": RULES.fluents[1:]}, FIT),
        ({"moves": RULES.moves[1:]}, FIT),
        ({"goals": ((0, 100), ())}, FIT),
        *(
            ({name: getattr(RULES, name)._replace(**wrong)}, FIT)
            for name in ("single", "phased", "decisive")
            for wrong in ({"n_fluents": 1}, {"n_inputs": 7}, {"goal_value": np.zeros((1, 2), np.int32)})
        ),
        ({"single": PHASED}, ("parts", "it does not fit the names")),
        ({"sees": ((), ())}, ("parts", "it does not fit the names")),
        (
            {"single": with_entries(SINGLE, ("choice_row", 0, 4), ("choice_row", 1, 3))},
            ("choice_row", "it has not all moves in their order"),
        ),
        ({"moves_of": (range(1, 3), range(1))}, ("moves", "they are not role by role")),
        ({"phases": RULES.phases[1:]}, PHASES),
        ({"phased": SINGLE}, PHASES),
        ({"decisive": SINGLE}, PHASES),
        ({"initial": (2,)}, ("initial", "it names no fluent")),
        ({"initial": (0, -1)}, ("initial", "it names no fluent")),
        ({"phases": (PhaseInputs({2: True}, ()), *RULES.phases[1:])}, ("initial", "it names no fluent")),
        ({"phases": (PhaseInputs({}, (), ({2: True},)), *RULES.phases[1:])}, ("initial", "it names no fluent")),
        (
            {"phases": (PhaseInputs({}, (), ({0: True}, {1: True})), *RULES.phases[1:])},
            ("phases", "control states are not of the same fluents"),
        ),
        ({"phases": (*RULES.phases[1:], PhaseInputs({}, (3,)))}, ("phases", "a forced move is none")),
        ({"phases": (*RULES.phases[1:], PhaseInputs({}, (-1,)))}, ("phases", "a forced move is none")),
        ({"single": with_entries(SINGLE, ("gate_row", 3, 6))}, WALKER),
        ({"single": with_entries(SINGLE, ("gate_row", 1, 6), ("parts", (0, 1), 3))}, WALKER),
        ({"single": with_entries(SINGLE, ("gate_row", 4, 6))}, None),
    ],
)
def test_rules_that_do_not_fit_their_tables_are_refused_for_what_they_are(
    changes: dict[str, Any], fault: tuple[str, str] | None
) -> None:
    assert reason(lambda: verify_rules(replace(RULES, **changes))) == (None if fault is None else said(*fault))
