"""Rule files that want everything get an answer or LimitExceeded, and never more than the limits allow."""

from __future__ import annotations

import pytest

from gdl.engines import make_game
from gdl.errors import LimitExceeded
from gdl.game import Budget, EvaluationLimits, State
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from tests.kit.gdl.forms import nested

FRAME = "(role r) (init s) (legal r go) (next s) (goal r 50)\n"
LIMITS = EvaluationLimits(max_rows=100_000, max_seconds=60)


def first_state(rules: str) -> State:
    return make_game(read_rules(FRAME + rules), limits=LIMITS).initial_state


def lines(pattern: str, n: int) -> str:
    """Return n lines, `{i}` standing for the number of each and `{j}` for the one after."""
    return "\n".join(pattern.format(i=i, j=i + 1) for i in range(n))


def conditions(pattern: str, n: int) -> str:
    return lines(pattern, n).replace("\n", " ")


PRODUCT = lines("(d {i})", 300) + "(<= (p ?x ?y ?z) (d ?x) (d ?y) (d ?z))"
DEEP = "(f " * 99 + "?x" + ")" * 99

ANSWERED = {
    "a chain of 5,000 propositions": "p0\n" + lines("(<= p{j} p{i})", 5_000) + "(<= terminal p5000)",
    "a chain of 3,000 relations": "(p0 a)\n" + lines("(<= (p{j} ?x) (p{i} ?x) (true s))", 3_000)
    + "(<= terminal (p3000 a))",
    "a chain of 3,001 negations": lines("(<= p{j} (not p{i}))", 3_001) + "(<= terminal p3001)",
    "a cycle of 1,000 clauses": "(p0 a)\n(<= (p0 ?x) (p1000 ?x))" + lines("(<= (p{j} ?x) (p{i} ?x))", 1_000)
    + "(<= terminal (p1000 a))",
    "1,000 clauses of one relation": f"(p a1000) {lines('(<= (p a{i}) (p a{j}))', 1_000)} (<= terminal (p a0))",
    "200 clauses that all need one another": "(p a0)" + lines("(q{i} a{i} a{j}) (<= (p ?y) (p ?x) (q{i} ?x ?y))", 200)
    + "(<= terminal (p a200))",
    "a rule of 200 conditions": "(e a b) (e b c) (e c a)\n(<= terminal " + conditions("(e ?x{i} ?x{j})", 200) + ")",
    "a rule of 1,000 conditions": lines("q{i}", 1_000) + "(<= terminal " + conditions("q{i}", 1_000) + ")",
    "10,000 alternatives": "(a0 1) (a1 1) (a2 1) (a3 9)\n(<= terminal "
    + conditions(f"(or {' '.join(f'(a{{i}} {n})' for n in range(10))})", 4) + ")",
    "10,000,000,000 alternatives": lines("j{i}", 10) + "(<= terminal "
    + conditions("(or a{i} b{i} c{i} d{i} e{i} f{i} g{i} h{i} i{i} j{i})", 10) + ")",
    "99 negations in one another": "(<= terminal " + "(not " * 99 + "p" + ")" * 99 + ")",
    "an unasked product of millions": PRODUCT + "(<= terminal (true s))",
    "patterns of 99 levels in a chain of 45": f"(p0 {DEEP.replace('?x', 'a')})\n"
    + lines(f"(<= (p{{j}} {DEEP}) (p{{i}} {DEEP}))", 45) + f"(<= terminal (p45 {DEEP.replace('?x', 'a')}))",
    "equalities that double a term 60 times": "(p a) (<= terminal (p ?x0) "
    + conditions("(not (distinct ?x{j} (f ?x{i} ?x{i})))", 60) + ")",
}  # fmt: skip

REFUSED = {
    "terms without end": "(p a) (<= (p (f ?x)) (p ?x)) (<= terminal (p ?x) (distinct ?x a))",
    "pairs without end": "(p a) (<= (p (f ?x ?y)) (p ?x) (p ?y)) (<= terminal (p ?x) (distinct ?x a))",
    "doubling terms": "(p a) (<= (p (f ?x ?x)) (p ?x)) (<= terminal (p ?x) (distinct ?x a))",
    "a product of millions": PRODUCT + "(<= terminal (p ?x ?x ?y))",
    "2,048 alternatives that look alike": "(<= terminal "
    + conditions("(or (p ?x{i}) q)", 10) + "(or q (and " + conditions("(p ?x{i})", 10) + ")))",
    "100,000 conditions": "(<= terminal " + conditions("q{i}", 100_000) + ")",
    "9,000,000 dependencies": lines("(<= (p ?x) (p ?y) (q{i} ?x ?y))", 3_000),
    "a pattern of 101 levels": "(<= (next " + "(f " * 101 + "?x" + ")" * 101 + ") (true ?x))",
    "a bound pattern of 5,000 levels": "(<= (next a) (not (distinct ?x b)) (true "
    + "(f " * 5_000 + "?x" + ")" * 5_000 + "))",
    "a deep term under a wildcard": "(init " + "(f " * 20_000 + "a" + ")" * 20_000 + ") (<= terminal (true ?x) (p ?x))",
}  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ANSWERED)
def test_large_rules_are_answered(name: str) -> None:
    assert first_state(ANSWERED[name]).is_terminal


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", REFUSED)
def test_boundless_rules_end_at_a_limit(name: str) -> None:
    with pytest.raises(LimitExceeded):
        assert first_state(REFUSED[name]).is_terminal


def test_a_state_answers_other_questions_after_one_that_cost_too_much() -> None:
    state = first_state(REFUSED["a product of millions"])
    for _ in range(2):
        with pytest.raises(LimitExceeded):
            assert state.is_terminal
        assert (state.legal_moves(Constant("r")), state.goal(Constant("r"))) == ((Constant("go"),), 50)


@pytest.mark.exhaustive
def test_a_fact_as_deep_as_the_reader_allows_is_kept_and_printed() -> None:
    deep = nested(20_000)
    state = first_state(f"(init {deep}) (<= terminal (true (f ?x)))")
    assert (state.facts, state.is_terminal) == (frozenset([Constant("s"), deep]), True)
    assert repr(state) == f"<InterpretedState {str(deep)[:200]}>"


def test_a_fluent_that_doubles_in_every_step_ends_the_play_before_it_fills_the_memory() -> None:
    rules = "(role r) (init a) (legal r go) (<= (next (f ?x ?x)) (true ?x))"
    with pytest.raises(LimitExceeded, match="names in one term"):
        go_on(make_game(read_rules(rules)).initial_state, n_steps=100)


def go_on(state: State, n_steps: int) -> None:
    for _ in range(n_steps):
        state = state.next_state([Constant("go")])


def test_time_is_counted_from_the_question_on_and_up() -> None:
    now = 10.0
    budget = Budget(EvaluationLimits(max_seconds=2.5), lambda: now)
    now = 12.5
    budget.check_time()
    now = 12.6
    with pytest.raises(LimitExceeded, match=r"more than 2\.5 seconds for one question"):
        budget.check_time()


def test_without_a_limit_time_is_never_up() -> None:
    assert not Budget(EvaluationLimits(), lambda: float("inf")).is_over


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("(f (f (f a)))", "more than 2 levels of nesting in a derived term"),
        ("(f a b c)", "more than 3 names in one term"),
    ],
)
def test_a_derived_term_is_neither_deep_nor_large(term: str, words: str) -> None:
    budget = Budget(EvaluationLimits(max_term_depth=2, max_term_symbols=3))
    budget.check_terms([read_term("(f (g a))"), Constant("b")])
    with pytest.raises(LimitExceeded, match=words):
        budget.check_terms([Constant("b"), read_term(term)])


def test_a_relation_holds_no_more_rows_than_the_limit() -> None:
    budget = Budget(EvaluationLimits(max_rows=1_000))
    budget.check_rows(1_000)
    with pytest.raises(LimitExceeded, match="more than 1,000 facts"):
        budget.check_rows(1_001)
