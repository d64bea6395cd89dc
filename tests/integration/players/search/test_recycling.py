"""Recycling: what is below a node stays as it was, as far as there is room, and the rest is forgotten."""

from __future__ import annotations

import pytest

from players.deadline import Deadline, SearchBudget
from players.search.evaluator import compiled_game_of
from players.search.tree import nodes
from players.search.tree.collection import collect
from players.search.tree.leaves import insert
from players.search.tree.memory import TreeMemory
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from tests.integration.players.search.test_compiled_search import of_rules, said_of_moves, search_of, thought
from tests.kit.players.games import compiled

Below = dict[bytes, list[tuple[int | bytes, ...]]]


def below(search: CompiledSearch, root: int) -> Below:
    """Return what there is below a node: each state, and of its edges the move, the counts, and the state after it."""
    found, left = Below(), [root]
    while left:
        node = left.pop()
        words = search.tree.arrays.words[node].tobytes()
        if words not in found:
            found[words] = []
            for edge in edges_of(search, node):
                total, visits, child, limits = search.tree.arrays.edge[edge].tolist()
                after = search.tree.arrays.words[child].tobytes() if child >= 0 else b""
                found[words].append((int(search.tree.arrays.move[edge]), total, visits, limits, after))
                left += [child] if child >= 0 else []
    return found


def edges_of(search: CompiledSearch, node: int) -> list[int]:
    """Return the edges by which a walk goes on from a node: those of joint moves, where roles choose at once."""
    tree, n_roles = search.tree.arrays, len(search.game.roles)
    first = int(tree.node[node, nodes.FIRST])
    if first < 0:
        return []
    if tree.node[node, nodes.DECIDER] != nodes.SIMULTANEOUS:
        return list(range(first, first + int(tree.node[node, nodes.BOUNDS + n_roles :][:n_roles].sum())))
    found = [int(tree.edge[first, nodes.CHILD])]
    while found[-1] >= 0:
        found.append(int(tree.edge[found[-1], nodes.TOTAL]))
    return found[:-1]


def without_chains(found: Below) -> Below:
    """Return *found* without sums of goals: edges of joint moves have the number of another edge there."""
    return {words: [(move, *rest) for move, _, *rest in edges] for words, edges in found.items()}


DRAW_OR_FIGHT = """
(role o) (role d) (init (at root)) (init (step 0)) (bit a) (bit b)
(<= (legal o go) (true (at root))) (<= (legal o safe) (true (at root))) (<= (legal d noop) (true (at root)))
(<= (legal d draw) (true (at asked))) (<= (legal d fight) (true (at asked))) (<= (legal o noop) (true (at asked)))
(<= (legal ?r ?bit) (true (at fight)) (true (step ?i)) (turn ?i ?r) (bit ?bit))
(<= (legal ?r noop) (role ?r) (true (at fight)) (true (step ?i)) (turn ?i ?other) (distinct ?r ?other))
(<= (next (at asked)) (does o go)) (<= (next (at kept)) (does o safe))
(<= (next (at drawn)) (does d draw)) (<= (next (at fight)) (does d fight)) (<= (next (at fight)) (true (at fight)))
(<= (next (step 0)) (not (true (at fight))))
(<= (next (step ?j)) (true (at fight)) (true (step ?i)) (succ ?i ?j))
(<= (next (made ?i ?bit)) (true (at fight)) (true (step ?i)) (does ?r ?bit) (bit ?bit))
(<= (next (made ?i ?bit)) (true (made ?i ?bit)))
(<= (count 0 0) (true (at fight)))
(<= (count ?j ?d) (count ?i ?c) (succ ?i ?j) (true (made ?i a)) (succ ?c ?d))
(<= (count ?j ?c) (count ?i ?c) (succ ?i ?j) (true (made ?i b)))
(<= fought (true (at fight)) (true (step 24)))
(<= won (count 24 ?c) (enough ?c))
(<= terminal (true (at kept))) (<= terminal (true (at drawn))) (<= terminal fought)
(<= (goal o 30) (true (at kept))) (<= (goal d 70) (true (at kept)))
(<= (goal o 50) (true (at drawn))) (<= (goal d 50) (true (at drawn)))
(<= (goal o 0) fought won) (<= (goal d 100) fought won)
(<= (goal o 100) fought (not won)) (<= (goal d 0) fought (not won))
"""
"""One role keeps 30 or goes on; then the other draws, or fights for long and mostly loses."""


def test_a_proven_move_keeps_its_worth_for_both_when_the_node_below_it_is_forgotten() -> None:
    numbers = [f"(succ {i} {i + 1}) (turn {i} {'od'[i % 2]})" for i in range(24)]
    enough = [f"(enough {count})" for count in range(16, 25)]
    game = of_rules("\n".join([*numbers, *enough, DRAW_OR_FIGHT]))
    search, o = CompiledSearch(game, 1, SearchSettings(memory_mb=0.3)), game.roles[0]
    move = search.think(game.initial_state, o, SearchBudget(max_iterations=100_000))
    assert (str(move), round(search.insight(game.initial_state, o).value or 0)) == ("go", 50)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["connectfour", "pig", "biddingtictactoe"])
def test_recycling_leaves_what_is_below_a_node_as_it_was(name: str) -> None:
    search = search_of(compiled(name))
    root, tree = thought(search, 3_000), search.tree.arrays
    most = max(edges_of(search, root), key=lambda edge: int(tree.edge[edge, nodes.VISITS]))
    child = int(tree.edge[most, nodes.CHILD])
    before = without_chains(below(search, child))
    child = search.tree.recycle(child)
    assert without_chains(below(search, child)) == before
    assert tree.size[0] == len(before)


def test_states_are_found_where_they_are_after_recycling() -> None:
    search = search_of(compiled("connectfour"))
    root, tree = thought(search, 3_000), search.tree.arrays
    search.tree.recycle(int(tree.edge[edges_of(search, root)[3], nodes.CHILD]))
    words = tree.words[: tree.size[0]].copy()
    assert [int(insert(tree, search.tree.facts, each[None])) for each in words] == list(range(len(words)))


def test_recycling_keeps_what_was_visited_most() -> None:
    search = search_of(compiled("connectfour"), memory_mb=1.0)
    root = thought(search, 200_000)
    assert search.tree.arrays.size[0] <= search.tree.size.n_nodes
    best = search.tree.best_move(root, search.game.roles[0])
    before = {each.move: each.n_walks for each in search.tree.figures(root, search.game.roles[0])}
    root = search.tree.recycle(root)
    assert {each.move: each.n_walks for each in search.tree.figures(root, search.game.roles[0])} == before
    assert search.tree.best_move(root, search.game.roles[0]) == best
    assert 2 * search.tree.arrays.size[0] <= search.tree.size.n_nodes + 512


def test_recycling_frees_a_quarter_of_the_room_for_edges() -> None:
    search = search_of(compiled("connectfour"))
    root, tree = thought(search, 20_000), search.tree.arrays
    full = tree._replace(max_edges=int(tree.size[1]))
    before = {each.move: each.n_walks for each in search.tree.figures(root, search.game.roles[0])}
    root = collect(full, search.tree.facts, root)
    assert full.max_edges / 4 < tree.size[1] <= full.max_edges * 3 / 4
    assert {each.move: each.n_walks for each in search.tree.figures(root, search.game.roles[0])} == before


def test_recycling_keeps_joint_moves() -> None:
    search = search_of(compiled("rockpaperscissors"))
    root = thought(search, 5_000)
    n_joint = int(search.tree.arrays.size[2])
    nodes = int(search.tree.arrays.size[0])
    root = search.tree.recycle(root)
    assert (int(search.tree.arrays.size[2]), int(search.tree.arrays.size[0])) == (n_joint, nodes)
    search.work(root, 2_000)
    assert int(search.tree.arrays.size[0]) >= nodes


def listed(search: CompiledSearch) -> list[tuple[int, int]]:
    """Return the joint moves that the table lists: the hash of each, and its edge."""
    tree = search.tree.arrays
    places = tree.joint_edge.nonzero()
    return sorted(zip(tree.joint_key[places].tolist(), tree.joint_edge[places].tolist(), strict=True))


def in_chains(search: CompiledSearch) -> list[tuple[int, int]]:
    """Return the same of the joint moves in the chains of nodes, whose edges keep the hash in two halves."""
    tree = search.tree.arrays
    are_simultaneous = tree.node[: tree.size[0], nodes.DECIDER] == nodes.SIMULTANEOUS
    edges = [edge for node in are_simultaneous.nonzero()[0].tolist() for edge in edges_of(search, node)]
    halves = [(int(tree.edge[edge, nodes.LIMITS]) % 2**32, int(tree.move[edge]) % 2**32) for edge in edges]
    return sorted((high << 32 | low, edge) for (high, low), edge in zip(halves, edges, strict=True))


def test_joint_moves_that_are_forgotten_are_listed_no_more() -> None:
    search = search_of(compiled("biddingtictactoe"))
    root, tree = thought(search, 2_000), search.tree.arrays
    n_before = int(tree.size[2])
    most = max(edges_of(search, root), key=lambda edge: int(tree.edge[edge, nodes.VISITS]))
    search.tree.recycle(int(tree.edge[most, nodes.CHILD]))
    assert listed(search) == in_chains(search)
    assert 0 < len(listed(search)) == tree.size[2] < n_before


GUESS = f"""
(role random) (role a) (init (step 0)) {" ".join(f"(number {n})" for n in range(800))}
(<= (legal random (draw ?n)) (number ?n)) (legal a left) (legal a right)
(<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))
(<= (next won) (does random (draw 0)) (does a left))
(<= terminal (true (step 2))) (<= (goal a 100) (true won)) (<= (goal a 0) (not (true won)))
"""
"""Many joint moves, which lead to a few states."""


def test_recycling_makes_room_for_joint_moves() -> None:
    search = CompiledSearch(of_rules(GUESS), 1, SearchSettings(memory_mb=0.01))
    root = search.begin(search.game.initial_state, SearchBudget(max_iterations=1))
    while not search.tree.is_due:
        root = search.work(root)
    n_walks = search.counts["walks"]
    search.work(search.tree.recycle(root), 32)
    assert (search.tree.is_due, search.counts["walks"]) == (False, n_walks + 32)


def test_what_plays_say_is_kept_when_the_tree_is_recycled() -> None:
    search = CompiledSearch(compiled_game_of(compiled("gomoku")), 1, SearchSettings(memory_mb=2.0, amaf=True))
    root = thought(search, 2_000)
    before = said_of_moves(search, root)
    assert said_of_moves(search, search.tree.recycle(root)) == before


def test_a_full_tree_is_not_recycled_when_the_deadline_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_of(compiled("connectfour"), memory_mb=1.0)
    monkeypatch.setattr(TreeMemory, "recycling_s", 1e6)
    times = iter(range(1_000_000))
    budget = SearchBudget(deadline=Deadline(5e5, lambda: float(next(times))))
    search.think(search.game.initial_state, search.game.roles[0], budget)
    assert search.tree.is_due
    assert next(times) < 5e5


def test_a_move_begins_with_recycling_what_was_left_full() -> None:
    search = search_of(compiled("connectfour"), memory_mb=1.0)
    thought(search, 10_000)
    search.tree.is_due = True
    search.begin(search.game.initial_state, SearchBudget(deadline=Deadline(0.0, lambda: 0.0)))
    assert (search.tree.is_due, int(search.tree.arrays.size[0])) == (False, 1)


def test_less_is_kept_where_there_is_little_time() -> None:
    search = search_of(compiled("connectfour"))
    root = thought(search, 20_000)
    search.tree.recycle(root, search.tree.recycling_s + 1e-3)
    assert 1_000 < int(search.tree.arrays.size[0]) < 1e-3 / 2e-7
