"""How a match of a competition ended: what schedules, standings and ratings read."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The end of a match between players of a competition.

    Attributes:
        game: the name of the game.
        players: who played each role, in the order of the game's roles, without `random`.
        goals: what each of them reached, 0 to 100.
        errors: how many moves of each the game manager made instead, since they were illegal, late or missing.
        match_id: the id of the match, by which its record is found.
        forfeited: who did not come, so that no move was made; it counts in standings, and says nothing of strength.
    """

    game: str
    players: tuple[str, ...]
    goals: tuple[int, ...]
    errors: tuple[int, ...] = ()
    match_id: str = ""
    forfeited: tuple[str, ...] = ()

    def goal_of(self, player: str) -> float:
        """Return the mean goal of the seats of *player*.

        Raises:
            ValueError: the player had no seat.
        """
        found = [goal for name, goal in zip(self.players, self.goals, strict=True) if name == player]
        if not found:
            raise ValueError(f"{player} did not play in the match {self.match_id}")
        return fmean(found)

    def points(self, role: int, other: int) -> float:
        """Return what the player of *role* gets against that of *other*: 1 for more, 1/2 for as much, 0 for less."""
        difference = self.goals[role] - self.goals[other]
        return 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0
