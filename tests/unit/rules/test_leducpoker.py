"""Leduc poker: what a hand is worth, and who perceives what."""

from __future__ import annotations

import pytest

from gdl.engines import make_game
from gdl.game import State
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.terms import Term

GAME = make_game(find_game("leducpoker").read())
ALICE, BOB, _ = GAME.roles
FULL = ("bet", "raise", "call")


def played(deal: str, turn: str | None, *actions: str) -> list[tuple[State, tuple[Term, ...]]]:
    """Return the states of a hand, each with the joint move that follows; *actions* are those of the two in turn."""
    found: list[tuple[State, tuple[Term, ...]]] = []
    state, left = GAME.initial_state, list(actions)
    while not state.is_terminal:
        legal = [state.legal_moves(role) for role in GAME.roles]
        if len(legal[2]) > 1:
            chosen = [options[0] for options in legal]
            chosen[2] = read_term(deal if not found else f"(turn {turn})")
        else:
            action = read_term(left.pop(0))
            chosen = [action if action in options else options[0] for options in legal]
        found.append((state, tuple(chosen)))
        state = state.next_state(chosen)
    assert not left
    return [*found, (state, ())]


JACKS = "(deal jack_of_hearts jack_of_spades)"
KING_QUEEN = "(deal king_of_hearts queen_of_hearts)"


@pytest.mark.parametrize(
    ("deal", "turn", "actions", "chips_of_alice"),
    [
        (KING_QUEEN, None, ("check", "bet", "fold"), -1),
        (KING_QUEEN, None, ("bet", "raise", "fold"), -3),
        (KING_QUEEN, None, ("check", "bet", "raise", "fold"), 3),
        (KING_QUEEN, "jack_of_hearts", ("check",) * 4, 1),
        (KING_QUEEN, "queen_of_spades", ("check",) * 4, -1),
        (KING_QUEEN, "king_of_spades", ("bet", "call", "bet", "call"), 7),
        (KING_QUEEN, "queen_of_spades", (*FULL, *FULL), -13),
        (KING_QUEEN, "jack_of_hearts", (*FULL, "check", "bet", "fold"), -5),
        (KING_QUEEN, "jack_of_hearts", ("check", "check", *FULL), 9),
        (KING_QUEEN, "jack_of_hearts", (*FULL, "bet", "raise", "fold"), -9),
        (JACKS, "king_of_hearts", (*FULL, *FULL), 0),
    ],
)
def test_goals_are_the_chips_won(deal: str, turn: str | None, actions: tuple[str, ...], chips_of_alice: int) -> None:
    end = played(deal, turn, *actions)[-1][0]
    assert (end.goal(ALICE), end.goal(BOB)) == (50 + 3 * chips_of_alice, 50 - 3 * chips_of_alice)


def test_each_perceives_its_own_card_and_both_what_is_open() -> None:
    hand = played(KING_QUEEN, "jack_of_spades", "check", "check", "bet", "call")[:-1]
    told = [[" ".join(map(str, state.percepts(role, moves))) for role in (ALICE, BOB)] for state, moves in hand]
    assert told[0] == ["(your_card king_of_hearts)", "(your_card queen_of_hearts)"]
    assert [for_alice for for_alice, _ in told[1:]] == [for_bob for _, for_bob in told[1:]]
    assert [for_alice for for_alice, _ in told[1:]] == [
        "(did alice check)", "(did bob check)", "(turned jack_of_spades)", "(did alice bet)",
        "(did bob call) (showed alice king_of_hearts) (showed bob queen_of_hearts)",
    ]  # fmt: skip


def test_the_card_on_the_table_is_one_of_the_four_that_are_left() -> None:
    turning = played(KING_QUEEN, "jack_of_spades", "check", "check", "check", "check")[3][0]
    assert len(turning.legal_moves(GAME.roles[2])) == 4
