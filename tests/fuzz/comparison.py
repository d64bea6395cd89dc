"""One rule file on every engine, held against the naive evaluator: state for state, and by what plays come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np

from gdl.compiler.circuit import Circuit
from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels import scalar
from gdl.compiler.kernels.scalar import has_loops
from gdl.compiler.pipeline import check_loops
from gdl.datalog.translation import clauses_of
from gdl.errors import CannotCompileError, FaultyTablesError
from gdl.interpreter import InterpretedGame
from tests.fuzz.differences import DifferenceError, same
from tests.fuzz.evaluator import Ends, Fluents, NaiveGame, Position
from tests.fuzz.interpretation import Step, compare_interpreted, compare_states, term_of
from tests.fuzz.packing import fluents_of, moves_of, numbers_of, packed_states
from tests.fuzz.plays import compare_ends, compare_plays
from tests.fuzz.variants import circuits, folds_loops, rules_of_plays
from tests.kit.gdl.oracle import TooLarge

N_STARTS: Final = 6


@dataclass(frozen=True)
class Comparison:
    """What was compared.

    `variants` are the groundings that the compiler could use; `features` what their circuits have.
    """

    n_states: int
    n_moves: int
    variants: tuple[str, ...]
    features: frozenset[str]


def compare(text: str, seed: int) -> Comparison:
    """Compare all answers about the game of the rules *text*.

    Raises:
        DifferenceError: an engine is wrong.
        NotComparableError: the rules are no game, or beyond the interpreter's limits or the naive evaluator.
        GdlError: or whatever else an engine raises; it is wrong, too.
    """
    random = Random(seed)
    game, naive, met, steps = compare_interpreted(text, random)
    ends = _known_ends(naive, met)
    features = _features_of(naive, ends)
    variants: list[str] = []
    try:
        for name, circuit in circuits(clauses_of(game.description.rules), game.roles):
            features |= _compare_circuit(name, circuit, game, naive, met, steps, ends, random.randrange(1000))
            variants.append(name)
    except FaultyTablesError:
        raise
    except CannotCompileError as error:
        features.add(f"not compiled: {error.reason}")
    return Comparison(len(met), len(steps), tuple(variants), frozenset(features))


def _compare_circuit(
    name: str,
    circuit: Circuit,
    game: InterpretedGame,
    naive: NaiveGame,
    met: Sequence[Position],
    steps: Sequence[Step],
    ends: dict[Fluents, Ends],
    seed: int,
) -> set[str]:
    """Compare all that runs on *circuit*; return what is special about it."""
    features = {"loops"} if circuit.loops else set()
    features |= {"loops that a phase folds away"} if folds_loops(circuit) else set()
    outcomes = {}
    for how, rules in rules_of_plays(circuit):
        check_loops(rules.single)
        compiled = CompiledGame(game, rules)
        if how == "rows reused":
            features |= {"several phases"} if len(rules.phases) > 1 else set()
            _compare_compiled(name, compiled, naive, met, steps)
        compare_plays(f"{name}, {how}", compiled, naive, met, seed)
        if ends:
            outcomes[how] = compare_ends(f"{name}, {how}", compiled, ends, naive.initial.fluents, seed)
    if "each gate its row" in outcomes:
        same(f"{name}: rows reused or not", "plays", outcomes["rows reused"], outcomes["each gate its row"])
    return features


def _known_ends(naive: NaiveGame, met: Sequence[Position]) -> dict[Fluents, Ends]:
    """Return how plays end from the first state and some others; nothing where that is too much to find out."""
    try:
        return {position.fluents: naive.ends(position) for position in [naive.initial, *met[:N_STARTS]]}
    except TooLarge:
        return {}


def _features_of(naive: NaiveGame, ends: dict[Fluents, Ends]) -> set[str]:
    if not ends:
        return set()
    found = {end for end in ends[naive.initial.fluents] if end is not None}
    return {"exact"} | {
        name
        for name, is_so in {
            "more than one step": any(length > 1 for length, _ in found),
            "goals differ": len({goals for _, goals in found}) > 1,
            "lengths differ": len({length for length, _ in found}) > 1,
            "may be stuck": None in ends[naive.initial.fluents],
        }.items()
        if is_so
    }


# Compiled: states one at a time and many at once.


def _compare_compiled(
    name: str, game: CompiledGame, naive: NaiveGame, met: Sequence[Position], steps: Sequence[Step]
) -> None:
    for position in met:
        if not isinstance(game.state(frozenset(map(term_of, position.fluents))), CompiledState):
            raise DifferenceError(f"{name}: fluents", f"{position} has fluents that the circuit does not know")
    compare_states(name, game, naive, met, steps)
    _compare_batch(f"{name}, batch", game, naive, met, steps)
    if not has_loops(game.rules.single):  # what compare_states has asked was answered by the walker
        _compare_scalar(f"{name}, single states", game, naive, steps)


def _compare_batch(
    name: str, game: CompiledGame, naive: NaiveGame, met: Sequence[Position], steps: Sequence[Step]
) -> None:
    packed = packed_states(game, [position.fluents for position in met])
    legal = game.batch.legal(packed)
    found = [moves_of(game, mask) for mask in legal]
    same(f"{name}: legal", "all states", found, [position.legal for position in met])
    same(f"{name}: terminal", "all", game.batch.terminal(packed).tolist(), [p.is_terminal for p in met])
    goals = [tuple(None if goal < 0 else int(goal) for goal in row) for row in game.batch.goals(packed)]
    same(f"{name}: goals", "all states", goals, [position.goals for position in met])
    if steps:
        before = packed_states(game, [position.fluents for position, _ in steps])
        numbers = np.array([numbers_of(game, moves) for _, moves in steps])
        following = [fluents_of(game, row.tobytes()) for row in game.batch.next(before, numbers)]
        same(f"{name}: next", steps, following, [naive.after(*step).fluents for step in steps])


def _compare_scalar(name: str, game: CompiledGame, naive: NaiveGame, steps: Sequence[Step]) -> None:
    for position, moves in steps:
        packed = packed_states(game, [position.fluents])[0]
        bits = np.unpackbits(packed, count=len(game.fluents))
        values, legal, is_terminal = scalar.legal_and_terminal(game.rules.single, bits)
        same(f"{name}: legal", position, moves_of(game, legal == 1), position.legal)
        same(f"{name}: terminal", position, bool(is_terminal), position.is_terminal)
        numbers = np.array(numbers_of(game, moves), np.int64)
        after = naive.after(position, moves).fluents
        following, _ = scalar.step(game.rules.single, values, numbers)
        same(f"{name}: next", (position, moves), fluents_of(game, np.packbits(following).tobytes()), after)
        visited, _, _ = game.next_and_legal(packed.tobytes(), numbers.tolist())
        same(f"{name}: visit", (position, moves), fluents_of(game, visited), after)
