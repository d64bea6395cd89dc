"""The index of names: what each names, where it is defined, and what it makes of texts that are half typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.diagnostics import Source
from gdl.editing.symbols import Occurrence, SymbolIndex, comment_above, index_symbols
from gdl.games.library import find_game
from gdl.language.kif import ReadLimits
from tests.kit.gdl.forms import GAME, damaged_files
from tests.kit.rules.sample import sampled_games

RULE = "(role x)\n(init (cell a))\n(<= (next (cell ?c)) (does x (mark ?c)) (not (open ?c)) (distinct ?c end))\n"


def index_of(text: str) -> SymbolIndex:
    return index_symbols(Source("<rules>", text))


def at(index: SymbolIndex, place: str, after: str = "") -> Occurrence:
    text = index.source.text
    found = index.at(text.index(place, text.index(after)))
    assert found is not None
    return found


def words(index: SymbolIndex, names: list[Occurrence]) -> list[str]:
    """Return the lines of *names*, and what stands there."""
    return [f"{found.span.line}: {index.source.line_text(found.span.line).strip()}" for found in names]


def test_the_index_says_of_every_name_what_it_is_and_as_which_part_it_stands() -> None:
    told = [(o.token.name, str(o.kind), str(o.part), o.arity, o.is_definition) for o in index_of(RULE).occurrences]
    assert told == [
        ("role", "keyword", "fact or rule", 1, True),
        ("x", "constant", "role", 0, True),
        ("init", "keyword", "fact or rule", 1, True),
        ("cell", "function", "fluent", 1, True),
        ("a", "constant", "object", 0, False),
        ("<=", "keyword", "fact or rule", 4, False),
        ("next", "keyword", "head", 1, True),
        ("cell", "function", "fluent", 1, True),
        ("?c", "variable", "object", 0, False),
        ("does", "keyword", "condition", 2, False),
        ("x", "constant", "role", 0, False),
        ("mark", "function", "move", 1, False),
        ("?c", "variable", "object", 0, False),
        ("not", "keyword", "condition", 1, False),
        ("open", "relation", "condition", 1, False),
        ("?c", "variable", "object", 0, False),
        ("distinct", "keyword", "condition", 2, False),
        ("?c", "variable", "object", 0, False),
        ("end", "constant", "object", 0, False),
    ]


@pytest.mark.parametrize(
    ("place", "after", "lines"),
    [
        ("line", "(not (line", [6, 7]),  # a relation: in heads
        ("cell", "(true (cell", [2, 3]),  # a fluent: where it comes about
        ("mark", "(does", [4]),  # a move: where it is legal
        ("x", "(does x", [1]),  # a role
        ("note", "(seen (note", [5]),  # a percept
        ("?c", "(true (cell ?c", [3]),  # a variable: where it stands first in its rule
        ("a", "(cell a", []),  # any other constant
        ("legal", "(legal", [4]),  # a word of the language
    ],
)
def test_a_name_is_defined_where_it_comes_about(place: str, after: str, lines: list[int]) -> None:
    text = (
        "(role x) (role random)\n"
        "(init (cell a))\n"
        "(<= (next (cell ?c)) (does x (mark ?c)) (true (cell ?c)))\n"
        "(legal x (mark a))\n"
        "(<= (sees x (note ?c)) (true (cell ?c)))\n"
        "(<= (line ?c) (true (cell ?c)) (not (line b)))\n"
        "(line c)\n"
        "(seen (note a))\n"
    )
    index = index_of(text)
    assert [found.span.line for found in index.definitions(at(index, place, after))] == lines


def test_definitions_with_as_many_arguments_come_alone_if_there_are_any() -> None:
    index = index_of("(p a)\n(p a b)\n(<= q (p ?x))\n(<= r (p a b c))\n")
    assert [found.span.line for found in index.definitions(at(index, "p", "(p ?x"))] == [1]
    assert [found.span.line for found in index.definitions(at(index, "p", "(p a b c"))] == [1, 2]


def test_relations_terms_and_the_variables_of_two_rules_have_nothing_to_do_with_each_other() -> None:
    index = index_of("(<= (p ?x) (q p ?x))\n(<= (q ?x) (p (p ?x)))\n")
    symbols = {found.symbol for found in index.occurrences}
    places = {(symbol.space.value, symbol.name, symbol.rule): len(index.uses(symbol)) for symbol in symbols}
    assert places == {
        ("relations", "<=", -1): 2,
        ("relations", "p", -1): 2,
        ("relations", "q", -1): 2,
        ("terms", "p", -1): 2,
        ("variables", "?x", 0): 2,
        ("variables", "?x", 21): 2,
    }


def test_words_of_the_language_are_the_same_in_capitals_and_others_are_not() -> None:
    index = index_of("(ROLE x)\n(role X)\n")
    assert sorted(symbol.name for symbol in {found.symbol for found in index.occurrences}) == ["X", "role", "x"]


@pytest.mark.parametrize(("text", "kind"), [("(role random) (role x)", "keyword"), ("(p random)", "constant")])
def test_random_is_a_word_of_the_language_only_in_gdl_2(text: str, kind: str) -> None:
    assert at(index_of(text), "random").kind == kind


def test_a_name_is_found_from_its_first_character_to_right_behind_its_last() -> None:
    index = index_of("(role  white) ")
    found = [index.at(offset) for offset in range(15)]
    role, white = index.occurrences
    assert found == [None, *[role] * 5, None, *[white] * 6, None, None]


@pytest.mark.parametrize(
    ("half", "fluents"),
    [
        ("(<= (next (cell ?x ?y)) (true (cell\n(<= terminal (true (cell 1 2)))", [2, 0, 2]),
        ("(<= (next (cell ?x)) (true (cell ?y)) (not\n", [1, 1]),
        ("(init (cell 1)) )\n(init (cell 2)", [1, 1]),
        ("(init (cell 1)) ((((init (cell 2)) (= )", [1, 1]),
        ("(<= (legal x (go) (true (cell 1)))", [1]),  # the parenthesis that is missing stands before the condition
    ],
)
def test_names_of_half_typed_texts_are_found_as_far_as_they_go(half: str, fluents: list[int]) -> None:
    found = [one for one in index_of(half).occurrences if one.symbol.name == "cell"]
    assert [(str(one.part), one.arity) for one in found] == [("fluent", arity) for arity in fluents]


def test_variables_of_a_rule_inside_a_broken_form_are_its_own() -> None:
    index = index_of("((role x) (<= (p ?x) (q ?x)) ?x)")
    assert [found.symbol.rule for found in index.occurrences if found.token.name == "?x"] == [10, 10, 0]


def test_every_token_of_a_game_is_in_the_index_once() -> None:
    for name in sampled_games():
        description = find_game(name).read()
        index = index_symbols(description.source)
        starts = [found.token.start for found in index.occurrences]
        assert starts == sorted(set(starts))
        assert (len(index.items), index.broken) == (len(description.rules), ())


@pytest.mark.parametrize("text", ["", "\0", "(" * 100, ")" * 100, "()" * 9, "; nothing", "((((a b) c) d) e)", "\ud800"])
def test_texts_that_are_no_rules_have_an_index_all_the_same(text: str) -> None:
    index = index_of(text)
    assert [found for found in index.occurrences if not found.token.name] == []


@given(text=st.one_of(damaged_files(), st.integers(0, len(GAME)).map(lambda end: GAME[:end])))
def test_the_index_of_damaged_files_has_every_name_once_and_answers_everywhere(text: str) -> None:
    index = index_of(text)
    starts = [found.token.start for found in index.occurrences]
    assert starts == sorted(set(starts))
    for offset in range(0, len(text) + 1, 7):
        found = index.at(offset)
        assert found is None or (found in index.uses(found.symbol) and index.definitions(found) is not None)


def test_a_text_over_the_limits_has_no_names() -> None:
    assert index_symbols(Source("<rules>", "(p " * 10 + ")" * 10), ReadLimits(max_depth=5)).occurrences == ()


def test_a_deep_term_costs_no_stack() -> None:
    assert len(index_of("(p " + "(f " * 20_000 + "a" + ")" * 20_001).occurrences) == 20_002


def test_the_comment_of_a_rule_is_what_stands_right_above_it() -> None:
    text = "; the file\n\n;; two\n; lines\r\n(p a) (p b)\n(p c)\n  ; indented\n  (p d)"
    assert [comment_above(item) for item in index_of(text).items] == [";; two\n; lines", "", "", "; indented"]
