"""Ground rules by their heads: the alternatives of every atom, without what is constant."""

from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.grounding import GroundRules
from gdl.compiler.netlist import Numbers, ranges, starts


class Bodies:
    """The bodies of *rules* for all heads but facts, and but those *known* by other means.

    `heads` are the atoms that have bodies, in the order of their first rules, which gives each its place; `successors`
    the places of the heads that each needs; `facts` the atoms that hold in every state. Atoms are numbers below
    `n_atoms`, literals twice the number of an atom, and one more where it is negated.
    """

    def __init__(self, rules: GroundRules, known: Collection[int]) -> None:
        heads = np.frombuffer(rules.heads, np.int32)
        literals = np.frombuffer(rules.literals, np.int32)
        ends = np.frombuffer(rules.ends, np.int64)
        begins = np.concatenate([[0], ends])[:-1]
        sizes = ends - begins
        self.n_atoms: Final = 1 + max(int(heads.max(initial=0)), int(np.abs(literals).max(initial=0)), *known, 0)

        is_known, is_fact = np.zeros((2, self.n_atoms), np.bool_)
        is_known[list(known)] = True
        is_fact[heads[sizes == 0]] = True
        is_fact &= ~is_known
        self.facts: Final[list[int]] = np.flatnonzero(is_fact).tolist()

        is_kept = ~(is_known | is_fact)[heads]
        is_own = literals == np.repeat(heads, sizes)
        is_kept[np.searchsorted(ends, np.flatnonzero(is_own), side="right")] = False  # what needs itself adds nothing
        kept = np.flatnonzero(is_kept)
        places = self._places(heads[kept])
        in_order = np.argsort(places[heads[kept]], kind="stable")
        kept = kept[in_order]

        found = literals[ranges(begins[kept], sizes[kept])]
        rule = np.repeat(np.arange(len(kept), dtype=np.int32), sizes[kept])
        place = places[heads[kept]]
        self.successors: Final = _successors(np.repeat(place, sizes[kept]), places[np.abs(found)], len(self.heads))
        is_open = is_known | (places >= 0)
        self._alternatives(found, rule, place, is_open, is_fact)

    def _places(self, heads: NDArray[np.int32]) -> Numbers:
        """Return the place of each atom among the heads, in the order of their first rules; -1 for others."""
        first = np.full(self.n_atoms, len(heads))
        first[heads[::-1]] = np.arange(len(heads))[::-1]
        by_first = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(heads))]
        self.heads: list[int] = by_first.tolist()
        places = np.full(self.n_atoms, -1, np.int32)
        places[by_first] = np.arange(len(by_first))
        return places

    def _alternatives(
        self, literals: NDArray[np.int32], rule: Numbers, place: Numbers, is_open: Any, is_fact: Any
    ) -> None:
        """Note the bodies by place, but literals that always hold, and bodies that never do."""
        atoms, is_negated = np.abs(literals), literals < 0
        is_constant = ~is_open[atoms]
        holds = np.ones(len(place), np.bool_)
        holds[rule[is_constant & (is_fact[atoms] == is_negated)]] = False
        is_wanted = holds[rule] & ~is_constant
        number = np.cumsum(holds) - 1
        literal_starts = starts(number[rule[is_wanted]], int(holds.sum()))
        self._literals = array("i", (2 * atoms[is_wanted] + is_negated[is_wanted]).tobytes())
        self._starts = array("q", literal_starts.tobytes())
        place = place[holds]
        self._first = starts(place, len(self.heads)).tolist()
        is_longer = np.zeros(len(self.heads), np.bool_)
        is_longer[place[np.diff(literal_starts) != 1]] = True
        self._is_longer = is_longer.tobytes()

    def single_literals(self, place: int) -> Sequence[int] | None:
        """Return the bodies of the head at *place* if all of them are one literal."""
        if self._is_longer[place]:
            return None
        return self._literals[self._starts[self._first[place]] : self._starts[self._first[place + 1]]]

    def of(self, place: int) -> Iterator[Sequence[int]]:
        """Yield the bodies of the head at *place*."""
        starts = self._starts
        for number in range(self._first[place], self._first[place + 1]):
            yield self._literals[starts[number] : starts[number + 1]]


def _successors(place: Numbers, needed: Numbers, n_places: int) -> list[tuple[int, ...]]:
    """Return the places that each needs, of pairs in ascending order; -1 is none."""
    is_place = needed >= 0
    ours = array("i", needed[is_place].tobytes())
    return [tuple(set(ours[begin:end])) for begin, end in pairwise(starts(place[is_place], n_places).tolist())]
