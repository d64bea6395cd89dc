"""Names scrambled and told apart again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.engines import make_game
from gdl.game import Game
from gdl.language.kif import read_term
from gdl.language.rules import Description, read_rules
from gdl.language.syntax import KEYWORDS
from gdl.language.terms import Compound, Constant, Term
from gdl.wire.scrambling import Scrambling

RULES = """
(ROLE white) (role random) (init (Cell 1 1 b)) (init (cell -2 3.5 b)) ; a comment with a name
(<= (next (cell ?m ?n nil)) (does white (mark ?m ?n)) (distinct ?m ?n))
(<= (legal white (mark ?m ?n)) (true (cell ?m ?n b))) (legal random noop)
(<= (sees white (won)) (does random noop)) (goal white 100) (<= terminal (not (true (cell 1 1 b))))
"""


def scrambling(seed: int = 1, text: str = RULES) -> Scrambling:
    return Scrambling(read_rules(text), seed)


def names(description: Description) -> Iterator[str]:
    todo: list[Term] = [rule.head.term for rule in description.rules]
    while todo:
        top = todo.pop()
        if isinstance(top, Compound):
            yield top.functor
            todo += top.arguments
        else:
            yield top.name


def test_keywords_and_numbers_stay_and_nothing_else_does() -> None:
    before = set(names(read_rules(RULES)))
    after = set(names(read_rules(scrambling().rules())))
    assert before & after == {
        "role", "random", "init", "1", "-2", "3.5", "next", "legal", "sees", "goal", "100", "terminal",
    }  # fmt: skip
    assert len(before) == len(after)


def test_in_gdl1_the_words_of_gdl2_are_names_like_others() -> None:
    text = "(role white) (init (sees random)) (legal white noop) (goal white 0) terminal"
    after = set(names(read_rules(scrambling(text=text).rules())))
    assert after.isdisjoint({"sees", "random"})


def test_variables_are_renamed_and_stay_variables() -> None:
    new_names = scrambling().names
    assert {new[0] for old, new in new_names.items() if old[0] == "?"} == {"?"}
    assert {"?m", "?n"} <= set(new_names)


def test_the_seed_decides() -> None:
    assert scrambling(1).rules() == scrambling(1).rules() != scrambling(2).rules()


def test_rules_travel_on_one_line_with_blanks_where_they_are_needed() -> None:
    text = " ( role 1 ) ; one\n(<= terminal( true (\t1 2 ))) "
    assert scrambling(text=text).rules() == "(role 1) (<= terminal (true (1 2)))"


def test_comments_do_not_travel() -> None:
    assert "comment" not in scrambling().rules()
    assert ";" not in scrambling().rules()


@given(st.integers(0, 2**63))
def test_new_names_are_new_and_differ_by_more_than_case(seed: int) -> None:
    mapping = scrambling(seed).names
    folded = {new.lower() for new in mapping.values()}
    assert len(folded) == len(mapping)
    assert folded.isdisjoint({old.lower() for old in mapping})
    assert folded.isdisjoint(KEYWORDS)


def test_many_names_find_room() -> None:
    text = " ".join(f"(init name{i})" for i in range(20_000))
    assert len(set(scrambling(text=text).names.values())) == 20_000


GROUND = st.recursive(
    st.sampled_from(["cell", "Cell", "b", "nil", "won", "mark", "noop", "1", "true", "sees", "unheard"]).map(Constant),
    lambda inner: st.builds(
        Compound, st.sampled_from(["cell", "mark", "unheard"]), st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
)


@given(GROUND, st.sampled_from([str, str.upper, str.lower]))
def test_terms_come_back_in_whatever_case(term: Term, case: object) -> None:
    assert callable(case)
    sent = scrambling().scrambled(term)
    said = read_term(case(str(sent)))
    if "unheard" not in str(term) and "sees" not in str(term) and "true" not in str(term):
        assert scrambling().original(said) is term
    assert scrambling().original(sent) is term


@pytest.mark.parametrize("text", ["?m", "(mark ?m (cell ?n ?unheard b))"])
def test_variables_in_terms_come_back_too(text: str) -> None:
    sent = scrambling().scrambled(read_term(text))
    new_names = scrambling().names
    assert str(sent) == re.sub(r"[^ ()]+", lambda name: new_names.get(name[0], name[0]), text)
    assert scrambling().original(sent) is read_term(text)


def test_deep_terms_are_no_trouble() -> None:
    term: Term = Constant("b")
    for _ in range(20_000):
        term = Compound("mark", (term,))
    assert scrambling().original(scrambling().scrambled(term)) is term


def test_the_scrambled_game_is_the_same_game() -> None:
    text = Path(__file__).parents[4].joinpath("rules/tictactoe/tictactoe.kif")
    if not text.exists():
        pytest.skip("rules/tictactoe is not there")
    description = read_rules(text.read_text())
    renaming = Scrambling(description, 5)
    plain, scrambled = make_game(description), make_game(read_rules(renaming.rules()))
    assert tuple(map(renaming.scrambled, plain.roles)) == scrambled.roles
    assert _play(plain, renaming) == _play(scrambled, None)


def _play(game: Game, renaming: Scrambling | None) -> list[frozenset[Term]]:
    """Return the states when everybody makes the move that comes first under its new name."""
    states, state = [], game.initial_state

    def renamed(term: Term) -> Term:
        return term if renaming is None else renaming.scrambled(term)

    while not state.is_terminal:
        states.append(frozenset(map(renamed, state.facts)))
        state = state.next_state(
            [min(state.legal_moves(role), key=lambda move: str(renamed(move))) for role in game.roles]
        )
    return states
