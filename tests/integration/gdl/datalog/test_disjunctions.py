"""Rules with many `or`s: few clauses, with the meaning and the defects of all choices of branches."""

from __future__ import annotations

import random
from typing import Final

import pytest

from gdl.checks import check
from gdl.datalog import translation
from gdl.datalog.clauses import Clause
from gdl.datalog.reasoner import Reasoner
from gdl.datalog.translation import clauses_of, unbound_variables
from gdl.diagnostics import Source
from gdl.engines import make_game
from gdl.errors import LimitExceeded, StratificationError, UnsafeRuleError
from gdl.game import DEFAULT_LIMITS
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Variable

FACTS: Final = "(a 1) (a 2) (b 2) (b 3) (c 1 2) (c 2 3) (c 3 3) (d 3 1) (d 2 2) "
N_RULES: Final = 600


def _condition(numbers: random.Random, depth: int) -> str:
    """Return a random condition, with names and variables of which there are few."""
    kind = numbers.random()
    if depth and kind < 0.5:
        word = "or" if kind < 0.4 else "and"
        return f"({word} {' '.join(_condition(numbers, depth - 1) for _ in range(numbers.randint(1, 3)))})"
    if depth and kind < 0.58:
        return f"(not {_condition(numbers, depth - 1)})"
    terms = [numbers.choice(["?x", "?y", "?z", "?w", "1", "3"]) for _ in range(2)]
    if kind < 0.68:
        return f"(distinct {terms[0]} {terms[1]})"
    atom = numbers.choice(
        [f"(a {terms[0]})", f"(b {terms[0]})", f"(c {terms[0]} {terms[1]})", f"(d {terms[0]} {terms[1]})"]
    )
    return f"(not {atom})" if numbers.random() < 0.25 else atom


def _rule(seed: int) -> str:
    numbers = random.Random(seed)
    known = ["(a ?x)", "(c ?x ?y)", "(c ?x ?y) (d ?z ?w)", "(c ?x ?y) (b ?z) (a ?w)", ""]
    conditions = [_condition(numbers, 3) for _ in range(numbers.randint(1, 4))]
    head = numbers.choice(["(p ?x)", "(p ?x ?y)", "(p 1)"])
    return f"(<= {head} {numbers.choice(known)} {' '.join(conditions)})"


def _unsafe(clauses: tuple[Clause, ...]) -> set[tuple[str, str]]:
    return {(one.variable.name, one.where) for clause in clauses for one in unbound_variables(clause)}


def _answers(clauses: tuple[Clause, ...], n_arguments: int) -> list[tuple[str, ...]]:
    atom = Compound("p", tuple(Variable(f"?{i}") for i in range(n_arguments)))
    return sorted(tuple(map(str, row)) for _, row in Reasoner(clauses, DEFAULT_LIMITS).answers(atom))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", range(0, N_RULES, 100))
def test_passing_bindings_on_gives_what_writing_out_gives(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    n_passing = 0
    for seed in range(first, first + 100):
        text = FACTS + _rule(seed)
        rules = read_rules(text).rules
        monkeypatch.setattr(translation, "MAX_WRITTEN_OUT", 1_000_000)
        expected = clauses_of(rules)
        monkeypatch.setattr(translation, "MAX_WRITTEN_OUT", 1)
        found = clauses_of(rules)
        assert bool(_unsafe(found)) == bool(_unsafe(expected)), text
        if _unsafe(expected):
            assert _unsafe(found) <= _unsafe(expected), text
        else:
            n_arguments = len(rules[-1].head.term.arguments) if isinstance(rules[-1].head.term, Compound) else 0
            assert _answers(found, n_arguments) == _answers(expected, n_arguments), text
            n_passing += found != expected
    assert n_passing > 5


def _choices(n: int) -> str:
    return " ".join(f"(or (true (f{i} 0)) (true (f{i} 1)))" for i in range(n))


def _game(n_ors: int, more: str = "") -> str:
    inits = " ".join(f"(init (f{i} {i % 2}))" for i in range(n_ors))
    return f"""
(role r) (init (step 1)) (init (step 3)) {inits} {more}
(<= (legal r go) (true (step 1)))
(<= (next (step 2)) (does r go))
(<= (next (f0 0)) (does r go))
(<= terminal (true (step 2)))
(<= won {_choices(n_ors)})
(<= (goal r 100) won)
(<= (goal r 0) (not won))
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n_ors", [40, 400])
def test_a_rule_with_many_ors_is_read_checked_interpreted_and_compiled(n_ors: int) -> None:
    text = _game(n_ors)
    assert [one for one in check(Source("ors.kif", text)) if one.is_error] == []
    for engine in ("interpreter", "compiled"):
        game = make_game(read_rules(text), engine)
        first = game.initial_state
        role, last = game.roles[0], first.next_state(tuple(first.legal_moves(one)[0] for one in game.roles))
        assert (first.goal(role), last.goal(role)) == (100, 0)


@pytest.mark.parametrize("n_ors", [10, 20, 40, 80, 160])
def test_the_clauses_are_as_long_together_as_the_rule(n_ors: int) -> None:
    rule = read_rules(f"(<= p (q ?x ?y) {' '.join(f'(or (r ?x {i}) (s ?y {i}) t{i})' for i in range(n_ors))})").rules
    found = clauses_of(rule)
    assert len(found) == 3 * n_ors + 1
    assert sum(len(clause.literals) for clause in found) == 6 * n_ors + 1


def test_what_is_unsafe_among_many_choices_is_found_at_its_place() -> None:
    text = _game(
        40, "(<= (open ?x) " + _choices(20) + " (or (true (f1 ?x)) (and (not (true (f2 ?y))) (true (f3 ?x)))))"
    )
    found = [(one.code.name, one.span.text) for one in check(Source("ors.kif", text)) if one.is_error]
    assert found == [("gdl/unsafe-variable", "(true (f2 ?y))")]
    with pytest.raises(UnsafeRuleError, match=r"\?y"):
        InterpretedGame(read_rules(text))


def test_a_variable_of_the_head_that_one_choice_leaves_open_is_found() -> None:
    text = _game(40, "(<= (open ?x) " + _choices(20) + " (or (true (f1 ?x)) (true (f2 ?y))))")
    found = [(one.code.name, one.span.text) for one in check(Source("ors.kif", text)) if one.is_error]
    assert found == [("gdl/unsafe-variable", "(open ?x)")]


def test_recursion_that_one_choice_leaves_unbounded_is_found() -> None:
    grow = "(<= (grow ?x) (q ?x) " + _choices(20) + " (or (grow ?y) (and (q ?z) (grow ?z))))"
    found = check(Source("ors.kif", _game(40, f"(q 1) {grow} (<= terminal (grow 1))")))
    assert [(one.code.name, one.span.text) for one in found if one.is_error] == [("gdl/unbounded-recursion", "?y")]


def test_a_cycle_through_a_negation_among_many_choices_is_found_with_the_names_of_the_file() -> None:
    text = _game(40, f"(<= odd {_choices(20)} (or even (not odd))) (<= even odd) (<= terminal odd)")
    found = [(one.code.name, one.message) for one in check(Source("ors.kif", text)) if one.is_error]
    assert found == [("gdl/negative-cycle", "odd depends on its own negation: it needs not odd")]
    with pytest.raises(StratificationError) as refused:
        InterpretedGame(read_rules(text))
    assert " passes " not in str(refused.value)


def test_where_a_value_hangs_on_the_branch_choices_are_written_out_up_to_a_limit() -> None:
    def rule(n: int) -> str:
        ors = " ".join(f"(or (a ?x{i}) (b 2))" for i in range(n))
        return f"{FACTS} (<= (p 1) {ors} (or (b 3) (and {' '.join(f'(b ?x{i})' for i in range(n))})))"

    assert len(clauses_of(read_rules(rule(7)).rules)) == 9 + 2**8
    with pytest.raises(LimitExceeded):
        clauses_of(read_rules(rule(20)).rules)
