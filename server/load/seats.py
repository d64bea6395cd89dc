"""Both seats of a match of tictactoe, played by the book and at random: what the stand-in players of the load know."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

ROLES: Final = ("x", "o")
_MESSAGE: Final = re.compile(r"\s*\(\s*([A-Za-z]+)")
_MARK: Final = re.compile(r"\(\s*mark\s+([1-3])\s+([1-3])\s*\)", re.IGNORECASE)
_CELLS: Final = frozenset((column, row) for column in "123" for row in "123")
_ANSWERS: Final[Mapping[str, str]] = MappingProxyType({"INFO": "available", "PREVIEW": "ready", "START": "ready"})


@dataclass(slots=True)
class Board:
    """One match as one of its players sees it: the cells that are free; `x` and `o` take turns."""

    role: str
    free: set[tuple[str, str]] = field(default_factory=lambda: set(_CELLS))

    def answer(self, text: str, chance: random.Random) -> str:
        """Return what the player says to the message *text*: a legal move to PLAY."""
        found = _MESSAGE.match(text)
        word = found[1].upper() if found else ""
        if word == "START":
            self.free = set(_CELLS)
        if word != "PLAY":
            return _ANSWERS.get(word, "done")
        # The rules are in START alone, so what PLAY marks was marked in the step before.
        self.free -= {(mark[1], mark[2]) for mark in _MARK.finditer(text)}
        return self._move(chance)

    def _move(self, chance: random.Random) -> str:
        n_marked = len(_CELLS) - len(self.free)
        if not self.free or ROLES[n_marked % 2] != self.role:
            return "noop"
        column, row = chance.choice(sorted(self.free))
        return f"(mark {column} {row})"
