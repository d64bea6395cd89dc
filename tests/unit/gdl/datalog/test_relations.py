"""Rows, where atoms are kept, and indexes that stay what a fresh one would be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.datalog.relations import ANY, Access, Key, Relation, Row, Sizes, placed, unwrapped
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


def test_an_index_is_made_once() -> None:
    relation, read = Relation([(Constant("a"), Constant("b"))]), access(key=(1,))
    assert relation.index(read) is relation.index(access(key=(1,)))


@given(ROWS, ROWS)
def test_adding_returns_what_is_new(old: set[Row], more: set[Row]) -> None:
    relation = Relation(old)
    assert (relation.add(more), relation.rows) == (more - old, old | more)


def access(*, width: int = 2, constants: tuple[int, ...] = (), key: tuple[int, ...] = ()) -> Access:
    return Access(width, (), tuple((column, Constant("a")) for column in constants), (), key, ())


def pairs(n: int, n_first: int) -> Relation:
    """Return a relation of *n* rows, which have *n_first* values in the first column and *n* in the second."""
    return Relation((Constant(f"{i % n_first}"), Constant(f"{i}")) for i in range(n))


P: Key = ("p", "", 2)


@pytest.mark.parametrize(
    ("key", "read", "n_rows"),
    [
        (P, access(), 60.0),
        (P, access(key=(0,)), 12.0),
        (P, access(constants=(0,)), 12.0),
        (P, access(key=(1,)), 1.0),
        (P, access(constants=(0,), key=(1,)), 0.2),
        (P, access(key=(2,)), 7.5),
        (P, access(constants=(0, 1), key=(2, 3)), 0.01),
        (("q", "", 2), access(), 64.0),
        (("q", "", 2), access(constants=(0,)), 8.0),
        (("q", "", 2), access(key=(0, 1)), 1.0),
        (("q", "", 2), access(key=(0, 1, 2)), 1.0),
        (("does", "go", 2), access(), 1.0),
        (("demand p 0", "", 2), access(), 1.0),
        (("doe", "go", 2), access(), 64.0),
    ],
)  # fmt: skip
def test_a_look_up_is_expected_to_give_rows_evenly(key: Key, read: Access, n_rows: float) -> None:
    sizes = Sizes()
    sizes.count(P, pairs(60, 5))
    assert sizes.fan_out(key, read) == pytest.approx(n_rows)


def test_a_relation_is_counted_again_once_it_has_grown_by_a_fifth() -> None:
    sizes = Sizes()
    found = []
    for n in (50, 60, 61, 40):
        sizes.count(P, pairs(n, 5))
        found.append(sizes.fan_out(P, access()))
    assert found == [50.0, 50.0, 61.0, 61.0]


def test_an_index_at_work_says_more_than_counts_and_is_remembered_at_its_largest() -> None:
    sizes, read = Sizes(), Access(2, (), (), (), (0,), (1,))
    sizes.count(P, pairs(60, 5))
    found = []
    for n, n_first in [(6, 3), (20, 4), (19, 19), (20, 20)]:
        sizes.observe(P, read, pairs(n, n_first).index(read))
        found.append(sizes.fan_out(P, read))
    assert found == [2.0, 5.0, 5.0, 5.0]
    assert sizes.fan_out(P, access()) == 60.0


@pytest.mark.parametrize(
    ("read", "is_lossy"),
    [
        (Access(2, (), (), (), (0,), (1,)), False),
        (Access(2, (), (), (), (0,), ()), True),
        (Access(2, (), ((1, Constant("a")),), (), (), (0,)), False),
        (Access(2, (), (), ((0, 1),), (), (0,)), False),
        (Access(2, (), (), ((0, 1),), (), ()), True),
        (Access(1, ((0, "f", 2),), (), (), (1,), (2,)), False),
        (Access(1, ((0, "f", 2),), (), (), (1,), ()), True),
        (Access(2, ((0, "f", 1),), (), (), (), (2,)), True),
    ],
)
def test_rows_may_look_alike_where_a_column_is_not_read(read: Access, is_lossy: bool) -> None:
    assert read.is_lossy is is_lossy


def test_a_relation_without_columns_holds_or_does_not() -> None:
    nothing = Access(0, (), (), (), (), ())
    assert (Relation().index(nothing).entries, Relation([()]).index(nothing).entries) == ({}, {(): [()]})
