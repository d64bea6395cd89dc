"""Reading goes on after a problem, and costs no form but the bad one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.checks.subject import MAX_PROBLEMS, examine
from gdl.diagnostics import Source
from gdl.errors import RuleFileError
from gdl.language.kif import DEFAULT_LIMITS
from gdl.language.recovery import read_rule_forms
from gdl.language.rules import read_forms_as_rules, read_rules


def _recovered(text: str) -> tuple[list[str], list[str], list[str]]:
    """Return the codes of the problems in *text*, the rules that were read, and the forms set aside."""
    source = Source("test.kif", text)
    problems: list[str] = []
    found = read_forms_as_rules(source, on_error=lambda error: problems.append(error.code))
    return problems, [rule.span.text for rule in found.rules], [form.span.text for form in found.broken]


def test_an_unclosed_fact_ends_where_the_next_line_begins_a_form() -> None:
    assert _recovered("(p a)\n(p b\n(p c)") == (["unclosed-parenthesis"], ["(p a)", "(p c)"], ["(p b"])


def test_an_unclosed_rule_ends_where_the_next_rule_begins() -> None:
    found = _recovered("(<= (p ?x)\n(q ?x)\n(<= (r ?x)\n(q ?x))\n(q a)")
    assert found == (["unclosed-parenthesis"], ["(<= (r ?x)\n(q ?x))", "(q a)"], ["(<= (p ?x)\n(q ?x)"])


def test_conditions_at_the_start_of_a_line_begin_no_form() -> None:
    found = _recovered("(<= (p ?x)\n(q ?x))\n(<= (p ?x)\n(r ?x)\n(<= (p a)\n(q a))")
    assert found == (
        ["unclosed-parenthesis"],
        ["(<= (p ?x)\n(q ?x))", "(<= (p a)\n(q a))"],
        ["(<= (p ?x)\n(r ?x)"],
    )


def test_a_rule_that_is_closed_too_early_takes_its_conditions_with_it() -> None:
    found = _recovered("(<= (p ?x))\n    (q ?x)\n    (r ?x))\n(q a)")
    assert found == (["unopened-parenthesis"], ["(q a)"], ["(<= (p ?x))", "(q ?x)", "(r ?x)"])


def test_rules_inside_a_bad_form_are_read_for_themselves() -> None:
    found = _recovered("(<= (p a)\n    (q a)\n    (<= (r a)\n        (q a)))")
    assert found == (
        ["nested-rule"],
        ["(<= (r a)\n        (q a))"],
        ["(<= (p a)\n    (q a)\n    (<= (r a)\n        (q a)))"],
    )


def test_every_bad_part_of_a_rule_is_reported() -> None:
    problems, rules, _ = _recovered("(<= (true a)\n    (legal a)\n    (not)\n    (or ?x (does a)))\n(p a)")
    assert problems == ["reserved-head", "keyword-arity", "keyword-arity", "variable-as-relation", "keyword-arity"]
    assert rules == ["(p a)"]


def test_reading_that_ends_early_keeps_nothing() -> None:
    found = examine(Source("test.kif", "(role white)\n\0"), DEFAULT_LIMITS)
    assert (found.is_whole, found.forms, [one.code.name for one in found.diagnostics]) == (False, (), ["gdl/no-text"])


_TEXTS = st.lists(
    st.sampled_from(["(", ")", "(<= ", "(not ", "(or ", "(true ", "role", "p", " ", "\n", "?x", "; c)\n", "(sees a "])
).map("".join)


@given(_TEXTS)
def test_strict_reading_raises_the_first_problem_that_recovery_tells(text: str) -> None:
    told: list[RuleFileError] = []
    found = read_forms_as_rules(Source("<rules>", text), on_error=told.append)
    if told:
        with pytest.raises(RuleFileError) as raised:
            read_rules(text)
        first = told[0]
        assert (raised.value.code, raised.value.message) == (first.code, first.message)
    else:
        assert read_rules(text).rules == found.rules


@given(st.text(max_size=60) | _TEXTS)
def test_every_problem_has_a_code_and_a_place(text: str) -> None:
    for found in examine(Source("test.kif", text), DEFAULT_LIMITS).diagnostics:
        assert found.code.name.startswith("gdl/")
        assert 0 <= found.span.start <= found.span.end <= len(text)


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "text",
    [
        ")" * 200_000,
        "(" * 20_000,
        "(<= " * 20_000,
        "(p\n" * 50_000,
        "(a) )" * 50_000,
        "(<= (a) (<= " * 10_000,
        "()" * 99_999,
    ],
    ids=["closing", "opening", "rules in rules", "unclosed", "unopened", "rules in bodies", "empty"],
)
def test_hostile_texts_are_read_in_linear_time_and_space(text: str) -> None:
    start_s = time.process_time()
    found = examine(Source("test.kif", text), DEFAULT_LIMITS)
    assert 0 < len(found.diagnostics) <= MAX_PROBLEMS
    assert time.process_time() - start_s < 10


def test_balanced_forms_are_what_they_are_without_recovery() -> None:
    source = Source("test.kif", "(<=\n(p a)\n(true b))\n(q (f 1))")
    assert [form.span.text for form in read_rule_forms(source).forms] == ["(<=\n(p a)\n(true b))", "(q (f 1))"]
