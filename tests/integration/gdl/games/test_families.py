"""The generated games: known counts of sizes, the library's games among them, and plays beside small programs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import pytest

from gdl.boards.metadata import metadata_of
from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.game import Game, State
from gdl.games.breakthrough import breakthrough_game
from gdl.games.connect import ConnectGame, connect_game
from gdl.games.families import GeneratedGame
from gdl.games.hanoi import hanoi_game
from gdl.games.hex import hex_game
from gdl.games.library import find_game
from gdl.games.nim import first_wins, nim_game
from gdl.games.queens import queens_game
from gdl.games.sokoban import sokoban_game
from gdl.games.sokoban_level import read_level
from gdl.games.sudoku import read_sudoku, sudoku_game
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from players.search.evaluator import compiled_game_of
from server.measuring.perft import BatchCounting, counts

LEVELS = {
    "two boxes": "#####\n#@$.#\n# $.#\n#####",
    "a room": "  ####\n###  #\n#  $.#\n# @$ #\n##  .#\n #####",
    "on goals": "######\n#+ $ #\n# *  #\n#    #\n######",
}
PUZZLE = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"
SOLUTION = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
SAMPLES = {
    "hex": lambda: hex_game(4),
    "breakthrough": lambda: breakthrough_game(3, 6),
    "breakthrough, lowest": lambda: breakthrough_game(2, 4),
    "connect, falling": lambda: connect_game(ConnectGame(5, 4, 3, gravity=True)),
    "connect, free": lambda: connect_game(ConnectGame(4, 3, 3)),
    "connect, one column": lambda: connect_game(ConnectGame(1, 6, 2, gravity=True)),
    "nim": lambda: nim_game([2, 3, 1]),
    "nim, misère": lambda: nim_game([4, 2], misere=True),
    "queens": lambda: queens_game(6),
    "hanoi": lambda: hanoi_game(4),
    "sokoban": lambda: sokoban_game(read_level(LEVELS["a room"])),
    "sudoku": lambda: sudoku_game(read_sudoku(PUZZLE)),
}


@cache
def compiled(rules: str) -> CompiledGame:
    return compiled_game_of(make_game(read_rules(rules), "compiled"))


def perft(made: GeneratedGame, depth: int) -> list[int]:
    """Return the numbers of nodes at depths 1 to *depth*."""
    game = compiled(made.rules)
    return [each.nodes for each in counts(BatchCounting(game), game.initial_state, depth)]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("sample", SAMPLES)
def test_random_plays_end_with_exactly_one_goal_each_as_the_description_says(sample: str) -> None:
    made = SAMPLES[sample]()
    game, about, rng = compiled(made.rules), metadata_of(made.metadata.encode()), random.Random(sample)
    assert about.roles == tuple(role.name for role in game.roles)
    assert about.counts.legal == {role.name: len(game.initial_state.legal_moves(role)) for role in game.roles}
    assert tuple(perft(made, 1)) == about.counts.perft[:1]
    for _ in range(10):
        state, n_steps = game.initial_state, 0
        while not state.is_terminal:
            state = state.next_state([rng.choice(state.legal_moves(role)) for role in game.roles])
            n_steps += 1
        assert (about.counts.shortest_play or 0) <= n_steps <= (about.counts.longest_play or n_steps)
        goals = [state.goal(role) for role in game.roles]
        assert [goal for goal in goals if goal is None or not 0 <= goal <= 100] == []


def known(name: str) -> tuple[int, ...]:
    about = find_game(name).metadata()
    assert about is not None
    return about.counts.perft


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("breakthrough", breakthrough_game(8, 8)),
        ("connectfour", connect_game(ConnectGame(7, 6, 4, gravity=True))),
        ("nim", nim_game([3, 4, 5])),
        ("tictactoe", connect_game(ConnectGame(3, 3, 3))),
    ],
)
def test_the_library_s_sizes_go_as_the_library_s_games(name: str, made: GeneratedGame) -> None:
    assert perft(made, len(known(name))) == list(known(name))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [4, 5, 6, 7, 8])
def test_queens_are_placed_in_as_many_ways_as_is_known(n: int) -> None:
    """The last number is that of the solutions: 2, 10, 4, 40, 92."""
    made = queens_game(n)
    assert perft(made, n) == list(metadata_of(made.metadata.encode()).counts.perft)
    assert perft(made, n)[-1] == {4: 2, 5: 10, 6: 4, 7: 40, 8: 92}[n]


def hex_nodes(side: int, depth: int, stones: dict[tuple[int, int], int]) -> int:
    """Return how many nodes there are at *depth*, by a program of a few lines."""
    if depth == 0:
        return 1
    if any(_has_chain(side, stones, player) for player in (0, 1)):
        return 0
    cells = [(x, y) for x in range(side) for y in range(side) if (x, y) not in stones]
    return sum(hex_nodes(side, depth - 1, {**stones, cell: len(stones) % 2}) for cell in cells)


def _has_chain(side: int, stones: dict[tuple[int, int], int], player: int) -> bool:
    waiting = [cell for cell, owner in stones.items() if owner == player and cell[player] == 0]
    found = set(waiting)
    while waiting:
        x, y = waiting.pop()
        for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1), (x + 1, y - 1), (x - 1, y + 1)):
            if stones.get(cell) == player and cell not in found:
                found.add(cell)
                waiting.append(cell)
    return any(cell[player] == side - 1 for cell in found)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("side", "depth"), [(2, 4), (3, 6)])
def test_hex_goes_as_a_small_program_has_it(side: int, depth: int) -> None:
    assert perft(hex_game(side), depth) == [hex_nodes(side, each, {}) for each in range(1, depth + 1)]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("sizes", [(1,), (1, 1), (2, 2), (1, 2), (1, 2, 3), (1, 1, 1), (3, 1, 1)])
@pytest.mark.parametrize("misere", [False, True])
def test_who_wins_nim_is_as_bouton_has_it(sizes: tuple[int, ...], misere: bool) -> None:
    game = compiled(nim_game(sizes, misere=misere).rules)
    assert _wins(game, game.initial_state, 0) == first_wins(sizes, misere=misere)


def _wins(game: Game, state: State, turn: int) -> bool:
    """Return whether the role in *turn* wins with perfect play."""
    if state.is_terminal:
        return state.goal(game.roles[turn]) == 100
    return any(not _wins(game, then, 1 - turn) for then in _followers(game, state))


def _followers(game: Game, state: State) -> Iterator[State]:
    for moves in state.legal_moves(game.roles[0]):
        for others in state.legal_moves(game.roles[1]):
            yield state.next_state([moves, others])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("disks", [2, 3, 4])
def test_hanoi_has_three_positions_for_each_disk_and_is_solved_in_as_few_moves_as_is_known(disks: int) -> None:
    game = compiled(hanoi_game(disks).rules)
    (player,), level = game.roles, [game.initial_state]
    met = {_without_step(state) for state in level}
    solved = 0
    for depth in range(1, 2**disks):
        level = [state.next_state([move]) for state in level for move in state.legal_moves(player)]
        level = list({_without_step(state): state for state in level if _without_step(state) not in met}.values())
        met |= {_without_step(state) for state in level}
        if not solved and any(state.goal(player) == 100 for state in level):
            solved = depth
    assert (len(met), solved) == (3**disks, 2**disks - 1)


def _without_step(state: State) -> frozenset[str]:
    return frozenset(str(fact) for fact in state.facts if not str(fact).startswith("(step"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", LEVELS)
def test_sokoban_goes_as_a_small_program_has_it(name: str) -> None:
    level = read_level(LEVELS[name])

    def nodes(player: tuple[int, int], boxes: frozenset[tuple[int, int]], depth: int) -> int:
        if depth == 0:
            return 1
        if boxes == level.goals:
            return 0
        total = 0
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            to, behind = (player[0] + dx, player[1] + dy), (player[0] + 2 * dx, player[1] + 2 * dy)
            if to in level.walls or (to in boxes and (behind in level.walls or behind in boxes)):
                continue
            moved = boxes - {to} | {behind} if to in boxes else boxes
            total += nodes(to, moved, depth - 1)
        return total

    expected = [nodes(level.player, level.boxes, depth) for depth in range(1, 8)]
    assert perft(sokoban_game(level), 7) == expected


def test_a_sudoku_is_solved_digit_by_digit() -> None:
    game = compiled(sudoku_game(read_sudoku(PUZZLE)).rules)
    state = game.initial_state
    for i, (given, digit) in enumerate(zip(PUZZLE, SOLUTION, strict=True)):
        if given == "0":
            move = read_term(f"(put {i % 9 + 1} {i // 9 + 1} {digit})")
            assert move in state.legal_moves(game.roles[0])
            state = state.next_state([move])
    assert (state.is_terminal, state.goal(game.roles[0])) == (True, 100)
