"""Phases to smaller ones that are the same in plays: a role makes exactly one move in a step, and a legal one.

A move implies that no other move of the role is made, and whatever makes it legal. A gate whose value the role's move
alone implies is a set of moves, and "a move of this set is made" is "no move of the others is": a cell keeps its piece
unless one of a few moves touches it. Alternatives that each need another move share what they select.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import FALSE, TRUE, Gates, Lit
from gdl.compiler.netlist import cone_of
from gdl.compiler.phases import Phase

Moves: TypeAlias = int
"""A set of moves of a role, a bit each."""

_SHARED: Final = 2
"""How many times fewer gates alternatives must need when they share what they select."""

_NARROW: Final = 100
"""How many inputs a gate may have for each to be compared with all others."""


def exclusive(circuit: Circuit, phase: Phase) -> Phase:
    """Return *phase* of *circuit* with simpler gates, right wherever each role makes one of its legal moves.

    What depends on no move is as before. Phases with loops are returned as they are.
    """
    if phase.loops:
        return phase
    first_move = 1 + len(circuit.fluents)
    for choice in phase.choices:
        implied = _Implications(phase, [first_move + move for move in choice], [phase.legal[move] for move in choice])
        phase = _rebuilt(phase, implied, _plan(phase, implied))
    return phase


class _Implications:
    """What each move of a role implies.

    `true[n]` and `false[n]` are the moves that are made only where node n is true, or false; `above` are the nodes that
    depend on one of the moves.
    """

    def __init__(self, phase: Phase, nodes: Sequence[int], legal: Sequence[Lit]) -> None:
        n = len(phase.gates)
        self.nodes: Final = nodes
        self.all: Final[Moves] = (1 << len(nodes)) - 1
        self._true, self._false = [0] * n, [0] * n
        self._true[0] = self.all
        self.above: Final = bytearray(n)
        for i, (node, literal) in enumerate(zip(nodes, legal, strict=True)):
            self._imply(phase, literal, 1 << i)
            self._true[node], self._false[node] = 1 << i, self.all ^ 1 << i
            self.above[node] = 1
        self._go_up(phase)

    def _imply(self, phase: Phase, literal: Lit, move: Moves) -> None:
        """Note what is true wherever *literal* is, and so where *move* is made."""
        todo = [literal]
        while todo:
            x = todo.pop()
            values = self._false if x & 1 else self._true
            if not values[x >> 1] & move:
                values[x >> 1] |= move
                if not x & 1:
                    todo += phase.gates[x >> 1] or ()

    def _go_up(self, phase: Phase) -> None:
        """Go over what the next state depends on, which alone is made again."""
        for node in sorted(cone_of(phase.gates, phase.next)):
            inputs = phase.gates[node]
            if inputs is None:
                continue
            true, false = self.all, 0
            for x in inputs:
                true &= self.true(x)
                false |= self.true(x ^ 1)
                self.above[node] |= self.above[x >> 1]
            self._true[node] |= true
            self._false[node] |= false

    def true(self, literal: Lit) -> Moves:
        """Return the moves that are made only where *literal* is true."""
        return (self._false if literal & 1 else self._true)[literal >> 1]

    def is_set(self, literal: Lit) -> bool:
        """Return whether the role's move alone says what *literal* is."""
        node = literal >> 1
        return bool(self.above[node]) and self._true[node] | self._false[node] == self.all


@dataclass(frozen=True, slots=True)
class _Product:
    """A gate as a set of moves, one of which is to be made, and other literals, which are to be true."""

    moves: Moves
    others: tuple[Lit, ...]


_Plan: TypeAlias = dict[int, _Product]


def _plan(phase: Phase, implied: _Implications) -> _Plan:
    """Return what the gates above moves are, the outputs' ones and what they need."""
    found: _Plan = {}
    todo = [x for x in phase.next if implied.above[x >> 1] and not implied.is_set(x)]
    while todo:
        node = todo.pop() >> 1
        inputs = phase.gates[node]
        if node not in found and inputs is not None:
            product = found[node] = _product(inputs, implied)
            todo += [x for x in product.others if implied.above[x >> 1]]
    return found


def _product(inputs: Sequence[Lit], implied: _Implications) -> _Product:
    moves, others = implied.all, []
    for x in inputs:
        if implied.is_set(x):
            moves &= implied.true(x)
        else:
            others.append(x)
    is_narrow = len(others) <= _NARROW
    kept = [x for i, x in enumerate(others) if not (is_narrow and _follows(i, others, moves, implied))]
    possible = _possible(kept, moves, implied)
    if possible & possible - 1 == 0:
        moves = possible
    return _Product(moves, tuple(kept))


def _follows(i: int, literals: list[Lit], moves: Moves, implied: _Implications) -> bool:
    """Return whether literal *i* is true where one of *moves* is made and the others are, and drop it if so."""
    x = literals[i]
    true = implied.true(x)
    if not true or _possible((y for y in literals if y not in (x, TRUE)), moves, implied) & ~true:
        return False
    literals[i] = TRUE
    return True


def _possible(literals: Iterable[Lit], moves: Moves, implied: _Implications) -> Moves:
    """Return those of *moves* that may be made where *literals* are true."""
    for x in literals:
        moves &= ~implied.true(x ^ 1)
    return moves


@dataclass(slots=True)
class _Selection:
    """Alternatives of several gates that each need another move: which literals the moves select.

    `readers` are the gates that have them as alternatives, with the moves that each has; `n_terms` counts those.
    """

    moves_of: dict[Lit, Moves]
    domain: Moves
    readers: dict[int, Moves]
    n_terms: int

    def agrees(self, terms: Mapping[Lit, Moves]) -> bool:
        """Return whether the moves of *terms* select the same here."""
        return all(not moves & self.domain & ~self.moves_of.get(x, 0) for x, moves in terms.items())

    def add(self, node: int, terms: Mapping[Lit, Moves], n_terms: int) -> None:
        for x, moves in terms.items():
            self.moves_of[x] = self.moves_of.get(x, 0) | moves
        self.readers[node] = _union(terms.values())
        self.domain |= self.readers[node]
        self.n_terms += n_terms

    def is_worth_while(self) -> bool:
        return _SHARED * (len(self.moves_of) + len(self.readers)) <= self.n_terms


def _union(sets: Iterable[Moves]) -> Moves:
    found = 0
    for moves in sets:
        found |= moves
    return found


def _terms(product: _Product, plan: _Plan, implied: _Implications) -> dict[Lit, Lit]:
    """Return the alternatives of a gate that are a small set of moves and a literal of the state, with that literal."""
    found = {}
    for x in product.others:
        term = plan.get(x >> 1) if x & 1 else None
        if term is not None and _selects(term, implied):
            found[x] = term.others[0]
    return found


def _selects(term: _Product, implied: _Implications) -> bool:
    is_of_state = len(term.others) == 1 and not implied.above[term.others[0] >> 1]
    return is_of_state and 2 * term.moves.bit_count() < len(implied.nodes)


class _Selections:
    """The alternatives that gates of a plan share."""

    def __init__(self, plan: _Plan, implied: _Implications) -> None:
        self._all: list[_Selection] = []
        self._having: dict[Lit, dict[int, None]] = {}
        for node, product in plan.items():
            found = _terms(product, plan, implied)
            terms: dict[Lit, Moves] = {}
            for x, selected in found.items():
                terms[selected] = terms.get(selected, 0) | plan[x >> 1].moves
            if len(terms) > 1 and sum(map(int.bit_count, terms.values())) == _union(terms.values()).bit_count():
                self._add(node, terms, len(found))

    def worth_while(self) -> list[_Selection]:
        return [selection for selection in self._all if selection.is_worth_while()]

    def _add(self, node: int, terms: Mapping[Lit, Moves], n_terms: int) -> None:
        """Add a gate to the selection that has most of its terms and agrees with it, or make one."""
        near = Counter(number for selected in terms for number in self._having.get(selected, ()))
        agreeing = (number for number, _ in near.most_common() if self._all[number].agrees(terms))
        number = next(agreeing, len(self._all))
        if number == len(self._all):
            self._all.append(_Selection({}, 0, {}, 0))
        self._all[number].add(node, terms, n_terms)
        for selected in terms:
            self._having.setdefault(selected, {})[number] = None


class _Rebuilder:
    """Makes the gates of a plan."""

    def __init__(self, phase: Phase, implied: _Implications, plan: _Plan) -> None:
        self.gates = Gates.of(phase.gates)
        self._implied, self._plan = implied, plan
        self._sets = _Sets(self.gates, implied)
        self._selected: dict[int, Lit] = {}
        self._made: dict[int, Lit] = {}
        selections = _Selections(plan, implied).worth_while()
        read = [x for x in phase.next if implied.is_set(x)]
        read += [x for product in plan.values() for x in product.others if implied.is_set(x)]
        wanted = {implied.true(x) for x in read}
        wanted |= {product.moves for product in plan.values()}
        for selection in selections:
            wanted |= {*selection.moves_of.values(), *selection.readers.values()}
        self._sets.make(wanted)
        for selection in selections:
            self._select(selection)
        for node in sorted(plan):
            self._make(node, plan[node])

    def of(self, literal: Lit) -> Lit:
        """Return what stands for a literal of the phase."""
        if not self._implied.above[literal >> 1]:
            return literal
        if self._implied.is_set(literal):
            return self._sets.of(self._implied.true(literal))
        return self._made[literal >> 1] ^ (literal & 1)

    def _select(self, selection: _Selection) -> None:
        terms = [self.gates.conjunction((x, self._sets.of(moves))) for x, moves in selection.moves_of.items()]
        selected = self.gates.disjunction(terms)
        for node, moves in selection.readers.items():
            self._selected[node] = self.gates.conjunction((selected, self._sets.of(moves)))

    def _make(self, node: int, product: _Product) -> None:
        inputs = [self._sets.of(product.moves)]
        terms = _terms(product, self._plan, self._implied) if node in self._selected else {}
        if terms:
            inputs.append(self._selected[node] ^ 1)
        inputs += [self.of(x) for x in product.others if x not in terms]
        self._made[node] = self.gates.conjunction(inputs)


class _Sets:
    """Makes gates that say that a move of a set is made, of those for smaller sets where there are."""

    def __init__(self, gates: Gates, implied: _Implications) -> None:
        self._gates, self._nodes, self._all = gates, implied.nodes, implied.all
        self._made: dict[Moves, Lit] = {0: FALSE, implied.all: TRUE}
        self._having: list[list[Moves]] = [[] for _ in implied.nodes]

    def of(self, moves: Moves) -> Lit:
        """Return the literal of a set that is made."""
        return self._made[moves]

    def make(self, wanted: Iterable[Moves]) -> None:
        smaller = {min(moves, self._all ^ moves, key=int.bit_count) for moves in wanted}
        for moves in sorted(smaller - {0}, key=lambda moves: (moves.bit_count(), moves)):
            self._made[moves] = self._gates.disjunction(self._cover(moves))
            self._made[self._all ^ moves] = self._made[moves] ^ 1
            for i in _numbers(moves):
                self._having[i].append(moves)

    def _cover(self, moves: Moves) -> Iterator[Lit]:
        left = moves
        while left:
            i = (left & -left).bit_length() - 1
            parts = [part for part in self._having[i] if not part & ~moves]
            part = max(parts, key=lambda part: (part & left).bit_count(), default=0)
            if (part & left).bit_count() > 1:
                yield self._made[part]
                left &= ~part
            else:
                yield 2 * self._nodes[i]
                left &= left - 1


def _numbers(moves: Moves) -> Iterator[int]:
    while moves:
        yield (moves & -moves).bit_length() - 1
        moves &= moves - 1


def _rebuilt(phase: Phase, implied: _Implications, plan: _Plan) -> Phase:
    made = _Rebuilder(phase, implied, plan)
    following = tuple(map(made.of, phase.next))
    return replace(phase, gates=tuple(made.gates.gates), next=following)
