"""Several threads on one tree: it stays whole, what they prove holds, they keep to clocks, and none is left."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.game import State
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import compiled_game_of
from players.search.tree import nodes
from players.search.tree.background import BackgroundSearch
from players.search.tree.batches import search as kernel
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from players.stock import MctsPlayer
from tests.integration.players.search.test_compiled_search import MATCHING, STUCK
from tests.kit.players.games import compiled
from tests.kit.players.plain import TreePlayer

SMALL = SearchSettings(memory_mb=16.0)
AMPLE = SearchSettings(memory_mb=256.0)
"""A tree that is full waits for all threads."""


def connectfour() -> CompiledGame:
    return compiled_game_of(compiled("connectfour"))


def searching_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name in {"tree search", "pondering"}]


def seconds(budget_s: float) -> SearchBudget:
    return SearchBudget(deadline=Deadline.after(budget_s))


def searched(game: CompiledGame, budget_s: float, settings: SearchSettings = SMALL) -> CompiledSearch:
    """Return a search by four threads that has thought so long about the first state, at rest."""
    search = CompiledSearch(game, 1, settings, 4)
    search.think(game.initial_state, game.roles[0], seconds(budget_s))
    search.rest()
    return search


def first_in_other_threads(monkeypatch: pytest.MonkeyPatch, first: Callable[[], object]) -> None:
    """Have threads other than this one call *first* before each call of the kernel."""
    caller = threading.current_thread()

    def search(*arguments: object) -> int:
        if threading.current_thread() is not caller:
            first()
        return int(kernel(*arguments))

    monkeypatch.setattr("players.search.tree.search.search", search)


def faults(search: CompiledSearch) -> list[str]:
    """Return what is wrong with the tree of a search at rest."""
    tree, n_roles = search.tree.arrays, len(search.game.roles)
    n_nodes, n_edges, _ = tree.size.tolist()
    node, child = tree.node[:n_nodes], tree.edge[:n_edges, nodes.CHILD].copy()
    is_opened = node[:, nodes.FIRST] >= 0
    is_joint = is_opened & (node[:, nodes.DECIDER] == nodes.SIMULTANEOUS)
    child[node[is_joint, nodes.FIRST]] = nodes.NONE  # an edge, of a joint move
    counts = node[:, nodes.BOUNDS + n_roles : nodes.BOUNDS + 2 * n_roles].sum(axis=1)
    if not is_joint.any():  # what lies between the edges of nodes is none
        first, n = node[is_opened, nodes.FIRST], counts[is_opened]
        child = child[np.repeat(first - np.cumsum(n) + n, n) + np.arange(n.sum())]
    found = {
        "a lock is held": bool(tree.lock[0]),
        "a state is there twice": len(np.unique(tree.words[:n_nodes], axis=0)) < n_nodes,
        "a leaf was never made": bool((node[:, nodes.FIRST] < nodes.UNOPENED).any() or (child < nodes.NONE).any()),
        "edges of nothing": bool((node[is_opened, nodes.FIRST] + counts[is_opened] > n_edges).any()),
        "an edge to nothing": bool((child >= n_nodes).any()),
        "walks are missing": n_first_walks(search) != search.counts["walks"],
    }
    return [fault for fault, is_true in found.items() if is_true]


def n_first_walks(search: CompiledSearch) -> int:
    """Return how many walks the edges of the first state count."""
    root, role = search.tree.keep(search.game.initial_state), search.game.roles[0]
    return sum(each.n_walks for each in search.tree.figures(root, role))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["connectfour", "breakthrough", "nim"])
def test_a_tree_that_threads_work_on_stays_whole(name: str) -> None:
    search = searched(compiled_game_of(compiled(name)), 0.4)
    assert faults(search) == []


def test_a_tree_stays_whole_where_roles_choose_at_once() -> None:
    search = searched(compiled_game_of(make_game(read_rules(MATCHING), "compiled")), 0.2)
    tree = search.tree.arrays
    assert tree.node[search.tree.keep(search.game.initial_state), nodes.DECIDER] == nodes.SIMULTANEOUS
    assert faults(search) == []


def test_a_tree_that_is_full_is_recycled_while_threads_work_on_it() -> None:
    search = searched(connectfour(), 0.6, SearchSettings(memory_mb=1.0))
    assert search.counts["walks"] > 2 * search.tree.size.n_nodes
    assert faults(search) == []


def test_what_threads_prove_holds() -> None:
    """Every state of tictactoe that is solved is worth what plain minimax says."""
    game = compiled_game_of(compiled("tictactoe"))
    search, values = searched(game, 20.0), dict[State, int]()
    _worth(game, game.initial_state, values)
    found = {state: search.tree.find(state) for state in values}
    limits = {state: int(search.tree.arrays.node[node, nodes.BOUNDS]) for state, node in found.items() if node}
    solved = {state: each & nodes.LOW for state, each in limits.items() if each & nodes.LOW == each >> 8}
    assert search.has_solved(game.initial_state)
    assert solved == {state: values[state] for state in solved}


def _worth(game: CompiledGame, state: State, known: dict[State, int]) -> int:
    """Return what *state* is worth to the first role, which wins what the other loses, noting that of all below it."""
    if state not in known:
        if state.is_terminal:
            known[state] = state.goal(game.roles[0]) or 0
        else:
            legal = [state.legal_moves(role) for role in game.roles]
            joint = [(a, b) for a in legal[0] for b in legal[1]]
            values = [_worth(game, state.next_state(moves), known) for moves in joint]
            known[state] = max(values) if len(legal[0]) > 1 else min(values)
    return known[state]


@pytest.mark.exhaustive
def test_all_threads_walk() -> None:
    search = searched(connectfour(), 0.5)
    assert min(int(worker.room.counts[0]) for worker in search.workers) > 0
    assert search.counts["walks"] == sum(int(worker.room.counts[0]) for worker in search.workers)


def test_threads_draw_differently() -> None:
    search = CompiledSearch(connectfour(), 1, SMALL, 4)
    assert len({int(worker.room.walks.random[0]) for worker in search.workers}) == 4


def test_a_budget_of_iterations_has_one_thread_and_the_same_moves() -> None:
    of, found = connectfour(), []
    for n_threads in (1, 3):
        search = CompiledSearch(of, 3, SMALL, n_threads)
        search.knobs = SMALL.knobs(uses_amaf=False)
        search.think(of.initial_state, of.roles[0], SearchBudget(max_iterations=5_000))
        found.append(search.tree.figures(search.tree.keep(of.initial_state), of.roles[0]))
    assert found[0] == found[1]


def test_no_thread_is_left_after_a_move() -> None:
    before = len(searching_threads())
    searched(connectfour(), 0.1)
    assert len(searching_threads()) == before == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ending", ["stop", "abort", "perceive"])
def test_no_thread_is_left_when_what_it_thinks_about_is_over(ending: str) -> None:
    player = TreePlayer(threads=2, ponder=True)
    player.join(compiled("connectfour"), compiled("connectfour").roles[0], seed=3)
    player.start(Deadline.after(600.0))
    player.move(player.worlds.state, player.role, Deadline.after(0.1))
    while len(searching_threads()) < 2:  # the thread that ponders is the first
        pass
    if ending == "perceive":
        player.perceive(None, ())
    else:
        getattr(player, ending)()
    assert searching_threads() == []


def test_all_threads_search_while_others_move() -> None:
    of = connectfour()
    background = BackgroundSearch(lambda: CompiledSearch(of, 1, SMALL, 2))
    search = background.get(600.0)
    assert search is not None
    background.ponder(of.initial_state)
    while min(int(worker.room.counts[0]) for worker in search.workers) < 100:
        pass
    background.stop()
    n_walks = search.counts["walks"]
    assert background.get(0.0) is search
    assert search.counts["walks"] == n_walks


def test_plays_end_where_a_role_has_no_legal_move_in_all_threads() -> None:
    of = compiled_game_of(make_game(read_rules(STUCK), "compiled"))
    search = CompiledSearch(of, 1, SMALL, 2)
    search.think(of.initial_state, of.roles[0], seconds(600.0))
    assert {int(worker.room.plays.work.ends_stuck) for worker in search.workers} == {1}
    assert search.has_solved(of.initial_state)
    search.rest()
    assert searching_threads() == []


@pytest.mark.exhaustive
def test_no_walk_of_any_thread_is_on_its_way_when_all_rest() -> None:
    of = connectfour()
    search = CompiledSearch(of, 1, SearchSettings(memory_mb=16, amaf=True), 4)
    search.think(of.initial_state, of.roles[0], seconds(0.5))
    search.rest()
    assert not search.tree.arrays.amaf[:, nodes.PENDING].any()


def test_what_fails_in_a_thread_is_raised_by_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    of = connectfour()
    search = CompiledSearch(of, 1, SMALL, 2)

    def fail() -> None:
        raise ZeroDivisionError("in a thread")

    first_in_other_threads(monkeypatch, fail)
    with pytest.raises(ZeroDivisionError, match="in a thread"):
        search.think(of.initial_state, of.roles[0], seconds(0.1))
    with pytest.raises(ZeroDivisionError, match="in a thread"):
        search.ponder(of.initial_state, None, None, iter([True, True, False]).__next__)


def test_what_fails_after_a_search_was_given_up_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    of = connectfour()
    search, goes_on = CompiledSearch(of, 1, AMPLE, 2), threading.Event()

    def fail_late() -> None:
        goes_on.wait()
        raise ZeroDivisionError

    first_in_other_threads(monkeypatch, fail_late)
    search.think(of.initial_state, of.roles[0], seconds(0.1))
    goes_on.set()
    search.rest()
    assert "a thread has failed after the end of its search" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_a_thread_that_is_late_does_not_hold_the_move_up(monkeypatch: pytest.MonkeyPatch) -> None:
    of = connectfour()
    search, goes_on = CompiledSearch(of, 1, AMPLE, 2), threading.Event()
    first_in_other_threads(monkeypatch, goes_on.wait)
    move = search.think(of.initial_state, of.roles[0], seconds(0.3))
    insight = search.insight(of.initial_state, of.roles[0])
    assert (insight.line[0], len(searching_threads())) == (str(move), 1)
    goes_on.set()
    search.rest()
    assert searching_threads() == []


def test_the_best_move_so_far_is_reported() -> None:
    of = connectfour()
    reported: list[Term] = []
    CompiledSearch(of, 1, SMALL, 2).think(of.initial_state, of.roles[0], seconds(0.1), reported.append)
    assert reported
    assert set(reported) <= set(of.initial_state.legal_moves(of.roles[0]))


@pytest.mark.parametrize("n_threads", [0, 65])
def test_there_are_threads_but_not_too_many(n_threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads are from 1 to 64, not {n_threads}"):
        MctsPlayer(threads=n_threads)
