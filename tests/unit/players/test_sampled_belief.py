"""Worlds of which there are too many: which are drawn, dropped, looked at again and guessed, and what they weigh."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from gdl.language.kif import read_term
from gdl.language.terms import Constant
from players import belief
from players.belief import BeliefState, World
from players.deadline import Deadline, SearchBudget
from tests.kit.players.beliefs import after_the_door, car, past_of
from tests.kit.players.games import game, interpreted_of, role

pytestmark = pytest.mark.usefixtures("remembered")


class GivenWalks:
    """Walks from the first state that find what is given, and note whether there were worlds and the seconds left."""

    found: Mapping[World, float] = {}
    asked: list[tuple[bool, float | None]]

    def __init__(self, *_: object) -> None:
        GivenWalks.asked = []

    def draw(
        self, steps: object, random: Random, budget: SearchBudget, max_worlds: int, *, has_some: bool
    ) -> dict[World, float]:
        self.asked.append((has_some, None if budget.deadline is None else budget.deadline.remaining_s))
        return dict(self.found)


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> type[GivenWalks]:
    monkeypatch.setattr(belief, "HistorySampler", GivenWalks)
    monkeypatch.setattr(GivenWalks, "found", {})
    return GivenWalks


@pytest.mark.parametrize(("left_s", "allowed_s"), [(4.0, 4.0), (0.1, 0.3)])
def test_worlds_are_drawn_anew_for_half_the_time_but_for_all_of_it_where_there_are_none(
    left_s: float, allowed_s: float, walks: type[GivenWalks]
) -> None:
    worlds = BeliefState(game("montyhall"), role("candidate"), 1, max_outcomes=1)
    budget = SearchBudget(deadline=Deadline(left_s, lambda: 0.0))
    worlds.advance(read_term("(choose 1)"), [read_term("(you_chose 1)")], budget)
    worlds.advance(read_term("noop"), [read_term("(opened_door 1)")], budget)
    assert [has_some for has_some, _ in walks.asked] == [True, False]
    assert [seconds for _, seconds in walks.asked] == pytest.approx([left_s / 2, allowed_s])


@pytest.mark.parametrize("seed", range(3))
def test_drawn_outcomes_have_the_probabilities_of_all(seed: int, walks: type[GivenWalks]) -> None:
    """As many as ten for each of 200 worlds: the share of 2/3 is within 0.05 of itself with nearly five deviations."""
    worlds = after_the_door(BeliefState(game("montyhall"), role("candidate"), seed, max_outcomes=1))
    weights = {car(world): weight for world, weight in worlds.weights.items()}
    assert weights == pytest.approx({"(car 1)": 1 / 3, "(car 2)": 2 / 3}, abs=0.05)


HIDDEN = """
(role guesser) (role random) (init (step 1)) (successor 1 2) (successor 2 3)
(place 0) (place 1) (place 2) (place 3) (place 4) (place 5) (place 6) (place 7) (place 8) (place 9)
(legal guesser noop)
(<= (legal random (hide ?x ?y)) (true (step 1)) (place ?x) (place ?y))
(<= (legal random noop) (not (true (step 1))))
(<= (next (hidden ?x ?y)) (does random (hide ?x ?y)))
(<= (next (hidden ?x ?y)) (true (hidden ?x ?y)))
(<= (next (step ?n)) (true (step ?m)) (successor ?m ?n))
(<= (sees guesser (row ?x)) (true (hidden ?x ?y)))
(<= terminal (true (step 4)))
(goal guesser 0) (goal random 0)
"""
"""A hundred places, of which the guesser perceives the row in the second step."""


@pytest.mark.parametrize("seed", range(8))
def test_worlds_that_were_dropped_are_looked_at_again_where_few_of_those_kept_are_left(
    seed: int, walks: type[GivenWalks]
) -> None:
    """Of the ten worlds of the row hardly more than one is kept; all ten are among those that were dropped."""
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), seed, max_worlds=12)
    worlds.advance(read_term("noop"), [], SearchBudget())
    assert len(worlds.weights) == 12
    worlds.advance(read_term("noop"), [read_term("(row 3)")], SearchBudget())
    assert sorted(str(fact) for state in worlds.states for fact in state.facts if "hidden" in str(fact)) == [
        f"(hidden 3 {y})" for y in range(10)
    ]


FIRST = Constant("first")
FORGOTTEN = """
(role guesser) (role random) (init (step 1)) (successor 1 2) (successor 2 3)
(place 0) (place 1) (place 2) (place 3) (place 4) (place 5) (place 6) (place 7) (place 8) (place 9)
(legal guesser noop)
(<= (legal random (hide ?x ?y ?z)) (true (step 1)) (place ?x) (place ?y) (place ?z))
(<= (legal random noop) (not (true (step 1))))
(<= (next (hidden ?x ?y ?z)) (does random (hide ?x ?y ?z)))
(<= (next first) (true (hidden ?x ?y 0)))
(<= (next later) (true (hidden ?x ?y ?z)) (distinct ?z 0))
(<= (next (step ?n)) (true (step ?m)) (successor ?m ?n))
(<= (sees guesser (line ?x ?y)) (true (hidden ?x ?y ?z)))
(<= terminal (true (step 4)))
(goal guesser 0) (goal random 0)
"""
"""A thousand places, of which the guesser perceives the line in the second step; then only two are told apart."""


@pytest.mark.parametrize("seed", range(4))
def test_worlds_that_were_dropped_add_up_where_they_lead_to_one(seed: int, walks: type[GivenWalks]) -> None:
    worlds = BeliefState(interpreted_of(FORGOTTEN), role("guesser"), seed, max_worlds=12)
    worlds.advance(read_term("noop"), [], SearchBudget())
    kept = " ".join(str(fact) for state in worlds.states for fact in state.facts)
    x, y = next((x, y) for x in range(10) for y in range(10) if f"(hidden {x} {y} " not in kept)
    worlds.advance(read_term("noop"), [read_term(f"(line {x} {y})")], SearchBudget())
    assert sum(w for world, w in worlds.weights.items() if FIRST in world.state.facts) == pytest.approx(0.1)


def test_guesses_give_way_to_worlds_that_agree_with_all_steps(walks: type[GivenWalks]) -> None:
    steps = [((), SearchBudget()), ((read_term("(line 3 4)"),), SearchBudget(deadline=Deadline(0.0, lambda: 1.0)))]
    worlds, true = (BeliefState(interpreted_of(FORGOTTEN), role("guesser"), 1, max_worlds=n) for n in (1, 1000))
    for percepts, budget in steps:
        worlds.advance(read_term("noop"), percepts, budget)
        true.advance(read_term("noop"), percepts, SearchBudget())
    assert (worlds.is_lost, true.is_exact) == (True, True)
    true.advance(read_term("noop"), [], SearchBudget())
    walks.found = true.weights
    worlds.advance(read_term("noop"), [], SearchBudget())
    assert worlds.weights == true.weights
    assert not worlds.is_lost


MOSTLY = read_term("(hidden 1)")
LOADED = """
(role guesser) (role random) (init (step 1)) (successor 1 2) (successor 2 3)
(place 2 red) (place 3 red) (place 4 red) (place 5 red) (place 6 red)
(place 7 blue) (place 8 blue) (place 9 blue) (place 10 blue) (place 11 blue) (place 12 blue) (place 13 blue)
(place 14 blue) (place 15 blue) (place 16 blue) (place 17 blue) (place 18 blue) (place 19 blue) (place 20 blue)
(way 1) (way 2) (way 3) (way 4) (way 5)
(way 6) (way 7) (way 8) (way 9) (way 10) (way 11) (way 12) (way 13) (way 14) (way 15)
(legal guesser noop)
(<= (legal random (hide ?x 1)) (true (step 1)) (place ?x ?colour))
(<= (legal random (hide 1 ?way)) (true (step 1)) (way ?way))
(<= (legal random (wind ?way)) (not (true (step 1))) (way ?way))
(<= (next (hidden ?x)) (does random (hide ?x ?way)))
(<= (next (hidden ?x)) (true (hidden ?x)))
(<= (next (step ?n)) (true (step ?m)) (successor ?m ?n))
(<= (sees guesser red) (true (hidden 1)))
(<= (sees guesser ?colour) (true (hidden ?x)) (place ?x ?colour))
(<= terminal (true (step 4)))
(goal guesser 0) (goal random 0)
"""
"""One of twenty places is hidden at fifteen times as often, and is red as five others are; then unseen winds blow."""


@pytest.mark.parametrize("max_outcomes", [60, 100])
def test_worlds_that_were_dropped_weigh_the_same_in_whatever_part_of_them_they_are_looked_at(
    max_outcomes: int, walks: type[GivenWalks]
) -> None:
    """The parts are of 7, 7 and 6 worlds, by outcomes that are drawn; of the last one all 90, where 100 are allowed."""
    shares: list[float] = []
    for seed in range(20):
        worlds = BeliefState(interpreted_of(LOADED), role("guesser"), seed, max_worlds=7, max_outcomes=max_outcomes)
        worlds.advance(read_term("noop"), [], SearchBudget())
        worlds.advance(read_term("noop"), [read_term("red")], SearchBudget())
        shares.append(sum(w for world, w in worlds.weights.items() if MOSTLY in world.state.facts))
    assert sum(shares) / len(shares) == pytest.approx(15 / 20, abs=0.05)


def test_just_as_many_worlds_as_allowed_have_their_exact_weights() -> None:
    worlds = BeliefState(interpreted_of(LOADED), role("guesser"), 1, max_worlds=20)
    worlds.advance(read_term("noop"), [], SearchBudget())
    assert sorted(worlds.weights.values()) == pytest.approx([*[1 / 34] * 19, 15 / 34])


def hidden_in_rows(*rows: int) -> list[World]:
    """Return the worlds of some rows."""
    found: list[World] = []
    for row in rows:
        worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), 1)
        worlds.advance(read_term("noop"), [], SearchBudget())
        worlds.advance(read_term("noop"), [read_term(f"(row {row})")], SearchBudget())
        found += worlds.weights
    return found


def test_worlds_that_are_kept_and_drawn_anew_count_by_their_effective_sizes(walks: type[GivenWalks]) -> None:
    """Those kept, of 1/3 and 2/3, count as 9/5 worlds, the one drawn as one."""
    kept = after_the_door(BeliefState(game("montyhall"), role("candidate"), 1))
    walks.found = {world: 7.0 for world in kept.weights if car(world) == "(car 1)"}
    worlds = BeliefState(game("montyhall"), role("candidate"), 1)
    worlds.is_exact = False
    worlds = after_the_door(worlds)
    assert {car(world): weight for world, weight in worlds.weights.items()} == pytest.approx(
        {"(car 1)": (1 / 3 * 9 / 5 + 1) / (9 / 5 + 1), "(car 2)": 2 / 3 * 9 / 5 / (9 / 5 + 1)}
    )


def test_both_samples_are_kept_as_they_are_where_they_have_just_as_many_worlds_as_allowed(
    walks: type[GivenWalks],
) -> None:
    """Those of row 1, of which one weighs as much as the nine others, count as 3.6 worlds, the one of row 2 as one."""
    heavy, *others = hidden_in_rows(1)
    walks.found = {hidden_in_rows(2)[0]: 1.0}
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), 1, max_worlds=11)
    worlds.is_exact = False
    worlds.weights = {heavy: 9.0, **dict.fromkeys(others, 1.0)}
    worlds.advance(read_term("noop"), [read_term("(row 1)")], SearchBudget())
    kept = 3.6 / 4.6
    assert sorted(worlds.weights.values()) == pytest.approx([*[kept / 18] * 9, 1 / 4.6, kept / 2])


@pytest.mark.parametrize("seed", range(4))
def test_of_many_worlds_each_is_drawn_within_one_of_what_it_weighs(seed: int, walks: type[GivenWalks]) -> None:
    walks.found = {world: float(weight) for weight, world in enumerate(hidden_in_rows(1, 2), 1)}
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), seed, max_worlds=12)
    worlds.advance(read_term("noop"), [read_term("(row 1)")], SearchBudget())  # too early: no world agrees
    assert len(worlds.weights) <= 12
    for world, weight in walks.found.items():
        assert abs(12 * worlds.weights.get(world, 0.0) - 12 * weight / 210) < 1


def test_each_draw_of_a_world_counts_alike(walks: type[GivenWalks]) -> None:
    walks.found = {world: float(weight**2) for weight, world in enumerate(hidden_in_rows(1, 2), 1)}
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), 1, max_worlds=12)
    worlds.advance(read_term("noop"), [read_term("(row 1)")], SearchBudget())  # too early: no world agrees
    n_draws = [12 * weight for weight in worlds.weights.values()]
    assert n_draws == pytest.approx([round(n) for n in n_draws])
    assert max(n_draws) > 1.5


def test_worlds_kept_and_drawn_anew_are_no_more_than_allowed(walks: type[GivenWalks]) -> None:
    walks.found = dict.fromkeys(hidden_in_rows(4, 5), 1.0)
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), 1, max_worlds=12)
    worlds.advance(read_term("noop"), [], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(row 3)")], SearchBudget())
    assert len(worlds.weights) == 12
    assert sum(worlds.weights.values()) == pytest.approx(1)


MARKED = """
(role guesser) (role random) (init (step 1)) (successor 1 2) (successor 2 3)
(place 0) (place 1) (place 2) (place 3) (place 4) (place 5) (place 6) (place 7) (place 8) (place 9)
(mark 1) (mark 2) (mark 3) (mark 4) (mark 5)
(legal guesser noop)
(<= (legal random (hide ?x ?y)) (true (step 1)) (place ?x) (place ?y))
(<= (legal random (put ?mark)) (true (step 2)) (mark ?mark))
(<= (legal random noop) (true (step 3)))
(<= (next (hidden ?x ?y)) (does random (hide ?x ?y)))
(<= (next (hidden ?x ?y)) (true (hidden ?x ?y)))
(<= (next (marked ?mark)) (does random (put ?mark)))
(<= (next (step ?n)) (true (step ?m)) (successor ?m ?n))
(<= terminal (true (step 4)))
(goal guesser 0) (goal random 0)
"""
"""One of a hundred places is hidden, and one of five marks put on it; the guesser perceives neither."""


def hidden_places(worlds: BeliefState) -> list[str]:
    """Return the place of each world."""
    facts = (fact for world in worlds.weights for fact in world.state.facts)
    return sorted(str(fact) for fact in facts if str(fact).startswith("(hidden"))


def after_the_mark(max_outcomes: int) -> BeliefState:
    worlds = BeliefState(interpreted_of(MARKED), role("guesser"), 1, max_worlds=500, max_outcomes=max_outcomes)
    for _ in range(2):
        worlds.advance(read_term("noop"), [], SearchBudget())
    return worlds


def test_of_too_many_outcomes_those_of_twenty_worlds_are_looked_at() -> None:
    worlds = after_the_mark(max_outcomes=5 * 20)
    places = hidden_places(worlds)
    assert [places.count(place) for place in set(places)] == [5] * 20
    assert list(worlds.weights.values()) == pytest.approx([1 / 100] * 100)
    assert not worlds.is_exact


def test_where_those_of_twenty_worlds_are_too_many_some_of_each_world_are() -> None:
    assert len(set(hidden_places(after_the_mark(max_outcomes=5 * 20 - 1)))) == 100


@pytest.mark.parametrize(("n_worlds", "max_worlds", "n_draws"), [(20, 200, 0), (19, 200, 1), (12, 12, 0), (11, 12, 1)])
def test_worlds_are_drawn_anew_with_fewer_than_twenty_or_than_are_allowed(
    n_worlds: int, max_worlds: int, n_draws: int, walks: type[GivenWalks]
) -> None:
    worlds = BeliefState(interpreted_of(MARKED), role("guesser"), 1, max_worlds)
    worlds.is_exact = False
    after = [world for world in after_the_mark(2000).weights if read_term("(marked 1)") in world.state.facts]
    worlds.weights = dict.fromkeys(after[:n_worlds], 1.0)
    worlds.advance(read_term("noop"), [], SearchBudget())
    assert (len(worlds.weights), len(walks.asked)) == (n_worlds, n_draws)


@pytest.mark.parametrize(("max_worlds", "is_exact"), [(100, True), (99, False)])
def test_a_belief_is_exact_with_just_as_many_worlds_as_it_may_have(max_worlds: int, is_exact: bool) -> None:
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), 1, max_worlds)
    worlds.advance(read_term("noop"), [], SearchBudget())
    assert (worlds.is_exact, len(worlds.weights)) == (is_exact, max_worlds)


@pytest.mark.parametrize(("max_outcomes", "is_exact"), [(100, True), (99, False)])
def test_a_belief_is_exact_with_just_as_many_outcomes_as_it_may_look_at(max_outcomes: int, is_exact: bool) -> None:
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), 1, max_outcomes=max_outcomes)
    worlds.advance(read_term("noop"), [], SearchBudget())
    assert worlds.is_exact == is_exact


def test_worlds_drawn_anew_are_kept_as_they_are_where_there_are_just_as_many_as_allowed(
    walks: type[GivenWalks],
) -> None:
    walks.found = {world: float(weight) for weight, world in enumerate(hidden_in_rows(1), 1)}
    worlds = BeliefState(interpreted_of(HIDDEN), role("guesser"), 1, max_worlds=10)
    worlds.advance(read_term("noop"), [read_term("(row 1)")], SearchBudget())  # too early: no world agrees
    assert worlds.weights == pytest.approx({world: weight / 55 for world, weight in walks.found.items()})


def test_where_time_runs_out_any_of_the_worlds_are_as_likely_to_be_looked_at(walks: type[GivenWalks]) -> None:
    """Without any, the interpreter looks at sixteen of a hundred; half of the hundred are in the first five rows."""
    of = interpreted_of(HIDDEN)
    places: list[str] = []
    for seed in range(20):
        worlds = BeliefState(of, role("guesser"), seed)
        worlds.advance(read_term("noop"), [], SearchBudget(deadline=Deadline(0.0, lambda: 1.0)))
        places += hidden_places(worlds)
    n_low = sum(place.startswith(tuple(f"(hidden {x} " for x in range(5))) for place in places)
    assert len(places) == 20 * 16
    assert n_low / len(places) == pytest.approx(1 / 2, abs=0.14)


PILES = """
(role guesser) (role random) (init (step 1)) (successor 1 2) (successor 2 3)
(place 0) (place 1) (place 2) (place 3) (place 4) (place 5) (place 6) (place 7) (place 8) (place 9)
(pile 0) (pile 1) (pile 2) (pile 3) (pile 4)
(legal guesser noop)
(<= (legal random (hide ?x ?y ?pile)) (true (step 1)) (place ?x) (place ?y) (pile ?pile))
(<= (legal random noop) (not (true (step 1))))
(<= (next (hidden ?x ?y ?pile)) (does random (hide ?x ?y ?pile)))
(<= (next (hidden ?x ?y ?pile)) (true (hidden ?x ?y ?pile)))
(<= (next (step ?n)) (true (step ?m)) (successor ?m ?n))
(<= (sees guesser (row ?x)) (true (hidden ?x ?y ?pile)))
(<= terminal (true (step 4)))
(goal guesser 0) (goal random 0)
"""
"""Five hundred places, of which the guesser perceives the row in the second step."""


@pytest.mark.parametrize("seed", range(3))
def test_worlds_that_were_dropped_are_looked_at_again_until_there_are_enough(
    seed: int, walks: type[GivenWalks]
) -> None:
    """Each part of a hundred of them has ten of the row, more or less, which has fifty."""
    worlds = BeliefState(interpreted_of(PILES), role("guesser"), seed, max_worlds=100)
    worlds.advance(read_term("noop"), [], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(row 3)")], SearchBudget())
    assert 20 <= len(worlds.weights) < 50


def test_worlds_that_were_dropped_count_once_each(walks: type[GivenWalks]) -> None:
    """All places are as likely, so a world that was kept and is looked at again weighs twice what others do."""
    worlds = BeliefState(interpreted_of(PILES), role("guesser"), 1, max_worlds=100)
    worlds.advance(read_term("noop"), [], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("(row 3)")], SearchBudget())
    least = min(worlds.weights.values())
    assert {round(weight / least, 6) for weight in worlds.weights.values()} == {1.0, 2.0}


BLOCKED = """
(role guesser) (role blocker) (role random)
(init (step 1)) (successor 1 2) (successor 2 3)
(kind free) (kind stuck)
(legal guesser noop) (legal guesser end)
(<= (legal blocker noop) (true (step 1)))
(<= (legal blocker (go ?x)) (true free) (kind ?x))
(<= (legal random ?kind) (true (step 1)) (kind ?kind))
(<= (legal random noop) (not (true (step 1))))
(<= (next ?kind) (does random ?kind))
(<= (next (step ?n)) (true (step ?m)) (successor ?m ?n))
(<= (next over) (does guesser end))
(<= (sees guesser went) (does blocker (go free)))
(<= terminal (true over))
(goal guesser 0) (goal blocker 0) (goal random 0)
"""
"""The rules are faulty: in one of two worlds a role has no legal move, so that no step follows it."""


def blocked(max_outcomes: int = 2000) -> BeliefState:
    worlds = BeliefState(interpreted_of(BLOCKED), role("guesser"), 1, max_outcomes=max_outcomes)
    worlds.advance(read_term("noop"), [], SearchBudget())
    assert len(worlds.weights) == 2
    return worlds


@pytest.mark.parametrize("max_outcomes", [1, 2000])
def test_nothing_follows_a_world_in_which_a_role_has_no_legal_move(max_outcomes: int) -> None:
    worlds = blocked(max_outcomes)
    worlds.advance(read_term("noop"), [read_term("went")], SearchBudget())
    assert list(worlds.weights.values()) == pytest.approx([1.0])
    assert not worlds.is_lost


@pytest.mark.parametrize("seed", range(8))
def test_the_only_world_that_agrees_is_found_among_those_that_were_dropped(seed: int, walks: type[GivenWalks]) -> None:
    worlds = BeliefState(interpreted_of(BLOCKED), role("guesser"), seed, max_worlds=1)
    worlds.advance(read_term("noop"), [], SearchBudget())
    worlds.advance(read_term("noop"), [read_term("went")], SearchBudget())
    assert not worlds.is_lost


def test_a_guess_follows_a_world_in_which_all_roles_have_moves_with_what_they_would_have_perceived() -> None:
    worlds = blocked()
    (free,) = (world for world in worlds.weights if read_term("free") in world.state.facts)
    worlds.advance(read_term("noop"), [read_term("unheard")], SearchBudget())
    (guess,) = worlds.weights
    blocker = past_of(guess.infosets[1])
    moves = (read_term("noop"), blocker[-1][0], read_term("noop"))
    assert (guess.state.facts, guess.infosets) == (
        free.state.next_state(moves).facts,
        belief.infosets_after(worlds.game, free, moves),
    )
    assert worlds.is_lost


def test_the_worlds_of_the_step_before_stay_where_the_play_would_have_ended() -> None:
    worlds = blocked()
    before = dict(worlds.weights)
    worlds.advance(read_term("end"), [], SearchBudget())
    assert (worlds.weights, worlds.is_lost) == (before, True)
