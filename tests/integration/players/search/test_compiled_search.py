"""The compiled search: what it proves is so, what it counts adds up, and it keeps to clocks and memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels import lanes
from gdl.compiler.kernels.choice import work_for
from gdl.compiler.kernels.packing import words_of
from gdl.compiler.kernels.words import ONES, rows
from gdl.engines import make_game
from gdl.errors import StuckPlayError
from gdl.game import Game, JointMove
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import compiled_game_of
from players.search.positions import goal_shares
from players.search.tree.background import BackgroundSearch
from players.search.tree.batches import with_work
from players.search.tree.choices import first_choices, marking_share
from players.search.tree.memory import ProvenState
from players.search.tree.nodes import (
    AMAF_PLAYS,
    AMAF_TOTAL,
    BOUNDS,
    CHILD,
    DECIDER,
    EDGES_A_LINE,
    FIRST,
    LOW,
    PENDING,
    SIMULTANEOUS,
    TOTAL,
    VISITS,
    tree_size,
)
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import MEMORY_MB, SearchSettings
from players.search.tree.weights import FluentWeights
from tests.kit.players.games import COIN, FOUR_WAYS, KINGMAKER, SPARED_OR_HURT, compiled, game

MATCHING = """
(role left) (role right) (init start)
(side heads) (side tails)
(<= (legal ?role ?side) (role ?role) (side ?side) (true start))
(<= (next (shown ?role ?side)) (does ?role ?side))
(<= same (true (shown left ?side)) (true (shown right ?side)))
(<= terminal (not (true start)))
(<= (goal left 100) same) (<= (goal right 0) same)
(<= (goal left 0) (not same)) (<= (goal right 100) (not same))
"""
"""Matching pennies: both choose at once."""

UNEVEN = """
(role left) (role right) (init start)
(side heads) (side tails)
(<= (legal ?role ?side) (role ?role) (side ?side) (true start))
(<= (next (shown ?role ?side)) (does ?role ?side))
(<= (both ?side) (true (shown left ?side)) (true (shown right ?side)))
(<= same (both ?side))
(<= terminal (not (true start)))
(<= (goal left 100) (both heads)) (<= (goal right 0) (both heads))
(<= (goal left 50) (both tails)) (<= (goal right 50) (both tails))
(<= (goal left 0) terminal (not same)) (<= (goal right 100) terminal (not same))
"""
"""Matching pennies where heads pay twice: each role is to show them one time in three."""

LATE_REPLY = """
(role a) (role b) (init (step 0)) (then 0 1) (then 1 2) (then 2 3) (then 3 4) (side 1) (side 2)
(<= (next (step ?n)) (true (step ?m)) (then ?m ?n))
(<= (legal a (left ?side)) (true (step 0)) (side ?side))
(<= (legal a noop) (not (true (step 0))))
(<= (legal b (right ?side)) (true (step 2)) (side ?side))
(<= (legal b wait) (not (true (step 2))))
(<= (next (did ?side)) (does a (left ?side)))
(<= (next (did ?side)) (true (did ?side)))
(<= (next same) (does b (right ?side)) (true (did ?side)))
(<= (next same) (true same))
(<= terminal (true (step 4)))
(<= (goal a 100) (true same)) (<= (goal b 0) (true same))
(<= (goal a 0) (not (true same))) (<= (goal b 100) (not (true same)))
"""
"""Each role chooses once, and the steps after that are forced."""

ONE_GOAL = """
(role me) (init begun)
(<= (legal me lose) (true begun)) (<= (legal me win) (true begun))
(<= (legal me wait) (true (made ?m)))
(<= (next (made ?m)) (does me ?m) (true begun))
(<= (next (over ?m)) (true (made ?m)))
(<= terminal (true (over ?m)))
(<= (goal me 100) (true (over win)))
"""
BEYOND = """
(role a) (role b) (init (at top))
(<= (legal a wait) (true (at top))) (<= (legal b share) (true (at top))) (<= (legal b leave) (true (at top)))
(<= (legal a take) (true (at split))) (<= (legal a give) (true (at split))) (<= (legal b wait) (true (at split)))
(<= (next (at split)) (does b share)) (<= (next (at left)) (does b leave))
(<= (next (at taken)) (does a take)) (<= (next (at given)) (does a give))
(end left 150 50) (end taken 100 100) (end given 0 200)
(<= terminal (true (at ?end)) (end ?end ?a ?b))
(<= (goal a ?a) (true (at ?end)) (end ?end ?a ?b)) (<= (goal b ?b) (true (at ?end)) (end ?end ?a ?b))
"""
"""Goals add up to 200, but not what counts of them, which is 100 at most: 100 and 50, 100 and 100, 0 and 100."""

STUCK = """
(role player) (init (step 0)) (next_step 0 1) (next_step 1 2) (next_step 2 3) (way a) (way b)
(<= (next (step ?n)) (true (step ?m)) (next_step ?m ?n))
(<= (legal player (go ?way)) (true (step 0)) (way ?way))
(<= (legal player (go ?way)) (true (step 1)) (way ?way))
(<= (next (went ?way)) (does player (go ?way)))
(<= terminal (true (step 3)))
(<= (goal player 70) (true (went a)))
(<= (goal player 30) (true (went b)))
"""
"""After two steps the role has no legal move, and a goal by which way it went last."""


def search_of(game: Game, memory_mb: float = MEMORY_MB) -> CompiledSearch:
    return CompiledSearch(compiled_game_of(game), 1, SearchSettings(memory_mb=memory_mb))


def of_rules(rules: str) -> CompiledGame:
    return compiled_game_of(make_game(read_rules(rules), "compiled"))


def thought(search: CompiledSearch, n_walks: int) -> int:
    """Return the root after so many walks from the first state."""
    state, role = search.game.initial_state, search.game.roles[0]
    search.think(state, role, SearchBudget(max_iterations=n_walks))
    return search.tree.keep(state)


def states_in(search: CompiledSearch) -> Iterator[tuple[int, CompiledState]]:
    """Yield the nodes of a tree with their states."""
    words = search.tree.arrays.words[: search.tree.arrays.size[0]]
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=len(search.game.fluents), bitorder="little")
    for node, packed in enumerate(np.packbits(bits, axis=1)):
        yield node, search.game.unpack(packed.tobytes())


def following(state: CompiledState, joint: JointMove) -> CompiledState:
    found = state.next_state(joint)
    assert isinstance(found, CompiledState)
    return found


@cache
def value_of(state: CompiledState) -> tuple[int, ...]:
    """Return the goals under best play of those who choose one at a time, chance apart."""
    roles = game("tictactoe").roles
    if state.is_terminal:
        return tuple(state.goal(role) or 0 for role in roles)
    moves = [state.legal_moves(role) for role in roles]
    mover = next((i for i, each in enumerate(moves) if len(each) > 1), 0)
    return max((value_of(following(state, joint)) for joint in product(*moves)), key=lambda goals: goals[mover])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n_walks", [50, 500, 5_000])
def test_bounds_hold_the_value_of_every_state(n_walks: int) -> None:
    search = search_of(compiled("tictactoe"))
    thought(search, n_walks)
    for node, state in states_in(search):
        value = value_of(state)
        for r, goal in enumerate(value):
            limits = int(search.tree.arrays.node[node, BOUNDS + r])
            assert limits & LOW <= goal <= limits >> 8
        if search.tree.is_solved(node):
            assert value == tuple(int(search.tree.arrays.node[node, BOUNDS + r]) & LOW for r in range(2))


def test_a_small_game_is_solved_and_the_value_kept() -> None:
    search = search_of(compiled("tictactoe"))
    root = thought(search, 1_000_000)
    assert search.tree.is_solved(root)
    state = search.game.initial_state
    while not state.is_terminal:
        moves = [search.think(state, role, SearchBudget(max_iterations=100_000)) for role in search.game.roles]
        state = state.next_state(tuple(moves))
    assert goal_shares(state, search.game.roles) == (0.5, 0.5)


@pytest.mark.parametrize("roles", ["", "(role c)"])
@pytest.mark.parametrize("seed", range(4))
def test_what_a_role_to_which_all_is_the_same_will_choose_is_not_proven(roles: str, seed: int) -> None:
    search = CompiledSearch(of_rules(KINGMAKER.replace("(role c)", roles, 1)), seed, SearchSettings(memory_mb=8.0))
    state, a = search.game.initial_state, search.game.roles[0]
    move, told = search.think(state, a, SearchBudget(max_iterations=2_000)), search.insight(state, a)
    assert (str(move), told.value, told.is_proven) == ("keep", 60, True)
    bounds = {str(each.move): (each.low, each.high) for each in search.tree.figures(search.tree.keep(state), a)}
    assert bounds == {"go": (0, 100), "keep": (60, 60)}


def test_goals_above_100_of_one_role_tell_nothing_of_those_of_the_other() -> None:
    search = search_of(of_rules(BEYOND))
    state, b = search.game.initial_state, search.game.roles[1]
    move, told = search.think(state, b, SearchBudget(max_iterations=500)), search.insight(state, b)
    assert (str(move), told.value, told.is_proven) == ("share", 100, True)


@pytest.mark.parametrize("seed", range(3))
def test_a_role_does_not_count_on_the_best_of_what_is_the_same_to_another_one(seed: int) -> None:
    search = CompiledSearch(of_rules(SPARED_OR_HURT), seed, SearchSettings(memory_mb=8.0))
    state, x = search.game.initial_state, search.game.roles[0]
    move = search.think(state, x, SearchBudget(max_iterations=5_000))
    (mean,) = (each.mean for each in search.tree.figures(search.tree.keep(state), x) if str(each.move) == "go")
    assert (str(move), mean < 5) == ("safe", True)


def test_an_end_without_a_goal_is_even_though_the_rules_name_only_the_winner_s() -> None:
    search = search_of(of_rules(ONE_GOAL))
    state, (me,) = search.game.initial_state, search.game.roles
    assert str(search.think(state, me, SearchBudget(max_iterations=100))) == "win"
    bounds = {str(each.move): (each.low, each.high) for each in search.tree.figures(search.tree.keep(state), me)}
    assert bounds == {"lose": (50, 50), "win": (100, 100)}


def test_the_line_that_is_told_has_no_forced_moves() -> None:
    search = search_of(of_rules(LATE_REPLY))
    thought(search, 500)
    told = search.insight(search.game.initial_state, search.game.roles[0])
    assert [move[:2] for move in told.line] == ["(l", "(r"]


def test_a_puzzle_is_solved() -> None:
    search = search_of(of_rules(FOUR_WAYS))
    root = thought(search, 10_000)
    assert search.tree.is_solved(root)
    assert {str(each.move) for each in search.tree.figures(root, search.game.roles[0]) if each.low == 100} <= {"c", "d"}
    assert str(search.tree.best_move(root, search.game.roles[0])) in {"c", "d"}


def test_chance_is_worth_its_mean() -> None:
    search = search_of(of_rules(COIN))
    root = thought(search, 10_000)
    found = {str(each.move): each for each in search.tree.figures(root, search.game.roles[0])}
    assert (found["safe"].low, found["safe"].high) == (60, 60)
    assert (found["bold"].low, found["bold"].high) == (50, 50)
    assert str(search.tree.best_move(root, search.game.roles[0])) == "safe"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("simultaneous", ["regret", "ucb"])
def test_each_role_chooses_for_itself_where_several_do(simultaneous: str) -> None:
    search = CompiledSearch(of_rules(MATCHING), 1, SearchSettings(simultaneous=simultaneous))
    root = thought(search, 20_000)
    assert search.tree.arrays.node[root, DECIDER] == SIMULTANEOUS
    for role in search.game.roles:
        found = search.tree.figures(root, role)
        assert sum(each.n_walks for each in found) == search.counts["walks"]
        assert all(4_000 < each.n_walks < 16_000 and 20 < each.mean < 80 for each in found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_roles_that_choose_at_once_come_near_an_equilibrium(seed: int) -> None:
    search = CompiledSearch(of_rules(UNEVEN), seed, SearchSettings(simultaneous="regret"))
    root = thought(search, 50_000)
    for role in search.game.roles:
        found = {str(each.move): each.n_walks for each in search.tree.figures(root, role)}
        assert abs(found["heads"] / sum(found.values()) - 0.35) < 0.06  # a tenth of it is drawn from both alike


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rock_paper_and_scissors_are_taken_alike(seed: int) -> None:
    search = CompiledSearch(
        compiled_game_of(compiled("rockpaperscissors")), seed, SearchSettings(simultaneous="regret")
    )
    root = thought(search, 50_000)
    for role in search.game.roles:
        found = [each.n_walks for each in search.tree.figures(root, role)]
        assert all(abs(each / sum(found) - 1 / 3) < 0.1 for each in found)


@pytest.mark.parametrize("name", ["tictactoe", "connectfour"])
def test_no_more_walks_go_on_from_a_node_than_come_to_it(name: str) -> None:
    search = search_of(compiled(name))
    root = thought(search, 3_000)
    tree = search.tree.arrays
    child, n_walks = tree.edge[: tree.size[1], CHILD], tree.edge[: tree.size[1], VISITS]
    n_opened = 0
    for node in range(int(tree.size[0])):
        row = tree.node[node]
        if row[FIRST] < 0 or node == root:
            continue
        n_opened += 1
        edges = search.tree.edges(node, search.game.roles[row[DECIDER]])
        assert edges.stop <= tree.size[1]
        assert n_walks[edges.start : edges.stop].sum() <= n_walks[child == node].sum()
    assert n_opened > 10


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n_steps", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("name", ["connectfour", "amazons", "breakthrough"])
def test_plays_that_begin_at_any_phase_come_to_an_end(name: str, n_steps: int) -> None:
    search = search_of(compiled(name))
    state = search.game.initial_state
    for _ in range(n_steps):
        state = state.next_state(tuple(state.legal_moves(role)[0] for role in search.game.roles))
    root = search.tree.keep(state)
    search.work(root, 1)
    n_goals = int(search.workers[0].room.plays.tally.goal_counts.sum())
    assert (search.counts["plays"], n_goals) == (16, 16 * len(search.game.roles))


@pytest.mark.parametrize("n_steps", [5, 6])
def test_plays_are_worth_what_plays_of_the_engine_are_at_any_phase(n_steps: int) -> None:
    """Red has three in a column, and is to move or has to wait."""
    of = compiled_game_of(compiled("connectfour"))
    state = of.initial_state
    for step in range(n_steps):
        columns = [state.legal_moves(role) for role in of.roles]
        choice = -1 - step // 2 % 2 if step % 2 else 0
        state = state.next_state(tuple(each[choice if len(each) > 1 else 0] for each in columns))
    mover = n_steps % 2
    plays = of.playouts(state, 8_192, 1)
    found = []
    for seed in range(60):
        search = CompiledSearch(of, seed, SearchSettings(memory_mb=1.0, decisive=False))
        root = search.tree.keep(state)
        search.work(root, 1)  # a walk that opens the root, and sixteen plays from one of its moves
        edges = search.tree.edges(root, of.roles[int(search.tree.arrays.node[root, DECIDER])])
        found += [int(search.tree.arrays.edge[edge, TOTAL]) for edge in edges if search.tree.arrays.edge[edge, VISITS]]
    assert len(found) == 60
    mean = plays.goal_sums[mover] / plays.n_plays
    assert abs(mean - 50) > 10
    assert abs(float(np.mean(found)) - mean) < 7


def test_equal_seeds_and_numbers_of_walks_give_equal_trees() -> None:
    first, second = (search_of(compiled("connectfour")) for _ in range(2))
    for search in (first, second):
        thought(search, 30 * 512)
    assert np.array_equal(
        first.tree.arrays.edge[: first.tree.arrays.size[1]], second.tree.arrays.edge[: second.tree.arrays.size[1]]
    )


def test_the_first_round_from_a_state_spreads_over_all_of_its_moves() -> None:
    search = search_of(compiled("connectfour"))
    root = thought(search, 32)
    has_walks = [each.n_walks > 0 for each in search.tree.figures(root, search.game.roles[0])]
    assert (search.counts["batches"], has_walks) == (1, [True] * 7)


def test_the_goals_of_a_round_add_up_to_the_means_of_its_plays() -> None:
    """Each of 32 walks has 16 plays: what rounding leaves of one counts for the next."""
    game = compiled_game_of(compiled("breakthrough"))
    search = CompiledSearch(game, 1, SearchSettings(memory_mb=8.0))
    search.work(search.begin(game.initial_state, SearchBudget(32)), 32)
    room = search.workers[0].room
    assert room.plays.n_open.tolist() == [32]
    assert room.walks.goals[:32].sum(axis=0).tolist() == ((room.plays.goals.sum(axis=1) + 8) // 16).tolist()


def test_the_clock_ends_it() -> None:
    times = iter(range(10_000))
    search = search_of(compiled("connectfour"))
    budget = SearchBudget(deadline=Deadline(20.0, lambda: float(next(times))))
    move = search.think(search.game.initial_state, search.game.roles[0], budget)
    assert move in search.game.initial_state.legal_moves(search.game.roles[0])
    assert 20 <= next(times) < 60


def test_plays_end_where_a_role_has_no_legal_move_with_the_goals_as_they_stand() -> None:
    search = search_of(of_rules(STUCK))
    root = thought(search, 100)
    found = search.insight(search.game.initial_state, search.game.roles[0])
    assert (search.tree.is_solved(root), found.is_proven, found.value) == (True, True, 70.0)


def test_of_a_play_that_gets_stuck_no_move_is_left_to_the_plays_after_it() -> None:
    """Of many roles each but the last has made its move: the next plays would write behind the room for moves."""
    names = [f"r{number}" for number in range(12)]
    legal = [f"(<= (legal {name} a) (true (mode {mode})))" for name in names[1:] for mode in (1, 3)][:-1]
    ticks = [f"(succ {number} {number + 1})" for number in range(12)]
    search = search_of(
        of_rules(
            "\n".join(
                [
                    *(f"(role {name}) (goal {name} 50)" for name in names), *legal, *ticks,
                    "(init (n 0)) (init (mode 1)) (legal r0 a) (legal r0 b)",
                    "(<= (next (mode 1)) (does r0 a)) (<= (next (mode 3)) (does r0 b))",
                    "(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= terminal (true (n 12)))",
                ]
            )
        )
    )  # fmt: skip
    (worker,) = search.workers
    n_places = len(worker.room.plays.work.chosen)
    guarded = np.full(n_places + 64, -7, np.int32)
    guarded[:n_places] = 0
    worker.room = with_work(worker.room, chosen=guarded[:n_places])
    thought(search, 500)
    assert set(guarded[n_places:].tolist()) == {-7}


def test_without_memory_for_what_weights_say_a_search_goes_on_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_of(compiled_game_of(compiled("tictactoe")))
    weights = FluentWeights(np.zeros(len(search.game.fluents) + 1, np.float32), 4)

    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("players.search.tree.memory.empty_tree", refuse)
    before = search.knobs, search.tree.size, search.tree.arrays
    with pytest.raises(MemoryError):
        search.weigh(weights)
    assert all(
        now is then for now, then in zip((search.knobs, search.tree.size, search.tree.arrays), before, strict=True)
    )


def test_a_role_without_a_legal_move_now_is_reported() -> None:
    search = search_of(of_rules(STUCK))
    way = read_term("(go a)")
    stuck = search.game.initial_state.next_state((way,)).next_state((way,))
    with pytest.raises(StuckPlayError):
        search.think(stuck, search.game.roles[0], SearchBudget(max_iterations=100))


def test_a_stuck_play_in_a_lane_counts_with_its_goal() -> None:
    rules = of_rules(STUCK).rules
    start = rows(len(rules.fluents))
    start[list(rules.initial)] = ONES
    ours = lanes.lanes_for(rules.phased.n_rows, np.ones(512, np.int64), np.zeros(512, np.int64), start)
    tally, work = lanes.tally_for(rules.goals, 1), work_for(len(rules.phased.choice_legal), 1)._replace(ends_stuck=1)
    assert lanes.play(rules.phased, ours, work, 10, tally, lanes.NO_TRACE) == lanes.DONE
    lasted = dict(zip(rules.goals[0], tally.goal_counts[0].tolist(), strict=True))
    assert (lasted[30] > 0, lasted[70] > 0, lasted[30] + lasted[70]) == (True, True, 512)


def test_it_thinks_in_the_background_until_it_is_stopped() -> None:
    of = compiled_game_of(compiled("connectfour"))
    background = BackgroundSearch(lambda: CompiledSearch(of, 1))
    search = background.get(600.0)
    assert isinstance(search, CompiledSearch)
    background.ponder(of.initial_state)
    while search.counts["walks"] < 100:
        pass
    background.stop()
    n_walks = search.counts["walks"]
    assert background.get(0.0) is search
    assert search.counts["walks"] == n_walks


def said_of_moves(search: CompiledSearch, root: int) -> dict[str, tuple[float, float]]:
    """Return for each move at the root the mean goal of the plays that make it some time, and how many these are."""
    tree, edges = search.tree.arrays, search.tree.edges(root, search.game.roles[0])
    return {
        str(search.game.moves[tree.move[edge]]): (tree.amaf[edge, AMAF_TOTAL] / n, n)
        for edge in edges
        if (n := float(tree.amaf[edge, AMAF_PLAYS]))
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "share"), [("tictactoe", 1.0), ("hex", 1.0), ("blotto", 0.0)])
def test_stones_are_marks_and_what_roles_choose_at_once_is_none(name: str, share: float) -> None:
    assert marking_share(compiled_game_of(compiled(name))) == share


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "is_used"),
    [("hex", True), ("gomoku", True), ("pentago", False), ("dotsandboxes", False), ("chess", False)],
)
def test_what_plays_say_of_moves_counts_where_many_moves_leave_marks(name: str, is_used: bool) -> None:
    game = compiled_game_of(compiled(name))
    assert SearchSettings().uses_amaf(game, first_choices(game).mean_moves) is is_used


def test_plays_say_which_moves_they_are_won_with() -> None:
    """In tictactoe the middle is won with more often than corners, and these more often than edges."""
    search = CompiledSearch(compiled_game_of(compiled("tictactoe")), 1, SearchSettings(amaf=True))
    mean = {move: mean for move, (mean, _) in said_of_moves(search, thought(search, 1_000)).items()}
    corners = [mean[f"(mark {x} {y})"] for x in "13" for y in "13"]
    edges = [mean[f"(mark {x} {y})"] for x, y in ("12", "21", "23", "32")]
    assert mean["(mark 2 2)"] > max(corners)
    assert min(corners) > max(edges)


def test_a_play_tells_of_each_move_once() -> None:
    """No more plays tell of a move than there were: a role makes it at most once."""
    search = CompiledSearch(compiled_game_of(compiled("tictactoe")), 1, SearchSettings(amaf=True))
    root = thought(search, 1_000)
    assert max(n for _, n in said_of_moves(search, root).values()) <= search.counts["plays"]


def test_no_walk_is_on_its_way_between_batches() -> None:
    search = CompiledSearch(compiled_game_of(compiled("tictactoe")), 1, SearchSettings(amaf=True))
    thought(search, 3_000)
    assert not search.tree.arrays.amaf[:, PENDING].any()


FILLING = "\n".join(
    [
        "(role a) (role b) (init (control a)) (init (free 1))",
        *[f"(init (free {cell}))" for cell in range(2, 50)],
        "(<= (legal ?r (fill ?c)) (true (control ?r)) (true (free ?c)))",
        "(<= (legal a noop) (true (control b))) (<= (legal b noop) (true (control a)))",
        "(<= (next (control a)) (true (control b))) (<= (next (control b)) (true (control a)))",
        "(<= (taken ?c) (does ?r (fill ?c))) (<= (next (free ?c)) (true (free ?c)) (not (taken ?c)))",
        "(<= (next (has ?r ?c)) (true (has ?r ?c))) (<= (next (has ?r ?c)) (does ?r (fill ?c)))",
        "(<= some (true (free ?c))) (<= terminal (not some))",
        "(<= (goal a 100) (true (has a 1))) (<= (goal a 0) (not (true (has a 1))))",
        "(<= (goal b 100) (not (true (has a 1)))) (<= (goal b 0) (true (has a 1)))",
    ]
)
"""A board of 49 cells is filled; who has the first cell wins."""


def keeps_moves(game: CompiledGame) -> bool:
    return bool(CompiledSearch(game, 1).workers[0].room.plays.work.keeps_made)


@pytest.mark.parametrize("name", ["connectfour", "amazons"])
def test_plays_are_not_asked_for_moves_where_moves_are_few_or_change(name: str) -> None:
    """Seven columns are soon known; a queen's thousands of moves mean something else in each state."""
    assert not keeps_moves(compiled_game_of(compiled(name)))


def test_plays_are_asked_for_moves_on_wide_boards_that_are_filled() -> None:
    """There a move is legal until it is made, and is worth about the same all the time."""
    assert keeps_moves(of_rules(FILLING))


def test_a_proven_goal_above_100_bounds_as_100_does() -> None:
    search = search_of(compiled_game_of(compiled("tictactoe")))
    state = search.game.initial_state
    assert isinstance(state, CompiledState)
    search.take_proofs([ProvenState(words_of(state.packed, len(search.game.fluents)), (256, 0))])
    node = search.tree.find(state)
    assert node is not None
    assert search.tree.arrays.node[node, BOUNDS : BOUNDS + 2].tolist() == [100 | 100 << 8, 0]


def test_edges_have_numbers_of_32_bits_in_trees_of_any_size() -> None:
    rules = compiled_game_of(compiled("hex")).rules
    size = tree_size(rules, 60_000.0, 80.0, uses_amaf=True, uses_minimax=False)
    assert size.n_edges + EDGES_A_LINE <= 2**31
