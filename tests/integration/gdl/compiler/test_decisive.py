"""Plays that look a move ahead choose among the moves that win at once, else among those that lose to no reply."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from gdl.compiler.circuit import Circuit, build
from gdl.compiler.decisive import decisive
from gdl.compiler.gates import Lit
from gdl.compiler.phases import Phase, phases
from gdl.compiler.pipeline import ground_rules, rules_of
from gdl.datalog.translation import clauses_of
from gdl.engines import make_game
from gdl.game import Role, State
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.rules import Description, read_rules
from gdl.language.terms import Term

GAMES = ("connectfour", "breakthrough")


def circuit_of(description: Description) -> Circuit:
    roles = InterpretedGame(description).roles
    return build(ground_rules(clauses_of(description.rules), 1_000_000)[1], roles)


def values_of(phase: Phase, circuit: Circuit, facts: frozenset[Term]) -> list[bool]:
    """Return the value of every node in a state in which no move is made."""
    values = [True, *(fluent in facts for fluent in circuit.fluents), *(False for _ in circuit.moves)]
    for inputs in phase.gates[len(values) :]:
        values.append(all(values[x >> 1] ^ bool(x & 1) for x in inputs or ()))
    return values


def chosen_among(circuit: Circuit, phase: Phase, facts: frozenset[Term]) -> set[Term]:
    values = values_of(phase, circuit, facts)

    def is_true(literal: Lit) -> bool:
        return values[literal >> 1] ^ bool(literal & 1)

    return {circuit.moves[i] for i in phase.choices[0] if is_true(phase.legal[i])}


def after(state: State, roles: Sequence[Role], mover: int, move: Term) -> State:
    return state.next_state(tuple(move if i == mover else state.legal_moves(r)[0] for i, r in enumerate(roles)))


def wins(state: State, roles: Sequence[Role], mover: int) -> set[Term]:
    following = {move: after(state, roles, mover, move) for move in state.legal_moves(roles[mover])}
    return {move for move, each in following.items() if each.is_terminal and each.goal(roles[mover]) == 100}


def expected(state: State, roles: Sequence[Role], mover: int) -> set[Term] | None:
    """Return the moves of a play that looks ahead; None where a move ends the play without a win."""
    if found := wins(state, roles, mover):
        return found
    following = {move: after(state, roles, mover, move) for move in state.legal_moves(roles[mover])}
    if any(each.is_terminal for each in following.values()):
        return None
    return {move for move, each in following.items() if not wins(each, roles, 1 - mover)} or set(following)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", GAMES)
def test_plays_choose_as_the_definition_says(name: str) -> None:
    """In the states of random plays, all moves and all replies are made, and agree."""
    game, random = make_game(find_game(name).read(), "compiled"), Random(7)
    circuit = circuit_of(game.description)
    ahead = decisive(circuit, phases(circuit))
    assert ahead is not None
    n_fewer = 0
    for _ in range(4):
        state, step = game.initial_state, 0
        while not state.is_terminal:
            mover = step % 2
            found = chosen_among(circuit, ahead[mover], state.facts)
            assert found == (expected(state, game.roles, mover) or found)
            n_fewer += len(found) < len(state.legal_moves(game.roles[mover]))
            state = after(state, game.roles, mover, random.choice(state.legal_moves(game.roles[mover])))
            step += 1
    assert n_fewer > 0


@pytest.mark.parametrize("name", GAMES)
def test_moves_are_left_and_legal_in_every_state(name: str) -> None:
    """The moves that are left are some of the legal ones, and where there are legal moves some are left."""
    game = make_game(find_game(name).read(), "interpreter")
    circuit, random = circuit_of(game.description), Random(3)
    ahead = decisive(circuit, phases(circuit))
    assert ahead is not None
    state, step = game.initial_state, 0
    while not state.is_terminal:
        found = chosen_among(circuit, ahead[step % 2], state.facts)
        assert found
        assert found <= set(state.legal_moves(game.roles[step % 2]))
        state = state.next_state(tuple(random.choice(state.legal_moves(role)) for role in game.roles))
        step += 1


ONE_GOAL = """
(role a) (init (at 0)) (succ 0 1) (succ 1 2) (<= (legal a (say yes)) (true (at ?x)))
(<= (legal a (say no)) (true (at ?x))) (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 2))) (goal a 50)
"""


def test_nothing_looks_ahead_where_no_move_wins() -> None:
    """Where no goal is better than another, plays are as they were."""
    assert rules_of(circuit_of(read_rules(ONE_GOAL))).decisive is None


def test_nothing_looks_ahead_where_roles_choose_at_once() -> None:
    """In phases in which several roles choose, plays are as they were."""
    circuit = circuit_of(find_game("rockpaperscissors").read())
    assert decisive(circuit, phases(circuit)) is None
