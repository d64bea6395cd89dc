"""Circuits whose plays see one move ahead: they take a win, and leave no win to the one who moves next, where they can.

The circuit of a move is that of the state after it, with the move filled in; what a move does not touch is shared
with all others. So no kernel knows of it: other tables say which moves are legal.
Source: Teytaud and Teytaud 2010, on the huge impact of decisive moves on Monte Carlo tree search.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import FALSE, TRUE, Gates, Inputs, Lit
from gdl.compiler.netlist import NodeQueue, cone_of
from gdl.compiler.phases import Phase
from gdl.game import RANDOM
from gdl.quantities import whole_number

_MAX_GROWTH: Final = 4
"""How many times the inputs of its gates a circuit may get; above that plays are too slow for what they are worth."""
_MAX_WORK: Final = 200_000
"""How many gates may be looked at, which bounds the time that this takes, to about a second."""
_MAX_OVERRUN: Final = 4
"""How many times the gates left to look at may be what the moves so far lead to expect of all; moves differ."""
_WIDTH: Final = 4
"""How many inputs a narrow gate has."""


class _TooLargeError(Exception):
    """The circuits that look ahead are too large, or take too long to make."""


class _LossesTooLargeError(Exception):
    """The circuits that see losses are too large, which depends on the wins that the other role sees."""


def decisive(circuit: Circuit, cycle: Sequence[Phase]) -> tuple[Phase, ...] | None:
    """Return the phases of *cycle* with fewer legal moves: those that win at once, else those that lose to no reply.

    None where a phase has loops or not exactly one role that chooses, or where the circuits would be too large.
    """
    choosers = [role for role in (_chooser(circuit, phase) for phase in cycle) if role is not None]
    if len(choosers) < len(cycle) or any(phase.loops for phase in cycle):
        return None
    with suppress(_TooLargeError):
        for has_all in (True, False):
            with suppress(_LossesTooLargeError):
                return _looking_ahead(circuit, cycle, choosers, has_all)
    return None


def _looking_ahead(
    circuit: Circuit, cycle: Sequence[Phase], choosers: Sequence[int], has_all: bool
) -> tuple[Phase, ...] | None:
    """Return the phases of *cycle* with wins and losses seen, of moves that win whatever the state if not *has_all*."""
    allowance = _Allowance(_MAX_GROWTH * sum(len(inputs or ()) for phase in cycle for inputs in phase.gates))
    ahead = [_Ahead(circuit, phase, allowance) for phase in cycle]
    after = [(i + 1) % len(cycle) for i in range(len(cycle))]
    for each, role, i in zip(ahead, choosers, after, strict=True):
        goal = _best_goal(cycle[i], role)
        if goal is not None:
            each.find_wins(cycle[i].gates, (cycle[i].terminal, goal), has_all)
    wins = [each.any_win() for each in ahead]
    if all(win == FALSE for win in wins):
        return None
    gates = [tuple(each.made.gates.gates) for each in ahead]
    try:
        for each, role, i in zip(ahead, choosers, after, strict=True):
            if role != choosers[i]:
                each.find_losses(gates[i], wins[i])
    except _TooLargeError as error:
        if not any(each.wins_for_sure for each in ahead):
            raise
        raise _LossesTooLargeError from error
    return tuple(each.phase() for each in ahead)


def _chooser(circuit: Circuit, phase: Phase) -> int | None:
    """Return the role that alone chooses in a phase, if there is one and it is a player."""
    if len(phase.choices) != 1:
        return None
    number = next(r for r, numbers in enumerate(circuit.moves_of) if phase.choices[0][0] in numbers)
    return None if circuit.roles[number] == RANDOM else number


def _best_goal(phase: Phase, role: int) -> Lit | None:
    """Return the literal of the highest goal of a role, None where it has but one."""
    values = {whole_number(value) or 0: literal for value, literal in phase.goals[role]}
    return values[max(values)] if len(values) > 1 else None


class _Allowance:
    """How many inputs new gates may have, and how many gates may be looked at."""

    def __init__(self, n_inputs: int) -> None:
        self.n_inputs, self.n_gates = n_inputs, _MAX_WORK

    def spend(self, n_inputs: int) -> None:
        self.n_inputs -= n_inputs
        self.n_gates -= 1
        if self.n_inputs < 0 or self.n_gates < 0:
            raise _TooLargeError

    def expect(self, n_gates: float) -> None:
        """Give up now if the next *n_gates* are far more than may still be looked at."""
        if n_gates > _MAX_OVERRUN * self.n_gates:
            raise _TooLargeError


class _Maker:
    """Makes gates of a phase, simplified by what holds in every state that is no end."""

    def __init__(self, phase: Phase, allowance: _Allowance) -> None:
        self.gates = Gates.of(phase.gates)
        self._allowance = allowance
        self._true = _implied(phase.gates, phase.terminal ^ 1)

    def conjunction(self, literals: Iterable[Lit]) -> Lit:
        gates = self.gates.gates
        n_before = len(gates)
        found = self.gates.conjunction(map(self._simple, literals))
        self._allowance.spend(sum(len(inputs or ()) for inputs in gates[n_before:]))
        return self._simple(found)

    def disjunction(self, literals: Iterable[Lit]) -> Lit:
        return self.conjunction(literal ^ 1 for literal in literals) ^ 1

    def _simple(self, literal: Lit) -> Lit:
        if literal in self._true:
            return TRUE
        return FALSE if literal ^ 1 in self._true else literal


def _implied(gates: Sequence[Inputs], literal: Lit) -> frozenset[Lit]:
    """Return the literals that are true wherever *literal* is."""
    found, todo = set[Lit](), [literal]
    while todo:
        each = todo.pop()
        if each not in found and each != TRUE:
            found.add(each)
            if not each & 1:
                todo += gates[each >> 1] or ()
    return frozenset(found)


class _Cone:
    """The gates that some literals depend on, to be made again with other inputs.

    Wide gates are trees of narrow ones here, so that little is made again where few of their inputs change; the nodes
    are numbered anew.
    """

    def __init__(self, gates: Sequence[Inputs], roots: Iterable[Lit]) -> None:
        self._inputs: list[tuple[Lit, ...]] = []
        self._place: dict[int, int] = {}
        for node in sorted({0} | cone_of(gates, roots)):
            inputs = tuple(2 * self._place[x >> 1] + (x & 1) for x in gates[node] or ())
            while len(inputs) > _WIDTH:
                inputs = tuple(self._add(inputs[i : i + _WIDTH]) for i in range(0, len(inputs), _WIDTH))
            self._place[node] = self._add(inputs) >> 1
        self._readers: list[list[int]] = [[] for _ in self._inputs]
        for number, inputs in enumerate(self._inputs):
            for x in inputs:
                self._readers[x >> 1].append(number)

    def _add(self, inputs: tuple[Lit, ...]) -> Lit:
        self._inputs.append(inputs)
        return 2 * (len(self._inputs) - 1)

    def made(self, maker: _Maker, inputs: Mapping[int, Lit]) -> list[Lit]:
        """Return what each number stands for with these *inputs*, by node."""
        given = {self._place[node]: literal for node, literal in inputs.items() if node in self._place}
        literals: list[Lit] = []
        for number, below in enumerate(self._inputs):
            if number in given:
                literals.append(given[number])
            else:
                literals.append(maker.conjunction([literals[x >> 1] ^ (x & 1) for x in below]))
        return literals

    def changed(self, maker: _Maker, before: Sequence[Lit], inputs: Mapping[int, Lit]) -> dict[int, Lit]:
        """Return what differs from *before* with some *inputs* changed, by number."""
        given = {self._place[node]: literal for node, literal in inputs.items() if node in self._place}
        literals = {number: literal for number, literal in given.items() if before[number] != literal}
        todo = NodeQueue()
        for number in literals:
            todo.add(self._readers[number])
        for number in todo:
            below = self._inputs[number]
            literal = maker.conjunction([literals.get(x >> 1, before[x >> 1]) ^ (x & 1) for x in below])
            if literal != before[number]:
                literals[number] = literal
                todo.add(self._readers[number])
        return literals

    def value(self, literal: Lit, before: Sequence[Lit], changed: Mapping[int, Lit]) -> Lit:
        """Return what a literal stands for."""
        number = self._place[literal >> 1]
        return changed.get(number, before[number]) ^ (literal & 1)

    def places(self, literals: Sequence[Lit]) -> dict[int, list[tuple[int, int]]]:
        """Return by number which of *literals* it is, with 1 where it is the complement."""
        found: dict[int, list[tuple[int, int]]] = {}
        for i, literal in enumerate(literals):
            found.setdefault(self._place[literal >> 1], []).append((i, literal & 1))
        return found


class _Ahead:
    """A phase, with circuits of what follows each of its moves."""

    def __init__(self, circuit: Circuit, phase: Phase, allowance: _Allowance) -> None:
        self.made, self._allowance = _Maker(phase, allowance), allowance
        self._phase, self._moves = phase, phase.choices[0]
        fluents, first_move = range(1, 1 + len(circuit.fluents)), 1 + len(circuit.fluents)
        cone = _Cone(phase.gates, phase.next)
        fluents_of = cone.places(phase.next)
        here = {node: 2 * node for node in fluents} | dict.fromkeys(range(first_move, circuit.n_inputs), FALSE)
        base = cone.made(self.made, here)
        self._base = {1 + f: cone.value(x, base, {}) for f, x in enumerate(phase.next)}
        self._after: dict[int, dict[int, Lit]] = {}
        for move in self._in_turn():
            found = cone.changed(self.made, base, {first_move + move: TRUE})
            self._after[move] = {
                1 + f: literal ^ sign for number, literal in found.items() for f, sign in fluents_of.get(number, ())
            }
        self.wins_for_sure = False
        self._wins = dict.fromkeys(self._moves, FALSE)
        self._losses = dict.fromkeys(self._moves, FALSE)

    def find_wins(self, gates: Sequence[Inputs], wanted: Sequence[Lit], has_all: bool) -> None:
        """Find the moves after which all *wanted*, of the next phase's *gates*, are true, in any state or in some."""
        for move, literals in self._following(gates, wanted).items():
            is_sure = set(literals) == {TRUE}
            self.wins_for_sure |= is_sure
            if has_all or is_sure:
                self._wins[move] = self.made.conjunction([self._phase.legal[move], *literals])

    def any_win(self) -> Lit:
        """Return whether a move wins."""
        return self.made.disjunction(self._wins.values())

    def find_losses(self, gates: Sequence[Inputs], lost: Lit) -> None:
        """Find the moves after which *lost*, of the next phase's *gates*, is true."""
        for move, (literal,) in self._following(gates, (lost,)).items():
            self._losses[move] = literal

    def _following(self, gates: Sequence[Inputs], wanted: Sequence[Lit]) -> dict[int, list[Lit]]:
        """Return what each of *wanted* is after each move."""
        cone = _Cone(gates, wanted)
        base = cone.made(self.made, self._base)
        found = {}
        for move in self._in_turn():
            after = cone.changed(self.made, base, self._after[move])
            found[move] = [cone.value(x, base, after) for x in wanted]
        return found

    def _in_turn(self) -> Iterator[int]:
        """Yield the moves, and give up between them where the next would be far too much work."""
        n_before, n_moves = self._allowance.n_gates, len(self._moves)
        for i, move in enumerate(self._moves):
            yield move
            self._allowance.expect((n_moves - i - 1) * (n_before - self._allowance.n_gates) / (i + 1))

    def phase(self) -> Phase:
        """Return the phase with the moves that look best one step ahead."""
        made, legal = self.made, list(self._phase.legal)
        safe = {move: made.conjunction((legal[move], self._losses[move] ^ 1)) for move in self._moves}
        no_win, none_safe = self.any_win() ^ 1, made.disjunction(safe.values()) ^ 1
        for move in self._moves:
            others = made.disjunction((safe[move], made.conjunction((legal[move], none_safe))))
            legal[move] = made.disjunction((self._wins[move], made.conjunction((no_win, others))))
        return replace(self._phase, gates=tuple(made.gates.gates), legal=tuple(legal))
