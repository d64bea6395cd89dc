"""What rules mean, as data in `semantics/`; and what games and states promise their callers."""

from __future__ import annotations

import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from gdl.errors import (
    IllegalMoveError,
    JointMoveError,
    LimitExceeded,
    MalformedRuleError,
    TerminalStateError,
    UnknownRoleError,
)
from gdl.game import Game, Playouts, State
from gdl.games.library import find_game
from gdl.interpreter import READ_HINT, ROLE_HINT, InterpretedGame
from gdl.language.kif import read_term
from gdl.language.rules import read_file, read_rules
from gdl.language.terms import Constant

FOLDER: Final = Path(__file__).parent / "semantics"
COUNTER: Final = """
(role r)
(succ 0 1) (succ 1 2) (succ 2 3)
(init (count 0))
(<= (legal r (to ?y)) (true (count ?x)) (succ ?x ?y))
(<= (legal r stay) (true (count ?x)))
(<= (next (count ?y)) (does r (to ?y)))
(<= (next (count ?x)) (does r stay) (true (count ?x)))
(<= terminal (true (count 3)))
(<= (goal r ?x) (true (count ?x)))
"""


def answers(game: Game, state: State) -> dict[str, Any]:
    """Return what the rules say of *state*, as the files in `semantics/` write it."""
    legal = {role.name: list(map(str, state.legal_moves(role))) for role in game.roles}
    goals = {role.name: goal for role in game.roles if (goal := state.goal(role)) is not None}
    return {
        "roles": [role.name for role in game.roles],
        "facts": sorted(map(str, state.facts)),
        "terminal": state.is_terminal,
        "legal": legal,
        "goals": goals,
    }


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.kif")), ids=lambda path: path.stem)
def test_rules_mean_what_was_worked_out_by_hand(path: Path) -> None:
    expected = tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))
    game = InterpretedGame(read_file(path))
    found = answers(game, game.initial_state)
    if "moves" in expected:
        moves = [read_term(move) for move in expected["moves"]]
        after = game.initial_state.next_state(moves)
        found |= {"moves": expected["moves"], "next": sorted(map(str, after.facts))}
    assert {"about": expected["about"], **{name: found[name] for name in expected if name != "about"}} == expected


def test_every_meaning_has_rules_and_answers() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == {path.stem for path in FOLDER.glob("*.kif")}


def counter() -> Game:
    return InterpretedGame(read_rules(COUNTER))


def test_states_with_equal_facts_are_equal_and_hash_alike() -> None:
    game = counter()
    reached = game.initial_state.next_state([read_term("(to 1)")])
    set_up = game.state(frozenset([read_term("(count 1)")]))
    assert (reached == set_up, hash(reached) == hash(set_up), reached == game.initial_state) == (True, True, False)
    others = [game.state([Constant(name)]) for name in "abc"]
    assert len({hash(state) for state in others}) == 3


def test_a_state_of_another_game_is_another_state() -> None:
    assert counter().initial_state != counter().initial_state


def test_the_facts_of_a_state_cannot_be_replaced() -> None:
    with pytest.raises(AttributeError):
        setattr(counter().initial_state, "facts", frozenset())  # noqa: B010 -- mypy refuses the assignment


def test_a_state_shows_its_facts() -> None:
    game = counter()
    assert repr(game.state(map(read_term, ["lit", "(count 0)"]))) == "<InterpretedState (count 0) lit>"
    assert repr(game.state([Constant("x" * 300)])) == f"<InterpretedState {'x' * 200}>"


def test_what_was_asked_of_a_state_is_kept() -> None:
    state, role = counter().initial_state, Constant("r")
    assert state.legal_moves(role) is state.legal_moves(role)


def test_a_state_set_up_by_its_facts_answers_as_if_it_had_been_reached() -> None:
    game = counter()
    assert answers(game, game.state(frozenset([read_term("(count 3)")]))) == {
        "roles": ["r"], "facts": ["(count 3)"], "terminal": True, "legal": {"r": ["stay"]}, "goals": {"r": 3},
    }  # fmt: skip


def test_in_gdl1_everyone_perceives_the_joint_move() -> None:
    game = counter()
    assert game.initial_state.percepts(Constant("r"), [Constant("stay")]) == (Constant("stay"),)


def test_a_role_that_the_game_lacks_is_named() -> None:
    state, stranger = counter().initial_state, Constant("stranger")
    for ask in (state.legal_moves, state.goal, lambda role: state.percepts(role, [Constant("stay")])):
        with pytest.raises(UnknownRoleError) as raised:
            ask(stranger)
        assert (raised.value.role, raised.value.roles) == ("stranger", ("r",))


def test_an_illegal_move_is_named() -> None:
    with pytest.raises(IllegalMoveError) as raised:
        counter().initial_state.next_state([read_term("(to 3)")])
    assert (raised.value.role, raised.value.move) == ("r", "(to 3)")


@pytest.mark.parametrize("n_moves", [0, 2])
def test_a_joint_move_has_one_move_for_each_role(n_moves: int) -> None:
    with pytest.raises(JointMoveError) as raised:
        counter().initial_state.next_state([Constant("stay")] * n_moves)
    assert (raised.value.n_moves, raised.value.n_roles) == (n_moves, 1)


def test_a_terminal_state_takes_no_move() -> None:
    state = counter().state(frozenset([read_term("(count 3)")]))
    with pytest.raises(TerminalStateError):
        state.next_state([Constant("stay")])


@pytest.mark.parametrize(
    ("roles", "what"),
    [
        ("", "no role is declared"),
        ("(<= (role ?x) (true ?x))", "no role is declared"),
        ("(role (f x))", "a role must be a name"),
        ("(role a) (role (f x))", "a role must be a name"),
    ],
)
def test_a_game_has_roles_and_they_are_names(roles: str, what: str) -> None:
    with pytest.raises(MalformedRuleError) as raised:
        InterpretedGame(read_rules(f"{roles} (init a)", "noughts.kif"))
    error = raised.value
    assert (error.message, error.span, error.hint) == (
        f"noughts.kif: {what}", None, "write a fact such as (role white)",
    )  # fmt: skip


def test_plays_from_a_state_end_as_its_rules_say() -> None:
    game = InterpretedGame(read_rules(COUNTER.replace("(<= (legal r stay) (true (count ?x)))", "")))
    ahead = game.state([read_term("(count 1)")])
    assert game.playouts(ahead, 4, seed=1) == Playouts(
        n_plays=4, goal_sums=(12,), goal_squares=(36,), n_scored=(4,), n_steps=8, step_squares=16, longest=2
    )
    with pytest.raises(LimitExceeded):
        game.playouts(ahead, 4, seed=1, max_steps=1)


def test_plays_are_drawn_by_their_seed() -> None:
    game = counter()
    found = [game.playouts(game.initial_state, 20, seed) for seed in (1, 2, 1)]
    assert (found[0] == found[2], found[0] == found[1]) == (True, False)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("rules/nim/nim.kif", READ_HINT),
        ("my games/nim.kif", READ_HINT),
        ("nim", READ_HINT),
        ("(init a)", ROLE_HINT),
        ("", ROLE_HINT),
        ("; nim.kif", ROLE_HINT),
    ],
)
def test_what_was_read_of_a_path_has_no_role_and_a_hint_at_what_reads_files(text: str, hint: str) -> None:
    with pytest.raises(MalformedRuleError) as raised:
        InterpretedGame(read_rules(text))
    assert (raised.value.message, raised.value.hint) == ("<rules>: no role is declared", hint)


def plays(game: Game) -> Iterator[dict[str, Any]]:
    """Yield what the rules say along a play in which everyone plays the last of their moves."""
    state = game.initial_state
    while not state.is_terminal:
        yield answers(game, state)
        state = state.next_state([state.legal_moves(role)[-1] for role in game.roles])
    yield answers(game, state)


def test_threads_that_ask_one_game_get_equal_answers() -> None:
    shared = InterpretedGame(find_game("tictactoe").read())
    expected = list(plays(InterpretedGame(find_game("tictactoe").read())))
    found: list[list[dict[str, Any]]] = []
    threads = [threading.Thread(target=lambda: found.append(list(plays(shared)))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


class Interruption(BaseException):
    """What a signal handler may raise at any line."""


@contextmanager
def interrupted_at(line: int) -> Iterator[None]:
    """Raise Interruption at that line of the package's code, counted from here."""
    left = line

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if not any(part in frame.f_code.co_filename for part in ("model.py", "relations.py", "joins.py")):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise Interruption
        return trace

    sys.settrace(trace)
    try:
        yield
    except Interruption:
        pass
    finally:
        sys.settrace(None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("line", range(3, 900, 23))
def test_a_question_interrupted_at_any_line_leaves_the_game_as_it_was(line: int) -> None:
    text = COUNTER + "(<= (less ?x ?y) (succ ?x ?y)) (<= (less ?x ?z) (less ?x ?y) (succ ?y ?z))"
    text += "(<= (legal r (skip ?y)) (true (count ?x)) (less ?x ?y))"
    expected = answers(InterpretedGame(read_rules(text)), InterpretedGame(read_rules(text)).initial_state)
    game = InterpretedGame(read_rules(text))
    with interrupted_at(line):
        answers(game, game.initial_state)
    assert answers(game, game.state(game.initial_state.facts)) == expected
