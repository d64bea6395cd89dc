"""Search over infosets: decisions under hidden cards and doors, which never look at what is hidden."""

from __future__ import annotations

from random import Random

import pytest

from gdl.engines import BestGame, make_game
from gdl.game import Game, State
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.terms import Term
from players.belief import BeliefState, InformationSet
from players.deadline import Deadline, SearchBudget
from players.search.information.infosets import InformationSetSearch
from players.stock import MctsPlayer
from tests.kit.players.games import COIN, compiled, game, game_of, interpreted, iterations, role

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
    move = InformationSetSearch(KUHN, Random(seed)).think(bob_after_a_bet(card), iterations(200))
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
        player.start(FOREVER)
        player.worlds.advance(read_term("noop"), [read_term("(your_card queen)")], SearchBudget())
        return player.move(dealt(hidden), role("alice"), FOREVER)

    assert alice_moves("jack") == alice_moves("king")


@pytest.mark.parametrize("seed", range(5))
def test_the_candidate_switches_doors(seed: int) -> None:
    montyhall = game("montyhall")
    worlds = BeliefState(montyhall, role("candidate"), seed)
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 1)")], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(opened_door 3)")], SearchBudget())
    assert str(InformationSetSearch(montyhall, Random(seed)).think(worlds, iterations(100))) == "switch"


def test_chance_counts_with_its_mean() -> None:
    coin = game_of(COIN)
    worlds = BeliefState(coin, role("player"), 1)
    assert str(InformationSetSearch(coin, Random(1)).think(worlds, iterations(300))) == "safe"


def test_simultaneous_moves_are_hidden_from_each_other() -> None:
    """In rock-paper-scissors no move may be neglected: each is best against one that the other tries."""
    rockpaperscissors = game("rockpaperscissors")
    me = rockpaperscissors.roles[0]
    moves = {
        str(
            InformationSetSearch(rockpaperscissors, Random(seed)).think(
                BeliefState(rockpaperscissors, me, 1), iterations(30)
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


@pytest.mark.parametrize("seed", range(3))
def test_regret_matching_decides_as_clearly_where_one_move_is_best(seed: int) -> None:
    search = InformationSetSearch(KUHN, Random(seed), by_regret=True)
    moves = [str(search.think(bob_after_a_bet("king"), iterations(400))) for _ in range(10)]
    assert moves.count("call") >= 8


def test_regret_matching_finds_the_mixed_strategy_of_rock_paper_scissors() -> None:
    rockpaperscissors = game("rockpaperscissors")
    search = InformationSetSearch(rockpaperscissors, Random(1), by_regret=True)
    belief = BeliefState(rockpaperscissors, rockpaperscissors.roles[0], 1)
    search.think(belief, iterations(6000))
    plan = search.node_of(0, None).plan
    assert [share / sum(plan) for share in plan] == pytest.approx([1 / 3] * 3, abs=0.1)


def test_both_engines_search_with_equal_rights() -> None:
    """On the interpreter and on the compiled engine the candidate switches doors."""
    for of in (interpreted("montyhall"), compiled("montyhall")):
        worlds = BeliefState(of, role("candidate"), 1)
        worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 1)")], SearchBudget())
        worlds.advance(read_term("noop"), [read_term("(opened_door 3)")], SearchBudget())
        assert str(InformationSetSearch(of, Random(1)).think(worlds, iterations(200))) == "switch"


def test_equal_seeds_search_equally() -> None:
    def searched(seed: int) -> tuple[str, list[int]]:
        search = InformationSetSearch(compiled("phantomtictactoe"), Random(seed))
        belief = BeliefState(compiled("phantomtictactoe"), role("x"), 1)
        return str(search.think(belief, iterations(300))), list(search.node_of(0, None).counts)

    assert searched(1) == searched(1)
    assert searched(1) != searched(2)


def test_a_game_that_is_compiled_during_the_match_changes_no_search_of_a_number_of_iterations() -> None:
    def counts(of: Game) -> list[int]:
        search = InformationSetSearch(of, Random(1))
        if isinstance(of, BestGame):
            assert of.wait()
        search.think(BeliefState(of, role("x"), 1), iterations(100))
        return list(search.node_of(0, None).counts)

    assert counts(make_game(find_game("phantomtictactoe").read())) == counts(interpreted("phantomtictactoe"))


def test_the_tree_is_kept_between_moves() -> None:
    """What the roles did in plays of the first move is known at the second."""
    of = compiled("phantomtictactoe")
    search, belief = InformationSetSearch(of, Random(1)), BeliefState(of, role("x"), 1)
    search.think(belief, iterations(2000))
    belief.advance(read_term("(mark 2 2)"), [read_term("(placed x)")], SearchBudget())
    belief.advance(read_term("noop"), [read_term("(placed o)")], SearchBudget())
    infoset = next(iter(belief.weights)).infosets[0]
    assert sum(search.node_of(0, infoset).counts) > 0


def n_remembered(search: InformationSetSearch) -> int:
    """Return how many information sets the trees of the roles have, those at their roots not counted."""
    todo, n = [search.node_of(i, None) for i in range(len(search.game.roles))], -len(search.game.roles)
    while todo:
        n += 1
        todo += todo.pop().after.values()
    return n


def after_two_marks(search: InformationSetSearch, n_iterations: int) -> InformationSet | None:
    """Search twice, as x marks the middle and its opponent something else; return what x knows then."""
    belief = BeliefState(search.game, role("x"), 1)
    search.think(belief, iterations(n_iterations))
    belief.advance(read_term("(mark 2 2)"), [read_term("(placed x)")], SearchBudget())
    belief.advance(read_term("noop"), [read_term("(placed o)")], SearchBudget())
    search.think(belief, iterations(1))
    return next(iter(belief.weights)).infosets[0]


def test_no_more_information_sets_are_remembered_than_there_is_room_for() -> None:
    search = InformationSetSearch(compiled("phantomtictactoe"), Random(1), max_infosets=500)
    search.think(BeliefState(search.game, role("x"), 1), iterations(2000))
    assert n_remembered(search) == 500


def test_a_move_makes_room_by_forgetting_what_the_roles_cannot_know_any_more() -> None:
    search = InformationSetSearch(compiled("phantomtictactoe"), Random(1), max_infosets=2000)
    infoset = after_two_marks(search, 2000)
    whole = InformationSetSearch(compiled("phantomtictactoe"), Random(1))
    assert infoset is after_two_marks(whole, 2000)
    assert n_remembered(search) < 1000 < n_remembered(whole)
    assert sum(search.node_of(0, infoset).counts) > 50


def test_all_is_forgotten_where_half_of_the_room_would_not_be_enough() -> None:
    search = InformationSetSearch(compiled("phantomtictactoe"), Random(1), max_infosets=100)
    belief = BeliefState(search.game, role("x"), 1)
    search.think(belief, iterations(2000))
    search.think(belief, iterations(1))
    assert sum(search.node_of(0, None).counts) == 1


def test_worlds_are_drawn_by_their_weights() -> None:
    """The walks from a world are as many as its weight says: two thirds with the car behind the other door."""
    montyhall = compiled("montyhall")
    worlds = BeliefState(montyhall, role("candidate"), 1)
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 1)")], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(opened_door 3)")], SearchBudget())
    search = InformationSetSearch(montyhall, Random(1))
    search.think(worlds, iterations(2000))
    node = search.node_of(0, next(iter(worlds.weights)).infosets[0])
    switch = [str(term) for term in node.terms].index("switch")
    assert node.totals[switch] / node.counts[switch] == pytest.approx(2 / 3, abs=0.05)


def test_the_clock_ends_the_search() -> None:
    ticks = iter(range(10**6))
    search = InformationSetSearch(compiled("phantomtictactoe"), Random(1))
    budget = SearchBudget(deadline=Deadline(200.0, lambda: next(ticks)))
    search.think(BeliefState(compiled("phantomtictactoe"), role("x"), 1), budget)
    assert search.n_iterations > 0
    assert next(ticks) < 250
