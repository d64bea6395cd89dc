"""Counts of the ways in which games go: those of one engine by those of another, and the command that prints them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from gdl.engines import make_game
from gdl.language.rules import read_rules
from players.search.evaluator import compiled_game_of
from server.measuring import frontier, perft
from server.measuring.frontier import Frontier, together
from server.measuring.perft import BatchCounting, StateCounting, StuckRoleError, TooManyJointMovesError, divided
from tests.kit.players.games import compiled, game
from tests.kit.server.commands.fixtures import Ggp

TWO_STEPS: Final = """
(role left) (role right) (init (turn left 1))
(order left 1 left 2) (order left 2 right 1) (order right 1 right 2) (order right 2 left 1)
(side heads) (side tails)
(<= (next (turn ?r2 ?n2)) (true (turn ?r1 ?n1)) (order ?r1 ?n1 ?r2 ?n2))
(<= (next (shown ?side)) (does ?role (show ?side)))
(<= (legal ?role (show ?side)) (true (turn ?role ?n)) (side ?side))
(<= (legal ?role noop) (role ?role) (not (mine ?role)))
(<= (mine ?role) (true (turn ?role ?n)))
(<= terminal (true (shown heads)) (true (turn left 2)))
(<= (goal ?role 50) (role ?role))
"""
"""Each role moves twice in a turn; the play ends amid that of left."""


@pytest.mark.parametrize("by_turns", [False, True])
@pytest.mark.parametrize("name", ["nim", "rockpaperscissors", "kuhnpoker", "montyhall", "eightpuzzle"])
def test_batches_count_as_single_states_do(name: str, by_turns: bool) -> None:
    of = compiled_game_of(compiled(name))
    batches, states = BatchCounting(of, by_turns, 2), StateCounting(game(name), by_turns)
    assert [batches.nodes(of.initial_state, depth) for depth in range(1, 4)] == [
        states.nodes(game(name).initial_state, depth) for depth in range(1, 4)
    ]


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_a_turn_goes_on_until_others_are_to_move_or_the_play_ends(engine: str) -> None:
    of = make_game(read_rules(TWO_STEPS), engine)
    counting = StateCounting(of, True) if engine == "interpreter" else BatchCounting(compiled_game_of(of), True)
    assert [counting.nodes(of.initial_state, depth) for depth in (1, 2, 3)] == [3, 8, 24]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("by_turns", [False, True])
def test_a_large_depth_is_gone_through_in_parts(monkeypatch: pytest.MonkeyPatch, by_turns: bool) -> None:
    monkeypatch.setattr(frontier, "MOST_STATES", 100)
    monkeypatch.setattr(perft, "MOST_AT_ONCE", 5)
    monkeypatch.setattr(perft, "MOST_MADE", 7)
    monkeypatch.setattr(perft, "CHUNK", 7)
    of = compiled_game_of(compiled("connectfour"))
    assert BatchCounting(of, by_turns, n_threads=2).nodes(of.initial_state, 5) == 16_807


def test_sums_beyond_64_bits_are_exact() -> None:
    found = Frontier(np.zeros((2, 1), np.uint8), np.array([2**59, 2**59 + 1]))
    both = together([found, found])
    assert (found.total(np.array([1_000, 7])), list(both.weights)) == (1_007 * 2**59 + 7, [2**61 + 2])


def all_at_once(n_roles: int, n_moves: int) -> str:
    """Return the rules of a game in which all roles choose at once, twice."""
    roles, moves = range(n_roles), range(n_moves)
    return (
        f"{' '.join(f'(role r{i}) (goal r{i} 0)' for i in roles)} {' '.join(f'(option {i})' for i in moves)} (init a)"
        "(<= (legal ?r (choose ?m)) (role ?r) (option ?m)) (<= (next b) (true a)) (<= (next c) (true b))"
        "(<= terminal (true c))"
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("n_roles", "n_moves"), [(16, 16), (70, 3), (400, 9)])
def test_joint_moves_beyond_64_bits_are_counted_exactly(n_roles: int, n_moves: int) -> None:
    of = make_game(read_rules(all_at_once(n_roles, n_moves)), "compiled")
    counting = BatchCounting(compiled_game_of(of))
    assert counting.nodes(of.initial_state, 1) == n_moves**n_roles
    with pytest.raises(TooManyJointMovesError) as refused:
        counting.nodes(of.initial_state, 2)
    assert refused.value.n_joint == n_moves**n_roles


def test_turns_of_many_roles_stay_distinct() -> None:
    """Each of 70 roles has a turn of two steps."""
    n = 70
    turns = " ".join(f"(after r{i} 0 r{i} 1) (after r{i} 1 r{(i + 1) % n} 0)" for i in range(n))
    roles = " ".join(f"(role r{i}) (goal r{i} 0)" for i in range(n))
    rules = (
        f"{roles} {turns} (init (turn r62 0)) (<= (next (turn ?p ?m)) (true (turn ?r ?n)) (after ?r ?n ?p ?m))"
        "(<= (legal ?r (go 1)) (true (turn ?r ?n))) (<= (legal ?r (go 2)) (true (turn ?r ?n)))"
        "(<= (legal ?r noop) (role ?r) (not (mine ?r))) (<= (mine ?r) (true (turn ?r ?n)))"
        "(<= terminal (true (turn r10 0)))"
    )
    of = make_game(read_rules(rules), "compiled")
    counting = BatchCounting(compiled_game_of(of), True)
    assert [counting.nodes(of.initial_state, depth) for depth in (1, 2, 3)] == [4, 16, 64]


def test_the_moves_of_a_state_share_its_count() -> None:
    of = compiled_game_of(compiled("connectfour"))
    found = dict(divided(of, BatchCounting(of), of.initial_state, 5))
    assert (len(found), sum(found.values()), set(found.values())) == (7, 16_807, {2_401})


def test_a_role_without_a_move_is_the_rule_files_fault() -> None:
    rules = "(role a) (init s) (base s) (base t) (input a go) (<= (legal a go) (true s)) (<= (next t) (true s))"
    of = make_game(read_rules(f"{rules} (<= terminal (not (true s)) (not (true t))) (goal a 0)"), "compiled")
    with pytest.raises(StuckRoleError):
        BatchCounting(compiled_game_of(of)).nodes(of.initial_state, 3)


def test_the_command_prints_a_line_for_each_depth(ggp: Ggp) -> None:
    ended = ggp("perft", "tictactoe", 3)
    assert [line.split()[:2] for line in ended.output.splitlines()] == [["1", "9"], ["2", "72"], ["3", "504"]]


def test_json_has_depths_nodes_and_seconds(ggp: Ggp) -> None:
    found = json.loads(ggp("perft", "tictactoe", 2, "--json").output)
    assert [(each["depth"], each["nodes"]) for each in found["depths"]] == [(1, 9), (2, 72)]
    assert all(each["seconds"] >= 0 for each in found["depths"])


def test_divided_counts_are_listed_with_their_moves(ggp: Ggp) -> None:
    found = json.loads(ggp("perft", "tictactoe", 2, "--divide", "--json").output)
    assert (found["nodes"], found["moves"][0]) == (72, {"moves": ["(mark 1 1)", "noop"], "nodes": 8})
    assert ggp("perft", "tictactoe", 2, "--divide").output.splitlines()[-1].split() == ["72", "in", "9", "moves"]


def test_a_single_move_is_told_in_the_singular(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "go.kif").write_text("(role a) (init p) (legal a go) (goal a 1) (<= terminal (true q))")
    assert ggp("perft", tmp_path / "go.kif", 1, "--divide").output.splitlines()[-1].split() == ["1", "in", "1", "move"]


def test_moves_of_others_give_no_orders_to_the_terminal(ggp: Ggp, tmp_path: Path) -> None:
    rules = "(role a) (init (p)) (legal a go\x1b[2J) (goal a 1) (<= terminal (true (q)))"
    (tmp_path / "unsafe.kif").write_text(rules, encoding="utf-8")
    assert ggp("perft", tmp_path / "unsafe.kif", 1, "--divide").output.splitlines()[0].split() == ["1", "go\\x1b[2J"]


def test_a_record_says_where_to_begin(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    ggp("match", "tictactoe", "--player", "x=legal", "--player", "o=legal", "--record", path)
    found = json.loads(ggp("perft", "tictactoe", 2, "--from", f"{path}@2", "--json").output)
    assert [each["nodes"] for each in found["depths"]] == [7, 42]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from", "match.json"), "'match.json' is no record and step, such as match.json@12"),
        (("--from", "absent.json@1"), "absent.json cannot be read: No such file or directory"),
        (("--divide", "--turns"), "--divide counts steps: leave out --turns"),
    ],
)
def test_wrong_usage_is_explained(ggp: Ggp, words: tuple[str, ...], message: str) -> None:
    ended = ggp("perft", "tictactoe", 2, *words)
    assert (ended.exit_code, message in ended.errors) == (2, True)


def test_a_step_beyond_the_end_is_refused(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    ggp("match", "tictactoe", "--player", "x=legal", "--player", "o=legal", "--record", path)
    ended = ggp("perft", "tictactoe", 2, "--from", f"{path}@99")
    assert (ended.exit_code, "there is no step 99" in ended.errors) == (2, True)
