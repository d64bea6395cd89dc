"""The stored positions: what their files hold, and whether a solver that did not make them finds the same values.

Minimax looks at the last six of each file, and at twelve and three times as many states with GGP_EXHAUSTIVE=all
(`make exhaustive`).
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

import benchmarks.positions
from benchmarks.positions.__main__ import BITBOARDS, RECIPES, main
from benchmarks.positions.connectfour import ConnectFour
from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.engines import make_game
from gdl.game import State
from players.deadline import SearchBudget
from players.search.proof.solver import ProofSearch
from server.measuring.solved_positions import PositionFile, SolvedPosition, read_positions
from tests.kit.exhaustive import IS_EXHAUSTIVE

FOLDER: Final = Path(benchmarks.positions.__file__).parent
NAMES: Final = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
BY_PROOF: Final = sorted({*NAMES} - {BITBOARDS})
N_LATEST: Final = 12 if IS_EXHAUSTIVE else 6
MAX_EXPANDED: Final = 7_500
MAX_STATES: Final = 3_000 if IS_EXHAUSTIVE else 1_000
"""How many states minimax looks at for one move; what takes more is left to the other moves."""


@cache
def stored(name: str) -> tuple[PositionFile, CompiledGame]:
    file = read_positions(FOLDER / f"{name}.jsonl")
    game = make_game(file.game.read(), "compiled")
    assert isinstance(game, CompiledGame)
    return file, game


def latest(file: PositionFile, n: int) -> list[tuple[int, SolvedPosition]]:
    return sorted(file.numbered, key=lambda pair: len(pair[1].moves))[-n:]


class TooLargeError(Exception):
    """Minimax has looked at as many states as it may."""


class Minimax:
    """The goal of a role of two, by looking at everything that could change it."""

    def __init__(self, game: CompiledGame, role: int) -> None:
        self.game, self.role = game, role
        self.known: dict[bytes, int] = {}

    def value(self, packed: bytes) -> int:
        if packed not in self.known:
            self.known[packed] = self._searched(packed)
        return self.known[packed]

    def _searched(self, packed: bytes) -> int:
        if len(self.known) >= MAX_STATES:
            raise TooLargeError
        legal, is_terminal = self.game.legal_and_terminal(packed)
        if is_terminal:
            return self.game.goals_of(packed)[self.role] or 0
        first, second = ([int(move) for move in legal if move in numbers] for numbers in self.game.moves_of)
        is_mine = len((first, second)[self.role]) > 1
        best = 0 if is_mine else 100
        for moves in ((a, b) for a in first for b in second):
            value = self.value(self.game.step(packed, moves))
            best = max(best, value) if is_mine else min(best, value)
            if best == (100 if is_mine else 0):
                break
        return best


def after(game: CompiledGame, state: State, role: int, text: str) -> CompiledState:
    """Return the state after the move of that text; the other role has only one."""
    moves = [state.legal_moves(one)[0] for one in game.roles]
    moves[role] = next(move for move in state.legal_moves(game.roles[role]) if str(move) == text)
    found = state.next_state(moves)
    assert isinstance(found, CompiledState)
    return found


def test_the_files_are_of_games_with_a_recipe() -> None:
    assert len(NAMES) >= 4
    assert {*NAMES} <= {*RECIPES}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_positions_are_different_and_a_choice_and_in_two_halves(name: str) -> None:
    file, game = stored(name)
    found = [file.state(game, *numbered) for numbered in file.numbered]
    assert len(found) == len(set(found)) >= 50
    halves = [position.half for _, position in file.numbered]
    assert abs(halves.count("tuning") - halves.count("test")) <= 1
    values = [position.values.values() for _, position in file.numbered]
    assert [each for each in values if min(each) == max(each)] == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", BY_PROOF)
def test_the_latest_positions_have_the_values_that_minimax_finds(name: str) -> None:
    file, game = stored(name)
    n_found = 0
    for numbered in latest(file, N_LATEST):
        state, position = file.state(game, *numbered), numbered[1]
        role = list(map(str, game.roles)).index(position.role)
        for text, value in position.values.items():
            with suppress(TooLargeError):
                assert Minimax(game, role).value(after(game, state, role, text).packed) == value
                n_found += 1
    assert n_found >= 3


def test_proof_search_finds_the_values_of_the_solver_of_connect_four() -> None:
    file, game = stored(BITBOARDS)
    search, n_solved = ProofSearch(game), 0
    for numbered in latest(file, 6):
        state, position = file.state(game, *numbered), numbered[1]
        role = list(map(str, game.roles)).index(position.role)
        for text, value in position.values.items():
            found = search.solve(after(game, state, role, text), game.roles[role], SearchBudget(MAX_EXPANDED))
            n_solved += found is not None
            assert found is None or found.value == value
    assert n_solved >= 10


@pytest.mark.exhaustive
def test_connect_four_ends_in_a_win_at_once_or_a_draw() -> None:
    solver = ConnectFour()
    assert solver.values([1, 2, 1, 2, 1, 2]) == {1: 100, **dict.fromkeys(range(2, 8), 0)}
    full_but_one = [
        1,
        2,
        1,
        2,
        2,
        1,
        2,
        1,
        1,
        2,
        1,
        2,
        3,
        4,
        3,
        4,
        4,
        3,
        4,
        3,
        3,
        4,
        3,
        4,
        5,
        6,
        5,
        6,
        6,
        5,
        6,
        5,
        5,
        6,
        5,
        6,
    ]
    assert set(solver.values(full_but_one)) == {7}


@pytest.mark.exhaustive
def test_a_file_is_made_as_the_recipe_says(tmp_path: Path) -> None:
    path = FOLDER / "some.jsonl"
    out = tmp_path / "made.jsonl"
    quickly_solved = ["--seed", "4"]
    ended = CliRunner().invoke(main, ["connectfour", "--positions", "2", *quickly_solved, "--out", str(out)])
    assert (ended.exit_code, path.exists()) == (0, False)
    file = read_positions(out)
    assert [position.half for _, position in file.numbered] == ["tuning", "test"]
    assert [len(position.moves) for _, position in file.numbered] == list(RECIPES[BITBOARDS].plies[:2])
