"""What a role could know of the states of a match: what is true in all states of its information set.

It is worked out in a child process, since the rules may be hostile, and since it may take a while.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from gdl.errors import GdlError
from gdl.game import EvaluationLimits
from gdl.interpreter import InterpretedGame
from gdl.language.kif import read_term
from gdl.language.rules import read_rules
from gdl.language.terms import Constant
from gdl.worker import ChildLimits, run_limited
from players.belief import BeliefState
from players.deadline import Deadline, SearchBudget
from server.cache import BackgroundCache

Known: TypeAlias = tuple[tuple[str, ...] | None, ...]
"""By step the facts that are certain, None where the role's information set is too large."""

_N_KEPT: Final = 64
_MAX_STEPS: Final = 400
_AT_ONCE: Final = 1
_SECONDS: Final = 6.0
_LIMITS: Final = ChildLimits(max_seconds=2 * _SECONDS, max_memory_mb=1024)
_EVALUATION: Final = EvaluationLimits(max_rows=1_000_000, max_seconds=_SECONDS)


@dataclass(frozen=True, slots=True)
class SeatHistory:
    """What the role `role` did and perceived, step by step, in a match of the game with these `rules`."""

    rules: str
    role: str
    steps: tuple[tuple[str, tuple[str, ...]], ...]


def known_facts(history: SeatHistory) -> Known:
    """Return what was certain in the first state and after each step.

    Raises:
        GdlError: the rules cannot be played, or cost too much.
    """
    game = InterpretedGame(read_rules(history.rules), _EVALUATION)
    belief = BeliefState(game, Constant(history.role), seed=0)
    budget = SearchBudget(deadline=Deadline.after(_SECONDS))
    known = [_certain(belief)]
    for move, percepts in history.steps[:_MAX_STEPS]:
        if known[-1] is not None:
            belief.advance(read_term(move), tuple(map(read_term, percepts)), budget)
        known.append(None if known[-1] is None else _certain(belief))
    return tuple(known)


def _certain(belief: BeliefState) -> tuple[str, ...] | None:
    if not belief.is_exact or belief.is_lost:
        return None
    return tuple(sorted(map(str, frozenset.intersection(*(state.facts for state in belief.states)))))


def facts_after(known: Known, n_steps: int) -> tuple[str, ...] | None:
    """Return what was certain after so many steps, None where that is not known."""
    return known[n_steps] if n_steps < len(known) else None


class KnownFacts:
    """Works out what is known in seat histories, one after the other, and caches the last results."""

    def __init__(self, patience_s: float = 0.1) -> None:
        self._known = BackgroundCache(self._work_out, n_kept=_N_KEPT, patience_s=patience_s)
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def of(self, history: SeatHistory) -> Known | None:
        """Return what was known in *history*; None while it is being worked out."""
        return await self._known.of(history)

    async def _work_out(self, history: SeatHistory) -> Known:
        async with self._free:
            try:
                return await asyncio.to_thread(partial(run_limited, known_facts, (history,), _LIMITS))
            except GdlError:
                return (None,) * (len(history.steps) + 1)

    async def close(self) -> None:
        """Begin nothing more, and wait for what has begun."""
        await self._known.close()
