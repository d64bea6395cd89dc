"""The stock players that search: minimax, mcts, planner and nested; those that do not are at hand here, too."""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import ClassVar, Final

from gdl.engines import DEFAULT_ENGINE, ENGINES, make_game
from gdl.game import RANDOM, Game, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Insight, Player, check_at_least_one, check_not_terminal
from players.search import evaluator
from players.search.alphabeta import deepening
from players.search.alphabeta.minimax import AlphaBeta
from players.search.background_task import BackgroundTask
from players.search.imperfect_information import ImperfectInformationSearch
from players.search.perfect_information import PYTHON_TREE, PerfectInformationSearch, TreeOptions
from players.search.planning import nested, plans
from players.search.planning.patterns.beams import load_pattern_kernels
from players.search.proof.solver import load_proof_kernel
from players.search.tree.bandits import RULES
from players.search.tree.search import load_search_kernel
from players.search.tree.settings import MEMORY_MB, SIMULTANEOUS, SearchSettings
from players.search.tree.workers import MAX_THREADS
from players.simple import GreedyPlayer, LegalPlayer, RandomPlayer

__all__ = [
    "GreedyPlayer", "LegalPlayer", "MctsPlayer", "MinimaxPlayer", "NestedPlayer", "PlannerPlayer", "RandomPlayer",
]  # fmt: skip

_ENGINES: Final = (*ENGINES, PYTHON_TREE)


class MinimaxPlayer(Player):
    """Looks as far ahead as time (or a number of positions a move) allows, expecting the worst of the others.

    With time it searches on the compiled engine, where the game is compiled, has no chance, and one role chooses at a
    time. Where information is imperfect it looks at the likeliest state alone.

    Raises:
        ValueError: it may look at no position.
    """

    def __init__(self, positions: int | None = None) -> None:
        check_at_least_one("positions", positions)
        self.max_positions = positions

    @classmethod
    def warm_up(cls) -> None:
        """Load the kernels of the engine and of the search."""
        super().warm_up()
        deepening.load_window_kernel()

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match with an empty table."""
        super().join(game, role, seed)
        self.search = AlphaBeta(game, role, self.random)
        self.compiled: BackgroundTask[deepening.CompiledAlphaBeta] | None = None
        self._is_fit = self.max_positions is None and RANDOM not in game.roles

    def start(self, deadline: Deadline) -> None:
        """Wait for the compiled engine, and for the kernel of the search."""
        if self._is_fit:
            evaluator.wait_for_compilation(self.game, deadline)
            self._begin()
        if self.compiled is not None:
            self.compiled.get(deadline.remaining_s)

    def _begin(self) -> None:
        if self._is_fit and self.compiled is None and self.game.engine == "compiled":
            game, seed = evaluator.compiled_game_of(self.game), self.random.getrandbits(32)
            self.compiled = BackgroundTask(
                partial(deepening.CompiledAlphaBeta, game, self.role, Random(seed)), "search by depth"
            )

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- the signature is the kit's
        """Return the best move found before *deadline*."""
        check_not_terminal(state)
        self._begin()
        search = None if self.compiled is None else self.compiled.get(0.0)
        best = None if search is None else search.think(state, SearchBudget(deadline=deadline), self.suggest)
        return best or self.search.think(state, SearchBudget(self.max_positions, deadline), self.suggest)


class MctsPlayer(Player):
    """Plays by UCT, with *playouts* a move or until the clock ends, on the best engine unless *engine* names another.

    The tree is compiled, of at most *memory* megabytes, unless there is a number of playouts (they are to be the same
    on any machine), or *engine* is `python`; several *threads* search it. In the tree roles that choose at once do so
    by *simultaneous* (`regret` matching or `ucb`). In imperfect information it plays a mixed strategy that it finds in
    the start clock, where the game is small. Else it samples worlds that agree with its percepts, and searches over
    information sets instead of states; where its percepts turn out to determine the state it plays as in perfect
    information. A game of one role is searched for a plan, which is kept and followed; *playouts* then counts nodes as
    well as plays. Positions of two roles without chance are also tried to be solved, unless `proves` says otherwise;
    plays take wins in one and stop losses in one, unless *decisive* is false; *amaf* says whether what plays say of
    moves counts in the tree, by itself only where there are many moves. Unless *weights* is false, plays are cut and
    judged by weights that it learns in the start clock, where the game has some that help; what minimax says of moves
    by these weights counts as well, unless *minimax* is false. *lookahead* says whether moves are judged by them in
    place of plays, and *mast* whether plays prefer moves that do well, either by itself only where that wins matches in
    the start clock.

    Raises:
        ValueError: there is no such engine or way to choose at once, it may play nothing out, or has no or too many
            threads.
    """

    proves: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913, PLR0917 -- the options of a player are the parameters of its constructor
        self,
        playouts: int | None = None,
        engine: str = DEFAULT_ENGINE,
        memory: float = MEMORY_MB,
        exploration: float | None = None,
        ponder: bool = False,
        simultaneous: str = SIMULTANEOUS,
        decisive: bool = True,
        amaf: bool | None = None,
        weights: bool = True,
        minimax: bool = True,
        lookahead: bool | None = None,
        mast: bool | None = None,
        threads: int = 1,
    ) -> None:
        check_at_least_one("playouts", playouts)
        if not 1 <= threads <= MAX_THREADS:
            raise ValueError(f"threads are from 1 to {MAX_THREADS}, not {threads}")
        if engine not in _ENGINES:
            raise ValueError(f"engine is one of {', '.join(_ENGINES)}, not {engine}")
        if simultaneous not in RULES:
            raise ValueError(f"simultaneous is one of {', '.join(RULES)}, not {simultaneous}")
        settings = SearchSettings(
            memory_mb=float(memory),
            exploration=exploration,
            simultaneous=simultaneous,
            decisive=decisive,
            amaf=amaf,
            weights=weights,
            minimax=minimax,
            lookahead=lookahead,
            mast=mast,
        )
        self.options = TreeOptions(playouts, engine, ponder, self.proves, settings, threads)

    @classmethod
    def warm_up(cls) -> None:
        """Load the kernels of the engine and of the search."""
        super().warm_up()
        load_search_kernel()
        load_proof_kernel()
        load_pattern_kernels()

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match with an empty tree."""
        engine = self.options.engine
        own_game = game if engine in (DEFAULT_ENGINE, PYTHON_TREE) else make_game(game.description, engine)
        super().join(own_game, role, seed)
        self.sees_everything = not self.game.has_imperfect_information
        self.perfect = PerfectInformationSearch(self.game, role, self.random, self.options)
        self.hidden = ImperfectInformationSearch(self.game, role, self.random)
        self.plans = self._plan_search()

    def _plan_search(self) -> plans.OneRoleSearch | None:
        """Return what searches a game of one role, None for other games."""
        return plans.OneRoleSearch(self.game, self.random) if len(self.game.roles) == 1 else None

    def start(self, deadline: Deadline) -> None:
        """Find out whether this role's percepts determine the state; then plan, think ahead, or find a strategy."""
        is_timed = self.options.playouts is None
        if not self.sees_everything:
            self.sees_everything = self.hidden.has_nothing_hidden(deadline)
        if not self.sees_everything:
            self.hidden.start(deadline, solves=is_timed)
            return
        evaluator.wait_for_compilation(self.game, deadline)
        if self.plans is None:
            self.perfect.start(deadline)
        elif is_timed:
            self.plans.think(self.game.initial_state, SearchBudget(deadline=deadline))

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the most promising move found before *deadline*."""
        check_not_terminal(state)
        budget = SearchBudget(self.options.playouts, deadline)
        self.perfect.insight = None
        if not (self.sees_everything and self.worlds.is_certain):
            return self.hidden.think(self.worlds, budget, self.suggest)
        if self.plans is not None:
            return self.plans.think(state, budget, self.suggest)
        moves = state.legal_moves(role)
        best = moves[0] if len(moves) == 1 else self.perfect.think(state, budget, self.suggest)
        self.perfect.ponder(state, best)
        return best

    def insight(self) -> Insight | None:
        """Return what the search for the last move found in a tree; None where there was none."""
        return self.perfect.insight

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:  # noqa: ARG002 -- the kit's signature
        """Stop thinking about what has been decided."""
        self.perfect.rest()

    def stop(self) -> None:
        """Stop thinking: the match has ended."""
        self.perfect.rest()
        if self.plans is not None:
            self.plans.close()

    def abort(self) -> None:
        """Stop thinking: the match was aborted."""
        self.stop()


class PlannerPlayer(MctsPlayer):
    """Plans in games of one role, keeping and following the best plan; with more roles it plays as `mcts` does."""


class NestedPlayer(MctsPlayer):
    """Plays games of one role by nested search; with more roles, or chance, it plays as `mcts` does."""

    def __init__(self, playouts: int | None = None, level: int = nested.LEVEL) -> None:
        super().__init__(playouts)
        self.level = level

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match without any line of moves yet."""
        super().join(game, role, seed)
        self.search = nested.NestedSearch(game, self.random, self.level) if len(game.roles) == 1 else None

    def _plan_search(self) -> plans.OneRoleSearch | None:
        """Return None: nested search is what this player compares others with."""
        return None

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the first move of the best line found before *deadline*."""
        if self.search is None:
            return super().move(state, role, deadline)
        check_not_terminal(state)
        return self.search.think(state, SearchBudget(self.options.playouts, deadline), self.suggest)


def warm_up_all() -> None:
    """Load the kernels of all players, each compiled where it is not on disk yet."""
    for player in (MctsPlayer, MinimaxPlayer):
        player.warm_up()
