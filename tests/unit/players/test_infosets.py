"""Search over infosets: decisions under hidden cards and doors, which never look at what is hidden."""

from __future__ import annotations

from random import Random

import pytest

from gdl.game import State
from gdl.language.kif import read_term
from gdl.language.terms import Term
from players.belief import BeliefState
from players.deadline import Deadline, SearchBudget
from players.search.infosets import InformationSetSearch
from players.stock import MctsPlayer
from tests.kit.players.games import COIN, game, game_of, role, rounds

KUHN = game("kuhnpoker")
FOREVER = Deadline(float("inf"))


def bob_after_a_bet(card: str) -> BeliefState:
    """Return what bob knows who holds *card*, after alice has bet."""
    worlds = BeliefState(KUHN, role("bob"), 1)
    worlds.advance(read_term("noop"), [read_term(f"(your_card {card})")], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(did alice bet)")], SearchBudget())
    return worlds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("card", "expected"), [("king", "call"), ("jack", "fold")])
def test_the_highest_card_calls_and_the_lowest_folds(card: str, expected: str, seed: int) -> None:
    move = InformationSetSearch(KUHN, Random(seed)).think(bob_after_a_bet(card), rounds(200))
    assert str(move) == expected


def dealt(hidden: str) -> State:
    """Return the state after alice was dealt the queen and bob the *hidden* card."""
    return KUHN.initial_state.next_state((read_term("noop"), read_term("noop"), read_term(f"(deal queen {hidden})")))


@pytest.mark.parametrize("seed", range(3))
def test_a_hidden_card_changes_nothing(seed: int) -> None:
    """The player is even handed the true state, and must not look at it."""

    def alice_moves(hidden: str) -> Term:
        player = MctsPlayer(playouts=100)
        player.join(KUHN, role("alice"), seed)
        player.worlds.advance(read_term("noop"), [read_term("(your_card queen)")], SearchBudget())
        return player.move(dealt(hidden), role("alice"), FOREVER)

    assert alice_moves("jack") == alice_moves("king")


@pytest.mark.parametrize("seed", range(5))
def test_the_candidate_switches_doors(seed: int) -> None:
    montyhall = game("montyhall")
    worlds = BeliefState(montyhall, role("candidate"), seed)
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 1)")], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(opened_door 3)")], SearchBudget())
    assert str(InformationSetSearch(montyhall, Random(seed)).think(worlds, rounds(100))) == "switch"


def test_chance_counts_with_its_mean() -> None:
    coin = game_of(COIN)
    assert str(InformationSetSearch(coin, Random(1)).think(BeliefState(coin, role("player"), 1), rounds(300))) == "safe"


def test_simultaneous_moves_are_hidden_from_each_other() -> None:
    """In rock-paper-scissors no move may be neglected: each is best against one that the other tries."""
    rockpaperscissors = game("rockpaperscissors")
    me = rockpaperscissors.roles[0]
    moves = {
        str(
            InformationSetSearch(rockpaperscissors, Random(seed)).think(
                BeliefState(rockpaperscissors, me, 1), rounds(30)
            )
        )
        for seed in range(20)
    }
    assert moves == {"rock", "paper", "scissors"}


def test_no_time_still_gives_a_legal_move_and_reports_it() -> None:
    reports: list[Term] = []
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    move = InformationSetSearch(KUHN, Random(1)).think(bob_after_a_bet("queen"), over, reports.append)
    assert str(move) in ("call", "fold")
    assert reports == [move]
