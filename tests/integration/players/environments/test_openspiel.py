"""Games as games of OpenSpiel: its tests pass, its algorithms run, and poker is its poker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (the extra `learn`)")

from open_spiel.python import policy  # noqa: E402 -- after importorskip
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability, mcts  # noqa: E402 -- after importorskip

from gdl.errors import IllegalMoveError, TerminalStateError  # noqa: E402 -- after importorskip
from gdl.game import Game, played_roles  # noqa: E402 -- after importorskip
from players.deadline import Deadline  # noqa: E402 -- after importorskip
from players.environments import openspiel  # noqa: E402 -- after importorskip
from players.environments.openspiel_games import SpielNameTakenError  # noqa: E402 -- after importorskip
from players.player import PlayerFileError  # noqa: E402 -- after importorskip
from players.registry import find_player  # noqa: E402 -- after importorskip
from tests.kit.players.environments import HIDDEN, NEVER, RACE, made  # noqa: E402 -- after importorskip
from tests.kit.players.games import compiled  # noqa: E402 -- after importorskip

KUHN_VALUE = -1 / 18
"""What the first player wins in Kuhn poker where both play an equilibrium, in chips. Source: Kuhn 1950."""
UNIFORM_LEDUC = 2.373611111111111
"""The exploitability of the uniform policy in OpenSpiel's `leduc_poker`, by OpenSpiel."""
GAMES = (
    "tictactoe", "connectfour", "nim", "breakthrough", "kuhnpoker", "leducpoker", "phantomtictactoe",
    "rockpaperscissors", "montyhall",
)  # fmt: skip


def spiel(name: str, unit: float = 50) -> Any:
    return openspiel(compiled(name), unit=unit)


@pytest.mark.parametrize("name", GAMES)
def test_random_simulations_hold_what_openspiel_asks_of_a_game(name: str) -> None:
    pyspiel.random_sim_test(spiel(name), num_sims=3, serialize=False, verbose=False)


@pytest.mark.parametrize("name", ["tictactoe", "kuhnpoker", "rockpaperscissors"])
def test_a_state_is_read_back_from_its_text(name: str) -> None:
    game = spiel(name)
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[0])
    again = game.deserialize_state(state.serialize())
    assert (str(again), again.history(), again.legal_actions()) == (str(state), state.history(), state.legal_actions())
    assert again.information_state_string(0) == state.information_state_string(0)
    again.apply_action(again.legal_actions()[0])
    assert str(again) != str(state)


def test_a_game_of_dice_has_perfect_information() -> None:
    dice = openspiel("pig")
    assert dice.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION
    assert dice.observation_tensor_size() == len(dice.rules.game.fluents)


def test_a_state_s_child_is_another_state() -> None:
    state = spiel("tictactoe").new_initial_state()
    child = state.child(4)
    assert (state.history(), child.history()) == ([], [4])
    assert str(child) != str(state)


def test_a_game_can_be_asked_for_by_name() -> None:
    for _ in range(2):
        openspiel(compiled("tictactoe"), name="tictactoe")
    assert str(pyspiel.load_game("ggp_tictactoe").new_initial_state()) == str(spiel("tictactoe").new_initial_state())


def test_a_name_that_is_taken_is_refused() -> None:
    openspiel(compiled("tictactoe"), name="taken")
    for name, unit in (("nim", 50.0), ("tictactoe", 25.0)):
        with pytest.raises(SpielNameTakenError, match="ggp_taken"):
            openspiel(compiled(name), unit=unit, name="taken")


def test_without_a_name_nothing_is_registered() -> None:
    """OpenSpiel keeps what is registered to the end of the process."""
    before = pyspiel.registered_names()
    spiel("nim")
    openspiel("nim")
    player = find_player("openspiel:random")()
    player.join(compiled("nim"), compiled("nim").roles[0], 1)
    player.start(Deadline.after(60))
    assert pyspiel.registered_names() == before


def test_kuhn_poker_is_openspiel_s() -> None:
    ours, theirs = spiel("kuhnpoker", 25), pyspiel.load_game("kuhn_poker")
    assert len(policy.TabularPolicy(ours).state_lookup) == len(policy.TabularPolicy(theirs).state_lookup) == 12
    uniform = [exploitability.exploitability(game, policy.UniformRandomPolicy(game)) for game in (ours, theirs)]
    assert uniform[0] == pytest.approx(uniform[1])
    solver = cfr.CFRPlusSolver(ours)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    assert exploitability.exploitability(ours, average) < 0.005
    value = expected_game_score.policy_value(ours.new_initial_state(), [average, average])
    assert value == pytest.approx([KUHN_VALUE, -KUHN_VALUE], abs=0.005)


def test_leduc_poker_has_openspiel_s_information_sets() -> None:
    ours, theirs = spiel("leducpoker", 3), pyspiel.load_game("leduc_poker")
    assert len(policy.TabularPolicy(ours).state_lookup) == len(policy.TabularPolicy(theirs).state_lookup) == 936


def test_the_uniform_policy_is_as_exploitable_in_leduc_poker_as_openspiel_says() -> None:
    ours = spiel("leducpoker", 3)
    found = exploitability.exploitability(ours, policy.UniformRandomPolicy(ours))
    assert found == pytest.approx(UNIFORM_LEDUC)


def test_leduc_poker_between_equal_players_is_worth_what_it_is_in_openspiel() -> None:
    values = []
    for game in (spiel("leducpoker", 3), pyspiel.load_game("leduc_poker")):
        uniform = policy.UniformRandomPolicy(game)
        values.append(expected_game_score.policy_value(game.new_initial_state(), [uniform, uniform]))
    assert values[0] == pytest.approx(values[1])


def test_openspiel_s_cfr_finds_in_leduc_poker_what_it_finds_in_its_own() -> None:
    values = []
    for game in (spiel("leducpoker", 3), pyspiel.load_game("leduc_poker")):
        solver = cfr.CFRPlusSolver(game)
        for _ in range(3):
            solver.evaluate_and_update_policy()
        average = solver.average_policy()
        values.append(expected_game_score.policy_value(game.new_initial_state(), [average, average]))
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize(("name", "first"), [("tictactoe", 4), ("rockpaperscissors", 3), ("montyhall", 99)])
def test_an_illegal_action_is_refused_and_changes_nothing(name: str, first: int) -> None:
    """Also where roles choose together, of whom another one chooses next; and where chance chooses."""
    state = spiel(name).new_initial_state()
    if name == "tictactoe":
        state.apply_action(first)
    before = str(state)
    for action in (first, 999):
        with pytest.raises(IllegalMoveError, match="is not a legal move of"):
            state.apply_action(action)
    assert str(state) == before


def test_in_a_play_that_is_over_there_is_no_action() -> None:
    state = spiel("tictactoe").new_initial_state()
    for action in (0, 3, 1, 4, 2):
        state.apply_action(action)
    with pytest.raises(TerminalStateError):
        state.apply_action(5)


def test_mcts_takes_the_winning_move() -> None:
    game = spiel("tictactoe")
    state = game.new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2, 100, mcts.RandomRolloutEvaluator(random_state=rng), random_state=rng)
    assert bot.step(state) == 2


@pytest.mark.parametrize(
    "game",
    [compiled("tictactoe"), compiled("kuhnpoker"), made(RACE + NEVER + HIDDEN)],
    ids=["all is seen", "hidden", "hidden, with a choice of waiting"],
)
def test_the_observation_tensor_is_that_of_arrays(game: Game) -> None:
    from players.environments import VectorGame  # noqa: PLC0415 -- beside what it is compared with

    state = openspiel(game).new_initial_state()
    games = VectorGame(game, 1)
    while not games.is_over[0] and len(state.history()) < 5:
        if state.is_chance_node():
            held = games.states()[0].facts
            state.apply_action(
                next(
                    action for action, _ in state.chance_outcomes() if state.child(action).position.state.facts == held
                )
            )
            continue
        for player in range(2):
            seen = games.observe()[0, player] if game.has_imperfect_information else games.observe()[0]
            assert np.array_equal(state.observation_tensor(player), seen)
        action = state.legal_actions()[-1]
        state.apply_action(action)
        if games.step(np.array([action])).ended[0]:
            return


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("openspiel:nonsense", "bots here are mcts and random, not 'nonsense'"),
        ("openspiel:mcts?simulations=0", "simulations are at least 1, not 0"),
    ],
)
def test_a_bot_that_can_play_no_match_is_refused(spec: str, reason: str) -> None:
    with pytest.raises(PlayerFileError, match=reason):
        find_player(spec)


@pytest.mark.parametrize("spec", ["openspiel:mcts?simulations=20", "openspiel:random"])
def test_a_bot_of_openspiel_takes_a_seat(spec: str) -> None:
    game = compiled("tictactoe")
    players = {role: find_player(spec)() for role in played_roles(game)}
    for seed, (role, player) in enumerate(players.items()):
        player.join(game, role, seed)
        player.start(Deadline.after(60))
    state = game.initial_state
    while not state.is_terminal:
        moves = [player.move(state, role, Deadline.after(60)) for role, player in players.items()]
        state = state.next_state(moves)
    assert sum(state.goal(role) or 0 for role in players) == 100
