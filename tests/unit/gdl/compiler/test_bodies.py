"""Ground rules by their heads: what is constant is left out, and nothing else."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence

from gdl.compiler.bodies import Bodies
from gdl.compiler.grounding import GroundRules


def bodies_of(rules: Iterable[tuple[int, Sequence[int]]], known: Collection[int] = ()) -> Bodies:
    rules = tuple(rules)
    literals = [literal for _, body in rules for literal in body]
    sizes = [len(body) for _, body in rules]
    return Bodies(GroundRules(array("i", [head for head, _ in rules]), array("i", literals), sizes), known)


def as_lists(bodies: Bodies) -> dict[int, list[list[int]]]:
    return {head: [list(body) for body in bodies.of(place)] for place, head in enumerate(bodies.heads)}


def test_bodies_are_grouped_by_heads_in_the_order_of_the_first_rules() -> None:
    found = bodies_of([(7, [1, 2]), (3, [-1]), (7, [3, 2])], known=(1, 2))
    assert as_lists(found) == {7: [[2, 4], [6, 4]], 3: [[3]]}
    assert found.successors == [(1,), ()]
    assert [found.single_literals(place) for place in range(2)] == [None, array("i", [3])]


def test_what_is_constant_is_left_out() -> None:
    """Atom 5 is a fact and 6 never holds; of rules for a fact, for an input, and for what they need, none counts."""
    rules = [(5, []), (7, [1, 5, -6]), (7, [1, 6]), (7, [1, -5]), (5, [1]), (1, [2]), (8, [8, 1]), (9, [7, 8])]
    found = bodies_of(rules, known=(1, 2))
    assert found.facts == [5]
    assert as_lists(found) == {7: [[2]], 9: []}


def test_a_body_of_which_nothing_is_left_always_holds() -> None:
    found = bodies_of([(1, []), (2, [1, -3])])
    assert (as_lists(found), found.single_literals(0)) == ({2: [[]]}, None)


def test_there_may_be_no_rules() -> None:
    found = bodies_of([], known=(4,))
    assert (found.heads, found.facts, found.successors, found.n_atoms) == ([], [], [], 5)
