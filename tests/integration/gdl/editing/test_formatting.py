"""The one layout: stable, of the same meaning, and with every comment where it was.

`layouts/` holds rule files `x.kif` beside their layout `x.formatted.kif`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.checks import check as check_rules
from gdl.diagnostics import Source
from gdl.editing.formatting import LINE_COLUMNS, format_rules
from gdl.errors import KifSyntaxError, RuleFileError
from gdl.games.library import find_game, game_names, library_folder
from gdl.games.zion import ZionArena, zion_rules
from gdl.language.kif import tokens
from gdl.language.rules import read_file, read_rules
from tests.kit.gdl.public_rules import N_PARTS, SHARED, public_files

LAYOUTS: Final = sorted(
    path for path in (Path(__file__).parent / "layouts").glob("*.kif") if "." not in path.stem
)  # fmt: skip
DEPTH: Final = 20_000

GAPS: Final = ("", " ", "\n", "\r\n\t", "\n\n \n", " ; behind (\n", ";\r\n", "\n;alone ) \t\n", "\n\n; one\n;; two\n\n")


@st.composite
def gap(draw: st.DrawFn) -> str:
    return "".join(draw(st.lists(st.sampled_from(GAPS), max_size=3)))


@st.composite
def between_names(draw: st.DrawFn) -> str:
    return draw(gap()) + draw(st.sampled_from([" ", "\n", ";\n"]))


def in_parentheses(members: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    gapped = st.lists(st.tuples(between_names(), members).map("".join), min_size=1, max_size=6)
    return st.tuples(gapped.map("".join), gap()).map(lambda parts: f"({parts[0]}{parts[1]})")


NAMES: Final = st.sampled_from(["p", "(q)", "cell", "1", "é" * 40, "a_name_that_makes_lines_long"])
TERMS: Final = st.recursive(
    NAMES | st.just("?x"), lambda terms: in_parentheses(terms).map(lambda text: f"({'f'}{text[1:]}"), max_leaves=12
)
CONDITIONS: Final = st.recursive(
    st.tuples(st.sampled_from(["q", "or", "and", "p_that_is_long"]), in_parentheses(NAMES)).map(
        lambda parts: f"({parts[0]}{parts[1][1:]}"
    ),
    lambda conditions: st.tuples(st.sampled_from(["or", "AND"]), in_parentheses(conditions)).map(
        lambda parts: f"({parts[0]}{parts[1][1:]}"
    ),
    max_leaves=6,
)
FACTS: Final = TERMS.map(lambda term: f"(fact {term})") | NAMES
RULES: Final = st.tuples(gap(), FACTS, gap(), st.lists(CONDITIONS, max_size=4), between_names()).map(
    lambda parts: f"(<={parts[0]} {parts[1]}{parts[2]} {parts[4].join(parts[3])}{parts[4]})"
)
FILES: Final = st.lists(st.tuples(gap(), FACTS | RULES, between_names()).map("".join), max_size=6).map("".join)


def words(text: str) -> list[str]:
    """Return all tokens, comments among them, in their order."""
    return [token.text.rstrip() for token in tokens(Source("<rules>", text))]


def formatted(text: str) -> str:
    return format_rules(Source("<rules>", text))


def check(text: str) -> None:
    """Assert what holds of the layout of any rule file."""
    once = formatted(text)
    assert (words(once), formatted(once)) == (words(text), once)
    assert [line for line in once.split("\n") if line.endswith((" ", "\t", "\r"))] == []
    assert read_rules(once) == read_rules(text)


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_a_file_is_laid_out_as_the_file_beside_it(path: Path) -> None:
    expected = path.with_suffix(".formatted.kif").read_text(encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    assert (formatted(text), formatted(expected)) == (expected, expected)


@pytest.mark.parametrize("line_end", ["\r", "\r\n"])
@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_a_file_is_laid_out_the_same_whatever_ends_its_lines(path: Path, line_end: str) -> None:
    expected = path.with_suffix(".formatted.kif").read_text(encoding="utf-8")
    assert formatted(path.read_text(encoding="utf-8").replace("\n", line_end)) == expected


@pytest.mark.exhaustive
@given(FILES)
def test_any_rules_with_comments_anywhere_keep_tokens_and_meaning_and_are_stable(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(["(", ")", "<=", "p", "or", *GAPS]), max_size=40).map("".join))
def test_any_text_is_laid_out_the_same_way_twice_or_refused(text: str) -> None:
    try:
        once = formatted(text)
    except KifSyntaxError:
        return
    assert (words(once), formatted(once)) == (words(text), once)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", game_names())
def test_our_games_are_laid_out(name: str) -> None:
    text = find_game(name).path.read_text(encoding="utf-8")
    check(text)
    assert formatted(text) == text


def test_the_templates_are_laid_out() -> None:
    texts = [path.read_text(encoding="utf-8") for path in library_folder().glob("*/*.kif.template")]
    assert texts
    assert list(map(formatted, texts)) == texts


def test_what_a_comment_allows_is_allowed_in_the_layout_too() -> None:
    text = "(<= (p ?x) (role ?x)) ; ggp: allow gdl/unused-relation -- an example\n(role x)(q 1) (q 2) ; ggp: allow"
    found, after = (check_rules(Source("<rules>", one)) for one in (text, formatted(text)))
    assert [one.message for one in after] == [one.message for one in found]
    assert "`p` is not used" not in {one.message for one in found}


@pytest.mark.parametrize("arena", [ZionArena(1, 2, 1, 1), ZionArena(20, 30, 25, 135, 4)])
def test_a_generated_game_is_laid_out(arena: ZionArena) -> None:
    assert formatted(zion_rules(arena)) == zion_rules(arena)


@pytest.mark.sampled(3)
@pytest.mark.skipif(not public_files(), reason=f"no public rule files at {SHARED}; GGP_SHARED names their folder")
@pytest.mark.parametrize("part", range(N_PARTS))
def test_every_public_file_keeps_tokens_and_meaning_and_is_stable(part: int) -> None:
    for path in public_files()[part::N_PARTS]:
        try:
            text = read_file(path).source.text
        except RuleFileError:
            continue
        check(text)


def test_only_what_cannot_be_broken_is_longer_than_a_line() -> None:
    name = "n" * (LINE_COLUMNS + 1)
    lines = formatted(f"(<= (p {name}) (q ?x ?y) (or {' '.join('(r ?x ?y)' for _ in range(50))}))").split("\n")
    assert [line for line in lines if len(line) > LINE_COLUMNS] == [f"(<= (p {name})"]


DEEP: Final = (
    "(f " * DEPTH + "a" + ")" * DEPTH,
    "(" * DEPTH + ")" * DEPTH,
    "(<= p " + "(or a " * DEPTH + "b" + ")" * DEPTH + ")",
    "(f ;c\n" * DEPTH + ")" * DEPTH,
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", DEEP, ids=["terms", "parentheses", "or", "comments"])
def test_deep_nesting_is_laid_out_without_recursion_in_no_more_than_a_line_for_each_level(text: str) -> None:
    once = formatted(text)
    assert (words(once), once.count("\n") <= DEPTH + 5) == (words(text), True)
    assert len(once) <= DEPTH * (LINE_COLUMNS + 1)


@pytest.mark.parametrize("text", ["(p", "p)", "(p))\n(q)", "; a comment\n(", "p\0"])
def test_a_text_that_does_not_balance_is_refused(text: str) -> None:
    with pytest.raises(KifSyntaxError):
        formatted(text)


def test_a_text_without_rules_keeps_its_comments() -> None:
    assert [formatted(text) for text in ("", " \n\n", ";a", "\n\n;a  \n\n\n\n;b\n\n")] == ["", "", ";a\n", ";a\n\n;b\n"]
