"""A player at connect four against one that makes no mistake: how often it gets what a position is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.yardsticks.matches import OURS, Encounter
from gdl.game import Game
from gdl.language.terms import Constant
from server.measuring.accuracy import wilson
from server.measuring.solved_positions import PositionFile


@dataclass(frozen=True, slots=True)
class Perfection:
    """In how many matches a player got what the position was worth to it that the match began with.

    Attributes:
        kept: by that worth, how many matches reached it, and how many there were.
    """

    file: str
    player: str
    seconds: float
    kept: dict[int, tuple[int, int]]

    @property
    def n_matches(self) -> int:
        """How many matches there were."""
        return sum(n for _, n in self.kept.values())

    @property
    def n_kept(self) -> int:
        """How many kept the worth of their first position."""
        return sum(n for n, _ in self.kept.values())

    def figures(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        by_worth = {str(worth): list(counts) for worth, counts in self.kept.items()}
        interval = [round(bound, 4) for bound in wilson(self.n_kept, self.n_matches)]
        return {
            "file": self.file, "player": self.player, "seconds": self.seconds, "matches": self.n_matches,
            "kept": self.n_kept, "interval": interval, "by_worth": by_worth,
        }  # fmt: skip


def measure_perfection(
    encounter: Encounter, file: PositionFile, n_matches: int, on_match: Callable[[], None] = lambda: None
) -> Perfection:
    """Return how often the player of *encounter* keeps the worth of the first *n_matches* positions of *file*.

    It plays the role to move; each of its moves may lose the worth, and the yardstick never gives it back.

    Raises:
        PositionFileError: a position is not one of the game.
        YardstickError: the yardstick does not agree with the referee, or fails.
    """
    kept, all_of = Counter[int](), Counter[int]()
    for number, position in file.numbered[:n_matches]:
        file.state(encounter.game, number, position)
        role = _role(encounter.game, position.role)
        result = encounter.play(role, position.terms, seed=number).result
        all_of[position.best] += 1
        kept[position.best] += result.goal_of(OURS) >= position.best
        on_match()
    both = {worth: (kept[worth], all_of[worth]) for worth in sorted(all_of, reverse=True)}
    return Perfection(file.path.name, encounter.maker.spec, encounter.seconds, both)


def _role(game: Game, name: str) -> Constant:
    return next(role for role in game.roles if str(role) == name)
