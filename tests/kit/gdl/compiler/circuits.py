"""Random circuits with loops of all kinds, and what they mean, found naively: to hold passes over circuits against."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import TRUE, Gates, Inputs, Lit, Loop
from gdl.language.terms import Constant


class CircuitWriter:
    """Draws a circuit; loops are monotone in their own nodes, as those of stratified rules are.

    Among them are loops whose value is a plain literal, a constant, or another loop's node: loops without gates.
    """

    def __init__(self, seed: int, n_fluents: int = 5, n_moves: int = 3) -> None:
        self._random = Random(seed)
        self._n_fluents, self._n_moves = n_fluents, n_moves
        self.gates = Gates([None] * (1 + n_fluents + n_moves))
        self.loops: list[Loop] = []

    def circuit(self) -> Circuit:
        """Return the circuit of a game for one role, in which every move is legal, and whose plays end at random."""
        known = [TRUE, *(2 * (1 + i) for i in range(self._n_fluents))]
        of_state = self._layers(known, 6)
        of_moves = self._layers([*of_state, *(2 * (1 + self._n_fluents + i) for i in range(self._n_moves))], 6)
        ends = self.gates.conjunction(self._literal(of_state) for _ in range(2))
        return Circuit(
            roles=(Constant("r"),),
            fluents=tuple(Constant(f"f{i}") for i in range(self._n_fluents)),
            moves=tuple(Constant(f"m{i}") for i in range(self._n_moves)),
            moves_of=(range(self._n_moves),),
            initial=frozenset(i for i in range(self._n_fluents) if self._random.random() < 0.5),
            gates=tuple(self.gates.gates),
            loops=tuple(self.loops),
            next=tuple(self._literal(of_moves) for _ in range(self._n_fluents)),
            legal=(TRUE, *(self._literal(of_state) for _ in range(self._n_moves - 1))),
            terminal=ends,
            goals=(tuple((str(i), self._literal(of_state)) for i in range(3)),),
            sees=(tuple((Constant(f"p{i}"), self._literal(of_moves)) for i in range(2)),),
        )

    def _literal(self, known: Sequence[Lit]) -> Lit:
        return self._random.choice(known) ^ (self._random.random() < 0.4)

    def _layers(self, known: Sequence[Lit], n_layers: int) -> list[Lit]:
        found = list(known)
        for _ in range(n_layers):
            if self._random.random() < 0.5:
                found += self._loop(found)
            else:
                found.append(self.gates.conjunction(self._literal(found) for _ in range(self._random.randint(1, 3))))
        return found

    def _loop(self, known: Sequence[Lit]) -> list[Lit]:
        nodes = [self.gates.input() for _ in range(self._random.randint(1, 3))]
        values = tuple(self._monotone(nodes, known, self._random.randint(0, 3)) for _ in nodes)
        self.loops.append(Loop(tuple(node >> 1 for node in nodes), values))
        return nodes

    def _monotone(self, nodes: Sequence[Lit], known: Sequence[Lit], depth: int) -> Lit:
        """Return a literal that can only become true where more of *nodes* do."""
        if not depth:
            return self._random.choice([self._random.choice(nodes), self._literal(known), self._literal(known)])
        parts = [self._monotone(nodes, known, self._random.randrange(depth)) for _ in range(self._random.randint(2, 3))]
        return self._random.choice((self.gates.conjunction, self.gates.disjunction))(parts)


def least_values(gates: Sequence[Inputs], loops: Sequence[Loop], inputs: Sequence[bool]) -> list[bool]:
    """Return the value of every node where the first have those of *inputs*; loops come after all that they need."""
    found = [*inputs, *[False] * (len(gates) - len(inputs))]

    def evaluate() -> None:
        for node in range(len(inputs), len(gates)):
            literals = gates[node]
            if literals is not None:
                found[node] = all(found[x >> 1] ^ bool(x & 1) for x in literals)

    evaluate()
    for loop in loops:
        for _ in range(len(loop.nodes) + 1):
            for node, value in zip(loop.nodes, loop.values, strict=True):
                found[node] = found[value >> 1] ^ bool(value & 1)
            evaluate()
    return found
