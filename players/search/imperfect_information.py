"""The search of games in which a role does not see everything: over information sets, or by a mixed strategy."""

from random import Random
from typing import Final

from gdl.game import Game, Role
from gdl.language.terms import Term
from players.belief import BeliefState
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import wait_for_compilation
from players.search.information.infosets import InformationSetSearch
from players.search.information.regret import MixedStrategy, mixed_strategy
from players.search.positions import Report, ignore

_PROBE_S: Final = 2.0


def sees_everything(game: Game, role: Role, budget: SearchBudget, n_plays: int = 3) -> bool:
    """Return whether *role* is certain of the state all through *n_plays* random plays; no, if *budget* ends before."""
    random = Random(0)
    return all(_is_certain(game, role, random, budget) for _ in range(n_plays))


def _is_certain(game: Game, role: Role, random: Random, budget: SearchBudget) -> bool:
    """Return whether *role* is certain of the state all through one random play."""
    belief = BeliefState(game, role, random.getrandbits(32))
    state = game.initial_state
    while belief.is_certain and not budget.is_out_of_time:
        legal = [state.legal_moves(each) for each in game.roles]
        if not all(legal):  # faulty rules: the play ends here
            return True
        moves = tuple(map(random.choice, legal))
        percepts = state.percepts(role, moves)
        state = state.next_state(moves)
        if state.is_terminal:
            return True
        belief.advance(moves[belief.me], percepts, budget)
    return False


class ImperfectInformationSearch:
    """A search of a match, over what a role may know. `strategy` is None where the game is too large for one."""

    def __init__(self, game: Game, role: Role, random: Random) -> None:
        self.game, self.role, self.random = game, role, random
        self.search = InformationSetSearch(game, random)
        self.strategy: MixedStrategy | None = None

    def has_nothing_hidden(self, deadline: Deadline) -> bool:
        """Return whether the percepts of the role are found to determine the state."""
        return sees_everything(self.game, self.role, SearchBudget(deadline=deadline.at_most(_PROBE_S)))

    def start(self, deadline: Deadline, *, solves: bool) -> None:
        """Look for a mixed strategy, where it *solves* games; then wait for the compiled engine."""
        if solves:
            self.strategy = mixed_strategy(self.game, self.role, deadline)
        wait_for_compilation(self.game, deadline)
        self.search.renew()

    def think(self, worlds: BeliefState, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return a move drawn by the strategy, or else the best that *budget* finds."""
        drawn = self.strategy and self.strategy.choose(worlds.steps, self.random)
        return drawn or self.search.think(worlds, budget, report)
