"""What is counted of a state: how many fluents of a pattern hold, and how much the numbers in them come to.

A pattern is all fluents with one or two equal arguments. Arguments are numbers where the rules say in facts which of
them follows which, as `(succ 1 2)` does: under scrambled names there is no other way to know. They count where they
have one value at a time, as the seeds of a hole do: what a store of 30 is worth follows from what those of 20 and 25
are, then, however rare it is in the plays that weights are learned from.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.kernels.jit import kernel
from gdl.compiler.kernels.words import ONE, ZERO, W, lowest_bit
from gdl.language.rules import Description
from gdl.language.syntax import KEYWORDS
from gdl.language.terms import Compound, Term

_MAX_FEATURES: Final = 500
_LEAST_NUMBERS: Final = 3
"""Fewer constants in a row are no numbers: two facts may link anything."""
_MAX_GIVEN: Final = 2

_Place: TypeAlias = tuple[str, int, int]
"""A functor, its arity, and the place of an argument."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Fluents that count together, and how much each of them does, from 0 to 1. *Shapes*: both (n,)."""

    fluents: NDArray[np.int64]
    amounts: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Features:
    """Features by fluent: those of fluent f are from `begins[f]` on in `belongs`, with their `amounts`.

    *Shapes*: `begins` (F + 1,), the others (entries,); the features are `n` in number.
    """

    n: int
    begins: NDArray[np.int64]
    belongs: NDArray[np.int64]
    amounts: NDArray[np.float32]

    def worth_of_fluents(self, worth: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each fluent adds, (F,), where features are worth that much, (K,)."""
        sums = np.add.reduceat(np.append(worth[self.belongs] * self.amounts, 0.0), self.begins[:-1])
        sums[self.begins[:-1] == self.begins[1:]] = 0.0
        return np.asarray(sums, np.float64)


@kernel
def count_features(values, begins, belongs, amounts, counts):
    """Add up in each lane the amounts of the features of the fluents that hold.

    *Shapes*: `values` (rows, W), those of the lanes; `begins`, `belongs` and `amounts` as `Features` has them; `counts`
    (512, K) are zeros.
    """
    for f in range(len(begins) - 1):
        for k in range(W):
            x = values[1 + f, k]
            while x != ZERO:
                lane = 64 * k + lowest_bit(x)
                for i in range(begins[f], begins[f + 1]):
                    counts[lane, belongs[i]] += amounts[i]
                x &= x - ONE


def features_of(description: Description, fluents: Sequence[Term], holding: NDArray[np.uint64]) -> Features:
    """Return the features of states of *description*, those to which most of its *fluents* belong.

    *Shape*: `holding` (F, words), a bit for each of some states that plays come to, set where a fluent holds.
    """
    orders = _orders(fluents, chains_of(description))
    numbers = {place: amounts for place, amounts in orders.items() if _is_single(fluents, place, holding)}
    found = sorted([*_patterns(fluents), *_numbers(fluents, numbers)], key=lambda each: -len(each.fluents))
    return by_fluent(len(fluents), found[:_MAX_FEATURES])


def by_fluent(n_fluents: int, features: Sequence[Feature]) -> Features:
    """Return *features* by fluent."""
    fluents = np.concatenate([np.zeros(0, np.int64), *(each.fluents for each in features)])
    amounts = np.concatenate([np.zeros(0, np.float32), *(each.amounts for each in features)])
    names = np.repeat(np.arange(len(features)), [len(each.fluents) for each in features])
    order = np.argsort(fluents, kind="stable")
    begins = np.searchsorted(fluents[order], np.arange(n_fluents + 1))
    return Features(len(features), begins, names[order], amounts[order])


def chains_of(description: Description) -> list[Mapping[Term, int]]:
    """Return the constants that facts of two arguments put into rows, each with its place in the row.

    A relation does so where each constant has at most one before it and one after it.
    """
    pairs: dict[str, list[tuple[Term, Term]]] = defaultdict(list)
    for fact in (rule.head.term for rule in description.rules if not rule.body):
        match fact:
            case Compound(functor=name, arguments=(first, second)) if fact.is_ground and name not in KEYWORDS:
                pairs[name].append((first, second))
    return [chain for each in pairs.values() for chain in _chains(each)]


def _chains(pairs: Collection[tuple[Term, Term]]) -> Iterator[Mapping[Term, int]]:
    following, before = dict(pairs), {second: first for first, second in pairs}
    distinct = set(pairs)
    if not len(following) == len(before) == len(distinct):
        return
    for first in following:
        if first not in before:
            chain = {first: 0}
            while (last := next(reversed(chain))) in following:
                chain[following[last]] = len(chain)
            if len(chain) >= _LEAST_NUMBERS:
                yield chain


def _patterns(fluents: Sequence[Term]) -> list[Feature]:
    found: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, fluent in _compound(fluents):
        places = list(enumerate(fluent.arguments))
        for given in (*combinations(places, 1), *combinations(places, 2)):
            found[fluent.functor, len(places), *given].append(number)
    alike = {tuple(numbers): None for numbers in found.values() if len(numbers) > 1}
    return [Feature(np.array(numbers), np.ones(len(numbers), np.float32)) for numbers in alike]


def _numbers(fluents: Sequence[Term], orders: Mapping[_Place, Mapping[Term, float]]) -> Iterator[Feature]:
    """Yield for each argument that is a number its sum over all fluents, and over those with up to two other equal."""
    found: dict[tuple[object, ...], list[tuple[int, float]]] = defaultdict(list)
    for number, fluent in _compound(fluents):
        for place, argument, others in _arguments(fluent):
            amount = orders.get((fluent.functor, len(fluent.arguments), place), {}).get(argument)
            if amount is None:
                continue
            for n_given in range(_MAX_GIVEN + 1):
                for given in combinations(others, n_given):
                    found[fluent.functor, len(fluent.arguments), place, *given].append((number, amount))
    for entries in found.values():
        if len(entries) >= _LEAST_NUMBERS:
            numbers, amounts = zip(*entries, strict=True)
            yield Feature(np.array(numbers), np.array(amounts, np.float32))


def _orders(fluents: Sequence[Term], chains: Sequence[Mapping[Term, int]]) -> dict[_Place, dict[Term, float]]:
    """Return for places of arguments how much each constant there counts, where a chain has at least three of them."""
    constants: dict[_Place, dict[Term, None]] = defaultdict(dict)
    for _, fluent in _compound(fluents):
        for place, argument, _ in _arguments(fluent):
            constants[fluent.functor, len(fluent.arguments), place][argument] = None
    orders = ((place, _amounts(known, chains)) for place, known in constants.items())
    return {place: amounts for place, amounts in orders if len(amounts) >= _LEAST_NUMBERS}


def _is_single(fluents: Sequence[Term], place: _Place, holding: NDArray[np.uint64]) -> bool:
    """Return whether, beside the same others, the argument of *place* has one value at most in each state."""
    functor, n_arguments, number = place
    known: dict[tuple[Term, ...], NDArray[np.uint64]] = {}
    for row, fluent in _compound(fluents):
        if fluent.functor == functor and len(fluent.arguments) == n_arguments:
            others = fluent.arguments[:number] + fluent.arguments[number + 1 :]
            before = known.get(others, np.zeros_like(holding[row]))
            if (before & holding[row]).any():
                return False
            known[others] = before | holding[row]
    return True


def _arguments(fluent: Compound) -> Iterator[tuple[int, Term, tuple[tuple[int, Term], ...]]]:
    """Yield each argument of *fluent*, its place before it, and the others with theirs."""
    places = tuple(enumerate(fluent.arguments))
    for place, argument in places:
        yield place, argument, places[:place] + places[place + 1 :]


def _amounts(constants: Collection[Term], chains: Sequence[Mapping[Term, int]]) -> dict[Term, float]:
    """Return how far each of *constants* is along the chain that has most of them, from 0 to 1."""
    rows = ({each: chain[each] for each in constants if each in chain} for chain in chains)
    row = max(rows, key=len, default={})
    low, high = min(row.values(), default=0), max(row.values(), default=0)
    return {each: (place - low) / max(high - low, 1) for each, place in row.items()}


def _compound(fluents: Iterable[Term]) -> Iterator[tuple[int, Compound]]:
    return ((number, fluent) for number, fluent in enumerate(fluents) if isinstance(fluent, Compound))
