"""Nannon: the rule file beside a program, move by move, and how many positions there are."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement

from gdl.game import State
from gdl.language.kif import read_term
from tests.integration.rules.reference import nannon
from tests.kit.players.games import compiled

N_PLAYS = 40
SIDES = ("white", "black")


def position_of(state: State, side: int) -> nannon.Position:
    """Return the position that the facts of *state* are, from the side of the player in turn."""
    gone: list[list[int]] = [[], []]
    for name, *arguments in (str(fact).strip("()").split() for fact in state.facts):
        if name == "cell":
            point, i = int(arguments[0]), SIDES.index(arguments[1])
            gone[i].append(point if i == 0 else 7 - point)
        elif name in ("home", "safe"):
            gone[SIDES.index(arguments[0])].extend([0 if name == "home" else 7] * int(arguments[1]))
    return tuple(sorted(gone[side])), tuple(sorted(gone[1 - side]))


def place(steps: int, side: int) -> str:
    if steps in (0, 7):
        return "home" if steps == 0 else "safety"
    return str(steps if side == 0 else 7 - steps)


def test_random_plays_are_those_of_the_program() -> None:
    game, rng = compiled("nannon"), random.Random(0)
    for _ in range(N_PLAYS):
        state = game.initial_state
        while not state.is_terminal:
            (turn,) = [str(fact) for fact in state.facts if str(fact).startswith("(control")]
            if turn != "(control random)":
                side = SIDES.index(turn.strip("()").split()[1])
                (eyes,) = [int(str(fact)[5]) for fact in state.facts if str(fact).startswith("(die")]
                position = position_of(state, side)
                known = {
                    f"(move {place(steps, side)} {place(to, side)})": (steps, to)
                    for steps, to in nannon.moves(position, eyes)
                }
                legal = state.legal_moves(game.roles[side])
                assert {str(move) for move in legal} == set(known or ["pass"])
                move = rng.choice(legal)
                joint = [move if i == side else read_term("noop") for i in range(3)]
                state = state.next_state(joint)
                assert position_of(state, 1 - side) == nannon.after(position, known.get(str(move)))
            else:
                state = state.next_state([rng.choice(state.legal_moves(role)) for role in game.roles])


def test_there_are_as_many_positions_as_the_paper_counts() -> None:
    """The paper has 2,530: all ways to put three checkers of each side on six points, home and safety."""
    one_side = [side for side in combinations_with_replacement(range(8), 3) if _is_apart(side)]
    positions = {(mine, others) for mine in one_side for others in one_side if _is_possible(mine, others)}
    assert (len(positions), nannon.positions() <= positions) == (2530, True)


def _is_apart(side: tuple[int, ...]) -> bool:
    points = [steps for steps in side if 1 <= steps <= 6]
    return len(points) == len(set(points))


def _is_possible(mine: tuple[int, ...], others: tuple[int, ...]) -> bool:
    return not {steps for steps in mine if 1 <= steps <= 6} & {7 - steps for steps in others if 1 <= steps <= 6}
