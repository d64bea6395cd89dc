"""The steps of an environment: its copies, and the kernels that take them further in the threads of its ranges."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

import numpy as np

from players.environments.buffers import Ranges, address_of, copies_for, initial_for, room_for
from players.environments.kernels import arrays, stepping
from players.environments.kernels.plans import ENDLESS, SEED, SEVERAL_MOVE, Initial, plan_of
from players.environments.numbering import Numbering
from players.environments.rulebooks import rulebook_of


class Stepper:
    """Takes *n* copies of a game further, those of each of *ranges* in a thread of its own.

    Attributes:
        copies: their arrays, which kernels write.
        count: how often kernels have drawn or stepped: with the seed it decides what chance does next.
        max_actions: how many actions the longest list has.
    """

    def __init__(self, numbering: Numbering, n: int, ranges: Ranges, *, auto_resets: bool) -> None:
        self.copies, self.count = copies_for(numbering, n), 0
        self._n, self._ranges = n, ranges
        self._book = rulebook_of(numbering, auto_resets=auto_resets)
        self.max_actions: int = self._book.action_row.shape[1]
        self._initial = initial_for(numbering)
        self._rooms = [room_for(numbering, end - begin) for begin, end in ranges.parts]
        self._plans = [plan_of(numbering.tables, self._book, self.copies, self._initial, room) for room in self._rooms]
        self._plan = self._plans[0].ctypes.data
        self._evaluate_initial()

    def _evaluate_initial(self) -> None:
        """Find what the first state allows, with the first copy as the one to be looked at."""
        self.copies.states[0] = self._initial.states[0]
        self.copies.phase[0] = self._initial.phase[0]
        self.evaluate_first()
        for name in Initial._fields:
            getattr(self._initial, name)[0] = getattr(self.copies, name)[0]

    @property
    def seed(self) -> int:
        """What decides all chance."""
        return int(self._plans[0][SEED])

    def sow(self, seed: SupportsIndex) -> None:
        """Have *seed* decide all chance from now on."""
        for plan in self._plans:
            plan[SEED] = index(seed) % 2**64

    def sample(self, chosen: int) -> None:
        """Write a legal action of each list of each copy to the array at *chosen*."""
        if not self._ranges.has_threads:
            arrays.sample(self._plan, chosen, self.count, 0, self._n)
        else:
            self._ranges.run(lambda begin, end: arrays.sample(self._plan, chosen, self.count, begin, end))
        self.count += 1

    def first_illegal(self, actions: int) -> int:
        """Return the number of the first illegal action of the array at *actions*; -1 where all are legal."""
        found: int = arrays.first_illegal(self._plan, actions, self._n)
        return found

    def evaluate_first(self) -> None:
        """Find what the state of the first copy allows."""
        which = np.zeros(self._n, np.bool_)
        which[0] = True
        self.advance(0, address_of(which), stepping.EVALUATE)

    def advance(self, actions: int, mask: int, task: int) -> None:
        """Take the copies further, by actions and a mask of copies at these addresses.

        Raises:
            ValueError: the actions are those of a game of turns, and several players choose at once; or the chance
                moves of a play never end.
        """
        count = self.count
        self.count += 1
        if not self._ranges.has_threads:
            found = [stepping.advance(self._plan, actions, mask, 0, self._n, count, task)]
        else:
            # Room is as large as the range it is for, so a thread takes the plan of its range, not the next one.
            at = {begin: plan.ctypes.data for (begin, _), plan in zip(self._ranges.parts, self._plans, strict=True)}
            found = self._ranges.run(
                lambda begin, end: stepping.advance(at[begin], actions, mask, begin, end, count, task)
            )
        if SEVERAL_MOVE in found:
            raise ValueError("several players choose at once: the flat form is for games of turns")
        if ENDLESS in found:
            raise ValueError("no player ever has a choice: the chance moves of a play go on for ever")
