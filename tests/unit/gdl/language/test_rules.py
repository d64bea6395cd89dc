"""Rule files as rules; each kind of wrong file with what is said of it, as data in `errors/`."""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
from pathlib import Path
from typing import Final

import pytest

from gdl.diagnostics import Source, Span
from gdl.engines import make_game
from gdl.errors import KifSyntaxError, RuleFileError
from gdl.language.kif import ReadLimits, read_term
from gdl.language.rules import read_file, read_forms_as_rules, read_rules, rules_from, rules_sha256
from gdl.language.syntax import And, Atom, Distinct, Not, Or, Rule
from gdl.language.terms import Compound, Constant

FOLDER: Final = Path(__file__).parent / "errors"
SPAN: Final = Span(Source("", ""), 0, 0)
"""Stands for any place: places count for nothing when rules are compared."""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.kif")), ids=lambda path: path.stem)
def test_a_wrong_file_is_refused_with_the_words_written_beside_it(path: Path) -> None:
    with pytest.raises(RuleFileError) as raised:
        make_game(read_rules(path.read_text(encoding="utf-8"), path.name))
    found = f"{type(raised.value).__name__}\n{raised.value}\n"
    assert found == path.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.kif")), ids=lambda path: path.stem)
def test_an_error_survives_pickling(path: Path) -> None:
    with pytest.raises(RuleFileError) as raised:
        make_game(read_rules(path.read_text(encoding="utf-8"), path.name))
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (type(copy), str(copy)) == (type(raised.value), str(raised.value))


def test_every_wrong_file_has_its_words() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {path.stem for path in FOLDER.glob("*.kif")}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("connective-in-head", ["not_as_head", "or_as_head"]),
        ("keyword-arity", ["arity_of_distinct", "arity_of_sees", "arity_of_true", "parenthesis_behind_a_name"]),
        ("misspelt-arrow", ["foreign_arrow"]),
        ("nested-rule", ["rule_as_head", "rule_in_rule"]),
        ("reserved-head", ["does_as_fact", "true_as_head"]),
        ("rule-without-head", ["arrow_as_condition", "arrow_as_head", "no_head"]),
        ("variable-as-relation", ["variable_as_condition"]),
    ],
)
def test_an_error_has_the_code_of_its_kind(code: str, names: list[str]) -> None:
    for name in names:
        with pytest.raises(RuleFileError) as raised:
            read_rules((FOLDER / f"{name}.kif").read_text(encoding="utf-8"))
        assert (name, raised.value.code) == (name, code)


@pytest.mark.parametrize("arrow", ["=>", "->", "<-", ":-", "=<", "<==", "==>", "<=>", "≤", "≥", *"←→⇐⇒⟵⟶⟸⟹", "&lt"])
def test_arrows_of_other_languages_begin_no_rule(arrow: str) -> None:
    with pytest.raises(RuleFileError, match="a rule begins with <="):
        read_rules(f"({arrow} (next a) (true b))")


def broken_parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """Return the codes and places of all that is wrong in *text*, the rules that are read, and the forms left out."""
    problems: list[str] = []

    def tell(error: RuleFileError) -> None:
        problems.append(f"{error.code}: {error.span and error.span.text}")

    reading = read_forms_as_rules(Source("", text), on_error=tell)
    assert [form.span.text for form in reading.forms] == [rule.span.text for rule in reading.rules]
    return problems, [str(rule.head.term) for rule in reading.rules], [form.span.text for form in reading.broken]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("(<= (p a) (not) (or (true) (and (q ?x) ?x)) (distinct a))", [
            "keyword-arity: (not)", "keyword-arity: (true)", "variable-as-relation: ?x", "keyword-arity: (distinct a)",
        ]),
        ("(<= (true a) (does b))", ["reserved-head: (true a)", "keyword-arity: (does b)"]),
        ("(p () (f ((g) a)))", ["empty-list: ()", "list-before-name: (g)"]),
        ("(:- (p a) ())", ["empty-list: ()"]),
        ("(legal a)", ["keyword-arity: (legal a)"]),
        ("(role a b)", ["keyword-arity: (role a b)"]),
        ("role", ["keyword-arity: role"]),
        ("(<= (q a) TRUE)", ["keyword-arity: TRUE"]),
    ],
)  # fmt: skip
def test_every_wrong_part_of_a_rule_is_told_and_the_rule_left_out(text: str, problems: list[str]) -> None:
    assert broken_parts(f"(p a) {text} (p b)") == (problems, ["(p a)", "(p b)"], [text])


def test_rules_are_looked_for_in_rules_ten_deep() -> None:
    def nested(n: int) -> str:
        return "".join(f"(<= (p {i}) " for i in range(n)) + "(q a)" + ")" * n

    for n, read in {2: ["(p 1)"], 11: ["(p 10)"], 12: []}.items():
        problems, rules, broken = broken_parts(nested(n))
        assert (len(problems), rules, len(broken)) == (n - 1, read, n - 1)


def test_rules_in_a_wrong_rule_come_in_order_wherever_they_stand() -> None:
    inside = "(<= (p ?x) (f (<= (q a) (r a))) (<= (s a) (r a)) (or (<= (t a) (r a)) (r b)))"
    assert broken_parts(f"(o a) {inside} (u a)")[1] == ["(o a)", "(q a)", "(s a)", "(t a)", "(u a)"]


def test_conditions_nest_up_to_100_levels() -> None:
    def rule(n: int) -> str:
        return "(<= p " + "(not " * n + "q" + ")" * n + ")"

    assert len(read_rules(rule(100)).rules) == 1
    with pytest.raises(RuleFileError) as raised:
        read_rules(rule(101))
    error = raised.value
    assert (error.code, error.message, error.hint, error.span and error.span.text) == (
        "too-deep", "conditions nest deeper than 100", "write several rules", "(not q)",
    )  # fmt: skip


def test_keywords_are_read_in_any_case_and_names_as_they_stand() -> None:
    (rule,) = read_rules("(<= (NEXT (True A)) (Or (DOES R Go) (Not (Distinct ?X B))))").rules
    assert rule == Rule(
        atom("(next (true A))"),
        (Or((atom("(does R Go)"), Not(Distinct(read_term("?X"), Constant("B"), SPAN), SPAN)), SPAN),),
        SPAN,
    )


def atom(text: str) -> Atom:
    term = read_term(text)
    assert isinstance(term, Constant | Compound)
    return Atom(term, SPAN)


def test_rules_keep_their_order_and_conditions() -> None:
    text = "(init a) terminal (<= (p ?x) (q ?x) (or (not r) (and s (distinct ?x (f b)))))"
    either = Or(
        (Not(atom("r"), SPAN), And((atom("s"), Distinct(read_term("?x"), read_term("(f b)"), SPAN)), SPAN)), SPAN
    )
    assert read_rules(text).rules == (
        Rule(atom("(init a)"), (), SPAN),
        Rule(atom("terminal"), (), SPAN),
        Rule(atom("(p ?x)"), (atom("(q ?x)"), either), SPAN),
    )


def test_the_mark_that_some_editors_put_before_a_text_is_no_rule() -> None:
    assert read_rules("\ufeff(role x)").rules == read_rules("(role x)").rules


def test_every_rule_knows_its_place() -> None:
    rules = read_rules("(init a)\n  (<= b\n c)", "some.kif").rules
    assert [(rule.span.place, rule.span.text) for rule in rules] == [
        ("some.kif:1:1", "(init a)"),
        ("some.kif:2:3", "(<= b\n c)"),
    ]


def test_every_condition_knows_its_place() -> None:
    (rule,) = read_rules("(<= (p ?x) (or (not (q ?x)) (and r (distinct ?x a))))").rules
    assert rule.head.span.text == "(p ?x)"
    (either,) = rule.body
    assert isinstance(either, Or)
    negation, both = either.parts
    assert isinstance(negation, Not)
    assert isinstance(both, And)
    assert [part.span.text for part in (either, negation, negation.inner, both, *both.parts)] == [
        "(or (not (q ?x)) (and r (distinct ?x a)))",
        "(not (q ?x))", "(q ?x)",
        "(and r (distinct ?x a))", "r", "(distinct ?x a)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "is_gdl2"),
    [
        ("(role white)", False),
        ("(role random)", True),
        ("(ROLE Random)", True),
        ("(role white) (sees white lamp)", True),
        ("(role white) (<= (SEES ?r ?m) (does ?r ?m))", True),
        ("(role white) (sees tower gate)", False),
        ("(role white) (sees white)", False),
        ("(role white) (init random)", False),
        ("(<= (role random))", True),
        ("(role white) (sees tower ?gate)", False),
    ],
)
def test_a_file_is_gdl2_by_its_chance_or_its_percepts(text: str, is_gdl2: bool) -> None:
    assert read_rules(text).is_gdl2 is is_gdl2


def test_the_caller_may_say_that_a_file_is_gdl2() -> None:
    assert [read_rules("(role a)", is_gdl2=said).is_gdl2 for said in (None, True, False)] == [False, True, False]


def test_words_of_gdl2_are_names_like_any_other_in_gdl1() -> None:
    (rule,) = read_rules("(SEES Random)").rules
    assert str(rule.head.term) == "(SEES Random)"


def test_words_of_gdl2_are_keywords_in_any_case_in_gdl2() -> None:
    found = read_rules("(ROLE RANDOM) (<= (Sees white Random) (DOES random x))").rules
    assert [str(rule.head.term) for rule in found] == ["(role random)", "(sees white random)"]


def test_a_text_that_ends_too_early_is_read_as_far_as_it_is_whole() -> None:
    assert broken_parts("(p a) (<= (q ?x) (r ?x)\n(init b)") == (
        ["unclosed-parenthesis: ("], ["(p a)", "(init b)"], ["(<= (q ?x) (r ?x)"],
    )  # fmt: skip
    found = [read_forms_as_rules(Source("", text), on_error=lambda _: None) for text in ("(p a)", "(p \0)")]
    assert [(reading.is_whole, len(reading.rules)) for reading in found] == [(True, 1), (False, 0)]


def test_a_description_shows_its_rules_but_not_its_text_again() -> None:
    assert "; a comment" not in repr(read_rules("(init a) ; a comment"))


def test_a_description_survives_pickling() -> None:
    description = read_rules("(<= (p ?x) (q ?x (f (g ?x))))")
    copy = pickle.loads(pickle.dumps(description))
    assert (copy, copy.source.text, copy.sha256) == (description, description.source.text, description.sha256)


def test_a_file_is_read_as_utf8_with_or_without_a_mark_and_else_as_latin1(tmp_path: Path) -> None:
    path = tmp_path / "file.kif"
    found = []
    for raw in ("(init grün)".encode(), b"\xef\xbb\xbf" + "(init grün)".encode(), "(init grün)".encode("latin-1")):
        path.write_bytes(raw)
        found.append([str(rule.head.term) for rule in read_file(path).rules])
    assert found == [["(init grün)"]] * 3


def test_a_file_has_up_to_four_bytes_for_each_character_allowed(tmp_path: Path) -> None:
    path, limits = tmp_path / "file.kif", ReadLimits(max_characters=10)
    path.write_text("(init " + "\U0001d538" * 3 + ")", encoding="utf-8")
    assert len(read_file(path, limits).rules) == 1
    path.write_bytes(b" " * 40)
    with pytest.raises(KifSyntaxError, match="the text has 40 characters"):
        read_file(path, limits)
    path.write_bytes(b" " * 41)
    with pytest.raises(KifSyntaxError) as raised:
        read_file(path, limits)
    assert str(raised.value).splitlines()[:3] == [
        f"{path}:1:1: the file has more than 40 bytes: more than the limit of 10 characters", "1 | ", "    ^",
    ]  # fmt: skip
    assert raised.value.code == "too-large"


def test_rules_of_a_file_are_called_by_its_path_and_those_of_a_text_by_a_name(tmp_path: Path) -> None:
    path = tmp_path / "file.kif"
    path.write_text("(init a)", encoding="utf-8")
    found = [read_file(path), read_rules("(init a)", "noughts"), read_rules("(init a)")]
    assert [description.source.name for description in found] == [str(path), "noughts", "<rules>"]
    assert [read_file(path, is_gdl2=said).is_gdl2 for said in (None, True)] == [False, True]


def test_the_digest_of_a_text_is_that_of_its_utf8() -> None:
    digest = hashlib.sha256("(init grün?)".encode()).hexdigest()
    assert (rules_sha256("(init grün?)"), rules_sha256("(init grün\ud800)")) == (digest, digest)


def test_rules_from_a_position_leave_all_else_as_it_was() -> None:
    text = "; first\n(role a) (init (at 1)) ; one\n(<= (INIT (at 2)) (p a))\n(<= (next x) (init y))  ; last\n\n"
    assert rules_from(read_rules(text), map(read_term, ["(at 3)", "(at 1)"])) == (
        "; first\n(role a)  ; one\n\n(<= (next x) (init y))  ; last\n(init (at 1))\n(init (at 3))"
    )


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device that never ends")
def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(KifSyntaxError, match="more than 4,000 bytes"):
        read_file(Path("/dev/zero"), ReadLimits(max_characters=1_000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("(init a)",))
    writer.start()
    found = read_file(path)
    writer.join()
    assert [str(rule.head.term) for rule in found.rules] == ["(init a)"]


def test_a_file_that_is_not_there_is_the_systems_affair(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "none.kif")
