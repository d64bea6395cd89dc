"""Beliefs beside the posterior of all histories, each with its exact probability: equal, or equal in the mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import sqrt
from random import Random
from typing import Final, NamedTuple, TypeAlias

import pytest

from gdl.engines import make_game
from gdl.game import RANDOM, Game, State
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from players.belief import BeliefState, InformationSet, World
from players.deadline import SearchBudget
from players.histories import MAX_OUTCOMES, HistorySampler
from players.worlds import Step, WorldChoices, WorldSteps
from tests.kit.players.games import role

pytestmark = pytest.mark.usefixtures("remembered")
Past: TypeAlias = tuple[Step, ...]
"""What a role did and perceived, the first step first."""


class History(NamedTuple):
    """Where some joint moves lead, and what each role went through: nothing for chance."""

    state: State
    pasts: tuple[Past, ...]


def shares_of(past: Past, moves: Sequence[Term]) -> list[Fraction]:
    """Return how the modelled roles choose: each move twice as likely as the one before, first after `ace`."""
    is_ace = any(str(percept) == "ace" for _, percepts in past for percept in percepts)
    weights = [2**i for i in range(len(moves))]
    return [Fraction(weight, sum(weights)) for weight in (weights[::-1] if is_ace else weights)]


def histories_after(
    of: Game, before: Mapping[History, Fraction], me: int, *, is_modelled: bool
) -> Iterator[tuple[Step, History, Fraction]]:
    """Yield what role number *me* goes through next, the history after it, and the probability of both."""
    for (state, pasts), probability in before.items():
        legal = [state.legal_moves(each) for each in of.roles]
        for moves in product(*legal):
            share = Fraction(1)
            for i, move in enumerate(moves):
                if i == me:
                    continue
                modelled = is_modelled and of.roles[i] != RANDOM
                shares = shares_of(pasts[i], legal[i]) if modelled else [Fraction(1, len(legal[i]))] * len(legal[i])
                share *= shares[legal[i].index(move)]
            following = state.next_state(moves)
            if following.is_terminal:
                continue
            steps = [(move, state.percepts(each, moves)) for each, move in zip(of.roles, moves, strict=True)]
            after = tuple(
                () if each == RANDOM else (*past, step) for each, past, step in zip(of.roles, pasts, steps, strict=True)
            )
            yield steps[me], History(following, after), probability * share


def posteriors(of: Game, me: int, *, is_modelled: bool) -> Iterator[tuple[Past, dict[History, float]]]:
    """Yield all that role number *me* may go through, with the probabilities of all histories that agree with it."""
    todo: list[tuple[Past, dict[History, Fraction]]] = [
        ((), {History(of.initial_state, ((),) * len(of.roles)): Fraction(1)})
    ]
    while todo:
        past, before = todo.pop()
        following: dict[Step, dict[History, Fraction]] = {}
        for step, history, probability in histories_after(of, before, me, is_modelled=is_modelled):
            agreeing = following.setdefault(step, {})
            agreeing[history] = agreeing.get(history, Fraction(0)) + probability
        for step, agreeing in following.items():
            total = sum(agreeing.values())
            yield (*past, step), {history: float(probability / total) for history, probability in agreeing.items()}
            todo.append(((*past, step), agreeing))


def past_of(infoset: InformationSet | None) -> Past:
    steps: list[Step] = []
    while infoset is not None:
        steps.append((infoset.move, infoset.percepts))
        infoset = infoset.before
    return tuple(steps[::-1])


def modelled(world: World, i: int, moves: Sequence[Term]) -> list[float]:
    return list(map(float, shares_of(past_of(world.infosets[i]), moves)))


def history_of(world: World) -> History:
    return History(world.state, tuple(map(past_of, world.infosets)))


def believed(past: Past, belief: BeliefState) -> dict[History, float]:
    """Return the histories of *belief* after *past*, with their weights."""
    for own_move, percepts in past:
        belief.advance(own_move, percepts, SearchBudget())
    return {history_of(world): weight for world, weight in belief.weights.items()}


CLOCK: Final = """
(init (step 1)) (successor 1 2) (successor 2 3) (successor 3 4) (successor 4 5)
(<= (next (step ?n)) (true (step ?m)) (successor ?m ?n))
(<= terminal (true (step 5)))
(<= (goal ?role 0) (role ?role))
"""

COIN_OF_THREE_SIDES: Final = """
(role seer) (role random)
(legal seer noop)
(shows a heads) (shows b heads) (shows c tails)
(<= (legal random ?x) (true (step 1)) (shows ?x ?side))
(<= (legal random ?x) (not (true (step 1))) (noise ?x))
(noise 1) (noise 2) (noise 3) (noise 4)
(<= (next (coin ?side)) (does random ?x) (shows ?x ?side))
(<= (next (coin ?side)) (true (coin ?side)))
(<= (sees seer warm) (true (coin heads)) (does random ?x) (noise ?x) (distinct ?x 4))
(<= (sees seer warm) (true (coin tails)) (does random 4))
"""
"""Two sides of three are heads; what the seer hears of the coin later is true three times in four."""

PARITY: Final = """
(role seer) (role hider) (role random)
(legal seer noop)
(bit 0) (bit 1) (roll 0) (roll 1) (roll 2)
(sum 0 0 0) (sum 0 1 1) (sum 0 2 0) (sum 1 0 1) (sum 1 1 0) (sum 1 2 1)
(<= (legal hider ?x) (bit ?x))
(<= (legal random ?x) (roll ?x))
(<= (next (parity ?n)) (does hider ?x) (does random ?y) (sum ?x ?y ?n))
(<= (sees seer changes) (true (parity ?m)) (does hider ?x) (does random ?y) (sum ?x ?y ?n) (distinct ?m ?n))
"""
"""Different joint moves come to one state, which then tells nothing of what came before."""

LATE: Final = """
(role seer) (role hider) (role random)
(legal seer noop)
(<= (legal hider ?x) (place ?x))
(<= (legal random ?x) (place ?x))
(place a) (place b) (place c)
(<= (next (hid ?x)) (true (step 1)) (does hider ?x))
(<= (next (found ?x)) (true (step 1)) (does random ?x))
(<= (next (hid ?x)) (true (hid ?x)))
(<= (next (found ?x)) (true (found ?x)))
(<= (sees seer same) (true (step 3)) (true (hid ?x)) (true (found ?x)))
(<= (sees hider ?x) (true (step 2)) (true (found ?x)))
"""
"""What was done in the first step the hider hears in the second, the seer in the third."""

CALLS: Final = """
(role seer) (role holder) (role random)
(legal seer look) (legal seer sleep)
(card ace) (card king) (card queen)
(may ace call) (may king call) (may king fold) (may queen call) (may queen fold) (may queen raise)
(<= (legal random (deal ?card)) (true (step 1)) (card ?card))
(<= (legal random noop) (not (true (step 1))))
(<= (legal holder noop) (true (step 1)))
(<= (legal holder ?move) (true (dealt ?card)) (may ?card ?move))
(<= (next (dealt ?card)) (does random (deal ?card)))
(<= (next (dealt ?card)) (true (dealt ?card)))
(<= (sees holder ?card) (does random (deal ?card)))
(<= (sees seer call) (does seer look) (does holder call))
"""
"""The better the card, the fewer moves its holder has, of whom the seer hears one, where it looks."""

GAMES: Final = {
    name: make_game(read_rules(rules + CLOCK), "interpreter")
    for name, rules in {"coin": COIN_OF_THREE_SIDES, "parity": PARITY, "late": LATE, "calls": CALLS}.items()
}


@pytest.mark.parametrize("is_modelled", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_a_belief_that_has_all_worlds_has_their_exact_probabilities(name: str, is_modelled: bool) -> None:
    of, n_compared = GAMES[name], 0
    for past, posterior in posteriors(of, 0, is_modelled=is_modelled):
        belief = BeliefState(of, role("seer"), 1)
        belief.model = modelled if is_modelled else None
        found = believed(past, belief)
        assert (belief.is_exact, belief.is_lost) == (True, False)
        assert found == pytest.approx(posterior)
        n_compared += 1
    assert n_compared >= 4


N_SEEDS: Final = 16
DEVIATIONS: Final = 5


def assert_is_the_mean(found: Sequence[Mapping[History, float]], posterior: Mapping[History, float], n: int) -> None:
    """Fail where the mean of *found* is farther from *posterior* than that of independent draws, *n* for each."""
    assert {history for each in found for history in each} <= set(posterior)
    for history, probability in posterior.items():
        mean = sum(each.get(history, 0.0) for each in found) / len(found)
        deviation = sqrt(probability * (1 - probability) / n / len(found))
        assert mean == pytest.approx(probability, abs=DEVIATIONS * deviation)


def last_posterior(of: Game) -> tuple[Past, dict[History, float]]:
    """Return one of the longest pasts of the first role, and the probabilities of the histories that agree with it."""
    return max(posteriors(of, 0, is_modelled=True), key=lambda pair: len(pair[0]))


@pytest.mark.parametrize(("max_worlds", "max_outcomes"), [(40, 1), (25, 200)], ids=["outcomes drawn", "worlds drawn"])
@pytest.mark.parametrize("name", GAMES)
def test_a_belief_that_draws_worlds_has_their_probabilities_in_the_mean(
    name: str, max_worlds: int, max_outcomes: int
) -> None:
    past, posterior = last_posterior(GAMES[name])
    found: list[dict[History, float]] = []
    for seed in range(N_SEEDS):
        belief = BeliefState(GAMES[name], role("seer"), seed, max_worlds, max_outcomes)
        belief.model = modelled
        found.append(believed(past, belief))
    assert_is_the_mean(found, posterior, max_worlds)


@pytest.mark.parametrize(
    ("name", "n_walks", "max_outcomes"), [*((name, 50, MAX_OUTCOMES) for name in GAMES), ("calls", 8, 1)]
)
def test_worlds_drawn_anew_have_their_probabilities_in_the_mean(name: str, n_walks: int, max_outcomes: int) -> None:
    of = GAMES[name]
    choices = WorldChoices(of, 0)
    choices.model = modelled
    first = World(of.initial_state, (None,) * len(of.roles))
    past, posterior = last_posterior(of)
    found: list[dict[History, float]] = []
    for seed in range(N_SEEDS):
        sampler = HistorySampler(first, choices, WorldSteps(of, 0), max_outcomes)
        drawn = sampler.draw(past, Random(seed), SearchBudget(), n_walks)
        total = sum(drawn.values())
        found.append({history_of(world): weight / total for world, weight in drawn.items()})
    assert_is_the_mean(found, posterior, n_walks)
