"""The search of games in which a role does not see everything: a mixed strategy, or a search over information sets."""

from random import Random
from typing import Final

from gdl.game import Game, Role
from gdl.language.terms import Term
from players.belief import BeliefState
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import wait_for_compilation
from players.search.infosets import InformationSetSearch, sees_everything
from players.search.positions import Report, ignore
from players.search.regret import MixedStrategy, mixed_strategy

_PROBE_S: Final = 2.0


class HiddenSearch:
    """A search of a match, over what a role may know. `strategy` is None where the game is too large for one."""

    def __init__(self, game: Game, role: Role, random: Random) -> None:
        self.game, self.role, self.random = game, role, random
        self.search = InformationSetSearch(game, random)
        self.strategy: MixedStrategy | None = None

    def has_nothing_hidden(self, deadline: Deadline) -> bool:
        """Return whether the percepts of the role are found to determine the state."""
        return sees_everything(self.game, self.role, SearchBudget(deadline=deadline.at_most(_PROBE_S)))

    def start(self, deadline: Deadline) -> None:
        """Look for a mixed strategy; then wait for the compiled engine."""
        self.strategy = mixed_strategy(self.game, self.role, deadline)
        wait_for_compilation(self.game, deadline)

    def think(self, worlds: BeliefState, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return a move drawn by the strategy, or else the best that *budget* finds."""
        drawn = self.strategy and self.strategy.choose(worlds.steps, self.random)
        return drawn or self.search.think(worlds, budget, report)
