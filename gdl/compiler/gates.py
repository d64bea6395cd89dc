"""Gates and loops: the parts of circuits, rebuilt with some nodes known and with common factors taken out."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from gdl.datalog.dependencies import components_of

TRUE: Final = 0
FALSE: Final = 1

Lit: TypeAlias = int
Inputs: TypeAlias = tuple[Lit, ...] | None
"""The literals of a gate, None for what no gate defines: an input or the node of a loop."""


@dataclass(frozen=True, slots=True)
class Loop:
    """Atoms that depend on one another: `nodes` start false and are set to `values` until nothing changes."""

    nodes: tuple[int, ...]
    values: tuple[Lit, ...]


@dataclass(slots=True)
class Gates:
    """Gates under construction, each shape once."""

    gates: list[Inputs]
    _hashed: dict[tuple[Lit, ...], int] = field(default_factory=dict)

    def input(self) -> Lit:
        """Return the literal of a new node that no gate defines."""
        self.gates.append(None)
        return 2 * (len(self.gates) - 1)

    def conjunction(self, literals: Iterable[Lit]) -> Lit:
        """Return the literal that is true where all are."""
        wanted = set(literals)
        wanted.discard(TRUE)
        if FALSE in wanted or are_contrary(wanted):
            return FALSE
        return self.product(wanted)

    def product(self, literals: AbstractSet[Lit]) -> Lit:
        """Return the literal that is true where all are, which are neither constant nor contrary."""
        key = tuple(sorted(literals))
        if len(key) < 2:
            return key[0] if key else TRUE
        node = self._hashed.get(key)
        if node is None:
            node = self._hashed[key] = len(self.gates)
            self.gates.append(key)
        return 2 * node

    def disjunction(self, literals: Iterable[Lit]) -> Lit:
        """Return the literal that is true where one is."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1


def are_contrary(literals: AbstractSet[Lit]) -> bool:
    """Return whether one of *literals* is the complement of another."""
    return not literals.isdisjoint([literal ^ 1 for literal in literals])


@dataclass(frozen=True, slots=True)
class Folded:
    """Gates and loops made of others, and the literals that stand for the nodes of those."""

    gates: Gates
    loops: tuple[Loop, ...]
    literals: tuple[Lit, ...]

    def of(self, literal: Lit) -> Lit:
        """Return what a literal of the gates before is now."""
        return self.literals[literal >> 1] ^ (literal & 1)


def folded(n_inputs: int, gates: Sequence[Inputs], loops: Sequence[Loop], known: Mapping[int, bool]) -> Folded:
    """Return *gates* and *loops* with the inputs *known* constant, and without loops that are none any more.

    The node of a loop whose value does not depend on itself becomes that value: rules that recur in one phase of a
    game only are plain gates in the others. Inputs keep their numbers.
    """
    if not known and not loops:
        return Folded(Gates(list(gates)), (), tuple(range(0, 2 * len(gates), 2)))
    inputs = [2 * node for node in range(n_inputs)]
    for node, value in known.items():
        inputs[node] = TRUE if value else FALSE
    found = _rebuilt(inputs, gates, loops, _components(n_inputs, gates, loops))
    while found.loops:
        components = _components(n_inputs, found.gates.gates, found.loops)
        values = _values(found.loops)
        if all(_is_cycle(component, values) for component in components if component[0] in values):
            break
        again = _rebuilt([2 * node for node in range(n_inputs)], found.gates.gates, found.loops, components)
        found = Folded(again.gates, again.loops, tuple(map(again.of, found.literals)))
    return found


def _rebuilt(
    inputs: list[Lit], gates: Sequence[Inputs], loops: Sequence[Loop], components: Iterable[tuple[int, ...]]
) -> Folded:
    """Return *gates* made again in the order of *components*, and a loop for each that is a cycle."""
    values = _values(loops)
    made, kept = Gates([None] * len(inputs)), []
    literals = [each for literal in inputs for each in (literal, literal ^ 1)]  # by literal, so that it is one look-up
    literals += [FALSE, TRUE] * (len(gates) - len(inputs))
    of = literals.__getitem__

    def put(node: int, literal: Lit) -> None:
        literals[2 * node], literals[2 * node + 1] = literal, literal ^ 1

    for component in components:
        if component[0] in values and not _is_cycle(component, values):
            put(component[0], of(values[component[0]]))
            continue
        nodes = [node for node in component if node in values]
        for node in nodes:
            put(node, made.input())
        for node in component:
            if node not in values:
                put(node, made.conjunction(map(of, gates[node] or ())))
        if nodes:
            kept.append(Loop(tuple(of(2 * node) >> 1 for node in nodes), tuple(of(values[node]) for node in nodes)))
    return Folded(made, tuple(kept), tuple(literals[::2]))


def _values(loops: Iterable[Loop]) -> dict[int, Lit]:
    return {node: value for loop in loops for node, value in zip(loop.nodes, loop.values, strict=True)}


def _is_cycle(component: tuple[int, ...], values: Mapping[int, Lit]) -> bool:
    return len(component) > 1 or values[component[0]] >> 1 == component[0]


def _components(n_inputs: int, gates: Sequence[Inputs], loops: Sequence[Loop]) -> list[tuple[int, ...]]:
    """Return the nodes beside inputs, those together that depend on one another, after all that they depend on."""
    if not loops:
        return [(node,) for node in range(n_inputs, len(gates))]
    values = _values(loops)
    below = [(values[node],) if node in values else gates[node] or () for node in range(n_inputs, len(gates))]
    edges = [[(x >> 1) - n_inputs for x in inputs if x >> 1 >= n_inputs] for inputs in below]
    return [tuple(node + n_inputs for node in component) for component in components_of(edges)]


Product: TypeAlias = "frozenset[Lit]"
"""Literals that must all be true, neither constant nor one the complement of another."""

_GATE: Final = 2
"""How many inputs take as much time as a gate."""
_HOPE: Final = 4
"""How many inputs it may cost to take something out: what is left over is often equal to what is left elsewhere."""
_MAX_DEPTH: Final = 16
"""How often something is taken out of what is left."""


def any_of(gates: Gates, products: Iterable[Product], depth: int = 0) -> Lit:
    """Return the literal that is true where one of *products* is; *depth* counts what was taken out of them before."""
    found = dict.fromkeys(products)
    if not all(found):
        return gates.conjunction(())
    factors = _factors(gates, found, depth) if depth < _MAX_DEPTH else []
    return gates.disjunction([*factors, *map(gates.product, found)])


def _factors(gates: Gates, products: dict[Product, None], depth: int) -> list[Lit]:
    """Take the products that have something in common out of *products*; return literals that stand for them."""
    if len(frozenset().union(*products)) == sum(map(len, products)):
        return []  # no two of them have
    having: dict[Lit, dict[Product, None]] = {}
    for product in products:
        for literal in product:
            having.setdefault(literal, {})[product] = None
    found = []
    shared = [(-len(group), literal) for literal, group in having.items() if len(group) > 1]
    heapify(shared)
    while shared:
        n, literal = heappop(shared)
        group = tuple(having[literal])
        if len(group) != -n:  # some are taken out since it was put here
            if len(group) > 1:
                heappush(shared, (-len(group), literal))
            continue
        common = frozenset.intersection(*group)
        if _saved(group, common) > -_HOPE:
            for product in group:
                del products[product]
                for each in product:
                    del having[each][product]
            left = any_of(gates, (product - common for product in group), depth + 1)
            found.append(gates.conjunction([*common, left]))
    return found


def _saved(group: tuple[Product, ...], common: Product) -> int:
    """Return how many inputs, or gates' worth of them, it saves to take *common* out of *group*."""
    before = sum(_GATE + len(product) + 1 for product in group)
    rests = (len(product) - len(common) for product in group)
    after = sum((_GATE + n if n > 1 else 0) + 1 for n in rests)
    return before - after - _GATE - (_GATE + len(common) + 1) - 1
