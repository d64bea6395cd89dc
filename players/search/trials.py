"""Short matches in the start clock, which show whether a search is better with what it has learned of a game.

That are weights of fluents, a look ahead in place of plays, and plays that prefer moves that do well. How well weights
explain the results of random plays does not tell: in reversi, random plays are won with many pieces early on, and
matches lost by them. Preferred moves win nearly all matches there, and lose them in go and amazons.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from gdl.compiler.compiled import CompiledGame
from gdl.errors import LimitExceeded, StuckPlayError
from gdl.game import Role, State, played_roles
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.positions import points
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import MAX_STEPS, SearchSettings
from players.search.tree.weights import FluentWeights, WeightLearner

LEAST_S: Final = 0.4
"""In less time nothing can be learned."""
_LEARNING_SHARE: Final = 1 / 4
_N_MATCHES: Final = 12
"""How many matches are meant to fit into the time; moves that would be too short for a search last longer."""
_LEAST_MATCHES: Final = 3
"""With fewer of them, each that is won or lost counts twice, matches go on; weights that are bad lose nearly all."""
_LEAST_LEAD_OF_WEIGHTS: Final = 1
"""Weights that help win nearly all of these matches; so does a look ahead by them."""
_LEAST_LEAD: Final = 2
"""So many matches more are won where moves are to be preferred: where that does nothing, it had better not be done."""
_MUCH_EXPLAINED: Final = 0.008
"""The share of the variance of plays that moves explain from which on to prefer them nearly always does something.

That of reversi is 0.012, of checkers and breakthrough 0.04; of connectfour 0.001, of go 0.003, of amazons 0.005.
"""
_LOOK_SHARE: Final = 1 / 20
"""How much of the time for trials of preferred moves is spent on seeing how much moves explain."""
_NARROW: Final = 5.0
"""The standard deviation of goals, in percent, below which random plays hardly ever come to anything."""
_N_PLAYS: Final = 512
_WEIGHTS_SHARE: Final = 1 / 2
"""How much of the time is for weights where preferred moves are to be tried as well."""
_SURE: Final = 5
"""So many matches more that one side has won decide."""
_SHORTEST_MOVE_S: Final = 0.004
_LEAST_STEPS: Final = 20.0
"""A match is taken to last as long as random plays do, which may be over soon, by riding into a wall."""
_OPENING_STEPS: Final = 4
"""So many at most: some matches begin as the game does, since that is what those to come do."""
_TURN_S: Final = _SHORTEST_MOVE_S / 4
_MEMORY_MB: Final = 64.0
"""The room of the searches of a match together."""
_MOST_STEPS: Final = 600


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a search is better with.

    Attributes:
        weights: those of fluents, if there are any.
        looks_ahead: whether moves are judged by them, in place of plays.
        prefers: whether plays prefer moves that do well.
    """

    weights: FluentWeights | None = None
    looks_ahead: bool = False
    prefers: bool = False

    def give(self, search: CompiledSearch) -> None:
        """Let *search* go by it."""
        if self.weights is not None:
            search.weigh(self.weights, looks_ahead=self.looks_ahead)
        if self.prefers:
            search.prefer()


def tried_knowledge(
    game: CompiledGame, settings: SearchSettings, seed: int, deadline: Deadline, latest: Deadline
) -> Knowledge:
    """Return what a search with *settings* wins matches with that are played until *deadline*.

    They go on until *latest* where too few have come to an end. Where plays say much of moves anyway (AMAF) a search
    has no use for more; alone it has none to be better than.
    """
    trials = _Trials(game, settings, seed)
    plain = trials.search(Knowledge())
    if plain.uses_amaf or len(played_roles(game)) < 2:
        return Knowledge()
    weights_s = deadline.remaining_s * (_WEIGHTS_SHARE if settings.mast is None else 1.0)
    weights = trials.weights(plain, deadline.at_most(weights_s), latest) if settings.weights else None
    if weights is not None and plain.can_look_ahead and trials.looks_ahead(plain, weights, deadline, latest):
        return Knowledge(weights, looks_ahead=True)  # there are no plays that might prefer moves
    prefers = settings.mast
    if prefers is None:
        prefers = trials.are_goals_narrow() or (not deadline.has_passed and trials.prefers(weights, deadline, latest))
    return Knowledge(weights, prefers=prefers)


class _Trials:
    """Trials of searches with *settings* that know of *game* what they are given."""

    def __init__(self, game: CompiledGame, settings: SearchSettings, seed: int) -> None:
        mast, self._is_mast_open = settings.mast is True, settings.mast is None
        self._game = game
        memory_mb = _MEMORY_MB / len(game.roles)
        self._settings = replace(settings, memory_mb=memory_mb, mast=mast, turn_s=_TURN_S)
        self._seed, self._n_steps = seed, float(_MOST_STEPS)

    def search(self, knowledge: Knowledge) -> CompiledSearch:
        """Return a search that goes by *knowledge*."""
        self._seed += 1
        found = CompiledSearch(self._game, self._seed, self._settings)
        knowledge.give(found)
        return found

    def weights(self, plain: CompiledSearch, deadline: Deadline, latest: Deadline) -> FluentWeights | None:
        """Return weights learned until *deadline* by which a search wins more matches than without; else None.

        They are learned from plays as the *plain* search makes them itself. Matches go on until *latest* where too few
        have come to an end.
        """
        learner = WeightLearner(self._game, plain.played, self._seed)
        is_fit = learner.learn(deadline.at_most(_LEARNING_SHARE * deadline.remaining_s))
        self._n_steps = max(_LEAST_STEPS, learner.mean_length)
        weights = learner.found() if is_fit else None
        if weights is None:
            return None
        is_better = self.is_better(Knowledge(weights), Knowledge(), deadline, latest, _LEAST_LEAD_OF_WEIGHTS)
        return weights if is_better else None

    def looks_ahead(self, plain: CompiledSearch, weights: FluentWeights, deadline: Deadline, latest: Deadline) -> bool:
        """Return whether a search that goes by *weights* wins more matches where it looks ahead than where it plays.

        Half of the time until *deadline* is for that, and the rest for preferred moves, if they are to be tried; where
        plays are to prefer them anyway, they are to be made. So they are where those of the *plain* search look ahead
        themselves: matches of a few milliseconds a move are won without them, and longer ones lost.
        """
        if self._settings.lookahead is not None or self._settings.mast:
            return bool(self._settings.lookahead)
        if plain.played is self._game.rules.decisive:
            return False
        share = 1 / 2 if self._is_mast_open else 1.0
        own_deadline = deadline.at_most(share * deadline.remaining_s)
        one, other = Knowledge(weights, looks_ahead=True), Knowledge(weights)
        return self.is_better(one, other, own_deadline, latest, _LEAST_LEAD_OF_WEIGHTS)

    def are_goals_narrow(self) -> bool:
        """Return whether random plays hardly ever come to anything, as in long races.

        Nor do matches of a few milliseconds a move, which tell nothing then. Moves after which plays come to more are
        found, and found the sooner the more plays make them.
        """
        try:
            plays = self._game.playouts(self._game.initial_state, _N_PLAYS, self._seed, MAX_STEPS)
        except (StuckPlayError, LimitExceeded):
            return False
        sums = zip(plays.goal_sums, plays.goal_squares, strict=True)
        return all(squares / _N_PLAYS - (total / _N_PLAYS) ** 2 < _NARROW**2 for total, squares in sums)

    def prefers(self, weights: FluentWeights | None, deadline: Deadline, latest: Deadline) -> bool:
        """Return whether a search that goes by *weights*, if there are any, wins matches by preferring moves.

        Without weights it is enough that it loses no more than it wins where moves explain much of what plays come to:
        matches of a few milliseconds a move show less of what that is worth than longer ones.
        """
        one, other = Knowledge(weights, prefers=True), Knowledge(weights)
        is_likely = weights is None and self._do_moves_explain_much(deadline)
        return self.is_better(one, other, deadline, latest, 0 if is_likely else _LEAST_LEAD)

    def _do_moves_explain_much(self, deadline: Deadline) -> bool:
        search, role = self.search(Knowledge(prefers=True)), played_roles(self._game)[0]
        budget = SearchBudget(deadline=deadline.at_most(_LOOK_SHARE * deadline.remaining_s))
        try:
            search.think(self._game.initial_state, role, budget)
        except StuckPlayError:
            return False
        return search.averages is not None and search.averages.explained() >= _MUCH_EXPLAINED

    def is_better(
        self, one: Knowledge, other: Knowledge, deadline: Deadline, latest: Deadline, least_lead: int
    ) -> bool:
        """Return whether a search that knows *one* wins so many matches more until *deadline* than it loses.

        They go on until *latest* where too few have come to an end.
        """
        n_others = len(played_roles(self._game)) - 1
        searches = (*(self.search(other) for _ in range(n_others)), self.search(one))
        try:
            least_s = max(self._least_move_s(search, deadline) for search in searches[-2:])
            move_s = max(least_s, deadline.remaining_s / _N_MATCHES / self._n_steps)
            return _Matches(self._game, searches, move_s, Random(self._seed)).is_won(deadline, latest, least_lead)
        except StuckPlayError:
            return False

    def _least_move_s(self, search: CompiledSearch, deadline: Deadline) -> float:
        """Return how long *search* takes for a move at least, however little time it is given.

        Where plays are long that is more than is meant for a move, and without weights far more than with them.
        """
        state, role, budget = self._game.initial_state, played_roles(self._game)[0], SearchBudget(max_iterations=1)
        search.think(state, role, budget)  # what is loaded once does not count
        begun_s = deadline.clock()
        search.think(state, role, budget)
        return max(_SHORTEST_MOVE_S, deadline.clock() - begun_s)


class _Matches:
    """Matches between a search, the last of *searches*, and others, *move_s* seconds a move.

    Each has a role; a few steps that are drawn at random come first, or none.
    """

    def __init__(self, game: CompiledGame, searches: Sequence[CompiledSearch], move_s: float, random: Random) -> None:
        self._game, self._searches, self._move_s, self._random = game, searches, move_s, random
        self._roles = played_roles(game)

    def is_won(self, deadline: Deadline, latest: Deadline, least_lead: int) -> bool:
        """Return whether the last search wins at least so many matches more until *deadline* than it loses.

        Each opening is played once in each role. It ends before where one side is far ahead, and at *latest* where too
        few matches have come to an end.
        """
        balance, n_matches, end = 0.0, 0, latest
        while not end.has_passed and abs(balance) < _SURE:
            opening = self._opening()
            for place in range(len(self._roles)):
                result = self._result(opening, place, end)
                if result is not None:
                    balance, n_matches = balance + result, n_matches + 1
                end = deadline if n_matches + abs(balance) >= _LEAST_MATCHES else latest
        return (balance > 0 or n_matches >= _LEAST_MATCHES) and balance >= least_lead

    def _opening(self) -> State:
        state = self._game.initial_state
        for _ in range(self._random.randint(0, _OPENING_STEPS)):
            moves = tuple(self._random.choice(_legal(state, role)) for role in self._game.roles)
            following = state.next_state(moves)
            if following.is_terminal:
                break
            state = following
        return state

    def _result(self, state: State, place: int, deadline: Deadline) -> float | None:
        """Return how the last search does in the role at *place*, None where there is no end in time.

        That is 1 against each other role that has less, -1 against one that has more, in the mean.
        """
        others, ours = self._searches[:-1], self._searches[-1]
        seats = dict(zip(self._roles, (*others[:place], ours, *others[place:]), strict=True))
        for _ in range(_MOST_STEPS):
            if state.is_terminal or deadline.has_passed:
                break
            state = state.next_state(
                tuple(self._move(seats.get(role), state, role, deadline) for role in self._game.roles)
            )
        if not state.is_terminal:
            return None
        return 2 * points([state.goal(role) or 0 for role in self._roles], place) - 1

    def _move(self, search: CompiledSearch | None, state: State, role: Role, deadline: Deadline) -> Term:
        legal = _legal(state, role)
        if search is None or len(legal) == 1:
            return self._random.choice(legal)
        return search.think(state, role, SearchBudget(deadline=deadline.at_most(self._move_s)))


def _legal(state: State, role: Role) -> Sequence[Term]:
    legal = state.legal_moves(role)
    if not legal:
        raise StuckPlayError
    return legal
