"""Positions from strong play, solved exactly: where some moves keep the value and others lose it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

from benchmarks.positions.connectfour import ConnectFour
from gdl.compiler.compiled import CompiledGame
from gdl.game import State
from gdl.language.terms import Compound, Term
from players.deadline import Deadline, SearchBudget
from players.player import Player
from players.registry import find_player
from players.search.proof.solver import ProofSearch
from server.measuring.solved_positions import SolvedPosition

PLAYER: Final = "mcts:playouts=400"
RANDOM_MOVES: Final = 0.15
"""The share of moves that are drawn at random, so that plays differ and sides err."""
FOREVER: Final = Deadline(float("inf"))
Steps: TypeAlias = tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class Reached:
    """A state that play has come to, the joint moves that led there, and the number of the role to move."""

    steps: Steps
    state: State
    role: int


Solve: TypeAlias = Callable[[Reached], dict[str, int] | None]
"""Gives the value of every legal move of the role to move, None where that takes too long."""


@dataclass(frozen=True, slots=True)
class Maker:
    """What makes positions of *game*, each after as many steps as *plies* say in turn; *say* hears of each."""

    game: CompiledGame
    solve: Solve
    plies: range
    say: Callable[[str], None]

    def positions(self, n: int, seed: int) -> Iterator[SolvedPosition]:
        """Yield *n* different positions, one from each play, of which the halves are for tuning and for tests.

        At least one move keeps the value and one loses it.
        """
        random, met, found = Random(seed), set[State](), 0
        while found < n:
            reached = _reached(self.game, self.plies[found % len(self.plies)], random)
            if reached is None or reached.state in met:
                continue
            met.add(reached.state)
            values = self.solve(reached)
            self.say(f"{found} of {n}: after {len(reached.steps)} moves, {values}")
            if values is None or min(values.values()) == max(values.values()):
                continue
            n_rounds, place = divmod(found, len(self.plies))
            is_for_tuning = (n_rounds + place) % 2 == 0  # so that both halves have positions after every ply
            yield SolvedPosition(
                half="tuning" if is_for_tuning else "test",
                moves=[list(map(str, moves)) for moves in reached.steps],
                role=str(self.game.roles[reached.role]),
                values=values,
            )
            found += 1


def _reached(game: CompiledGame, n_steps: int, random: Random) -> Reached | None:
    """Return where a play comes to after *n_steps*, None where it ends before or a role has no choice there."""
    players = [find_player(PLAYER)() for _ in game.roles]
    for role, player in zip(game.roles, players, strict=True):
        player.join(game, role, random.getrandbits(32))
        player.start(FOREVER)
    state, steps = game.initial_state, Steps()
    while not state.is_terminal:
        choosing = [i for i, role in enumerate(game.roles) if len(state.legal_moves(role)) > 1]
        if len(steps) >= n_steps:
            return Reached(steps, state, choosing[0]) if len(choosing) == 1 else None
        moves = tuple(_move(player, state, random) for player in players)
        for player, move in zip(players, moves, strict=True):
            player.worlds.advance(move, moves, SearchBudget())
        state, steps = state.next_state(moves), (*steps, moves)
    return None


def _move(player: Player, state: State, random: Random) -> Term:
    legal = state.legal_moves(player.role)
    if len(legal) == 1 or random.random() < RANDOM_MOVES:
        return random.choice(legal)
    player.prepare_move(legal[0], lambda _: None)
    return player.move(state, player.role, FOREVER)


def by_proof(game: CompiledGame, seconds: float, table_mb: int) -> Solve:
    """Return a solver for any game of two roles: by proof search, within *seconds* of the clock a position."""
    search = ProofSearch(game, table_mb)

    def solve(reached: Reached) -> dict[str, int] | None:
        role, deadline = game.roles[reached.role], Deadline.after(seconds)
        found = {}
        for move in reached.state.legal_moves(role):
            moves = [reached.state.legal_moves(other)[0] for other in game.roles]
            moves[reached.role] = move
            solution = search.solve(reached.state.next_state(moves), role, SearchBudget(deadline=deadline))
            if solution is None:
                return None
            found[str(move)] = solution.value
        return found

    return solve


def by_bitboards() -> Solve:
    """Return a solver of connect four."""
    solver = ConnectFour()

    def solve(reached: Reached) -> dict[str, int]:
        drops = [move for moves in reached.steps for move in moves if isinstance(move, Compound)]
        values = solver.values([_column(move) for move in drops])
        return {f"(drop {column})": value for column, value in values.items()}

    return solve


def _column(drop: Compound) -> int:
    return int(str(drop).strip("()").split()[1])
