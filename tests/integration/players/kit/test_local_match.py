"""Matches in one process."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import pytest

from gdl.display import board_svg
from gdl.engines import make_game
from gdl.errors import IllegalMoveError, NoLegalMoveError
from gdl.game import Game, Role, State
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from players.deadline import Deadline
from players.kit.local_match import LocalMatch
from players.player import Player
from players.stock import GreedyPlayer, LegalPlayer, MctsPlayer, MinimaxPlayer, NestedPlayer, RandomPlayer
from tests.kit.players.games import COIN, UNSEEN_CARD, game, game_of, role

PLAYERS = (LegalPlayer, RandomPlayer, GreedyPlayer, MinimaxPlayer, MctsPlayer, NestedPlayer)
GAMES = (
    "tictactoe", "connectfour", "breakthrough", "nim", "eightpuzzle", "rockpaperscissors", "montyhall", "kuhnpoker",
    "zionsmall",
)  # fmt: skip


class Notes(RandomPlayer):
    """Moves at random and writes down what the match tells it."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def start(self, deadline: Deadline) -> None:
        self.told.append("start")

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:
        self.told.append(f"{own_move}: {' '.join(map(str, percepts))}")

    def stop(self) -> None:
        self.told.append("stop")


class Cheat(Player):
    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        return read_term("(drop 9)")


def seated(of: Game, kinds: Sequence[type[Player]]) -> dict[Role, Player]:
    roles = [each for each in of.roles if each.name != "random"]
    return {each: kind() for each, kind in zip(roles, cycle(kinds), strict=False)}


@pytest.mark.sampled(17)
@pytest.mark.parametrize("kind", PLAYERS)
@pytest.mark.parametrize("name", GAMES)
def test_every_player_plays_every_game_to_its_end_by_the_clock(name: str, kind: type[Player]) -> None:
    """A clock that advances at each look ends every search after so many looks."""
    ticks = iter(range(10**9))
    match = LocalMatch(game(name), seated(game(name), [kind, RandomPlayer]), 1, clock_s=30, clock=lambda: next(ticks))
    steps = list(match.play())
    assert match.state.is_terminal
    assert steps[-1].state == match.state


def test_each_player_gets_its_own_percepts_of_every_step() -> None:
    notes = Notes()
    match = LocalMatch(game("montyhall"), {role("candidate"): notes}, 1)
    steps = [[str(move) for move in step.moves] for step in match.play()]
    assert steps == [["(choose 1)", "(hide_car 3)"], ["noop", "(open 2)"], ["switch", "noop"]]
    assert notes.told == [
        "start", "(choose 1): (you_chose 1)", "noop: (opened_door 2)", "switch: (car_behind 3)", "stop",
    ]  # fmt: skip


def test_equal_seeds_play_equal_matches() -> None:
    def moves(seed: int) -> list[tuple[Term, ...]]:
        return [
            step.moves for step in LocalMatch(game("zionsmall"), seated(game("zionsmall"), [RandomPlayer]), seed).play()
        ]

    assert moves(5) == moves(5)
    assert moves(5) != moves(6)


def test_an_illegal_move_is_refused() -> None:
    connectfour = game("connectfour")
    with pytest.raises(IllegalMoveError, match=r"\(drop 9\) is not a legal move of red"):
        list(LocalMatch(connectfour, seated(connectfour, [Cheat]), 1).play())


def test_a_move_that_the_role_cannot_know_to_be_illegal_is_replaced_by_a_random_one() -> None:
    chosen = read_term("(keep ace)")

    class Keeper(LegalPlayer):
        def move(self, state: State, role: Role, deadline: Deadline) -> Term:
            return chosen if self.worlds.steps else super().move(state, role, deadline)

    def moves(seed: int) -> list[str]:
        match = LocalMatch(game_of(UNSEEN_CARD), {role("player"): Keeper()}, seed)
        return [" ".join(map(str, step.moves)) for step in match.play()]

    assert {tuple(moves(seed)) for seed in range(40)} == {
        ("wait (deal ace)", "(keep ace) rest"),
        ("wait (deal king)", "(keep king) rest"),
        ("wait (deal king)", "(fold king) rest"),
        ("wait (deal queen)", "(keep queen) rest"),
        ("wait (deal queen)", "(fold queen) rest"),
    }


def test_a_move_that_no_world_allows_is_refused_in_a_game_of_hidden_information() -> None:
    of = game_of(UNSEEN_CARD)
    with pytest.raises(IllegalMoveError, match=r"\(drop 9\) is not a legal move of player"):
        list(LocalMatch(of, {role("player"): Cheat()}, 1).play())


def test_mcts_plays_a_game_that_it_sees_wholly_on_states() -> None:
    """The safe move is found by the tree search, which counts its playouts."""
    player = MctsPlayer(playouts=200)
    match = LocalMatch(game_of(COIN), {role("player"): player}, 1)
    assert [str(step.moves[0]) for step in match.play()] == ["safe"]
    found = player.perfect.tree.n_iterations, player.hidden.search.n_iterations
    assert (player.sees_everything, found[0] > 0, found[1]) == (True, True, 0)


def test_rules_that_leave_a_role_without_a_move_are_at_fault() -> None:
    stuck = make_game(read_rules("(role a) (init p) (<= (legal a go) (true p)) (<= terminal (true q))"))
    with pytest.raises(NoLegalMoveError) as caught:
        list(LocalMatch(stuck, {stuck.roles[0]: LegalPlayer()}, seed=1).play())
    assert (caught.value.role, caught.value.step) == ("a", 1)


def test_a_match_keeps_its_steps_and_shows_the_state_that_they_led_to() -> None:
    tictactoe = game("tictactoe")
    match = LocalMatch(tictactoe, seated(tictactoe, [LegalPlayer]), seed=1)
    assert match._repr_svg_() == board_svg(tictactoe.description, tictactoe.initial_state.facts)
    assert list(match.play()) == match.steps
    assert match._repr_svg_() == board_svg(tictactoe.description, match.steps[-1].state.facts)


def test_the_start_may_have_a_clock_of_its_own() -> None:
    class Clocks(LegalPlayer):
        """Writes down how long it may think, by a clock that stands."""

        seconds: list[float]

        def start(self, deadline: Deadline) -> None:
            self.seconds = [deadline.remaining_s]

        def move(self, state: State, role: Role, deadline: Deadline) -> Term:
            self.seconds.append(deadline.remaining_s)
            return super().move(state, role, deadline)

    player = Clocks()
    match = LocalMatch(game("montyhall"), {role("candidate"): player}, 1, 2.0, lambda: 0.0, start_clock_s=9.0)
    list(match.play())
    assert player.seconds == [9.0, 2.0, 2.0, 2.0]
