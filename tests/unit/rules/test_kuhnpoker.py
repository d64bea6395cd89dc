"""Kuhn poker: the table of goals, and who perceives what."""

from __future__ import annotations

from itertools import permutations

import pytest

from gdl.engines import make_game
from gdl.game import State
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.terms import Term

GAME = make_game(find_game("kuhnpoker").read())
ALICE, BOB, _ = GAME.roles
RANK = {"jack": 0, "queen": 1, "king": 2}

# what the two do in turn, the chips that change hands, and the winner: 1 Alice, -1 Bob, 0 the higher card
BETTING = [
    (("check", "check"), 1, 0),
    (("check", "bet", "fold"), 1, -1),
    (("check", "bet", "call"), 2, 0),
    (("bet", "fold"), 1, 1),
    (("bet", "call"), 2, 0),
]


def moves_of(deal: tuple[str, ...], actions: tuple[str, ...]) -> list[tuple[Term, ...]]:
    lines = [("noop", "noop", f"(deal {deal[0]} {deal[1]})")]
    lines += [(action, "noop", "noop") if i % 2 == 0 else ("noop", action, "noop") for i, action in enumerate(actions)]
    return [tuple(read_term(move) for move in line) for line in lines]


def played(lines: list[tuple[Term, ...]]) -> list[State]:
    states = [GAME.initial_state]
    for moves in lines:
        states.append(states[-1].next_state(moves))
    return states


@pytest.mark.parametrize("deal", list(permutations(RANK, 2)))
@pytest.mark.parametrize(("actions", "chips", "winner"), BETTING)
def test_goals_are_the_chips_won(deal: tuple[str, str], actions: tuple[str, ...], chips: int, winner: int) -> None:
    end = played(moves_of(deal, actions))[-1]
    for_alice = chips * (winner or (1 if RANK[deal[0]] > RANK[deal[1]] else -1))
    assert end.is_terminal
    assert (end.goal(ALICE), end.goal(BOB)) == (50 + 25 * for_alice, 50 - 25 * for_alice)


def percepts_along(lines: list[tuple[Term, ...]]) -> list[tuple[list[str], list[str]]]:
    told = [
        [[str(percept) for percept in state.percepts(role, moves)] for role in (ALICE, BOB)]
        for state, moves in zip(played(lines), lines, strict=False)
    ]
    return [(for_alice, for_bob) for for_alice, for_bob in told]


def test_each_perceives_its_own_card_and_both_every_action() -> None:
    bet, fold = ["(did alice bet)"], ["(did bob fold)"]
    told = percepts_along(moves_of(("king", "jack"), ("bet", "fold")))
    assert told == [(["(your_card king)"], ["(your_card jack)"]), (bet, bet), (fold, fold)]


def test_both_cards_are_shown_after_a_call() -> None:
    shown = ["(did alice call)", "(showed alice queen)", "(showed bob king)"]
    told = percepts_along(moves_of(("queen", "king"), ("check", "bet", "call")))
    assert told[-1] == (shown, shown)


def test_two_deals_with_the_same_card_look_the_same_to_its_holder() -> None:
    one, other = (percepts_along(moves_of(("queen", card), ("bet", "fold"))) for card in ("king", "jack"))
    assert [for_alice for for_alice, _ in one] == [for_alice for for_alice, _ in other]
