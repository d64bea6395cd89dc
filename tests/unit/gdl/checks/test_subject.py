"""What is looked at of a file: its forms, the words that stray among them, and where the parts of a form stand."""

from __future__ import annotations

from typing import Final

import pytest

from gdl.checks.name_uses import NameKind, NameUse
from gdl.checks.subject import alternatives, examine, part, parts
from gdl.diagnostics import Source, Span
from gdl.errors import LimitExceeded
from gdl.language.kif import ReadLimits
from gdl.language.syntax import Rule

SOURCE: Final = Source("game.kif", "x (p (f a) b) y")
WHOLE: Final = Span(SOURCE, 2, 13)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), "(p (f a) b)"), ((0,), "p"), ((1,), "(f a)"), ((1, 1), "a"), ((2,), "b"),
        ((3,), "(p (f a) b)"), ((1, 2), "(f a)"), ((2, 1), "b"),
    ],
)  # fmt: skip
def test_a_path_leads_to_a_part_or_to_the_last_form_there_is(path: tuple[int, ...], found: str) -> None:
    start = SOURCE.text.index(found)
    assert part(WHOLE, *path) == Span(SOURCE, start, start + len(found))


def test_the_parts_of_a_form_are_its_name_and_its_arguments() -> None:
    assert parts(WHOLE) == (Span(SOURCE, 3, 4), Span(SOURCE, 5, 10), Span(SOURCE, 11, 12))
    assert parts(Span(SOURCE, 0, 1)) == ()


@pytest.mark.parametrize(
    ("text", "stray", "forms"),
    [
        ("hello world\n(role x)", ["hello world"], ["(role x)"]),
        ("hello\nworld", [], ["hello", "world"]),
        ("hello\rworld", [], ["hello", "world"]),
        ("(p 1) a b", ["a b"], ["(p 1)"]),
        ("a b ; c\nd e", ["a b", "d e"], []),
        ("a b (c 1) d", ["a b (c 1) d"], []),
        ("a (b c)", [], ["a", "(b c)"]),
        ("a (b c) d", [], ["a", "(b c)", "d"]),
        ("{ a (b) c", ["{ a (b) c"], []),
        ("[see (b) c", ["[see (b) c"], []),
        ("a b (role x)", ["a b"], ["(role x)"]),
        ("a terminal b", ["a terminal b"], []),
        ("terminal a b", ["a b"], ["terminal"]),
        ("won won\n(<= terminal won)", [], ["won", "won", "(<= terminal won)"]),
        ("a b (won 1)\n(<= terminal (won 1))", ["a b"], ["(won 1)", "(<= terminal (won 1))"]),
    ],
)
def test_words_side_by_side_mean_nothing_where_no_condition_asks_for_them(
    text: str, stray: list[str], forms: list[str]
) -> None:
    subject = examine(Source("game.kif", text), ReadLimits())
    runs = [text[run[0].start : run[-1].end] for run in subject.stray]
    assert (runs, [text[form.start : form.end] for form in subject.forms], subject.broken) == (stray, forms, ())


@pytest.mark.parametrize(
    ("text", "told", "broken"),
    [
        ("the role of x", ["role"], []),
        ("the role of role", ["role"], []),
        ("a role\nrole b", ["role", "role"], []),
        ("role x y", ["role"], ["role"]),
    ],
)
def test_words_that_are_refused_are_told_once_in_each_line(text: str, told: list[str], broken: list[str]) -> None:
    subject = examine(Source("game.kif", text), ReadLimits())
    assert [problem.span.text for problem in subject.diagnostics] == told
    assert [text[form.start : form.end] for form in subject.broken] == broken


def test_names_are_found_by_what_they_are_used_as_with_each_place() -> None:
    text = "(<= (p ?x (f b a)) q (not (distinct ?x (f a b))) (or (q) (and (p a ?y)))) (p b (c))"
    found = examine(Source("game.kif", text), ReadLimits()).occurrences
    places = {use: [token.start for token in tokens] for use, tokens in found.items()}
    assert places == {
        NameUse(NameKind.RELATION, "p", 2): [5, 63, 75],
        NameUse(NameKind.FUNCTION, "f", 2): [11, 40],
        NameUse(NameKind.OBJECT, "b", 0): [13, 44, 77],
        NameUse(NameKind.OBJECT, "a", 0): [15, 42, 65],
        NameUse(NameKind.RELATION, "q", 0): [19, 54],
        NameUse(NameKind.OBJECT, "c", 0): [80],
    }


def rules_with(*n_branches: int) -> tuple[Rule, ...]:
    """Return rules, each with so many alternatives."""
    texts = (
        f"(<= (p {number}) (or {' '.join(f'(q {branch})' for branch in range(n))}))"
        for number, n in enumerate(n_branches)
    )
    return examine(Source("game.kif", " ".join(texts)), ReadLimits()).rules


@pytest.mark.parametrize(("n_branches", "n_clauses", "refused"), [((3, 2, 1), 6, []), ((3, 3, 1), 6, [1])])
def test_rules_are_looked_at_until_they_have_too_many_alternatives_beside_one_each(
    n_branches: tuple[int, ...], n_clauses: int, refused: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gdl.checks.subject.MAX_CLAUSES", 3)
    rules = rules_with(*n_branches)
    found = alternatives(rules)
    told = [(rule, str(error)) for rule, error in found.refused]
    limit = str(LimitExceeded("alternatives in all rules", 3))
    assert (len(found.clauses), told) == (n_clauses, [(rules[number], limit) for number in refused])


def test_a_rule_that_engines_refuse_costs_no_other() -> None:
    deep = "(f " * 5_000 + "?x" + ")" * 5_000
    rules = examine(Source("game.kif", f"(<= (p {deep}) (q ?x)) (q 1)"), ReadLimits(max_depth=10_000)).rules
    found = alternatives(rules)
    assert ([rule for rule, _ in found.clauses], [rule for rule, _ in found.refused]) == ([rules[1]], [rules[0]])
