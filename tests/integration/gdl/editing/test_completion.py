"""Completion: the names that fit a place, `|` in the texts here, also in rules that have no end yet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.diagnostics import Source
from gdl.editing.completion import TextCompletion, complete
from gdl.editing.symbols import index_symbols
from tests.kit.gdl.forms import GAME, damaged_files

RULES = """(role white) (role black)
(init (cell 1 empty)) (init start)
(<= (legal ?r (mark ?n)) (true (cell ?n empty)) (role ?r))
(<= (legal ?r noop) (role ?r))
(line 1 2)
"""


def completed(text: str) -> TextCompletion:
    offset = text.index("|")
    text = text.replace("|", "")
    return complete(index_symbols(Source("<rules>", text)), offset)


def names(typed: str) -> list[str]:
    """Return the names proposed behind the rules, words of the language left out."""
    return [proposal.name for proposal in completed(RULES + typed).proposals if proposal.kind != "keyword"]


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("(<= (next (|", ["cell"]),  # a fluent with arguments
        ("(<= (next |", ["cell", "start"]),  # a fluent
        ("(<= (next (cell ?x |", ["?x", "1", "empty", "2"]),  # any object
        ("(<= (next (cell ?x ?y)) (true (|", ["cell"]),
        ("(<= (next (cell ?x ?y)) (true (ce|", ["cell"]),
        ("(<= (next (cell ?x ?y)) (not (true (|", ["cell"]),
        ("(<= (next (cell ?x ?y)) (does |", ["?x", "?y", "white", "black"]),  # a role
        ("(<= (next (cell ?x ?y)) (does white |", ["?x", "?y", "mark", "noop"]),  # a move
        ("(<= (next (cell ?x ?y)) (does white (|)))", ["mark"]),
        ("(<= (next (cell ?x ?y)) (line ?|", ["?x", "?y"]),  # a variable
        ("(<= (next (cell ?x ?y)) (|", ["line"]),  # a relation
        ("(<= (next (cell ?x ?y)) (or (line 1 2) (|", ["line"]),
        ("(<= (next (cell ?x ?y)) (|\n(<= terminal (line 1 ?z))", ["line"]),
        ("(<= (next (cell ?x ?y)) (line ?|\n(<= terminal (line 1 ?z))", ["?x", "?y"]),
        ("(|", ["line"]),
        ("(goal |", ["white", "black"]),
        ("; (true (|", []),  # a comment
        ("(new 3 4) (<= (p ?z) (q ?|", ["?z"]),
    ],
)
def test_names_are_proposed_where_they_fit(typed: str, proposed: list[str]) -> None:
    assert names(typed) == proposed


@pytest.mark.parametrize(
    ("typed", "some", "none"),
    [
        ("(|", {"<=", "role", "init"}, {"true", "does", "not"}),
        ("(<= (|", {"next", "legal", "goal"}, {"true", "does", "<="}),
        ("(<= terminal (|", {"true", "does", "not", "distinct"}, {"init", "next", "<="}),
        ("(<= terminal (true (|", set(), {"true", "not"}),
    ],
)
def test_words_of_the_language_are_proposed_where_they_may_stand(typed: str, some: set[str], none: set[str]) -> None:
    words = {proposal.name for proposal in completed(RULES + typed).proposals if proposal.kind == "keyword"}
    assert (some - words, words & none) == (set(), set())


def test_a_proposal_stands_in_place_of_what_is_typed_and_says_what_it_is() -> None:
    found = completed("(init (cell 1 b)) (<= terminal (true (ce|")
    assert (found.start, [(one.name, one.detail) for one in found.proposals]) == (38, [("cell", "fluent (cell _ _)")])


def test_the_name_that_is_being_typed_is_not_proposed_for_itself() -> None:
    assert [one.name for one in completed("(p a) (<= terminal (p abc|").proposals] == ["a"]


@given(text=st.one_of(damaged_files(), st.integers(0, len(GAME)).map(lambda end: GAME[:end])))
def test_every_place_of_damaged_files_has_its_answer(text: str) -> None:
    index = index_symbols(Source("<rules>", text))
    for offset in range(0, len(text) + 1, 11):
        assert complete(index, offset).start <= offset
