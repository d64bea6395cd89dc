"""The matches in the start clock that decide by what a search goes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.game import State
from gdl.language.rules import read_rules
from players.deadline import Deadline
from players.search.evaluator import compiled_game_of
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from players.search.tree.weights import FluentWeights, WeightLearner
from players.search.trials import Knowledge, _Matches, _Trials, tried_knowledge
from tests.kit.players.games import compiled
from tests.kit.players.weights import FOREVER, breakthrough, constant, learned, ticking


def test_matches_tell_good_weights_from_bad_ones() -> None:
    """Learned weights win against themselves turned round."""
    game, weights = breakthrough(), learned()
    bad, good = (CompiledSearch(game, seed, SearchSettings(memory_mb=8.0)) for seed in (1, 2))
    good.weigh(weights)
    bad.weigh(FluentWeights(-weights.values, weights.n_steps))
    matches = _Matches(game, (bad, good), 0.01, Random(1))
    results = [matches._result(matches._opening(), first, FOREVER) for first in (0, 1)]
    assert results == [1, 1]


def test_a_match_that_is_not_over_at_the_deadline_does_not_count() -> None:
    game = breakthrough()
    matches = _Matches(game, [CompiledSearch(game, 1, SearchSettings(memory_mb=8.0))] * 2, 0.01, Random(1))
    assert matches._result(game.initial_state, 0, Deadline(0.0)) is None


@pytest.mark.parametrize(
    ("results", "least_lead", "is_won"),
    [
        ([], 0, False),
        ([1], 0, True),
        ([1, 0], 0, True),
        ([0, 0], 0, False),
        ([1, -1], 0, False),
        ([1, 0, -1], 0, True),
        ([1, 0, -1], 1, False),
        ([1, 1, -1, 1], 2, True),
        ([0, -1, None, 0], 0, False),
        ([1] * 6 + [-9], 0, True),
        ([-1] * 5, 0, False),
    ],
)
def test_what_was_learned_is_kept_after_a_few_matches_that_are_won_on_the_whole(
    monkeypatch: pytest.MonkeyPatch, results: list[int | None], least_lead: int, is_won: bool
) -> None:
    matches, left = _Matches(breakthrough(), (), 0.01, Random(1)), iter(results)
    monkeypatch.setattr(matches, "_result", lambda *_: next(left, None))
    deadline = Deadline.after(0.02, ticking())
    assert matches.is_won(deadline, deadline, least_lead) is is_won


@pytest.mark.parametrize(
    ("results", "n_matches"),
    [([0, 0, 0, 0], 3), ([1, 0], 2), ([1, 1], 2), ([-1, -1], 2), ([None, 0, None, 1], 4), ([0, 1, -1, 1], 2)],
)
def test_matches_go_on_after_the_deadline_where_too_few_have_come_to_an_end(
    monkeypatch: pytest.MonkeyPatch, results: list[int | None], n_matches: int
) -> None:
    """Each takes a second, of which the deadline leaves none."""
    now_s, played = [0.0], []
    matches = _Matches(breakthrough(), (), 0.01, Random(1))

    def result(_state: State, _place: int, end: Deadline) -> float | None:
        if end.has_passed:
            return None
        now_s[0] += 1.0
        played.append(end.at_s)
        return results[len(played) - 1]

    monkeypatch.setattr(matches, "_result", result)
    deadline, latest = (Deadline(at_s, lambda: now_s[0]) for at_s in (0.0, 4.0))
    matches.is_won(deadline, latest, 0)
    assert played == [4.0] * n_matches


def test_both_sides_have_as_long_for_a_move_as_the_slower_one_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without weights a search plays to the end at least once, and that may take longer than is meant for a move."""
    moves_s: list[float] = []
    monkeypatch.setattr(_Matches, "is_won", lambda matches, *_: moves_s.append(matches._move_s))
    monkeypatch.setattr(
        CompiledSearch, "think", lambda search, *_: passed(0.001 if search.knobs.max_steps == 8 else 0.07)
    )
    now_s = [0.0]

    def passed(seconds: float) -> None:
        now_s[0] += seconds

    deadline = Deadline.after(0.5, lambda: now_s[0])
    _Trials(breakthrough(), SearchSettings(memory_mb=8.0), 1).is_better(
        Knowledge(constant(1.0)), Knowledge(), deadline, deadline, 0
    )
    assert moves_s == [pytest.approx(0.07)]


def knowledge(game: CompiledGame, deadline: Deadline, **settings: Any) -> Knowledge:
    return tried_knowledge(game, SearchSettings(memory_mb=8.0, **settings), 1, deadline, deadline)


def test_without_time_for_a_match_nothing_is_kept() -> None:
    assert knowledge(breakthrough(), Deadline.after(0.1)) == Knowledge()


def test_where_weights_have_taken_all_the_time_no_moves_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Matches, "is_won", None)
    assert knowledge(breakthrough(), Deadline(0.0)) == Knowledge()


def test_where_plays_say_much_of_moves_nothing_is_tried() -> None:
    assert knowledge(compiled_game_of(compiled("hex")), Deadline.after(60.0)) == Knowledge()


def fixed(*goals: int, last: int = 1) -> CompiledGame:
    """Return a game of chance and roles that come to such *goals*, with moves in its first step of *last*."""
    roles = " ".join(f"(role r{n}) (goal r{n} {goal})" for n, goal in enumerate(goals))
    steps = "(init (step 0)) (<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))"
    moves = "(<= (legal ?role go) (role ?role) (true (step 0)))"
    text = f"{roles} (role random) {steps} {moves} (<= terminal (true (step {last})))"
    return compiled_game_of(make_game(read_rules(text), "compiled"))


def test_a_match_of_more_roles_counts_what_each_other_comes_to() -> None:
    game = fixed(50, 100, 0)
    searches = [CompiledSearch(game, seed, SearchSettings(memory_mb=1.0)) for seed in range(3)]
    matches = _Matches(game, searches, 0.01, Random(1))
    assert [matches._result(game.initial_state, place, FOREVER) for place in range(3)] == [0.0, 1.0, -1.0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("goals", "prefers"), [((50, 50), True), ((20, 60, 20), True), ((100,), False)], ids=["two", "three", "alone"]
)
def test_where_plays_all_come_to_the_same_moves_are_preferred_without_a_match(
    monkeypatch: pytest.MonkeyPatch, goals: tuple[int, ...], prefers: bool
) -> None:
    monkeypatch.setattr(_Matches, "is_won", None)
    assert knowledge(fixed(*goals), Deadline.after(1.0)) == Knowledge(prefers=prefers)


def test_where_plays_get_stuck_nothing_is_preferred() -> None:
    assert knowledge(fixed(50, 50, last=2), Deadline.after(1.0)) == Knowledge()


@pytest.mark.exhaustive
def test_where_plays_have_no_end_nothing_is_preferred() -> None:
    """They are left after as many steps as in the search itself."""
    roles = "(role a) (role b) (goal a 50) (goal b 50) (<= (legal ?role go) (role ?role))"
    text = f"{roles} (init on) (next on) (<= terminal (not (true on)))"
    game = compiled_game_of(make_game(read_rules(text), "compiled"))
    assert knowledge(game, Deadline.after(0.5)) == Knowledge()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("mast", "wins", "least_leads", "kept"),
    [
        (None, {"weights", "prefers"}, [1, 1, 2], {"weights", "prefers"}),
        (None, {"weights", "looks_ahead", "prefers"}, [1, 1], {"weights", "looks_ahead"}),
        (None, {"prefers"}, [1, 0], {"prefers"}),
        (None, {"weights"}, [1, 1, 2], {"weights"}),
        (None, set(), [1, 0], set()),
        (False, {"weights", "prefers"}, [1, 1], {"weights"}),
        (False, {"weights", "looks_ahead"}, [1, 1], {"weights", "looks_ahead"}),
        (True, {"weights"}, [1], {"weights", "prefers"}),
    ],
)
def test_what_wins_matches_is_kept(
    monkeypatch: pytest.MonkeyPatch, mast: bool | None, wins: set[str], least_leads: list[int], kept: set[str]
) -> None:
    """First weights against none, then a look ahead by them against plays, else preferred moves against none.

    Moves explain much in breakthrough, so that without weights it is enough that these lose no matches.
    """
    asked: list[int] = []

    def is_won(matches: _Matches, _deadline: Deadline, _latest: Deadline, least_lead: int) -> bool:
        asked.append(least_lead)
        one, other = (known(search) for search in reversed(matches._searches))
        return bool(one - other) and one - other <= wins

    def known(search: CompiledSearch) -> set[str]:
        is_known = {
            "weights": search.knobs.max_steps == 8,
            "looks_ahead": search.knobs.looks_ahead == 1,
            "prefers": search.averages is not None,
        }
        return {name for name, is_so in is_known.items() if is_so}

    monkeypatch.setattr(_Matches, "is_won", is_won)
    monkeypatch.setattr(WeightLearner, "found", lambda _: constant(1.0))
    found = knowledge(breakthrough(), Deadline.after(0.5), mast=mast, decisive=False)
    search = CompiledSearch(breakthrough(), 1, SearchSettings(memory_mb=8.0))
    found.give(search)
    assert (asked, known(search)) == (least_leads, kept)


@pytest.mark.parametrize("lookahead", [True, False])
def test_whether_a_search_looks_ahead_may_be_set(monkeypatch: pytest.MonkeyPatch, *, lookahead: bool) -> None:
    monkeypatch.setattr(_Matches, "is_won", lambda *_: True)
    monkeypatch.setattr(WeightLearner, "found", lambda _: constant(1.0))
    found = knowledge(breakthrough(), Deadline.after(0.5), mast=False, lookahead=lookahead)
    assert found.looks_ahead is lookahead


def test_where_plays_look_ahead_themselves_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do in breakthrough, by tables for what a move wins or loses."""
    monkeypatch.setattr(_Matches, "is_won", lambda *_: True)
    monkeypatch.setattr(WeightLearner, "found", lambda _: constant(1.0))
    assert not knowledge(breakthrough(), Deadline.after(0.5), mast=False).looks_ahead


def test_without_minimax_a_search_does_not_look_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Matches, "is_won", lambda *_: True)
    monkeypatch.setattr(WeightLearner, "found", lambda _: constant(1.0))
    found = knowledge(breakthrough(), Deadline.after(0.5), mast=False, lookahead=True, minimax=False)
    assert not found.looks_ahead


@pytest.mark.parametrize(("name", "least_lead"), [("othello", 0), ("connectfour", 2)])
def test_where_moves_explain_much_of_what_plays_come_to_fewer_matches_must_be_won(
    monkeypatch: pytest.MonkeyPatch, name: str, least_lead: int
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(_Matches, "is_won", lambda *args: asked.append(args[-1]))
    knowledge(compiled_game_of(compiled(name)), Deadline.after(20.0), weights=False)
    assert asked == [least_lead]
