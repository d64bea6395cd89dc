"""The Monte Carlo player: which search it uses, and the puzzles' player that falls back on it."""

from __future__ import annotations

import pytest

from gdl.engines import BestGame, make_game
from gdl.game import Game
from gdl.games.library import find_game
from gdl.language.kif import read_term
from players.deadline import Deadline
from players.search import perfect_information
from players.search.evaluator import LaneEvaluator, StateEvaluator
from players.stock import MctsPlayer, NestedPlayer
from tests.kit.players.games import COIN, FOUR_WAYS, compiled, game, game_of, role
from tests.kit.players.plain import TreePlayer

FOREVER = Deadline(float("inf"))


def at_the_first_move(player: MctsPlayer, of: Game, mine: str) -> MctsPlayer:
    player.join(of, role(mine), seed=1)
    player.start(FOREVER)
    player.move(of.initial_state, player.role, FOREVER)
    return player


@pytest.mark.parametrize(
    ("of", "mine", "on_states"),
    [
        (game("connectfour"), "red", True),
        (game_of(COIN), "player", True),
        (game("montyhall"), "candidate", False),
    ],
)
def test_states_are_searched_where_the_role_sees_everything_and_views_where_not(
    of: Game, mine: str, on_states: bool
) -> None:
    player = at_the_first_move(MctsPlayer(playouts=30), of, mine)
    assert (player.perfect.tree.n_iterations > 0, player.hidden.search.n_iterations > 0) == (on_states, not on_states)


def test_an_insight_belongs_to_the_last_move_and_to_no_move_before() -> None:
    of = game("tictactoe")
    player = at_the_first_move(MctsPlayer(playouts=30), of, "x")
    told = player.insight()
    assert told is not None
    assert (told.n_playouts > 0, len(told.line)) == (True, 1)
    second = of.initial_state.next_state((read_term("(mark 1 1)"), read_term("noop")))
    assert (str(player.move(second, player.role, FOREVER)), player.insight()) == ("noop", None)


def test_without_time_to_find_out_views_are_searched() -> None:
    coin = game_of(COIN)
    player = MctsPlayer(playouts=30)
    player.join(coin, role("player"), seed=1)
    player.start(Deadline(0.0, lambda: 1.0))
    player.move(coin.initial_state, player.role, FOREVER)
    assert (player.perfect.tree.n_iterations, player.hidden.search.n_iterations) == (0, 30)


def test_nested_searches_puzzles_itself() -> None:
    player = NestedPlayer(playouts=100)
    assert at_the_first_move(player, game_of(FOUR_WAYS), "player").perfect.tree.n_iterations == 0
    assert player.search is not None
    assert player.search.best_goal == 1.0


def test_nested_plays_games_of_more_roles_as_mcts_does() -> None:
    player = NestedPlayer(playouts=30)
    assert at_the_first_move(player, game("connectfour"), "red").perfect.tree.n_iterations > 0
    assert player.search is None


def evaluator_after_start(player: MctsPlayer, of: Game, deadline: Deadline = FOREVER) -> type[object]:
    player.join(of, of.roles[0], seed=1)
    player.start(deadline)
    return type(player.perfect.tree.evaluator)


def test_the_compiled_engine_is_waited_for_in_the_start_clock() -> None:
    fresh = make_game(find_game("tictactoe").read())
    assert evaluator_after_start(MctsPlayer(), fresh) is LaneEvaluator


def test_a_game_compiled_later_is_searched_compiled_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGP_GAME_CACHE", "off")  # so that it is compiled in its own time
    fresh = make_game(find_game("tictactoe").read())
    assert isinstance(fresh, BestGame)
    player = MctsPlayer()
    assert evaluator_after_start(player, fresh, Deadline(0.0, lambda: 1.0)) is StateEvaluator
    fresh.wait()
    player.move(player.worlds.state, player.role, Deadline.after(0.1))
    assert type(player.perfect.tree.evaluator) is LaneEvaluator


def test_the_tree_is_compiled_where_the_game_is_and_the_clock_decides() -> None:
    for player, is_compiled in (
        (MctsPlayer(), True),
        (MctsPlayer(playouts=30), False),
        (MctsPlayer(engine="python"), False),
        (MctsPlayer(engine="interpreter"), False),
    ):
        evaluator_after_start(player, compiled("tictactoe"))
        assert (player.perfect.background is not None) == is_compiled
        assert player.move(player.worlds.state, player.role, Deadline.after(0.2)) in player.worlds.state.legal_moves(
            player.role
        )
        player.stop()


def test_a_small_game_is_solved_in_the_start_clock_and_nothing_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfect_information, "tried_knowledge", None)
    player = MctsPlayer()
    player.join(compiled("tictactoe"), role("x"), seed=1)
    player.start(Deadline.after(600.0))
    move = player.move(player.worlds.state, player.role, Deadline.after(60.0))
    found = player.insight()
    assert move in player.worlds.state.legal_moves(player.role)
    assert found is not None
    assert (found.is_proven, found.value, found.n_playouts) == (True, 50.0, 0)
    player.stop()


def test_where_proofs_are_not_wanted_the_tree_alone_searches() -> None:
    player = TreePlayer()
    evaluator_after_start(player, compiled("tictactoe"))
    assert player.perfect.prover is None
    player.stop()


def test_an_engine_can_be_asked_for() -> None:
    assert evaluator_after_start(MctsPlayer(engine="interpreter"), game("tictactoe")) is StateEvaluator
