"""Gates and loops: the parts of circuits; alternatives with common factors taken out."""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import chain, count
from typing import Any, Final, TypeAlias

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
    """Gates under construction, each shape once: `hashed` has the node of each."""

    gates: list[Inputs]
    hashed: dict[tuple[Lit, ...], int] = field(default_factory=dict)

    @classmethod
    def of(cls, gates: Iterable[Inputs]) -> "Gates":
        """Return *gates*, to which more may be added."""
        found = list(gates)
        hashed: dict[Any, int] = dict(zip(found, count()))
        for no_gate in (None, ()):
            hashed.pop(no_gate, None)
        return cls(found, hashed)

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
        node = self.hashed.get(key)
        if node is None:
            node = self.hashed[key] = len(self.gates)
            self.gates.append(key)
        return 2 * node

    def disjunction(self, literals: Iterable[Lit]) -> Lit:
        """Return the literal that is true where one is."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1


def are_contrary(literals: AbstractSet[Lit]) -> bool:
    """Return whether one of *literals* is the complement of another."""
    return not literals.isdisjoint([literal ^ 1 for literal in literals])


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
        return TRUE
    if len(found) == 1:
        return gates.product(*found)
    factors = _factors(gates, found, depth) if depth < _MAX_DEPTH else []
    return gates.disjunction([*factors, *map(gates.product, found)])


def _factors(gates: Gates, products: dict[Product, None], depth: int) -> list[Lit]:
    """Take the products that have something in common out of *products*; return literals that stand for them."""
    if len(frozenset().union(*products)) == sum(map(len, products)):
        return []  # no two of them have
    n_having = Counter(chain.from_iterable(products))
    having: dict[Lit, dict[Product, None]] = {literal: {} for literal, n in n_having.items() if n > 1}
    for product in products:
        for literal in having.keys() & product:
            having[literal][product] = None
    found = []
    shared = [(-len(group), literal) for literal, group in having.items()]
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
                for each in having.keys() & product:
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
