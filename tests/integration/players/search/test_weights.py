"""Weights of fluents: what is learned from plays, and how plays that are cut are judged."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledState
from gdl.compiler.kernels.playouts import LanePlayer
from gdl.game import Game
from gdl.language.kif import read_term
from players.deadline import Deadline, SearchBudget
from players.search import perfect_information
from players.search.evaluator import compiled_game_of
from players.search.tree.features import Feature, by_fluent, count_features
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import MAX_STEPS, SearchSettings
from players.search.tree.weights import FluentWeights, _Moments, add_products
from players.search.trials import Knowledge
from players.stock import MctsPlayer
from tests.kit.players.games import compiled
from tests.kit.players.weights import FOREVER, breakthrough, constant, learned, learner_of, ticking


def test_in_breakthrough_own_pieces_count_and_more_so_ahead() -> None:
    found, game = learned(), breakthrough()
    number = {str(fluent): i for i, fluent in enumerate(game.fluents)}
    worth = np.array([[found.values[number[f"(cell {x} {y} white)"]] for x in range(1, 9)] for y in range(1, 8)])
    assert worth[4:].mean() > 4 * worth[:4].mean() > 0
    assert all(found.values[number[f"(cell {x} 4 black)"]] < 0 for x in range(1, 9))


def test_in_kalah_a_store_that_is_hardly_ever_as_full_is_worth_more() -> None:
    """A third of all seeds says little, more than half of them win."""
    game = compiled_game_of(compiled("kalah"))
    learner = learner_of(game)
    assert all(learner.play(FOREVER) for _ in range(20))
    found, number = learner.found(), {str(fluent): i for i, fluent in enumerate(game.fluents)}
    assert found is not None
    worth = [found.values[number[f"(hole 7 south {n})"]] for n in range(49)]
    assert min(worth[25:]) > max(worth[:17]) + 1


def test_sums_of_weights_differ_as_much_as_meant() -> None:
    """In the log-odds of results that skill decides, not chance: random plays say much less of an advantage."""
    found, game = learned(), breakthrough()
    assert isinstance(game.initial_state, CompiledState)
    packed = np.frombuffer(game.initial_state.packed, np.uint8)[None]
    plays = LanePlayer(game.rules).trace(packed, 512, 1, 60)
    sums = plays.facts[plays.is_playing] @ found.values[:-1] + found.values[-1]
    assert sums.std() == pytest.approx(2.4, rel=0.2)
    assert abs(sums.mean()) < 0.5


@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "kuhnpoker", "eightpuzzle", "relay", "pig"])
def test_games_of_other_kinds_teach_nothing(name: str) -> None:
    """Plays are short, chance plays, there is one role, or goals have no fixed sum."""
    assert not learner_of(compiled_game_of(compiled(name))).learn(FOREVER)


def test_nothing_is_learned_after_the_deadline() -> None:
    learner = learner_of(breakthrough())
    assert learner.learn(Deadline(0.0))
    assert learner.found() is None


def test_a_play_under_way_at_the_deadline_does_not_count() -> None:
    learner = learner_of(breakthrough())
    assert learner.play(Deadline(0.002, ticking()))
    assert learner.found() is None


def test_features_add_up_lane_by_lane() -> None:
    random = np.random.default_rng(1)
    holds, amounts = random.random((20, 512)) < 0.3, random.integers(0, 3, (20, 7)).astype(np.float32)
    values = np.zeros((21, 8), np.uint64)
    values[1:] = np.packbits(holds, axis=1, bitorder="little").view(np.uint64)
    counts = np.zeros((512, 7), np.float32)
    features = by_fluent(20, [Feature(np.flatnonzero(each), each[each > 0]) for each in amounts.T])
    count_features(values, features.begins, features.belongs, features.amounts, counts)
    assert (counts == holds.T.astype(np.float32) @ amounts).all()


def test_products_are_added_up() -> None:
    counts = np.random.default_rng(1).integers(0, 3, (50, 9)).astype(np.float32)
    sums = np.ones((9, 9))
    add_products(counts, sums)
    assert (sums == 1 + counts.T @ counts).all()


def test_slopes_are_those_of_least_squares() -> None:
    random = np.random.default_rng(1)
    counts = random.integers(0, 9, (5_000, 3)).astype(np.float32)
    results = (counts @ [0.1, -0.2, 0.0] + random.normal(0, 0.1, 5_000)).astype(np.float32)
    moments = _Moments(3)
    moments.add(counts[:3_000], results[:3_000])
    moments.add(counts[3_000:], results[3_000:])
    slopes = moments.fitted()
    assert slopes == pytest.approx([0.1, -0.2, 0.0], abs=2e-3)
    known = counts @ slopes
    assert moments.explained(slopes) == pytest.approx(np.corrcoef(known, results)[0, 1] ** 2, abs=1e-3)
    assert moments.explained(-slopes) < 0


@pytest.mark.parametrize(("worth", "goals"), [(20.0, (100, 0)), (-20.0, (0, 100)), (0.0, (50, 50))])
def test_plays_that_are_cut_are_worth_what_weights_say(worth: float, goals: tuple[int, int]) -> None:
    game = breakthrough()
    search = CompiledSearch(game, 1, SearchSettings(memory_mb=8.0))
    search.weigh(constant(worth))
    root = search.begin(game.initial_state, SearchBudget(200))
    root = search.work(root, 200)
    assert {round(each.mean) for each in search.tree.figures(root, game.roles[0]) if each.n_walks} == {goals[0]}


def test_weights_of_the_fluents_that_hold_are_added_up() -> None:
    game = breakthrough()
    search = CompiledSearch(game, 1, SearchSettings(memory_mb=8.0))
    weights = np.random.default_rng(1).normal(0, 0.5, len(game.fluents) + 1).astype(np.float32)
    search.weigh(FluentWeights(weights, 8))
    search.work(search.begin(game.initial_state, SearchBudget(100)), 100)
    plays = search.workers[0].room.plays
    holds = np.unpackbits(plays.lanes.values[1 : 1 + len(game.fluents)].view(np.uint8), axis=1, bitorder="little")
    is_cut = np.unpackbits(plays.lanes.retired.view(np.uint8), bitorder="little") == 0
    assert is_cut.any()
    assert plays.sums[is_cut] == pytest.approx((weights[:-1] @ holds + weights[-1])[is_cut], abs=1e-4)


def started(
    game: Game, monkeypatch: pytest.MonkeyPatch, start_s: float, *, weights: bool, mast: bool | None
) -> tuple[CompiledSearch, int]:
    """Return the search of a player without proofs after its first moves, and how often weights were tried."""
    tried = count()

    def found(*_: object) -> Knowledge:
        next(tried)
        return Knowledge(constant(1.0))

    monkeypatch.setattr(perfect_information, "tried_knowledge", found)
    monkeypatch.setattr(MctsPlayer, "proves", False)
    player = MctsPlayer(memory=8, weights=weights, mast=mast)
    player.join(game, game.roles[0], 1)
    player.start(Deadline.after(start_s))
    player.perfect.rest()
    background = player.perfect.background
    assert background is not None
    search = background.get(600.0)
    assert isinstance(search, CompiledSearch)
    for clock_s in (0.05, 2.0, 1.0):
        player.move(game.initial_state, game.roles[0], Deadline.after(clock_s))
    return search, next(tried)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("start_s", "weights", "mast", "max_steps", "n_tried"),
    [
        (600.0, True, None, 8, 1),
        (0.1, True, None, 8, 1),
        (600.0, True, False, 8, 1),
        (600.0, False, None, 8, 1),
        (600.0, False, False, MAX_STEPS, 0),
        (600.0, False, True, MAX_STEPS, 0),
    ],
)
def test_a_player_learns_once_as_soon_as_there_is_time_and_something_to_decide(
    monkeypatch: pytest.MonkeyPatch, start_s: float, weights: bool, mast: bool | None, max_steps: int, n_tried: int
) -> None:
    search, n = started(compiled("breakthrough"), monkeypatch, start_s, weights=weights, mast=mast)
    assert (search.knobs.max_steps, n) == (max_steps, n_tried)


def test_no_fluent_of_a_kind_of_its_own_gets_a_weight() -> None:
    """A pattern is what several fluents have in common."""
    game = breakthrough()
    found = learned()
    lonely = [i for i, fluent in enumerate(game.fluents) if fluent == read_term("(control white)")]
    assert [float(found.values[i]) for i in lonely] == [0.0]
