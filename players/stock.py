"""The stock players: legal, random, greedy, minimax, mcts, planner and nested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from gdl.compiler.compiled import CompiledGame
from gdl.engines import DEFAULT_ENGINE, make_game
from gdl.errors import StuckPlayError
from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Insight, Player
from players.search.alphabeta import AlphaBeta, estimate
from players.search.evaluator import compiled_game_of, evaluator_of, wait_for_compilation
from players.search.infosets import InformationSetSearch, sees_everything
from players.search.nested import LEVEL, NestedSearch
from players.search.plans import OneRoleSearch
from players.search.positions import Choice, Positions, SearchPosition
from players.search.regret import MixedStrategy, mixed_strategy
from players.search.tree.background import BackgroundSearch
from players.search.tree.bandits import RULES
from players.search.tree.search import EXPLORATION, MEMORY_MB, SIMULTANEOUS, CompiledSearch, load_search_kernel
from players.search.uct import TreeSearch


class LegalPlayer(Player):
    """Takes the first of its legal moves in the order of their texts."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the first legal move."""
        return state.legal_moves(role)[0]


class RandomPlayer(Player):
    """Takes each of its legal moves with equal probability."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return a legal move drawn by the player's own generator."""
        return self.random.choice(state.legal_moves(role))


MAX_REPLIES: Final = 16
"""Joint moves of the others that are tried against a move; of more, as many are drawn at random."""


class GreedyPlayer(Player):
    """Takes the move after which the position is worth most, on average over the simultaneous moves of the others."""

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the best move of those that there was time to try."""
        positions = Positions(self.game)
        position = positions.at(state)
        me = self.game.roles.index(role)
        moves = position.moves[me]
        best, best_worth = moves[0], -2.0
        for i in self.random.sample(range(len(moves)), len(moves)):
            worth = self._worth(positions, position, me, i)
            if worth > best_worth:
                best, best_worth = moves[i], worth
                self.suggest(best)
            if deadline.has_passed:
                break
        return best

    def _worth(self, positions: Positions, position: SearchPosition, me: int, move: int) -> float:
        others = tuple(i for i in range(len(self.game.roles)) if i not in (me, positions.chance))
        replies = self._replies(position, me, move)
        return sum(estimate(position.after(choice), me, others) for choice in replies) / len(replies)

    def _replies(self, position: SearchPosition, me: int, move: int) -> list[Choice]:
        options = [(move,) if i == me else range(len(moves)) for i, moves in enumerate(position.moves)]
        if position.n_choices // len(position.moves[me]) <= MAX_REPLIES:
            return [choice for choice in position.choices() if choice[me] == move]
        return [tuple(self.random.choice(option) for option in options) for _ in range(MAX_REPLIES)]


class MinimaxPlayer(Player):
    """Looks as far ahead as time (or a number of positions a move) allows, expecting the worst of the others.

    Where information is imperfect it looks at the likeliest state alone.
    """

    def __init__(self, positions: int | None = None) -> None:
        self.max_positions = positions

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match with an empty table."""
        super().join(game, role, seed)
        self.search = AlphaBeta(game, role, self.random)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the best move found before *deadline*."""
        return self.search.think(state, SearchBudget(self.max_positions, deadline), self.suggest)


_PROBE_S: Final = 2.0


PYTHON_TREE: Final = "python"
"""The engine option that has the tree of the search in Python, on the best engine: what `mcts` was before."""


class MctsPlayer(Player):
    """Plays by UCT, with *playouts* a move or until the clock ends, on the best engine unless *engine* names another.

    The tree is compiled, of at most *memory* megabytes, unless there is a number of playouts (they are to be the same
    on any machine), or *engine* is `python`; in it roles that choose at once do so by *simultaneous* (`regret` matching
    or `ucb`). In imperfect information it plays a mixed strategy that it finds in the start clock, where the game is
    small. Else it samples worlds that agree with its percepts, and searches over information sets instead of states;
    where its percepts turn out to determine the state it plays as in perfect information. A game of one role is
    searched for a plan, which is kept and followed; *playouts* then counts nodes as well as plays.

    Raises:
        ValueError: there is no such way to choose at once.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- the options of a player are the parameters of its constructor
        self,
        playouts: int | None = None,
        engine: str = DEFAULT_ENGINE,
        memory: float = MEMORY_MB,
        exploration: float = EXPLORATION,
        ponder: bool = False,
        simultaneous: str = SIMULTANEOUS,
    ) -> None:
        if simultaneous not in RULES:
            raise ValueError(f"simultaneous is one of {', '.join(RULES)}, not {simultaneous}")
        self.max_playouts, self.engine, self.simultaneous = playouts, engine, simultaneous
        self.memory_mb, self.exploration, self.ponders = float(memory), float(exploration), ponder

    @classmethod
    def warm_up(cls) -> None:
        """Load the kernels of the engine and of the search."""
        super().warm_up()
        load_search_kernel()

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match with an empty tree."""
        is_same = self.engine in (DEFAULT_ENGINE, PYTHON_TREE)
        own_game = game if is_same else make_game(game.description, self.engine)
        super().join(own_game, role, seed)
        self.sees_everything = not self.game.has_imperfect_information
        self.tree = TreeSearch(self.game, self.random)
        self.background: BackgroundSearch | None = None
        self._insight: Insight | None = None
        self.infoset_search = InformationSetSearch(self.game, self.random)
        self.strategy: MixedStrategy | None = None
        self.plans = self._plan_search()

    def _plan_search(self) -> OneRoleSearch | None:
        """Return what searches a game of one role, None for other games."""
        return OneRoleSearch(self.game, self.random) if len(self.game.roles) == 1 else None

    def start(self, deadline: Deadline) -> None:
        """Find out whether this role's percepts determine the state; then plan, think ahead, or find a strategy."""
        if not self.sees_everything:
            probe = SearchBudget(deadline=deadline.at_most(_PROBE_S))
            self.sees_everything = sees_everything(self.game, self.role, probe)
        if self.sees_everything:
            wait_for_compilation(self.game, deadline)
            self._renew_tree()
            if self.plans is not None and self.max_playouts is None:
                self.plans.think(self.game.initial_state, SearchBudget(deadline=deadline))
            elif self.background is not None:
                self.background.get(deadline.remaining_s)
                self._ponder(self.game.initial_state)
        elif self.max_playouts is None:
            self.strategy = mixed_strategy(self.game, self.role, deadline)
            wait_for_compilation(self.game, deadline)

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the most promising move found before *deadline*."""
        budget = SearchBudget(self.max_playouts, deadline)
        if not (self.sees_everything and self.worlds.is_certain):
            drawn = self.strategy and self.strategy.choose(self.worlds.steps, self.random)
            return drawn or self.infoset_search.think(self.worlds, budget, self.suggest)
        if self.plans is not None:
            return self.plans.think(state, budget, self.suggest)
        if self.max_playouts is None:
            self._renew_tree()
        moves = state.legal_moves(role)
        best = moves[0] if len(moves) == 1 else self._think(state, role, budget)
        self._ponder(state, best)
        return best

    def insight(self) -> Insight | None:
        """Return what the last search of a tree found; None where information is imperfect, or nothing was searched."""
        return self._insight

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:  # noqa: ARG002 -- the kit's signature
        """Stop thinking about what has been decided."""
        self._rest()

    def stop(self) -> None:
        """Stop thinking: the match has ended."""
        self._rest()
        if self.plans is not None:
            self.plans.close()

    def abort(self) -> None:
        """Stop thinking: the match was aborted."""
        self.stop()

    def _think(self, state: State, role: Role, budget: SearchBudget) -> Term:
        search = self._insight = None
        if self.background is not None:
            patience_s = 0.0 if budget.deadline is None else budget.deadline.remaining_s / 4
            search = self.background.get(patience_s)
        if search is not None:
            try:
                best = search.think(state, role, budget, self.suggest)
                self._insight = search.insight(state, role)
                return best
            except StuckPlayError:  # faulty rules: plays one by one bear them
                self.background, self.engine = None, PYTHON_TREE
                self._renew_tree()
        best = self.tree.think(state, role, budget, self.suggest)
        self._insight = self.tree.insight(state, role)
        return best

    def _ponder(self, state: State, move: Term | None = None) -> None:
        if self.ponders and self.background is not None:
            self.background.ponder(state, self.role, move)

    def _rest(self) -> None:
        if self.background is not None:
            self.background.stop()

    def _renew_tree(self) -> None:
        """Begin a new tree if the game has been compiled since the last was begun."""
        evaluator = evaluator_of(self.game)
        if type(evaluator) is not type(self.tree.evaluator):
            self.tree = TreeSearch(self.game, self.random, evaluator)
        is_fit = self.game.engine == "compiled" and self.engine != PYTHON_TREE and self.max_playouts is None
        if is_fit and self.plans is None and self.background is None:
            self.background = BackgroundSearch(self._new_search(compiled_game_of(self.game)))

    def _new_search(self, game: CompiledGame) -> Callable[[], CompiledSearch]:
        seed = self.random.getrandbits(32)
        return partial(
            CompiledSearch,
            game,
            seed,
            memory_mb=self.memory_mb,
            exploration=self.exploration,
            simultaneous=self.simultaneous,
        )


class PlannerPlayer(MctsPlayer):
    """Plans in games of one role, keeping and following the best plan; with more roles it plays as `mcts` does."""


class NestedPlayer(MctsPlayer):
    """Plays games of one role by nested search; with more roles, or chance, it plays as `mcts` does."""

    def __init__(self, playouts: int | None = None, level: int = LEVEL) -> None:
        super().__init__(playouts)
        self.level = level

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match without any line of moves yet."""
        super().join(game, role, seed)
        self.search = NestedSearch(game, self.random, self.level) if len(game.roles) == 1 else None

    def _plan_search(self) -> OneRoleSearch | None:
        """Return None: nested search is what this player compares others with."""
        return None

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the first move of the best line found before *deadline*."""
        if self.search is None:
            return super().move(state, role, deadline)
        return self.search.think(state, SearchBudget(self.max_playouts, deadline), self.suggest)
