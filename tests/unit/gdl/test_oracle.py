"""The naive evaluator of games is right on games that were worked out by hand."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fuzz.evaluator import EXACT_STEPS, Ends, NaiveGame
from tests.kit.gdl.oracle import TooLarge

GAMES: Final = tomllib.loads((Path(__file__).parents[2] / "fuzz" / "known_games.toml").read_text())["game"]


def having(*keys: str) -> pytest.MarkDecorator:
    """Run a test on the games that say something about *keys*."""
    games = [game for game in GAMES if all(key in game for key in keys)]
    return pytest.mark.parametrize("known", games, ids=[game["name"] for game in games])


def naive(known: dict[str, Any]) -> NaiveGame:
    return NaiveGame(known["rules"], n_steps=1_000)


@having("legal")
def test_the_moves_of_the_first_state_are_known(known: dict[str, Any]) -> None:
    assert naive(known).initial.legal == tuple(map(tuple, known["legal"]))


@having("roles")
def test_roles_are_in_order(known: dict[str, Any]) -> None:
    assert naive(known).roles == tuple(known["roles"])


@having("next")
def test_what_follows_a_joint_move_is_known(known: dict[str, Any]) -> None:
    game = naive(known)
    for expected in known["next"]:
        after = game.after(game.initial, tuple(expected["moves"]))
        assert after.fluents == set(expected["fluents"])
        assert after.percepts == tuple(map(tuple, expected["percepts"]))


@having("ends")
def test_the_chance_of_every_end_is_exact(known: dict[str, Any]) -> None:
    expected: Ends = {}
    for end in known["ends"]:
        goals = tuple(None if goal < 0 else goal for goal in end.get("goals", ()))
        expected[None if "stuck" in end else (end["length"], goals)] = Fraction(end["chance"])
    game = naive(known)
    assert game.ends(game.initial) == expected


@having("mean_length")
def test_plays_of_any_length_have_their_chances(known: dict[str, Any]) -> None:
    game = naive(known)
    ends = game.ends(game.initial)
    assert all(
        end is not None and ends[end] == Fraction(1, 2 ** end[0]) for end in ends if end and end[0] < EXACT_STEPS
    )
    lengths = sum(float(chance) * end[0] for end, chance in ends.items() if end is not None)
    assert lengths == pytest.approx(known["mean_length"], abs=1e-9)


def test_plays_that_do_not_end_are_too_large() -> None:
    game = NaiveGame("(role r) (legal r wait) (init here) (next here) (<= terminal (true nowhere))", n_steps=10)
    with pytest.raises(TooLarge):
        game.ends(game.initial)


def test_no_more_joint_moves_are_looked_at_than_allowed() -> None:
    rules = "(role r) (legal r a) (legal r b) (<= (next ?m) (does r ?m)) (<= (next x) (true a)) (<= terminal (true x))"
    enough, too_few = (NaiveGame(rules, n_steps) for n_steps in (6, 5))
    assert sum(enough.ends(enough.initial).values()) == pytest.approx(1)
    with pytest.raises(TooLarge):
        too_few.ends(too_few.initial)


def test_what_depends_on_its_own_negation_has_no_meaning() -> None:
    with pytest.raises(ValueError, match="undecided"):
        NaiveGame("(role r) (<= p (not q)) (<= q (not p))", n_steps=1)
