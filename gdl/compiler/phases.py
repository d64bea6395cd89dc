"""Circuits specialised by control state: whose turn it is, which phase of a turn.

Fluents whose next values depend only on such fluents run by themselves, whatever is played. Those that run in a short
cycle from the first state on get one circuit per place in the cycle, with their values and all that follows folded in.
The fluents on which these depend are the control state; that it returns shows that they keep to their cycle for ever.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gdl.compiler.circuit import Circuit
from gdl.compiler.folding import Folded, Folding
from gdl.compiler.gates import FALSE, TRUE, Inputs, Lit, Loop
from gdl.compiler.netlist import Readers, cone_of

MAX_PHASES: Final = 8
_N_STEPS: Final = 7 * MAX_PHASES
"""How many control states are looked at."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The circuit in one control state.

    `gates` and `loops` are as in Circuit, over the same inputs; `choices` are, per role with a choice, the numbers of
    the moves that may be legal; `known` are the fluents whose value is fixed here, `controls` the control states that
    plays have here, none where any will do. `sees` are the percepts of all roles in a row, left out of phases that only
    play.
    """

    known: Mapping[int, bool]
    gates: tuple[Inputs, ...]
    loops: tuple[Loop, ...]
    next: tuple[Lit, ...]
    legal: tuple[Lit, ...]
    terminal: Lit
    goals: tuple[tuple[tuple[str, Lit], ...], ...]
    sees: tuple[Lit, ...]
    choices: tuple[tuple[int, ...], ...]
    forced: tuple[int, ...]
    controls: tuple[Mapping[int, bool], ...] = ()


def plain(circuit: Circuit) -> Phase:
    """Return the circuit as it is, every move of every role left to be chosen, percepts included."""
    return Phase(
        known={},
        gates=circuit.gates,
        loops=circuit.loops,
        next=circuit.next,
        legal=circuit.legal,
        terminal=circuit.terminal,
        goals=circuit.goals,
        sees=tuple(literal for percepts in circuit.sees for _, literal in percepts),
        choices=tuple(map(tuple, circuit.moves_of)),
        forced=(),
    )


def whole(circuit: Circuit) -> tuple[Phase, ...]:
    """Return the one phase that knows nothing and is right in every state."""
    return (_specialised(circuit, _folding(circuit), _ANY),)


def phases(circuit: Circuit) -> tuple[Phase, ...]:
    """Return the phases through which every play from the first state cycles; one where there are none."""
    folding = _folding(circuit)
    cycle = _cycle(circuit, folding.readers)
    return tuple(_specialised(circuit, folding, place) for place in cycle or [_ANY])


def _folding(circuit: Circuit) -> Folding:
    return Folding(circuit.n_inputs, circuit.gates, circuit.loops)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in the cycle: what is known there, and the control states that plays have there."""

    known: Mapping[int, bool]
    controls: tuple[Mapping[int, bool], ...]


_ANY: Final = _Place({}, ())


def _cycle(circuit: Circuit, readers: Readers) -> list[_Place]:
    alone = _autonomous(circuit, readers)
    history = _run_alone(circuit, alone, _N_STEPS)
    periods = {fluent: _period([step[fluent] for step in history]) for fluent in alone}
    turning = {
        fluent: period
        for fluent, period in periods.items()
        if period and _returning(history, _support(circuit, [fluent]))
    }
    length = math.lcm(*turning.values())
    states = _returning(history, _support(circuit, turning))
    if not (1 < length <= MAX_PHASES and states):
        return []
    known = [{fluent: history[place][fluent] for fluent in turning} for place in range(length)]
    if len({tuple(values.values()) for values in known}) < length:
        return []  # in a play it shows by what is known alone which place it is
    return [_Place(values, tuple(states[place::length])) for place, values in enumerate(known)]


def _support(circuit: Circuit, fluents: Iterable[int]) -> list[int]:
    """Return *fluents*, all fluents on which their next values depend, those on which these depend, and so on."""
    found = dict.fromkeys(fluents)
    todo = list(found)
    for fluent in todo:
        for node in cone_of(circuit.gates, (circuit.next[fluent],)):
            if 1 <= node <= len(circuit.fluents) and node - 1 not in found:
                found[node - 1] = None
                todo.append(node - 1)
    return sorted(found)


def _returning(history: Sequence[Mapping[int, bool]], support: Sequence[int]) -> list[dict[int, bool]]:
    """Return the states of *support* up to the first that was there before, nothing where none is early enough.

    So early that what has a period of `MAX_PHASES` at most in all of *history* has it for ever.
    """
    states = [{fluent: step[fluent] for fluent in support} for step in history[: _N_STEPS - MAX_PHASES]]
    seen: set[tuple[bool, ...]] = set()
    for number, state in enumerate(states):
        values = tuple(state.values())
        if values in seen:
            return states[:number]
        seen.add(values)
    return []


def _period(values: Sequence[bool]) -> int:
    """Return the length of the cycle of *values*, 0 where there is none, or where they never change."""
    for period in range(2, MAX_PHASES + 1):
        if all(value == values[i % period] for i, value in enumerate(values)):
            return period if len(set(values)) > 1 else 0
    return 0


def _autonomous(circuit: Circuit, readers: Readers) -> list[int]:
    """Return the fluents whose next values depend on no move, on no loop, and on no other kind of fluent."""
    n_fluents, n_inputs = len(circuit.fluents), circuit.n_inputs
    is_bound = np.zeros(len(circuit.gates), np.bool_)
    readers.reach([*range(1 + n_fluents, n_inputs), *(node for loop in circuit.loops for node in loop.nodes)], is_bound)
    following = np.array(circuit.next, np.int64) >> 1
    while True:
        new = np.flatnonzero(is_bound[following] & ~is_bound[1 : 1 + n_fluents])
        if not new.size:
            return np.flatnonzero(~is_bound[1 : 1 + n_fluents]).tolist()
        readers.reach(1 + new, is_bound)


def _run_alone(circuit: Circuit, alone: Sequence[int], n_steps: int) -> list[dict[int, bool]]:
    now = {fluent: fluent in circuit.initial for fluent in alone}
    history = []
    for _ in range(n_steps):
        history.append(now)
        values = {0: True, **{1 + fluent: value for fluent, value in now.items()}}
        now = {fluent: _value(circuit, circuit.next[fluent], values) for fluent in alone}
    return history


def _value(circuit: Circuit, literal: Lit, values: dict[int, bool]) -> bool:
    todo = [literal >> 1]
    while todo:
        node = todo[-1]
        inputs = circuit.gates[node] or ()
        missing = [x >> 1 for x in inputs if x >> 1 not in values]
        if node in values:
            todo.pop()
        elif missing:
            todo += missing
        else:
            values[todo.pop()] = all(values[x >> 1] ^ bool(x & 1) for x in inputs)
    return values[literal >> 1] ^ bool(literal & 1)


def _specialised(circuit: Circuit, folding: Folding, place: _Place) -> Phase:
    """Return *circuit* with known fluents folded in, then with the moves that are thereby decided."""
    fluents = {1 + fluent: value for fluent, value in place.known.items()}
    moves = _moves(circuit, folding.folded(fluents))
    decided = {1 + len(circuit.fluents) + i: value for i, value in moves.decided.items()}
    found = folding.folded(fluents | decided)
    return Phase(
        known=place.known,
        gates=found.gates,
        loops=found.loops,
        next=tuple(found.of(literal) for literal in circuit.next),
        legal=tuple(found.of(literal) for literal in circuit.legal),
        terminal=found.of(circuit.terminal),
        goals=tuple(tuple((value, found.of(x)) for value, x in goals) for goals in circuit.goals),
        sees=(),
        choices=tuple(moves.choices),
        forced=tuple(moves.forced),
        controls=place.controls,
    )


@dataclass(slots=True)
class _Moves:
    """The moves at a phase, by number: choices of roles that have one, forced moves, and which ones are decided."""

    choices: list[tuple[int, ...]] = field(default_factory=list)
    forced: list[int] = field(default_factory=list)
    decided: dict[int, bool] = field(default_factory=dict)


def _moves(circuit: Circuit, folded: Folded) -> _Moves:
    found = _Moves()
    legal = [folded.of(literal) for literal in circuit.legal]
    for numbers in circuit.moves_of:
        possible = [i for i in numbers if legal[i] != FALSE]
        if len(possible) == 1 and legal[possible[0]] == TRUE:
            found.forced += possible
            found.decided |= {i: i == possible[0] for i in numbers}
        else:
            found.choices.append(tuple(possible or numbers[:1]))  # a role that cannot move: the kernel is to notice
            found.decided |= {i: False for i in numbers if legal[i] == FALSE}
    return found
