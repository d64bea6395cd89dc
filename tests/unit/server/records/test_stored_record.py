"""Match records as they are read: their rules, their states, and what notebooks show of them."""

from __future__ import annotations

import pytest

from gdl.display import board_svg
from gdl.errors import RuleFileError
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from server.errors import MatchRecordError
from server.records.stored_record import facts_of, rules_at, stored


def test_a_record_shows_its_last_position_in_a_notebook_by_the_layout_of_the_library() -> None:
    file = find_game("nim")
    states = ["( ( heap a 1 ) )", "( ( heap c 3 ) )", "( ( true ( heap b 2 ) ) )"]
    raw = {"moves": [], "states": states, "x-rules": file.text()}
    last = {read_term("(heap b 2)")}
    assert stored(raw | {"x-game": "nim"})._repr_svg_() == board_svg(file.read(), last)
    guessed = stored(raw | {"x-game": "other"})
    description = guessed.description()
    assert description is not None
    assert guessed._repr_svg_() == board_svg(description, last) != board_svg(file.read(), last)


@pytest.mark.parametrize("missing", ["states", "x-rules"])
def test_a_record_without_rules_or_states_shows_no_board(missing: str) -> None:
    raw = {"moves": [], "states": ["( ( heap a 1 ) )"], "x-rules": "(role a)"}
    assert stored({key: value for key, value in raw.items() if key != missing})._repr_svg_() is None


@pytest.mark.parametrize("is_gdl2", [True, False])
def test_the_record_says_whether_its_rules_are_gdl2_and_its_rules_are_called_so(is_gdl2: bool) -> None:
    description = stored({"moves": [], "x-rules": "(role a)", "x-gdl2": is_gdl2}).description()
    assert description is not None
    assert (description.is_gdl2, description.source.name) == (is_gdl2, "the record's rules")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(cell 1", "this parenthesis is never closed"),
        ("(" * 1_001 + ")" * 1_001, "parentheses nest deeper than the limit of 1,000"),
    ],
)
def test_a_state_that_is_no_kif_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(MatchRecordError) as caught:
        facts_of(text, "states[3]")
    assert (caught.value.where, caught.value.message) == ("states[3]", message)


def test_a_state_may_nest_deep() -> None:
    (fact,) = facts_of("( " + "(p " * 998 + "a" + ")" * 998 + " )")
    assert str(fact) == "(p " * 998 + "a" + ")" * 998


def test_rules_begin_with_a_state_of_a_record() -> None:
    rules = read_rules(rules_at("(role a) (init (p 1)) (init q) (<= terminal q)", "game", "( ( p 2 ) )", "state"))
    assert (str(rules.source.text).count("(init"), "(init (p 2))" in rules.source.text) == (1, True)
    with pytest.raises(MatchRecordError) as caught:
        rules_at("(role a)", "game", "( p", "here")
    assert caught.value.where == "here"
    with pytest.raises(RuleFileError) as refused:
        rules_at("(role", "game", "( )", "here")
    assert refused.value.span is not None
    assert refused.value.span.source.name == "game"
