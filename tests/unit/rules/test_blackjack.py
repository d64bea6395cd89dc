"""Blackjack: what hands are worth, what the dealer draws, and what the player sees."""

from __future__ import annotations

from functools import cache

import pytest

from gdl.game import State
from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, goals, legal, position, terms

GAME = game("blackjack")
DEAL = ["ace", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king"]


def hand(who: str, n_cards: int, total: int, *, ace: bool = False) -> str:
    return f"(cards {who} {n_cards}) (sum {who} {total}) {f'(ace {who})' if ace else ''}"


def ended(mine: str, dealers: str, stage: str = "drawing") -> tuple[bool, int | None]:
    state = position(GAME, f"{mine} {dealers} (stage {stage})")
    return state.is_terminal, goals(GAME, state)[0]


@pytest.mark.parametrize(
    ("mine", "dealers", "goal"),
    [
        (hand("player", 2, 20), hand("dealer", 2, 19), 80),
        (hand("player", 3, 18), hand("dealer", 3, 18), 40),
        (hand("player", 2, 17), hand("dealer", 4, 21), 0),
        (hand("player", 2, 12), hand("dealer", 3, 22), 80),
        (hand("player", 2, 8, ace=True), hand("dealer", 2, 17), 80),
        (hand("player", 3, 11, ace=True), hand("dealer", 2, 11, ace=True), 0),
        (hand("player", 3, 14, ace=True), hand("dealer", 2, 7, ace=True), 0),
    ],
)
def test_the_hand_nearer_to_21_wins(mine: str, dealers: str, goal: int) -> None:
    assert ended(mine, dealers) == (True, goal)


def test_a_blackjack_wins_at_once_but_not_against_another() -> None:
    mine = hand("player", 2, 11, ace=True)
    assert ended(mine, hand("dealer", 2, 20), "choosing") == (True, 100)
    assert ended(mine, hand("dealer", 2, 11, ace=True), "choosing") == (True, 40)


def test_above_21_the_player_has_lost() -> None:
    assert ended(hand("player", 3, 22), hand("dealer", 2, 20), "choosing") == (True, 0)


def test_with_21_the_player_only_stands() -> None:
    def choices(mine: str) -> set[str]:
        return legal(position(GAME, f"{mine} {hand('dealer', 2, 15)} (stage choosing)"), "player")

    assert choices(hand("player", 3, 21)) == choices(hand("player", 3, 11, ace=True)) == {"stand"}
    assert choices(hand("player", 3, 20)) == choices(hand("player", 2, 10, ace=True)) == {"hit", "stand"}


def test_the_dealers_second_card_shows_when_the_player_stands() -> None:
    state, seen = GAME.initial_state, []
    for move in ["noop (deal ten)", "noop (deal ace)", "noop (deal five)", "noop (deal king)", "stand noop"]:
        moves = terms(move)
        seen.append([str(percept) for percept in state.percepts(GAME.roles[0], moves)])
        state = state.next_state(moves)
    assert seen == [["(dealt player ten)"], ["(dealt dealer ace)"], ["(dealt player five)"], [], ["(showed king)"]]


@pytest.mark.parametrize(
    ("card", "value", "bust"), [("two", 2, 0.3536), ("six", 6, 0.4232), ("ten", 10, 0.2121), ("ace", 1, 0.1153)]
)
def test_the_dealer_goes_over_21_as_often_as_is_known(card: str, value: int, bust: float) -> None:
    """The dealer stands on any 17, and draws from infinitely many decks."""
    assert _bust(1, value, card == "ace") == pytest.approx(bust, abs=5e-5)


@cache
def _bust(n_cards: int, total: int, ace: bool) -> float:
    """Return how probable it is that a dealer with such a hand goes over 21."""
    state = position(GAME, f"{hand('player', 2, 18)} {hand('dealer', n_cards, total, ace=ace)} (stage drawing)")
    if state.is_terminal:
        return float(total > 21)
    return sum(_after_card(state, card) for card in DEAL) / len(DEAL)


def _after_card(state: State, card: str) -> float:
    then = after(state, [f"noop (deal {card})"])
    numbers = {tuple(fact.strip("()").split()) for fact in facts(then, "sum") | facts(then, "cards")}
    of_dealer = {name: int(n) for name, who, n in numbers if who == "dealer"}
    return _bust(of_dealer["cards"], of_dealer["sum"], "(ace dealer)" in facts(then, "ace"))
