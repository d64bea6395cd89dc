"""What searches of a tree know of the moves at its root, and the choice among these."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.language.terms import Term
from players.player import Insight
from players.search.tree.batches import DEPTHS, N_PLAYS, N_WALKS


@dataclass(frozen=True, slots=True)
class MoveFigures:
    """What a search knows of a move: walks through it, the mean of the role's goals, and its proven bounds."""

    move: Term
    n_walks: int
    mean: float
    low: int
    high: int

    @property
    def is_proven(self) -> bool:
        """Whether the goal after this move is known."""
        return self.low == self.high


def chosen_among(found: Sequence[MoveFigures], *, is_decision: bool) -> Term | None:
    """Return the most promising move: the most walked open one, or a proven one at least as good as it looks.

    Of moves that are walked as often it is the one with the higher mean, which decides where there is time for a batch
    or two. Bounds are those of a single decider. None where nothing is known.
    """
    if not is_decision:
        return None if (walked := _most_walked(found)) is None else walked.move
    floor = max((each.low for each in found), default=0)
    proven = max((each for each in found if each.is_proven), key=lambda each: (each.low, each.n_walks), default=None)
    best = _most_walked(each for each in found if not each.is_proven and each.high > floor)
    if proven is not None and (best is None or proven.low >= best.mean):
        return proven.move
    return None if best is None else best.move


def _most_walked(found: Iterable[MoveFigures]) -> MoveFigures | None:
    return max(found, key=lambda each: (each.n_walks, each.mean), default=None)


def insight_of(
    best: Term | None, found: Sequence[MoveFigures], counted: NDArray[np.int64], line: Iterable[Term]
) -> Insight:
    """Return what a search tells of its *best* move, by the figures of all moves and by what was *counted*.

    *Shapes*: `counted` (4,), as the counts of a room.
    """
    of_best = next((each for each in found if each.move == best), None)
    value = None if of_best is None else of_best.low if of_best.is_proven else of_best.mean
    return Insight(
        n_leaves=int(counted[N_WALKS]),
        n_playouts=int(counted[N_PLAYS]),
        depth=round(float(counted[DEPTHS]) / max(1, int(counted[N_WALKS])), 2),
        value=None if value is None else round(float(value), 2),
        line=tuple(map(str, line)),
        is_proven=of_best is not None and of_best.is_proven,
    )
