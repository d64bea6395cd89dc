"""Rows, where atoms are kept, and indexes that stay what a fresh one would be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.datalog.relations import ANY, Access, Relation, Row, placed, unwrapped
from gdl.language.kif import read_term
from gdl.language.terms import Compound, Constant, Term

VALUES: st.SearchStrategy[Term] = st.sampled_from([read_term(text) for text in ("a", "b", "(f a)", "(f b)", "(g a b)")])
ROWS = st.sets(st.tuples(VALUES, VALUES, VALUES), max_size=20)
ACCESSES = st.sampled_from([
    Access(3, (), (), (), (0,), (1, 2)),
    Access(3, (), (), (), (0, 1), (2,)),
    Access(3, (), (), (), (), (0, 1, 2)),
    Access(3, (), (), (), (2,), ()),
    Access(3, (), (), ((0, 1),), (), (2,)),
    Access(3, (), ((1, Constant("a")),), (), (0,), (2,)),
    Access(3, ((0, "f", 1),), (), (), (3,), (1,)),
    Access(3, ((0, "g", 2), (1, "f", 1)), ((3, Constant("a")),), (), (), (4, 5)),
])  # fmt: skip


@pytest.mark.parametrize(
    ("atom", "key", "row"),
    [
        ("(p a (f b))", ("p", "", 2), ["a", "(f b)"]),
        ("terminal", ("terminal", "", 0), []),
        ("(true (cell 1 2))", ("true", "cell", 2), ["1", "2"]),
        ("(true on)", ("true", "on", 0), []),
        ("(true ?f)", ("true", ANY, 1), ["?f"]),
        ("(true (* 1))", ("true", "*", 1), ["1"]),
        ("(does r (move a b))", ("does", "move", 2), ["r", "a", "b"]),
        ("(legal ?r ?m)", ("legal", ANY, 2), ["?r", "?m"]),
    ],
)
def test_an_atom_is_kept_in_this_relation(atom: str, key: tuple[str, str, int], row: list[str]) -> None:
    term = read_term(atom)
    assert isinstance(term, Constant | Compound)
    found_key, found_row = placed(term)
    assert (found_key, [str(column) for column in found_row]) == (key, row)


@given(st.sampled_from(["(true (cell 1 2))", "(true on)", "(does r (move a b))", "(legal r noop)", "(next (* 1))"]))
def test_a_wrapped_term_comes_out_as_it_went_in(text: str) -> None:
    atom = read_term(text)
    assert isinstance(atom, Compound)
    assert unwrapped(*placed(atom)) == (atom.arguments[:-1], atom.arguments[-1])


@given(st.lists(ROWS, min_size=1, max_size=4), ACCESSES)
def test_an_index_kept_up_to_date_equals_one_made_at_the_end(batches: list[set[Row]], access: Access) -> None:
    relation = Relation(batches[0])
    kept = relation.index(access)
    for rows in batches[1:]:
        relation.add(rows)
    fresh = Relation(relation.rows).index(access)
    assert contents(kept.entries) == contents(fresh.entries)
    assert kept.n_entries == fresh.n_entries == sum(map(len, fresh.entries.values()))


def contents(entries: dict[object, list[Row]]) -> dict[object, set[Row]]:
    assert all(len(rows) == len(set(rows)) for rows in entries.values()), "a row comes twice"
    return {key: set(rows) for key, rows in entries.items()}


@given(ROWS, ROWS)
def test_adding_returns_what_is_new(old: set[Row], more: set[Row]) -> None:
    relation = Relation(old)
    assert (relation.add(more), relation.rows) == (more - old, old | more)
