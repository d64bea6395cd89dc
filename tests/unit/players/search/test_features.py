"""What is counted of a state: fluents that are alike, and numbers in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from gdl.language.kif import read_term
from gdl.language.rules import Description, read_rules
from gdl.wire.scrambling import Scrambling
from players.search.tree.features import chains_of, features_of

FOUR: Final = "(after 0 1) (after 1 2) (after 2 3)"
SEEDS: Final = ("(hole a 0)", "(hole a 1)", "(hole a 2)", "(hole a 3)", "(hole b 1)", "(hole b 3)")
ONE_BY_ONE: Final = (("(hole a 0)", "(hole b 1)"), ("(hole a 3)", "(hole b 3)"))
"""States in which each hole has one number of seeds."""


def rows(text: str) -> list[list[str]]:
    return [[str(constant) for constant in chain] for chain in chains_of(read_rules(text))]


def table(
    description: Description, fluents: Sequence[str], states: Sequence[Collection[str]] = ONE_BY_ONE
) -> NDArray[np.float32]:
    """Return what each fluent counts (rows) in each feature (columns), where plays come to *states*."""
    holding = np.array([[sum((fluent in state) << i for i, state in enumerate(states))] for fluent in fluents])
    features = features_of(description, [read_term(fluent) for fluent in fluents], holding.astype(np.uint64))
    found = np.zeros((len(features.begins) - 1, features.n), np.float32)
    for fluent, (begin, end) in enumerate(zip(features.begins, features.begins[1:], strict=False)):
        found[fluent, features.belongs[begin:end]] = features.amounts[begin:end]
    return found


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (FOUR, [["0", "1", "2", "3"]]),
        ("(after 2 1) (after 3 2)", [["3", "2", "1"]]),
        ("(after a b) (after b c) (left d e) (left e f)", [["a", "b", "c"], ["d", "e", "f"]]),
        ("(after a b) (after b c) (after d e) (after e f)", [["a", "b", "c"], ["d", "e", "f"]]),
        (FOUR + FOUR, [["0", "1", "2", "3"]]),
    ],
    ids=["numbers", "backwards", "two relations", "two rows of one relation", "said twice"],
)
def test_facts_put_constants_into_rows(facts: str, expected: list[list[str]]) -> None:
    assert rows(facts) == expected


@pytest.mark.parametrize(
    "text",
    [
        "(next_to a b) (next_to b c) (next_to a c)",
        "(next_to a c) (next_to b c) (next_to c d)",
        "(turn north east) (turn east south) (turn south west) (turn west north)",
        "(other white black)",
        "(add 0 1 1) (add 1 1 2) (add 2 1 3)",
        "(<= (after 0 1) (true go)) (after 1 2)",
        "(legal a b) (legal b c)",
    ],
    ids=["two after one", "two before one", "a circle", "two constants", "three arguments", "a condition", "a keyword"],
)
def test_other_facts_do_not(text: str) -> None:
    assert rows(text) == []


def test_numbers_count_by_how_far_along_their_row_they_are() -> None:
    """Numbers of all holes, and of hole a, beside fluents that are alike."""
    found = table(read_rules(FOUR), SEEDS)
    numbers = [[0, 0], [1 / 3, 1 / 3], [2 / 3, 2 / 3], [1, 1], [1 / 3, 0], [1, 0]]
    alike = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]
    assert found[:, [0, 2]] == pytest.approx(np.array(numbers))
    assert found[:, [1, 3, 4, 5]].tolist() == alike


def test_a_place_that_has_several_values_at_a_time_has_no_numbers() -> None:
    found = table(read_rules(FOUR), SEEDS, [("(hole a 0)", "(hole a 1)")])
    assert found.sum(axis=0).tolist() == [4, 2, 2, 2]
    assert set(found.flat) == {0, 1}


def test_facts_that_put_nothing_into_a_row_leave_no_numbers() -> None:
    assert set(table(read_rules("(role a)"), SEEDS).flat) == {0, 1}


def test_the_features_of_most_fluents_count_where_there_are_very_many() -> None:
    fluents = [f"(cell {x} {y} {z})" for x in range(10) for y in range(10) for z in range(10)]
    assert table(read_rules("(role a)"), fluents, ()).sum(axis=0).tolist() == [100] * 30 + [10] * 300
    larger = [f"(cell {x} {y} {z})" for x in range(20) for y in range(20) for z in range(3)]
    assert (
        table(read_rules("(role a)"), larger, ()).sum(axis=0).tolist() == [400] * 3 + [60] * 40 + [20] * 120 + [3] * 337
    )


def test_scrambled_names_change_nothing() -> None:
    description = read_rules(FOUR)
    scrambling = Scrambling(description, seed=1)

    def scrambled(text: str) -> str:
        return str(scrambling.scrambled(read_term(text)))

    rules = read_rules(" ".join(scrambled(str(rule.head.term)) for rule in description.rules))
    states = [list(map(scrambled, state)) for state in ONE_BY_ONE]
    assert (table(rules, list(map(scrambled, SEEDS)), states) == table(description, SEEDS)).all()
