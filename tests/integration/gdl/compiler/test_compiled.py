"""The compiled engine answers as the interpreter does: on our games and on random rule files.

Every second random file is played, and all with GGP_EXHAUSTIVE=all (`make exhaustive`).
"""

from __future__ import annotations

import pickle
from copy import copy, deepcopy
from random import Random
from typing import Any

import pytest

from gdl.compiler.compiled import CompiledState
from gdl.engines import ENGINES, make_game
from gdl.errors import (
    CannotCompileError,
    IllegalMoveError,
    JointMoveError,
    TerminalStateError,
    UnknownRoleError,
    WrongTypeError,
)
from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from tests.kit.gdl.compiler.engines import both, joint_move, play_on_both
from tests.kit.gdl.compiler.random_games import random_games
from tests.kit.rules.sample import sampled_games

SLOW = {"amazons", "draughts", "hex", "kalah", "mummymaze", "othello", "twentyfortyeight", "zion", "zombies"}


@pytest.mark.sampled(17)
@pytest.mark.parametrize("name", sampled_games())
def test_both_engines_answer_alike_all_along_a_play(name: str) -> None:
    interpreted, compiled = both(find_game(name).read())
    for seed in range(1 if name in SLOW else 3):
        assert play_on_both(interpreted, compiled, seed, max_steps=4 if name in SLOW else 60)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block", range(4))
def test_both_engines_answer_alike_on_random_rule_files(block: int) -> None:
    games = random_games(block, 30)
    compared = [play_on_both(interpreted, compiled, seed, max_steps=8) for seed, interpreted, compiled in games]
    assert any(compared)


def play(rules: str, *moves: str) -> None:
    """Make joint moves on the compiled engine."""
    _, compiled = both(rules)
    compiled.initial_state.next_state([read_term(move) for move in moves])


COUNTER = """
(role r) (succ 0 1) (succ 1 2)
(init (count 0))
(<= (legal r (to ?y)) (true (count ?x)) (succ ?x ?y))
(<= (next (count ?y)) (does r (to ?y)))
(<= terminal (true (count 2)))
(<= (goal r ?x) (true (count ?x)))
(<= (goal r odd) (true (count 1)))
"""


LATE_CHANGE = """
(role x) (role o) (init (control x)) (init (step 0)) (late 62)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (control o)) (true (control x)) (not (true (step 60))))
(<= (next (control x)) (true (control x)) (true (step 60)))
(<= (next (control x)) (true (control o)))
(<= (legal ?r a) (true (control ?r)))
(<= (legal ?r b) (true (control ?r)))
(<= (legal x noop) (true (control o)))
(<= (legal o noop) (true (control x)))
(<= (next (score ?r)) (does ?r a) (true (step ?n)) (late ?n))
(<= terminal (true (step 63)))
(<= (goal ?r 100) (role ?r) (true (score ?r)))
(<= (goal ?r 0) (role ?r) (not (true (score ?r))))
"""
"""The turns alternate, and from step 60 on the other way round."""
TURNS_OF_THREE = """
(role white) (role black) (init (tick 0)) (init (control white))
(<= (next (tick ?m)) (true (tick ?n)) (then ?n ?m ?r))
(<= (next (control ?r)) (true (tick ?n)) (then ?n ?m ?last) (then ?m ?after ?r))
(<= (legal ?r push) (true (control ?r)))
(<= (legal ?r pause) (true (control ?r)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (pushed ?r)) (does ?r push))
(<= terminal (true (pushed white)) (true (pushed black)))
(<= (goal ?r 100) (true (pushed ?r)))
(<= (goal ?r 0) (role ?r) (not (true (pushed ?r))))
"""
"""White, white and black are to move in turn, by a counter of twelve; a push of both ends it, which never comes."""
BOTH_MAY_WIN = """
(role a) (role b) (init (at root)) (way a root risk mid) (way a root bad0 lost) (way b mid x other) (way b mid z third)
(<= (legal ?r ?move) (true (at ?here)) (way ?r ?here ?move ?there))
(<= (legal a noop) (true (at mid)))
(<= (legal b noop) (true (at root)))
(<= (next (at ?there)) (does ?r ?move) (true (at ?here)) (way ?r ?here ?move ?there))
(<= terminal (true (at ?end)) (worth ?end ?a ?b))
(worth safe 25 75) (worth lost 0 0) (worth other 0 100) (worth both 100 100) (worth third 75 25)
(<= (goal a ?a) (true (at ?end)) (worth ?end ?a ?b))
(<= (goal b ?b) (true (at ?end)) (worth ?end ?a ?b))
"""
"""Of 512 plays as many end with nothing for both as with all for both."""
THREE_TURNS = """
(role x) (init (turn first)) (init (step 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (turn place)) (true (turn first)))
(<= (next (turn slide)) (true (turn place)))
(<= (next (turn place)) (true (turn slide)))
(legal x a) (legal x b)
(<= (next got) (true (turn place)) (does x a))
(<= (next got) (true got))
(<= terminal (true (step 6)))
(<= (goal x 100) (true got))
(<= (goal x 0) (not (true got)))
"""


@pytest.mark.parametrize(
    ("moves", "error"), [((), JointMoveError), (("(to 2)",), IllegalMoveError), (("fly",), IllegalMoveError)]
)
def test_a_wrong_joint_move_is_refused(moves: tuple[str, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        play(COUNTER, *moves)


def test_a_terminal_state_has_no_next_state() -> None:
    _, compiled = both(COUNTER)
    end = compiled.state(frozenset([read_term("(count 2)")]))
    with pytest.raises(TerminalStateError):
        end.next_state([read_term("(to 2)")])


def test_a_role_that_is_not_there_is_refused() -> None:
    _, compiled = both(COUNTER)
    with pytest.raises(UnknownRoleError):
        compiled.initial_state.goal(Constant("nobody"))


def test_a_role_and_moves_are_terms_and_numbers_of_plays_whole() -> None:
    _, compiled = both(COUNTER)
    state: Any = compiled.initial_state
    for ask in (
        lambda: state.goal("r"),
        lambda: state.next_state(["(to 1)"]),
        lambda: state.next_state({"r": read_term("(to 1)")}),
        lambda: compiled.state({"(count 1)"}),  # type: ignore[arg-type]  # what is refused
    ):
        with pytest.raises(WrongTypeError):
            ask()
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        compiled.playouts(state, 3.0, 1)  # type: ignore[arg-type]  # a kernel of its own was compiled for it


def test_facts_may_be_any_collection() -> None:
    fact = read_term("(count 1)")
    for game in both(COUNTER):
        assert {game.state(facts) for facts in ([fact], {fact}, iter([fact]))} == {game.state(frozenset([fact]))}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_copy_of_a_game_or_a_state_is_the_same_object(engine: str) -> None:
    game = make_game(read_rules(COUNTER), engine)
    for one in (game, game.initial_state):
        assert [copy(one) is one, deepcopy({"kept": one})["kept"] is one] == [True, True]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_pickled_in_place_of_a_game_and_a_state_is_named(engine: str) -> None:
    game = make_game(read_rules(COUNTER), engine)
    with pytest.raises(TypeError, match=r"a game is not pickled: send its rules, game\.description"):
        pickle.dumps(game)
    with pytest.raises(TypeError, match=r"a state is not pickled: send its facts, state\.facts"):
        pickle.dumps(game.initial_state)


def test_what_is_sent_in_place_of_a_game_and_a_state_makes_equal_ones() -> None:
    game, _ = both(COUNTER)
    description, facts = pickle.loads(pickle.dumps((game.description, game.initial_state.facts)))
    assert make_game(description, "interpreter").state(facts).facts == game.initial_state.facts


def test_a_goal_that_is_no_number_or_not_alone_is_none() -> None:
    interpreted, compiled = both(COUNTER)
    for count in range(3):
        facts = frozenset([read_term(f"(count {count})")])
        goals = [game.state(facts).goal(game.roles[0]) for game in (interpreted, compiled)]
        assert goals == [None if count == 1 else count] * 2


def test_a_state_that_no_play_reaches_is_interpreted_until_a_play_is_back() -> None:
    _, compiled = both(COUNTER)
    beyond = compiled.state(frozenset([read_term("(count 1)"), read_term("(colour red)")]))
    assert not isinstance(beyond, CompiledState)
    back = beyond.next_state([read_term("(to 2)")])
    assert isinstance(back, CompiledState)
    assert back.facts == {read_term("(count 2)")}


def test_a_state_packs_to_bytes_and_back() -> None:
    _, compiled = both(find_game("connectfour").read())
    random, state = Random(1), compiled.initial_state
    while (moves := joint_move(compiled, state, random)) is not None:
        assert isinstance(state, CompiledState)
        assert compiled.unpack(state.packed) == state
        state = state.next_state(moves)


def test_a_state_of_another_engine_packs_as_the_same_state_of_this_one() -> None:
    interpreted, compiled = both(COUNTER)
    _, other = both(COUNTER.replace("(count", "(amount"))
    assert compiled.unpack(compiled.pack(interpreted.initial_state)) == compiled.initial_state
    with pytest.raises(ValueError, match="cannot be reached"):
        compiled.pack(other.initial_state)


def test_a_turn_order_that_changes_late_is_played_as_the_rules_say() -> None:
    steps = " ".join(f"(succ {i} {i + 1})" for i in range(70))
    interpreted, compiled = both(steps + LATE_CHANGE)
    found = [game.playouts(game.initial_state, n, 1) for game, n in ((interpreted, 20), (compiled, 512))]
    assert [(plays.mean_goals[0], plays.n_steps, plays.mean_goals[1] > 0) for plays in found] == [
        (0, 63 * plays.n_plays, True) for plays in found
    ]


def test_plays_from_a_state_whose_control_no_play_has_are_those_of_the_rules() -> None:
    interpreted, compiled = both(THREE_TURNS)
    state = compiled.state(frozenset([read_term("(step 0)")]))
    assert isinstance(state, CompiledState)
    assert (len(compiled.rules.phases), compiled.compiled_state(state)) == (2, None)
    found = [game.playouts(game.state(state.facts), 512, 1).mean_goals for game in (interpreted, compiled)]
    assert found == [(0,), (0,)]


def test_what_a_phase_knows_says_which_it_is() -> None:
    turns = " ".join(f"(then {i} {(i + 1) % 12} {'black' if i % 3 == 2 else 'white'})" for i in range(12))
    interpreted, compiled = both(turns + TURNS_OF_THREE)
    known = [frozenset(phase.known.items()) for phase in compiled.rules.phases]
    assert len(set(known)) == len(known)
    assert play_on_both(interpreted, compiled, 1, max_steps=13)


def test_goals_have_one_sum_where_each_play_has_it_and_not_their_moments_alone() -> None:
    safe = " ".join(f"(way a root safe{i} safe)" for i in range(15))
    good = " ".join(f"(way b mid y{i} both)" for i in range(6))
    _, compiled = both(safe + good + BOTH_MAY_WIN)
    plays = compiled.playouts(compiled.initial_state, 512, seed=1)
    (a, b), (a_squares, b_squares), n = plays.goal_sums, plays.goal_squares, plays.n_plays
    assert (a + b, b_squares) == (100 * n, 100**2 * n - 2 * 100 * a + a_squares)
    assert compiled.goal_sum is None


NUMBERED = """
(role x) (init (at 1)) (s a)
(<= (p a b) (true (at ?n))) (<= (p b a) (true (at ?n)))
(<= (legal x go)) (<= (next (at 2)) (true (at 1))) (<= terminal (true (at 2)))
(<= (q1 ?z) (s ?z) (p NAME ?x)) (<= (q2 ?z) (s ?z) (p ?y ?y)) (<= (next f) (q1 a))
(<= (goal x 100) (q2 a)) (<= (goal x 0) (not (q2 a)))
"""


@pytest.mark.parametrize("name", ["?0", "?1"])
def test_variables_that_are_numbers_are_names_as_others(name: str) -> None:
    interpreted, compiled = both(NUMBERED.replace("NAME", name))
    assert play_on_both(interpreted, compiled, 0, max_steps=2)


@pytest.mark.parametrize("fact", ["sees", "(sees)", "(sees x)", "(sees x y z)"])
def test_a_relation_called_sees_may_be_any_where_nothing_is_perceived(fact: str) -> None:
    interpreted, compiled = both(COUNTER + f"(<= {fact} (true (count 1))) (<= (goal r 2) {fact} (true (count 2)))")
    assert play_on_both(interpreted, compiled, 0, max_steps=3)


@pytest.mark.parametrize("packed", [b"", b"\0\0", b"\xff"])
def test_bytes_that_are_no_state_are_refused(packed: bytes) -> None:
    _, compiled = both(COUNTER)
    with pytest.raises(ValueError, match="is 1 bytes, the last 5 bits zero"):
        compiled.unpack(packed)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("(<= (legal r again) (does r (to 1)))", "`legal` depends on moves"),
        ("(goal r 1000001)", "a goal is above 1,000,000"),
        ("(p 0) (<= (p (s ?x)) (p ?x)) (<= (goal r 0) (p ?x))", "it has more than 1,000 ground rules"),
    ],
)
def test_what_is_beyond_the_compiler_says_why(rule: str, reason: str) -> None:
    with pytest.raises(CannotCompileError) as raised:
        both(COUNTER + rule, max_ground_rules=1_000)
    assert raised.value.reason == reason


IDLE = """
(kind a) (kind b)
(<= (q ?x ?i) (p ?x) (kind ?i))
(<= (s ?x ?i) (q ?x ?y) (kind ?i))
(<= (s ?i ?j) (t) (kind ?i) (kind ?j))
(<= (s ?x ?i) (e ?x ?y) (s ?y ?i))
(<= (u ?x) (kind ?x) (not (s b ?x)))
"""
"""Rules with arguments that do not matter, for the relations of the random files."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("block", range(4))
def test_leaving_out_idle_arguments_changes_no_answer(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gdl.compiler.pipeline._MANY_RULES", 0)
    games = random_games(block, 30, IDLE)
    compared = [play_on_both(interpreted, compiled, seed, max_steps=8) for seed, interpreted, compiled in games]
    assert any(compared)


LISTED = """
(role left) (role right) (init (at a)) (place a) (place b) (place c)
(<= (legal ?r ?m) (input ?r ?m) (not (closed ?m)))
(<= (closed (go ?x)) (true (at ?x)) (base (at ?x)))
(<= (next (at ?x)) (does left (go ?x)) (base (at ?x)))
(<= (next seen) (base seen) (true (at b)))
(<= (goal ?r 100) (role ?r) (true (at b)) (not (base (at d))))
(<= (goal ?r 0) (role ?r) (not (true (at b))))
(<= terminal (true seen) (not (input left wait)))
"""
"""A game whose rules read `base` and `input`, without those."""
FACTS = """
(base (at a)) (base (at b)) (base (at c)) (base seen) (input right wait)
(input left (go a)) (input left (go b)) (input left (go c))
"""
RULES = """
(<= (base (at ?x)) (place ?x)) (<= (base seen))
(<= (input left (go ?x)) (base (at ?x))) (<= (input right wait) (role right))
"""


@pytest.mark.parametrize("lists", [FACTS, RULES])
@pytest.mark.parametrize("many_rules", [0, 1_000_000])
def test_base_and_input_are_relations_that_rules_may_read(
    lists: str, many_rules: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gdl.compiler.pipeline._MANY_RULES", many_rules)
    interpreted, compiled = both(LISTED + lists)
    met = [play_on_both(interpreted, compiled, seed, max_steps=20) for seed in range(10)]
    assert all(states[-1].is_terminal for states in met)
    left = interpreted.roles[0]
    assert compiled.initial_state.legal_moves(left) == (read_term("(go b)"), read_term("(go c)"))
    assert compiled.playouts(compiled.initial_state, 5_000, 1).n_scored == (5_000, 5_000)


def test_lists_of_fluents_and_moves_that_no_rule_reads_cost_nothing() -> None:
    _, with_lists = both(COUNTER + "(<= (base (f ?x ?y ?z)) (succ ?x ?w) (succ ?y ?w) (succ ?z ?w))")
    _, without = both(COUNTER)
    assert with_lists.rules.single.n_rows == without.rules.single.n_rows
