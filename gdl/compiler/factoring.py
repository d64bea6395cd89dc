"""Alternatives written with fewer gates: what several of them have in common is taken out of them.

`a & b | a & c` takes three gates, `a & (b | c)` two. What most alternatives share is taken out first.

Source: Brayton 1987 (algebraic factoring).
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from gdl.compiler.circuit import Gates, Lit

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
    return gates.disjunction([*factors, *map(gates.conjunction, found)])


def _factors(gates: Gates, products: dict[Product, None], depth: int) -> list[Lit]:
    """Take the products that have something in common out of *products*; return literals that stand for them."""
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
