"""Random games mean the same on every engine; and what compares them finds engines that are wrong, dead or silent.

Some of the first random games always, more with GGP_EXHAUSTIVE=all (`make exhaustive`), and any number by `make fuzz`.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import Final, NoReturn

import pytest

from gdl.compiler.circuit import Circuit
from gdl.compiler.compiled import CompiledGame
from gdl.compiler.pipeline import rules_of
from gdl.compiler.tables import CompiledRules
from gdl.errors import FaultyTablesError
from tests.fuzz.campaign import Campaign
from tests.fuzz.comparison import Comparison, compare
from tests.fuzz.differences import DifferenceError
from tests.fuzz.generator import random_game
from tests.fuzz.plays import N_PLAYS
from tests.fuzz.shrinking import shrunk
from tests.fuzz.workers import Outcome, Worker
from tests.kit.exhaustive import IS_EXHAUSTIVE, sampled
from tests.kit.gdl.compiler.engines import both

BLOCK: Final = 15
N_GAMES: Final = BLOCK if IS_EXHAUSTIVE else 4
"""So many of a block are compared."""
GAME: Final = """
(role r) (init (step 1)) (succ 1 2) (succ 2 3)
(legal r x) (legal r y)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next lamp) (does r x)) (<= (next lamp) (true lamp))
(<= lit (true lamp)) (<= lit lit (true (step 2)))
(<= terminal (true (step 3)))
(<= (goal r 100) lit) (<= (goal r 0) (not lit))
"""


@pytest.mark.parametrize("first", sampled(range(0, 90, BLOCK), 15))
def test_random_games_mean_the_same_on_every_engine(first: int) -> None:
    summary = Campaign(n_jobs=1).run(range(first, first + N_GAMES))
    assert summary.failures == []
    assert summary.n_compared > 0.9 * N_GAMES
    assert summary.features["exact"] > N_GAMES // 2
    assert summary.variants["plain"] > 0.8 * N_GAMES


@pytest.mark.exhaustive
def test_random_games_are_all_kinds_of_games() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(40):
        drawn.update(random_game(seed).features)
    assert {
        "recursion", "mutual recursion", "recursion over moves", "negation", "locally stratified negation", "or",
        "functions", "several roles", "joint moves", "random", "sees", "turns", "phases", "don't-care arguments",
    } <= set(drawn)  # fmt: skip


def test_a_seed_tells_all() -> None:
    assert random_game(7) == random_game(7)
    assert random_game(7).text != random_game(8).text


def test_a_game_on_which_all_is_well_says_what_was_compared() -> None:
    found = compare(GAME, 1)
    assert found.n_states >= 4
    assert "plain" in found.variants
    assert {"exact", "goals differ", "more than one step"} <= found.features


def test_wrong_goals_of_single_states_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CompiledGame, "goals_of", lambda _self, _packed: (50,))
    with pytest.raises(DifferenceError, match=r"plain: goals: .* instead of"):
        compare(GAME, 1)


def broken_for_plays(circuit: Circuit) -> CompiledRules:
    """Return tables whose goals are wrong, and only in plays."""
    found = rules_of(circuit)
    return replace(found, phased=found.phased._replace(goal_value=found.phased.goal_value ^ 1))


def test_wrong_goals_of_plays_are_found_where_all_states_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.variants.rules_of", broken_for_plays)
    with pytest.raises(DifferenceError, match="plain, rows reused: counts"):
        compare(GAME, 1)


def test_a_move_that_is_chosen_too_often_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rare = GAME.replace("(<= (next lamp) (does r x))", "(<= (next lamp) (does r x)) (legal r z)")
    expected = compare(rare, 1)
    assert "exact" in expected.features
    _, other = both(GAME)
    found = other.playouts(other.initial_state, N_PLAYS, 1)
    monkeypatch.setattr(CompiledGame, "playouts", lambda *_: found)
    with pytest.raises(DifferenceError, match=r"plays: goals: 7\d\.\d+ on average of 50000 plays instead of 55\.5"):
        compare(rare, 1)


def test_tables_that_the_verifier_refuses_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_circuit: Circuit) -> NoReturn:
        raise FaultyTablesError("a row is read before it is written")

    monkeypatch.setattr("tests.fuzz.variants.rules_of", refuse)
    with pytest.raises(FaultyTablesError):
        compare(GAME, 1)


def dies(text: str, seed: int) -> Comparison:
    if "die" in text:
        os.abort()
    while "loop" in text:
        pass
    return Comparison(len(text), seed, (), frozenset())


@pytest.mark.exhaustive
def test_a_process_that_dies_or_is_silent_is_a_failure_of_that_game_alone() -> None:
    with Worker(timeout_s=1, compare=dies) as worker:
        found = [worker.compare(text, seed) for seed, text in enumerate(["good", "die", "good", "loop", "good"])]
    assert found == [
        Outcome(comparison=Comparison(4, 0, (), frozenset())),
        Outcome(failure="the process died: SIGABRT", games_before=(0,)),
        Outcome(comparison=Comparison(4, 2, (), frozenset())),
        Outcome(failure="the process died: no answer in 1 s of processor time", games_before=(2,)),
        Outcome(comparison=Comparison(4, 4, (), frozenset())),
    ]


def test_rules_of_a_failure_are_made_small() -> None:
    text = "(a 1)\n(<= (b ?x) (a ?x) (c ?x) (d ?x))\n(<= e (not f))\n(c 2)\n(d 3)\n"
    found = shrunk(text, lambda candidate: "(b ?x)" in candidate and "(c ?x)" in candidate, max_seconds=60)
    assert found == "(<= (b ?x) (c ?x))\n"
