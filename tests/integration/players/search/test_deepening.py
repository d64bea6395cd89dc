"""Alpha-beta on the compiled engine: its values are those of the search on the interpreter."""

from __future__ import annotations

from random import Random

import pytest

from gdl.compiler.compiled import CompiledState
from gdl.engines import make_game
from gdl.game import Game, State
from gdl.games.library import find_game
from players.deadline import Deadline, SearchBudget
from players.search.alphabeta.deepening import CompiledAlphaBeta
from players.search.alphabeta.minimax import estimate
from players.search.positions import Positions, SearchPosition
from players.stock import MinimaxPlayer
from tests.integration.players.search.test_proof import COUNTDOWN, compiled, of_text
from tests.kit.players.games import role

FAR = SearchBudget()


class Plain:
    """Looks a number of steps ahead, without any table."""

    def __init__(self, game: Game, me: int) -> None:
        self.positions, self.me = Positions(game), me
        self.others = tuple(i for i in range(len(game.roles)) if i != me)

    def value(self, state: State, depth: int) -> float:
        return self._value(self.positions.at(state), depth)

    def _value(self, position: SearchPosition, depth: int) -> float:
        if position.is_end or depth == 0:
            return estimate(position, self.me, self.others)
        values = [self._value(position.after(choice), depth - 1) for choice in position.choices()]
        return max(values) if len(position.moves[self.me]) > 1 else min(values)


def reached(game: Game, n_steps: int, seed: int) -> State:
    random, state = Random(seed), game.initial_state
    for _ in range(n_steps):
        following = state.next_state([random.choice(state.legal_moves(each)) for each in game.roles])
        if following.is_terminal:
            break
        state = following
    return state


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("name", "depth"), [("tictactoe", 5), ("nim", 4), ("connectfour", 4)])
@pytest.mark.parametrize("n_steps", [1, 2, 4])
def test_values_are_those_of_a_plain_search_of_the_interpreter(name: str, depth: int, n_steps: int) -> None:
    game, interpreted = compiled(name), make_game(find_game(name).read(), "interpreter")
    state = reached(interpreted, n_steps, seed=n_steps)
    for me, mine in enumerate(game.roles):
        if len(state.legal_moves(mine)) == 1:
            continue
        search = CompiledAlphaBeta(game, mine, Random(1), 4)
        plain = Plain(interpreted, me)
        here = game.state(state.facts)
        assert isinstance(here, CompiledState)
        best = state.legal_moves(mine)[0]
        while search.depth < depth and not search.is_over:
            best = search.deepen(here, best, FAR)
            assert search.value == pytest.approx(plain.value(state, search.depth), abs=1e-5)
            moves = [best if each == mine else state.legal_moves(each)[0] for each in game.roles]
            if search.value > -1.0:
                assert plain.value(state.next_state(moves), search.depth - 1) == pytest.approx(search.value, abs=1e-5)


@pytest.mark.parametrize("seed", [28, 46])
def test_a_win_is_seen_among_27_moves(seed: int) -> None:
    game = compiled("breakthrough")
    state = reached(game, 26, seed)
    (mine,) = (each for each in game.roles if len(state.legal_moves(each)) == 27)
    assert isinstance(state, CompiledState)
    best = CompiledAlphaBeta(game, mine, Random(1), 4).deepen(state, state.legal_moves(mine)[0], FAR)
    following = state.next_state([best if each == mine else state.legal_moves(each)[0] for each in game.roles])
    assert (following.is_terminal, following.goal(mine)) == (True, 100)


def test_goals_are_whatever_the_rules_say() -> None:
    game = of_text(COUNTDOWN)
    search = CompiledAlphaBeta(game, game.roles[0], Random(1), 4)
    assert search.think(game.initial_state, FAR) == game.initial_state.legal_moves(game.roles[0])[1]
    assert search.value == pytest.approx(0.4, abs=1e-5)


def test_a_game_is_looked_at_to_its_end_and_no_further() -> None:
    game = compiled("tictactoe")
    search = CompiledAlphaBeta(game, game.roles[0], Random(1), 4)
    assert search.think(game.initial_state, FAR) in game.initial_state.legal_moves(game.roles[0])
    assert (search.value, search.depth) == (0.0, 9)


def test_a_search_stops_after_any_number_of_states_and_equal_seeds_give_equal_moves() -> None:
    game = compiled("connectfour")

    def found(n: int) -> tuple[object, int]:
        search = CompiledAlphaBeta(game, game.roles[0], Random(3), 4)
        return search.think(game.initial_state, SearchBudget(n)), search.n_states

    for n in (1, 100, 3_000):
        move, n_states = found(n)
        assert (move, n_states) == found(n)
        assert move in game.initial_state.legal_moves(game.roles[0])
        assert n <= n_states < n + 10


def test_roles_that_move_at_the_same_time_are_left_to_the_interpreter() -> None:
    game = compiled("rockpaperscissors")
    search = CompiledAlphaBeta(game, game.roles[0], Random(1), 4)
    assert search.think(game.initial_state, FAR) is None
    player = MinimaxPlayer()
    player.join(game, game.roles[0], seed=1)
    player.start(Deadline.after(600.0))
    assert player.move(game.initial_state, player.role, Deadline.after(0.1)) in game.initial_state.legal_moves(
        player.role
    )


def test_the_player_searches_compiled_where_the_clock_decides() -> None:
    for player, is_compiled in ((MinimaxPlayer(), True), (MinimaxPlayer(positions=50), False)):
        game = compiled("connectfour")
        player.join(game, role("red"), seed=1)
        player.start(Deadline.after(600.0))
        assert (player.compiled is not None) == is_compiled
        assert player.move(game.initial_state, player.role, Deadline.after(0.2)) in game.initial_state.legal_moves(
            player.role
        )
        assert (player.search.n_iterations == 0) == is_compiled
