"""The best engine there is: interpreted at once, compiled when it can be, and callers do not see the seam."""

from __future__ import annotations

import logging
from random import Random

import pytest

from gdl.compiler.compilation import CompileLimits
from gdl.compiler.compiled import CompiledState
from gdl.engines import BestGame, make_game
from gdl.game import State
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules


def best(name: str) -> BestGame:
    return BestGame(InterpretedGame(find_game(name).read()))


def test_a_game_is_interpreted_until_it_is_compiled_and_both_kinds_of_state_are_equal() -> None:
    game = best("tictactoe")
    before = game.initial_state
    moves = [before.legal_moves(role)[0] for role in game.roles]
    interpreted = before.next_state(moves)
    assert (game.engine, game.compiled) == ("interpreter", None)
    assert game.wait()
    assert game.engine == "compiled"
    after = game.initial_state
    assert isinstance(after, CompiledState)
    assert (before, hash(before)) == (after, hash(after))
    assert (after, before) == (before, after)
    compiled = before.next_state(moves)
    assert isinstance(compiled, CompiledState)
    assert (interpreted, hash(interpreted)) == (compiled, hash(compiled))
    assert len({before, after, interpreted, compiled}) == 2


def test_states_of_other_games_are_not_equal() -> None:
    game, other = best("tictactoe"), best("tictactoe")
    assert game.wait()
    assert other.wait()
    assert game.initial_state != other.initial_state
    assert game.initial_state != best("tictactoe").initial_state


def test_a_play_goes_on_across_the_change() -> None:
    game = best("tictactoe")
    state, random = game.initial_state, Random(1)
    reference: State = InterpretedGame(game.description).initial_state
    for step in range(20):
        if reference.is_terminal:
            break
        moves = [random.choice(reference.legal_moves(role)) for role in game.roles]
        assert [state.legal_moves(role) for role in game.roles] == [reference.legal_moves(role) for role in game.roles]
        state, reference = state.next_state(moves), reference.next_state(moves)
        assert state.facts == reference.facts
        if step == 2:
            assert game.wait()
    assert isinstance(state, CompiledState)
    assert state.is_terminal


def test_a_game_that_cannot_be_compiled_stays_interpreted_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    rules = InterpretedGame(find_game("tictactoe").read())
    game = BestGame(rules, CompileLimits(max_ground_rules=10))
    with caplog.at_level(logging.WARNING):
        assert not game.wait()
    assert not game.wait(0)
    assert game.note is not None
    assert game.note.reason == "it has more than 10 ground rules"
    assert caplog.messages == [f"{game.note}; the interpreter goes on"]
    assert game.playouts(game.initial_state, 2, 1).n_plays == 2


def test_interpreting_for_long_begins_to_compile() -> None:
    game = best("tictactoe")
    game.note_time(10.0)
    assert game.wait()


def test_playouts_wait_for_the_compiled_engine() -> None:
    game = make_game(read_rules("(role r) (init a) (legal r go) (<= (next b) (true a)) (<= terminal (true b))"))
    found = game.playouts(game.initial_state, 1_000, 1)
    assert (game.engine, found.n_plays, found.n_steps) == ("compiled", 1_000, 1_000)
