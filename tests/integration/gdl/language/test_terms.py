"""Terms are interned, immutable, and as deep as one likes."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import threading

import pytest
from hypothesis import given

from gdl.language.kif import read_term
from gdl.language.terms import Compound, Constant, Term, Variable, signature, variables
from tests.kit.gdl.forms import TERMS, nested

DEEP = 20_000


@given(TERMS)
def test_a_term_is_printed_as_the_text_that_reads_as_the_same_object(term: Term) -> None:
    assert read_term(str(term)) is term


@given(TERMS)
def test_a_term_copied_or_pickled_is_the_same_object(term: Term) -> None:
    assert [copy.copy(term), copy.deepcopy(term), pickle.loads(pickle.dumps(term))] == [term] * 3


@given(TERMS)
def test_depth_symbols_and_groundness_are_those_of_the_text(term: Term) -> None:
    text = str(term)
    levels = [text[:i].count("(") - text[:i].count(")") for i in range(len(text) + 1)]
    names = re.findall("[^ ()]+", text)
    has_variable = any(name.startswith("?") for name in names)
    assert (term.depth, term.n_symbols, term.is_ground) == (max(levels), len(names), not has_variable)


def test_a_constant_and_a_variable_of_one_name_are_two_terms() -> None:
    assert Constant("?x") is not Variable("?x")  # type: ignore[comparison-overlap]  # that they are two is the point


@given(TERMS)
def test_a_term_can_neither_be_changed_nor_lose_a_part(term: Term) -> None:
    text = str(term)
    for name in ("name", "functor", "arguments", "other"):
        with pytest.raises(AttributeError, match="terms are immutable"):
            setattr(term, name, "b")
        with pytest.raises(AttributeError, match="terms are immutable"):
            delattr(term, name)
    assert read_term(text) is term


def test_a_compound_needs_arguments() -> None:
    with pytest.raises(ValueError, match=r"\(p\) is the constant p"):
        Compound("p", ())


def test_variables_come_once_each_in_the_order_of_the_text() -> None:
    assert [str(variable) for variable in variables(read_term("(p ?b (f ?a ?b) (g a) ?c)"))] == ["?b", "?a", "?c"]


def test_a_signature_is_a_name_with_its_number_of_arguments() -> None:
    assert [signature(Constant("p")), signature(Compound("p", (Constant("a"),)))] == [("p", 0), ("p", 1)]


def test_terms_show_what_they_are() -> None:
    shown = [repr(read_term(text)) for text in ("a", "?x", "(f a ?x)")]
    assert shown == ["Constant('a')", "Variable('?x')", "<Compound (f a ?x)>"]


@pytest.mark.exhaustive
def test_a_deep_term_is_printed_hashed_compared_pickled_and_forgotten() -> None:
    term = nested(DEEP)
    assert (term.depth, hash(term) == hash(nested(DEEP)), term is nested(DEEP)) == (DEEP, True, True)
    assert str(term) == "(f " * DEEP + "a" + ")" * DEEP
    assert pickle.loads(pickle.dumps(term)) is term
    assert repr(term).startswith("<Compound (f (f ")
    del term
    gc.collect()


def test_a_term_with_shared_parts_is_searched_once_for_each_part() -> None:
    term: Term = Variable("?x")
    for _ in range(200):
        term = Compound("f", (term, term))
    assert (variables(term), term.n_symbols) == ((Variable("?x"),), 2**201 - 1)


def test_threads_that_make_equal_terms_get_one_object() -> None:
    found: list[list[Term]] = []
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        found.append([Compound("thread", (Constant(f"c{i % 50}"), Variable(f"?v{i}"))) for i in range(2_000)])

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one is other for terms in found for one, other in zip(found[0], terms, strict=True))
