"""Mummy maze: tried steps, the two steps of the mummy, and the three ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from gdl.games.library import find_game
from gdl.language.syntax import Rule
from gdl.language.terms import Compound
from tests.kit.players.games import game
from tests.kit.rules.positions import after, facts, goals, legal, position

Cell = tuple[int, int]

MAZE = game("mummymaze")
STEPS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
CELLS = [(x, y) for x in range(1, 9) for y in range(1, 9)]
EXIT = (8, 8)
REST = "(move1 nowhere) (move2 nowhere nowhere)"

ESCAPE = "north west west north north west north east north east east north west north east"
HUNT = "north north north north north north east east east south south south south west south east east east east east"


def walls() -> set[frozenset[Cell]]:
    """Return the pairs of neighbouring cells with a wall between them, as the rule file has them."""
    return {wall(rule) for rule in find_game("mummymaze").read().rules if str(rule.head.term).startswith("(wall ")}


def wall(rule: Rule) -> frozenset[Cell]:
    term = rule.head.term
    assert isinstance(term, Compound)
    x, y = (int(str(number)) for number in term.arguments[:2])
    dx, dy = STEPS[str(term.arguments[2])]
    return frozenset({(x, y), (x + dx, y + dy)})


WALLS = walls()


def tried(cell: Cell, direction: str) -> Cell:
    """Return where a step from *cell* ends."""
    (x, y), (dx, dy) = cell, STEPS[direction]
    goal = (x + dx, y + dy)
    return cell if goal not in CELLS or frozenset({cell, goal}) in WALLS else goal


def at(explorer: Cell, mummy: Cell, control: str, step: int = 10) -> str:
    places = f"(at explorer {explorer[0]} {explorer[1]}) (at mummy {mummy[0]} {mummy[1]})"
    return f"{places} (control {control}) (step {step})"


def explorer_moves(directions: list[str]) -> list[str]:
    """Return joint moves in which the explorer walks and the mummy rests."""
    return [text for way in directions for text in (f"(move1 {way}) (move2 nowhere nowhere)", REST)]


def test_any_direction_may_be_tried_and_the_waiting_side_goes_nowhere() -> None:
    start = MAZE.initial_state
    assert legal(start, "explorer") == {f"(move1 {way})" for way in (*STEPS, "nowhere")}
    assert legal(start, "mummy") == {"(move2 nowhere nowhere)"}


def test_the_mummy_takes_two_steps_or_none() -> None:
    state = after(MAZE.initial_state, [REST])
    both = {f"(move2 {first} {second})" for first in STEPS for second in STEPS}
    assert legal(state, "mummy") == both | {"(move2 nowhere nowhere)"}
    assert legal(state, "explorer") == {"(move1 nowhere)"}


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell != EXIT])
def test_a_step_goes_to_the_neighbour_or_against_a_wall_nowhere(cell: Cell) -> None:
    mummy = (1, 1) if cell != (1, 1) else (1, 2)
    state = position(MAZE, at(cell, mummy, "explorer"))
    found = {way: facts(after(state, [f"(move1 {way}) (move2 nowhere nowhere)"]), "at") for way in STEPS}
    expected = {way: facts(position(MAZE, at(tried(cell, way), mummy, "mummy")), "at") for way in STEPS}
    assert found == expected


def test_each_step_of_the_mummy_is_blocked_on_its_own() -> None:
    for moves, cell in {
        "west north": (1, 2),
        "north west": (1, 2),
        "west south": (1, 1),
        "north north": (1, 3),
    }.items():
        state = after(position(MAZE, at((8, 1), (1, 1), "mummy")), [f"(move1 nowhere) (move2 {moves})"])
        assert f"(at mummy {cell[0]} {cell[1]})" in facts(state, "at")


def test_a_mummy_that_meets_the_explorer_with_its_first_step_stays_and_has_eaten() -> None:
    state = after(position(MAZE, at((1, 2), (1, 1), "mummy")), ["(move1 nowhere) (move2 north north)"])
    assert facts(state, "at") == {"(at explorer 1 2)", "(at mummy 1 2)"}
    assert (state.is_terminal, goals(MAZE, state)) == (True, [0, 100])


def test_a_mummy_that_meets_the_explorer_with_its_second_step_has_eaten() -> None:
    state = after(position(MAZE, at((1, 3), (1, 1), "mummy")), ["(move1 nowhere) (move2 north north)"])
    assert (state.is_terminal, goals(MAZE, state)) == (True, [0, 100])


def test_an_explorer_who_walks_into_the_mummy_is_eaten() -> None:
    state = after(position(MAZE, at((1, 2), (1, 1), "explorer")), ["(move1 south) (move2 nowhere nowhere)"])
    assert (state.is_terminal, goals(MAZE, state)) == (True, [0, 100])


def test_a_mummy_in_the_exit_eats_the_explorer_who_reaches_it() -> None:
    state = after(position(MAZE, at((7, 8), EXIT, "explorer")), ["(move1 east) (move2 nowhere nowhere)"])
    assert (state.is_terminal, goals(MAZE, state)) == (True, [0, 100])


def test_the_way_out_wins_against_a_mummy_that_rests() -> None:
    state = after(MAZE.initial_state, explorer_moves(ESCAPE.split())[:-1])
    assert (state.is_terminal, goals(MAZE, state)) == (True, [100, 0])


def test_an_explorer_who_stands_still_is_eaten() -> None:
    hunt = HUNT.split()
    moves = [
        text for i in range(0, len(hunt), 2) for text in (REST, f"(move1 nowhere) (move2 {hunt[i]} {hunt[i + 1]})")
    ]
    moves += [REST, "(move1 nowhere) (move2 south south)"]
    state = after(MAZE.initial_state, moves)
    assert (state.is_terminal, goals(MAZE, state)) == (True, [0, 100])


def test_step_50_shares_the_points() -> None:
    state = after(MAZE.initial_state, [REST] * 49)
    assert (state.is_terminal, goals(MAZE, state)) == (False, [50, 50])
    assert (after(state, [REST]).is_terminal, goals(MAZE, after(state, [REST]))) == (True, [50, 50])


def test_an_escape_in_the_last_step_counts() -> None:
    state = after(position(MAZE, at((7, 8), (1, 1), "explorer", 49)), ["(move1 east) (move2 nowhere nowhere)"])
    assert (state.is_terminal, goals(MAZE, state)) == (True, [100, 0])


def hunted(explorer: Cell, mummy: Cell) -> Iterator[Cell]:
    """Yield where the mummy can be after its move."""
    yield mummy
    for first in {tried(mummy, way) for way in STEPS}:
        yield from [first] if first == explorer else {tried(first, way) for way in STEPS}


@cache
def escapes(explorer: Cell, mummy: Cell, moves: int) -> bool:
    """Whether the explorer reaches the exit within *moves* moves, whatever the mummy does."""
    reached = {tried(explorer, way) for way in STEPS} - {mummy}
    return EXIT in reached or (moves > 1 and any(survives(cell, mummy, moves) for cell in reached | {explorer}))


def survives(explorer: Cell, mummy: Cell, moves: int) -> bool:
    return all(cell != explorer and escapes(explorer, cell, moves - 1) for cell in hunted(explorer, mummy))


def test_an_explorer_who_makes_no_mistake_escapes_in_15_moves() -> None:
    assert [escapes((8, 1), (1, 1), moves) for moves in (14, 15)] == [False, True]


@pytest.mark.exhaustive
def test_an_explorer_who_rests_at_the_start_cannot_force_the_escape_any_more() -> None:
    assert not survives((8, 1), (1, 1), 25)
