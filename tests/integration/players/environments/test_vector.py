"""Arrays of plays are what the interpreter makes of the same moves."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from copy import copy as copied
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from gdl import IllegalMoveError, find_game, make_game, read_rules
from gdl.errors import WrongTypeError
from gdl.game import RANDOM, Game, Role, State
from gdl.language.kif import read_term
from gdl.language.rules import Description
from gdl.language.terms import Term
from players.environments import VectorGame, buffers
from players.environments.kernels import stepping
from tests.kit.players.environments import AGAIN, HIDDEN, LONER, NEVER, RACE, made

FLAT = ("tictactoe", "connectfour", "breakthrough", "nim", "kuhnpoker", "leducpoker", "phantomtictactoe", "eightpuzzle")
TOGETHER = ("rockpaperscissors", "zombies", "montyhall", "mummymaze", "tictactoe", "kuhnpoker")
FOLLOWED = 3
"""How many copies are compared; the first of the second block of lanes is one of them."""
N = 514


@dataclass(frozen=True)
class Follower:
    """A state that a step may lead to, and the percepts of each player on the way, the last step's last."""

    state: State
    percepts: tuple[tuple[tuple[Term, ...], ...], ...]


def chosen_by(state: State, role: Role) -> tuple[Term, ...]:
    return tuple(move for move in state.legal_moves(role) if str(move) != "noop")


def followers(game: Game, start: Follower) -> Iterator[Follower]:
    """Yield where chance may lead before a player has a choice."""
    state = start.state
    players = [role for role in game.roles if role != RANDOM]
    is_chance = RANDOM in game.roles and not state.is_terminal and chosen_by(state, RANDOM)
    if not is_chance or any(chosen_by(state, role) for role in players):
        yield start
        return
    for move in state.legal_moves(RANDOM):
        joint = tuple(move if role == RANDOM else state.legal_moves(role)[0] for role in game.roles)
        yield from followers(game, after(game, start, joint))


def after(game: Game, start: Follower, joint: tuple[Term, ...]) -> Follower:
    seen = tuple(start.state.percepts(role, joint) for role in game.roles if role != RANDOM)
    return Follower(start.state.next_state(joint), (*start.percepts, seen))


def joint_moves(
    games: VectorGame, game: Game, state: State, actions: np.ndarray, copy: int
) -> Iterator[tuple[Term, ...]]:
    """Yield the joint moves that actions may mean, one for each move of chance."""
    options = []
    for role in game.roles:
        if role == RANDOM:
            options.append(state.legal_moves(role))
            continue
        player = games.players.index(role)
        if not games.is_flat:
            options.append((games.actions[player][actions[copy, player]],))
        elif player == games.to_move[copy]:
            options.append((games.actions[0][actions[copy]],))
        else:
            assert not chosen_by(state, role)
            options.append(state.legal_moves(role)[:1])
    yield from product(*options)


def assert_legal(games: VectorGame, state: State, copy: int) -> None:
    legal = games.legal[copy]
    for player, role in enumerate(games.players):
        if games.is_flat and player != games.to_move[copy]:
            continue
        mask, actions = (legal, games.actions[0]) if games.is_flat else (legal[player], games.actions[player])
        assert {actions[i] for i in np.flatnonzero(mask)} == set(state.legal_moves(role))


def check(description: Description, is_flat: bool | None, steps: int) -> None:
    interpreter = make_game(description, "interpreter")
    games = VectorGame(make_game(description, "compiled"), N, seed=5, is_flat=is_flat)
    start = {end.state.facts for end in followers(interpreter, Follower(interpreter.initial_state, ()))}
    followed = (0, 100, N - 1)[:FOLLOWED]
    ends = 0
    for _ in range(steps):
        before = {copy: interpreter.state(games.states()[copy].facts) for copy in followed}
        for copy, state in before.items():
            assert_legal(games, state, copy)
        actions = games.sample_actions().copy()
        expected = {
            copy: [
                end
                for joint in joint_moves(games, interpreter, state, actions, copy)
                for end in followers(interpreter, after(interpreter, Follower(state, ()), joint))
            ]
            for copy, state in before.items()
        }
        rewards, ended = games.step(actions)
        now = games.states()
        for copy, options in expected.items():
            if not ended[copy]:
                assert now[copy].facts in {option.state.facts for option in options if not option.state.is_terminal}
                assert not rewards[copy].any()
                continue
            ends += 1
            goals = {
                tuple(option.state.goal(role) for role in games.players)
                for option in options
                if option.state.is_terminal
            }
            assert tuple(games.goals[copy].tolist()) in goals
            assert np.allclose(rewards[copy], (games.goals[copy] - 50) / 50)
            assert now[copy].facts in start
    assert ends or steps < 20


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FLAT)
def test_a_game_of_turns_is_played_as_the_interpreter_does(name: str) -> None:
    check(find_game(name).read(), None, 12 if name in ("breakthrough", "eightpuzzle") else 45)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", TOGETHER)
def test_players_who_choose_together_are_played_as_the_interpreter_does(name: str) -> None:
    check(find_game(name).read(), False, 12 if name in ("zombies", "mummymaze") else 40)


@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "breakthrough", "kuhnpoker", "eightpuzzle"])
def test_a_game_of_turns_is_found_out(name: str) -> None:
    assert VectorGame(name, 1).is_flat


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rules", [LONER, RACE + NEVER, RACE + AGAIN], ids=["one role", "turns", "turns by state"])
def test_waiting_is_legal_beside_other_moves_where_the_rules_say_so(rules: str) -> None:
    check(read_rules(rules), None, 40)


@pytest.mark.parametrize("rules", [LONER, RACE + NEVER], ids=["one role", "turns"])
def test_a_game_is_one_of_turns_where_a_role_may_wait(rules: str) -> None:
    assert VectorGame(made(rules), 1).is_flat


def test_a_game_in_which_roles_choose_together_is_none_of_turns() -> None:
    assert not VectorGame("rockpaperscissors", 1).is_flat
    with pytest.raises(ValueError, match="several players"):
        VectorGame("rockpaperscissors", 4, is_flat=True)


def plays(n: int, threads: int, seed: int) -> list[tuple[list[int], list[float]]]:
    games = VectorGame("leducpoker", n, seed=seed, threads=threads)
    found = []
    for _ in range(30):
        actions = games.sample_actions()[:5].tolist()
        rewards, _ = games.step(games.sample_actions(), checks=False)
        found.append((actions, rewards[:5].ravel().tolist()))
    games.close()
    return found


def test_a_copy_plays_the_same_whatever_is_beside_it() -> None:
    assert plays(5, 1, 3) == plays(1500, 1, 3) == plays(1500, 3, 3)
    assert plays(5, 1, 3) != plays(5, 1, 4)


@dataclass
class OrderedPool:
    """A pool that begins nothing before it has work for all its threads, which begin in the order of `direction`."""

    n_threads: int
    direction: int = 1
    submitted: list[tuple[Future[Any], Callable[[], Any]]] = field(default_factory=list)

    def submit(self, work: Callable[..., Any], *arguments: int) -> Future[Any]:
        future: Future[Any] = Future()
        self.submitted.append((future, partial(work, *arguments)))
        if len(self.submitted) == self.n_threads:
            for each, call in self.submitted[:: self.direction]:
                each.set_result(call())
            self.submitted.clear()
        return future


def test_a_range_has_its_own_plan_in_whatever_order_threads_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[dict[tuple[int, int], int]] = []

    def advance(plan: int, actions: int, mask: int, begin: int, end: int, *rest: int) -> Any:
        plans[-1][begin, end] = plan
        return kernel(plan, actions, mask, begin, end, *rest)

    kernel = stepping.advance
    monkeypatch.setattr(stepping, "advance", advance)
    pool = OrderedPool(3)
    monkeypatch.setattr(buffers, "ThreadPoolExecutor", lambda _: pool)
    plans.append({})
    games = VectorGame("tictactoe", 1300, threads=3)
    for direction in (1, -1):
        pool.direction = direction
        plans.append({})
        games.step(games.sample_actions())
    assert len(set(plans[-1].values())) == 3
    assert plans[-2] == plans[-1]


def test_a_seed_may_be_a_number_of_numpy() -> None:
    games = [VectorGame("tictactoe", 5, seed=seed) for seed in (7, np.int64(7), np.uint8(7))]
    first, *others = [each.sample_actions().tolist() for each in games]
    assert others == [first, first]


def test_a_snapshot_leads_to_the_same_plays_again() -> None:
    games = VectorGame("kuhnpoker", 40, seed=1)
    games.step(games.sample_actions())
    kept = games.save()
    found = []
    for _ in range(2):
        games.restore(kept)
        run = []
        for _ in range(10):
            rewards, ended = games.step(games.sample_actions())
            run.append((rewards.tolist(), ended.tolist(), games.bits().tolist(), games.observe().tolist()))
        found.append(run)
        games.reset(seed=99)
    assert found[0] == found[1]
    with pytest.raises(ValueError, match="snapshot"):
        VectorGame("kuhnpoker", 41).restore(kept)


def test_a_snapshot_of_another_game_or_form_is_refused_though_its_arrays_have_the_same_shapes() -> None:
    kept = VectorGame("tictactoe", 2).save()
    others = [VectorGame("nim", 2), VectorGame("tictactoe", 2, is_flat=False)]
    assert [array.shape for array in others[0].save().copies] == [array.shape for array in kept.copies]
    for other in others:
        with pytest.raises(ValueError, match="the snapshot is of another game, form or number of copies"):
            other.restore(kept)


def test_copies_to_reset_are_named_by_a_mask_and_not_by_their_numbers() -> None:
    games = VectorGame("tictactoe", 2, auto_reset=False)
    for which in ([0, 1], np.array([1, 0]), [True]):
        with pytest.raises(ValueError, match="a mask is needed: true or false for each of 2 copies"):
            games.reset(which)  # type: ignore[arg-type]  # what is refused
    games.step(np.array([0, 0]))
    games.reset([True, False])  # type: ignore[arg-type]  # a list will do
    assert games.to_move.tolist() == [0, 1]


@pytest.mark.parametrize("given", [b"nim", None, find_game("nim"), find_game("nim").read()])
def test_an_environment_is_made_of_a_game_and_not_of_its_rules(given: object) -> None:
    with pytest.raises(WrongTypeError, match=r"or a game that gdl\.make_game returns, not the"):
        VectorGame(given, 1)  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize("seed", [None, 1.0, "1"])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        VectorGame("nim", 1, seed=seed)


def test_no_copy_is_placed_at_an_end() -> None:
    games = VectorGame("nim", 1)
    state = games.game.initial_state
    while not state.is_terminal:
        state = state.next_state([state.legal_moves(role)[0] for role in games.players])
    with pytest.raises(ValueError, match="the state is terminal: there is no action to take in it"):
        games.place(state)
    assert games.states() == [games.game.initial_state]


def test_an_illegal_action_changes_nothing() -> None:
    games = VectorGame("tictactoe", 3, seed=1)
    games.step(np.array([0, 1, 2]))
    before = games.bits().copy()
    for wrong in ([1, 1, 0], [1, 2, 9], [1, 2, 10], [1, 2, -1]):
        with pytest.raises(IllegalMoveError):
            games.step(np.array(wrong))
    assert np.array_equal(games.bits(), before)
    with pytest.raises(ValueError, match="3 copies"):
        games.step(np.array([1, 2]))


@pytest.mark.parametrize("wrong", [2**32, -(2**32), 2**32 + 1])
@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_an_action_is_not_taken_for_another_one(wrong: int, kind: type[np.integer[Any]]) -> None:
    """Kernels read numbers of 32 bits."""
    games = VectorGame("tictactoe", 1)
    number = kind(np.int64(wrong))
    with pytest.raises(IllegalMoveError, match=f"action {number} "):
        games.step(np.array([number]))


def test_actions_are_whole_numbers() -> None:
    with pytest.raises(ValueError, match="whole numbers, not float64"):
        VectorGame("tictactoe", 1).step(np.array([1.9]))


@pytest.mark.parametrize("copies", [copied, deepcopy, pickle.dumps])
def test_an_environment_is_not_copied(copies: Callable[[object], object]) -> None:
    with pytest.raises(TypeError, match="use save and restore"):
        copies(VectorGame("tictactoe", 1))


def test_a_copy_rests_at_an_end_until_it_is_reset() -> None:
    games = VectorGame("tictactoe", 8, seed=1, auto_reset=False)
    for _ in range(9):
        games.step(games.sample_actions())
    assert games.is_over.all()
    assert not games.legal.any()
    assert (games.goals.sum(axis=1) == 100).all()
    rewards, ended = games.step(np.zeros(8, np.int32))
    assert not rewards.any()
    assert not ended.any()
    which = np.arange(8) < 3
    games.reset(which)
    assert np.array_equal(games.is_over, ~which)
    assert (games.legal.sum(axis=1) == np.where(which, 9, 0)).all()


def test_planes_show_the_board() -> None:
    games = VectorGame("breakthrough", 2)
    planes = games.planes()
    assert planes.shape == (2, len(games.plane_names), 8, 8)
    by_name = dict(zip(games.plane_names, planes[0], strict=True))
    assert set(by_name) == {"cell white", "cell black", "(control white)", "(control black)"}
    assert by_name["cell white"].sum(axis=1).tolist() == [0, 0, 0, 0, 0, 0, 8, 8]
    assert by_name["cell black"].sum(axis=1).tolist() == [8, 8, 0, 0, 0, 0, 0, 0]
    assert by_name["(control white)"].all()
    with pytest.raises(ValueError, match="no board"):
        VectorGame("kuhnpoker", 1).planes()


def test_a_hidden_game_shows_a_player_what_it_did_and_perceived() -> None:
    games = VectorGame("kuhnpoker", 30, seed=2)
    memory, actions = games.memory, [str(action) for action in games.actions[0]]
    alice = [str(percept) for percept in games.numbering.percepts[0]]
    bob = [str(percept) for percept in games.numbering.percepts[1]]

    def parts(player: int, percepts: list[str]) -> list[tuple[set[str], set[str], set[str], set[str]]]:
        limits = np.cumsum([memory.n_actions, memory.n_percepts, memory.n_actions])
        found = []
        for row in games.observe()[:, player]:
            did, saw, did_ever, saw_ever = (np.flatnonzero(part) for part in np.split(row, limits))
            found.append(
                (
                    {actions[i] for i in did},
                    {percepts[i] for i in saw},
                    {actions[i] for i in did_ever},
                    {percepts[i] for i in saw_ever},
                )
            )
        return found

    for copy, (did, saw, did_ever, saw_ever) in enumerate(parts(0, alice)):
        held = [str(fact) for fact in games.states()[copy].facts if str(fact).startswith("(holds alice")]
        assert (did, did_ever) == (set(), set())
        assert saw == saw_ever == {held[0].replace("holds alice", "your_card")}
    games.step(np.full(30, actions.index("check")))
    for (did, saw, did_ever, saw_ever), (_, bobs, _, _) in zip(parts(0, alice), parts(1, bob), strict=True):
        assert did == did_ever == {"check"}
        assert saw == {"(did alice check)"}
        assert len(saw_ever) == 2
        assert len(bobs) == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["pig", "goofspiel"])
def test_a_game_whose_description_says_that_all_is_seen_shows_its_state(name: str) -> None:
    games = VectorGame(name, 3, seed=1)
    games.step(games.sample_actions())
    assert not games.is_hidden
    assert np.array_equal(games.observe(), games.bits())
    assert "observation: " not in games.describe()


def test_without_its_description_a_game_in_gdl2_is_hidden() -> None:
    games = VectorGame(make_game(find_game("pig").read(), "compiled"), 3, seed=1)
    assert games.is_hidden
    assert games.observe().shape == (3, 2, games.memory.width)


@pytest.mark.parametrize("is_flat", [True, False])
def test_a_player_that_chose_to_wait_remembers_it(is_flat: bool) -> None:
    """Waiting of the player that can do nothing else is no choice."""
    games = VectorGame(made(RACE + NEVER + HIDDEN), 1, is_flat=is_flat)
    wait = [str(action) for action in games.actions[0]].index("noop")
    games.step(np.array([wait] if is_flat else [[wait, [str(a) for a in games.actions[1]].index("noop")]]))
    assert [np.flatnonzero(row).tolist() for row in games.observe()[0]] == [[wait, wait + games.memory.width // 2], []]


def test_what_numbers_mean_can_be_read() -> None:
    text = VectorGame("tictactoe", 1).describe()
    assert "actions of the player to move: 10\n  0: (mark 1 1)" in text
    assert "  9: noop" in text
    assert "planes: " in text
    assert "percepts of bob: " in VectorGame("kuhnpoker", 1).describe()


def test_an_environment_needs_a_copy() -> None:
    with pytest.raises(ValueError, match="a copy"):
        VectorGame("tictactoe", 0)


def test_an_environment_needs_a_player() -> None:
    alone = "(role random) (init a) (legal random go) (<= (next b) (true a)) (<= terminal (true b)) (goal random 100)"
    with pytest.raises(ValueError, match="no player: its only role is random"):
        VectorGame(made(alone), 1)


def test_a_copy_placed_at_a_state_goes_on_from_there() -> None:
    """What is legal there, whose turn it is and where each move leads are those of the state."""
    game = make_game(find_game("connectfour").read(), "compiled")
    games = VectorGame(game, 3, auto_reset=False)
    red, yellow = game.roles
    state = game.initial_state
    for move in (state.legal_moves(red)[3], state.legal_moves(red)[0]):
        mover = 0 if len(state.legal_moves(red)) > 1 else 1
        waits = state.legal_moves(game.roles[1 - mover])[0]
        state = state.next_state((move, waits) if mover == 0 else (waits, move))
    games.place(state)
    legal = [games.actions[0][i] for i in np.flatnonzero(games.legal[0])]
    assert (sorted(map(str, legal)), int(games.to_move[0])) == (sorted(map(str, state.legal_moves(red))), 0)
    games.step(np.array([np.flatnonzero(games.legal[0])[2], *games.sample_actions()[1:]]))
    assert games.states()[0] == state.next_state((legal[2], state.legal_moves(yellow)[0]))


def test_players_of_a_copy_that_is_placed_remember_nothing() -> None:
    games = VectorGame("kuhnpoker", 2, seed=1)
    state, others = games.states()[0], games.observe()[1].tolist()
    games.place(state)
    assert not games.observe()[0].any()
    assert games.observe()[1].tolist() == others


def test_a_state_that_fits_no_phase_is_refused_and_changes_nothing() -> None:
    """Here both roles have the control."""
    games = VectorGame("tictactoe", 2)
    before = games.states()
    both = before[0].facts | {read_term("(control o)")}
    with pytest.raises(ValueError, match="cannot be reached from the first"):
        games.place(games.game.state(both))
    assert games.states() == before


@pytest.mark.sampled(3)
@pytest.mark.parametrize("goals", ["", "(goal p 100) (goal p 0)", "(goal p much)", "(goal p much) (goal p 30)"])
def test_an_end_without_exactly_one_goal_has_none(goals: str) -> None:
    rules = f"(role p) (init on) (legal p stay) (legal p go) (<= terminal (not (true on))) {goals}"
    games = VectorGame(made(rules + "(<= (goal p 50) (true on))"), 1, auto_reset=False)
    rewards, ended = games.step(games.sample_actions())
    assert (games.goals.tolist(), rewards.tolist(), ended.tolist()) == ([[-1]], [[-1.0]], [True])
