"""Regret minimisation: Kuhn poker's value, strategies that nothing exploits, and moves drawn by their probability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import TypeAlias

import pytest

from gdl.game import Game, State
from gdl.language.kif import read_term
from gdl.language.terms import Term
from players.belief import InformationSet, Percepts
from players.deadline import Deadline, SearchBudget
from players.search.information.regret import MixedStrategy, RegretSearch, mixed_strategy
from players.search.information.sequences import is_certainly_large, sequence_form
from players.stock import MctsPlayer
from tests.kit.players.games import COIN, FOUR_WAYS, game, game_of, iterations, role

FOREVER = Deadline(float("inf"))
Strategy: TypeAlias = Mapping[InformationSet | None, Mapping[Term, float]]
Infosets: TypeAlias = tuple[InformationSet | None, ...]


@cache
def solved(name: str, n_iterations: int) -> RegretSearch:
    form = sequence_form(game(name), SearchBudget())
    assert form is not None
    search = RegretSearch(form)
    search.run(iterations(n_iterations))
    return search


def steps_of(*steps: tuple[str, str]) -> list[tuple[Term, Percepts]]:
    return [(read_term(move), (read_term(percept),)) for move, percept in steps]


def test_kuhn_poker_is_worth_an_eighteenth_of_a_chip_to_bob() -> None:
    """A chip is 25 goal points."""
    search = solved("kuhnpoker", 1000)
    assert search.expectations() == pytest.approx((0.5 - 1 / 72, 0.5 + 1 / 72, 0.0), abs=1e-4)
    assert search.best_responses() == pytest.approx((0.5 - 1 / 72, 0.5 + 1 / 72, 0.0), abs=2e-4)
    assert search.gain() < 1e-4


def test_equal_searches_find_equal_strategies() -> None:
    one, other = (RegretSearch(solved("kuhnpoker", 1).form) for _ in range(2))
    for search in (one, other):
        search.run(iterations(50))
    assert [role.average().tolist() for role in one.roles] == [role.average().tolist() for role in other.roles]


def test_kuhn_s_strategies_are_those_of_the_paper() -> None:
    """Alice bets the king three times as often as the jack, and never the queen; bob bluffs with a third of jacks."""
    search = solved("kuhnpoker", 1000)
    alice, bob = (MixedStrategy(search, i) for i in (0, 1))

    def bets(of: MixedStrategy, card: str, *then: tuple[str, str]) -> float:
        mixed = of.mixed_move(steps_of(("noop", f"(your_card {card})"), *then))
        assert mixed is not None
        return mixed[read_term("bet")]

    bluff = bets(alice, "jack")
    assert 0 <= bluff <= 1 / 3 + 0.01
    assert [bets(alice, "queen"), bets(alice, "king")] == pytest.approx([0, 3 * bluff], abs=0.02)
    checked = ("noop", "(did alice check)")
    assert [bets(bob, card, checked) for card in ("jack", "queen", "king")] == pytest.approx([1 / 3, 0, 1], abs=0.02)


def value_by_walking(of: Game, strategies: Sequence[Strategy], state: State, infosets: Infosets) -> tuple[float, ...]:
    """Return the expected goals in *state*, by nothing but the game's own rules; chance is uniform."""
    if state.is_terminal:
        return tuple((state.goal(each) or 0) / 100 for each in of.roles)
    mixed = []
    for each, infoset, strategy in zip(of.roles, infosets, strategies, strict=True):
        moves = state.legal_moves(each)
        mixed.append(strategy.get(infoset, {}) if infoset in strategy else dict.fromkeys(moves, 1 / len(moves)))
    total = [0.0] * len(of.roles)
    for moves in product(*mixed):
        probability = 1.0
        for move, options in zip(moves, mixed, strict=True):
            probability *= options[move]
        if probability:
            after = tuple(
                InformationSet.of(infoset, move, state.percepts(each, moves))
                for each, infoset, move in zip(of.roles, infosets, moves, strict=True)
            )
            found = value_by_walking(of, strategies, state.next_state(moves), after)
            total = [old + probability * new for old, new in zip(total, found, strict=True)]
    return tuple(total)


@pytest.mark.parametrize("me", [0, 1])
def test_best_responses_are_the_best_of_all_pure_strategies(me: int) -> None:
    """Kuhn poker has 64 pure strategies for a role; each is played through, against one that is far from done."""
    kuhn, search = game("kuhnpoker"), solved("kuhnpoker", 3)
    other = 1 - me
    averages: list[Strategy] = [{}, {}, {}]
    theirs = search.form.roles[other]
    strategy = search.roles[other].average()
    averages[other] = {
        infoset: dict(zip(moves, strategy[theirs.first[infoset] :].tolist(), strict=False))
        for infoset, moves in theirs.moves.items()
    }
    mine = search.form.roles[me].moves
    values = []
    for pure in product(*mine.values()):
        averages[me] = {infoset: {move: 1.0} for infoset, move in zip(mine, pure, strict=True)}
        values.append(value_by_walking(kuhn, averages, kuhn.initial_state, (None,) * 3)[me])
    assert len(values) == 64
    assert search.best_responses()[me] == pytest.approx(max(values))


def test_moves_are_drawn_by_their_probability_and_repeatably() -> None:
    bob = MixedStrategy(solved("kuhnpoker", 1000), 1)
    steps = steps_of(("noop", "(your_card jack)"), ("noop", "(did alice check)"))

    def drawn(seed: int) -> list[str]:
        random = Random(seed)
        return [str(bob.choose(steps, random)) for _ in range(600)]

    assert 150 < Counter(drawn(1))["bet"] < 250
    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_what_cannot_have_happened_has_no_move() -> None:
    alice = MixedStrategy(solved("kuhnpoker", 1), 0)
    assert alice.mixed_move(steps_of(("noop", "(your_card ace)"))) is None
    assert alice.choose([], Random(1)) is None


def test_one_role_against_chance_plays_its_best() -> None:
    """The candidate of Monty Hall's show wins two times in three."""
    search = solved("montyhall", 30)
    assert search.expectations()[0] == pytest.approx(2 / 3)
    form = sequence_form(game_of(COIN), SearchBudget())
    assert form is not None
    assert RegretSearch(form).best_responses()[0] == pytest.approx(0.6)


def test_a_game_without_an_opponent_or_chance_is_solved_too() -> None:
    form = sequence_form(game_of(FOUR_WAYS), SearchBudget())
    assert form is not None
    assert RegretSearch(form).best_responses() == pytest.approx((1.0,))


def test_histories_that_nothing_tells_apart_are_one() -> None:
    form = sequence_form(game("kuhnpoker"), SearchBudget())
    assert form is not None
    assert (form.n_histories, form.n_infosets, len(form.ends)) == (55, 12, 30)


def test_large_games_are_not_tried() -> None:
    assert sequence_form(game("leducpoker"), SearchBudget(), max_histories=200) is None
    assert is_certainly_large(game("phantomtictactoe"), SearchBudget())
    assert not is_certainly_large(game("leducpoker"), SearchBudget())


def test_a_clock_that_has_run_out_leaves_no_strategy() -> None:
    over = Deadline(0.0, lambda: 1.0)
    assert mixed_strategy(game("kuhnpoker"), role("alice"), over) is None
    assert sequence_form(game("kuhnpoker"), SearchBudget(deadline=over)) is None


def test_the_clock_ends_the_search() -> None:
    ticks = iter(range(10**6))
    search = RegretSearch(solved("kuhnpoker", 1).form)
    search.run(SearchBudget(deadline=Deadline(20.5, lambda: next(ticks))))
    assert search.n_iterations == 21


LOOKS_DIFFER = """
(role player) (role random)
(init start)
(<= (legal random left) (true start))
(<= (legal random right) (true start))
(<= (legal player wait) (true start))
(<= (next ?way) (does random ?way) (distinct ?way noop))
(<= (legal random noop) (not (true start)))
(<= (next over) (true left)) (<= (next over) (true right))
(<= terminal (true over))
(<= (sees player nothing) (true start))
(goal player 100) (goal random 0)
"""
"""The player cannot tell left from right; its legal moves, which are to be added, can."""


@pytest.mark.parametrize(
    ("left", "right"), [(("a", "b"), ("c", "d")), (("a",), ("a", "b")), (("a", "b"), ("a",)), (("a",), ("b",))]
)
def test_rules_whose_legal_moves_tell_more_than_the_percepts_have_no_strategy(
    left: Sequence[str], right: Sequence[str]
) -> None:
    legal = {"left": left, "right": right}
    moves = "".join(f"(<= (legal player {move}) (true {way}))" for way, names in legal.items() for move in names)
    assert sequence_form(game_of(LOOKS_DIFFER + moves), SearchBudget()) is None


def player_of(mine: str, deadline: Deadline, playouts: int | None = None) -> MctsPlayer:
    player = MctsPlayer(playouts)
    player.join(game("kuhnpoker"), role(mine), seed=1)
    player.start(deadline)
    return player


def test_the_player_plays_the_strategy_that_it_found_in_the_start_clock() -> None:
    player = player_of("bob", FOREVER)
    assert player.hidden.strategy is not None
    for move, percepts in steps_of(("noop", "(your_card jack)"), ("noop", "(did alice check)")):
        player.worlds.advance(move, percepts, SearchBudget())
    moves = Counter(str(player.move(player.worlds.state, player.role, FOREVER)) for _ in range(300))
    assert moves.keys() == {"bet", "check"}
    assert 70 < moves["bet"] < 130
    assert player.hidden.search.n_iterations == 0


def test_without_time_or_with_a_budget_of_playouts_worlds_are_searched() -> None:
    assert player_of("bob", Deadline(0.0, lambda: 1.0)).hidden.strategy is None
    assert player_of("bob", FOREVER, playouts=10).hidden.strategy is None
