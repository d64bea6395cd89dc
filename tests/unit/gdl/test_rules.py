"""Rule files as rules; each kind of wrong file with what is said of it, as data in `errors/`."""

from __future__ import annotations

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
from gdl.language.rules import read_file, read_rules
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
    ],
)
def test_a_file_is_gdl2_by_its_chance_or_its_percepts(text: str, is_gdl2: bool) -> None:
    assert read_rules(text).is_gdl2 is is_gdl2


def test_the_caller_may_say_that_a_file_is_gdl2() -> None:
    assert [read_rules("(role a)", is_gdl2=said).is_gdl2 for said in (None, True, False)] == [False, True, False]


def test_words_of_gdl2_are_names_like_any_other_in_gdl1() -> None:
    (rule,) = read_rules("(SEES Random)").rules
    assert str(rule.head.term) == "(SEES Random)"


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
