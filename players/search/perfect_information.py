"""The search of games in which a role sees everything: a compiled tree, or one in Python, and proofs beside it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import log
from random import Random
from typing import Final

from gdl.compiler.compiled import CompiledGame
from gdl.engines import DEFAULT_ENGINE
from gdl.errors import StuckPlayError
from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.player import Insight
from players.search import uct
from players.search.background_task import BackgroundTask
from players.search.evaluator import compiled_game_of, evaluator_of
from players.search.positions import Report, has_two_sides, ignore
from players.search.proof.lines import LineProofs, glance_of
from players.search.proof.prover import BackgroundProof, ProofFinding, Prover
from players.search.proof.solver import DEFAULT_TABLE_MB
from players.search.tree.background import BackgroundSearch
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import DEFAULT, SearchSettings
from players.search.trials import LEAST_S, tried_knowledge

PYTHON_TREE: Final = "python"
"""The engine option that has the tree of the search in Python, on the best engine: what `mcts` was before."""
_TABLE_SHARE: Final = 1 / 8
"""How large the table of proofs is, beside the tree."""
_PONDER_S: Final = 3_600.0
"""The most that is spent on a proof while others move."""
_NEAR: Final = log(10)
"""A proof may seem to take ten times as long as others have for a move: guesses are as far off as that."""
_LEARNING_S: Final = 10.0
"""How long is learned as a rule; where trials tell nothing by then, and where time is short, a share counts."""
_START_SHARE: Final = 0.85
_FIRST_MOVE_SHARE: Final = 2 / 3
"""The most of what is left of the start clock, or of the first move after it, that is spent on learning."""


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """How a game is searched.

    With *playouts* a move, which are to be the same on any machine, or with the engine `python`, the tree is in Python,
    else compiled, with *settings*, and *n_threads* search it. With *ponders* they do so on the others' time, with
    *proves* beside a search for proofs.
    """

    playouts: int | None = None
    engine: str = DEFAULT_ENGINE
    ponders: bool = False
    proves: bool = True
    settings: SearchSettings = DEFAULT
    n_threads: int = 1


class PerfectInformationSearch:
    """A search of a match, on the best engine that there is at each move."""

    def __init__(self, game: Game, role: Role, random: Random, options: TreeOptions) -> None:
        self.game, self.role, self.random, self.options = game, role, random, options
        self.tree = uct.TreeSearch(game, random)
        self.background: BackgroundSearch | None = None
        self.prover: BackgroundTask[Prover] | None = None
        self.insight: Insight | None = None
        self._proof: BackgroundProof | None = None
        self._clock_s = 0.0  # unknown before the first move
        self._has_stuck_plays, self._may_learn = False, options.settings.may_learn

    def start(self, deadline: Deadline) -> None:
        """Wait for the kernels, look for proofs, and think ahead."""
        self.renew()
        if self.background is None:
            return
        search = self.background.get(deadline.remaining_s)
        prover = None if self.prover is None else self.prover.get(deadline.remaining_s)
        if prover is not None and prover.begin(deadline):
            self._may_learn = False  # there is nothing left to find out
        if search is not None:
            self._learn(search, deadline, _START_SHARE)
        self.ponder(self.game.initial_state)

    def _learn(self, search: CompiledSearch, deadline: Deadline, share: float) -> None:
        """Let *search* find out, once, what wins matches, in a *share* of the time until *deadline* at most."""
        latest = deadline.at_most(share * deadline.remaining_s)
        if not self._may_learn or latest.remaining_s < LEAST_S:
            return
        self._may_learn = False
        seed, own_deadline = self.random.getrandbits(32), latest.at_most(_LEARNING_S)
        tried_knowledge(search.game, self.options.settings, seed, own_deadline, latest).give(search)

    def think(self, state: State, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move that *budget* finds, telling *report* of the best one so far."""
        self._end_proof()
        if self.options.playouts is None:
            self.renew()
        search = self.insight = None
        if self.background is not None:
            patience_s = 0.0 if budget.deadline is None else budget.deadline.remaining_s / 4
            search = self.background.get(patience_s)
        if search is not None:
            if budget.deadline is not None:
                self._learn(search, budget.deadline, _FIRST_MOVE_SHARE)
            best = self._best(search, state, budget, report)
            if best is not None:
                return best
        best = self.tree.think(state, self.role, budget, report)
        self.insight = self.tree.insight(state, self.role)
        return best

    def _best(self, search: CompiledSearch, state: State, budget: SearchBudget, report: Report) -> Term | None:
        """Return the best move that a proof or the compiled tree finds, None where a role has no legal move."""
        search.n_used = self.options.n_threads
        prover, deadline = None if self.prover is None else self.prover.get(0.0), budget.deadline
        if prover is None or deadline is None or not prover.share:
            return self._searched(search, state, budget, report)
        self._clock_s = deadline.remaining_s
        known = self._taken_over(search, prover, prover.known(state, self.role))
        if known is not None:
            return known
        was_proven = search.reopen(state, self.role)
        glance_s = glance_of(deadline)
        best = self._searched(search, state, SearchBudget(deadline=deadline.at_most(glance_s)), report)
        if best is None or search.has_solved(state):
            return best
        proofs = LineProofs(search, prover, state, self.role)
        go_on = partial(self._searched, search, state, report=report)
        found = proofs.prove(deadline.earlier(glance_s), go_on, self.options.n_threads, was_proven=was_proven)
        return self._taken_over(search, prover, found) or self._searched(search, state, budget, report)

    def _taken_over(self, search: CompiledSearch, prover: Prover, found: ProofFinding) -> Term | None:
        """Return a move whose worth is proven; where there is none, let *search* know what is proven of others."""
        search.take_proofs(found.proven_states)
        if found.move is not None:
            self.insight = prover.insight(found)
        return found.move

    def _searched(self, search: CompiledSearch, state: State, budget: SearchBudget, report: Report) -> Term | None:
        """Return the move that the compiled tree finds, None where a role has no legal move.

        What it tells counts what the same move has searched before.
        """
        before = self.insight
        try:
            best = search.think(state, self.role, budget, report)
        except StuckPlayError:  # faulty rules: plays one by one bear them
            self.background, self._has_stuck_plays = None, True
            self.renew()
            return None
        found = search.insight(state, self.role)
        if before is not None:
            n_leaves, n_playouts = found.n_leaves + before.n_leaves, found.n_playouts + before.n_playouts
            found = replace(found, n_leaves=n_leaves, n_playouts=n_playouts)
        self.insight = found
        return best

    def ponder(self, state: State, move: Term | None = None) -> None:
        """Think on about what follows *state* by *move* until `rest`, if that is wanted."""
        search = None if self.background is None else self.background.get(0.0)
        if self.options.ponders and self.background is not None and search is not None:
            self._begin_proof(search, state, move)
            search.n_used = max(1, self.options.n_threads - (self._proof is not None))
            self.background.ponder(state, self.role, move)

    def _begin_proof(self, search: CompiledSearch, state: State, move: Term | None) -> None:
        """Look in a thread for what the state after *move* is worth, and first for what follows it, if that is near."""
        prover = None if self.prover is None else self.prover.get(0.0)
        following = None if prover is None or not self._clock_s else self._following(prover, state, move)
        if prover is None or following is None:
            return
        proofs = LineProofs(search, prover, following, self.role)
        targets = proofs.targets(self._clock_s)
        if prover.log_excess(targets[0], self._clock_s) <= _NEAR:
            self._proof = proofs.in_background(targets, Deadline.after(_PONDER_S))

    def _following(self, prover: Prover, state: State, move: Term | None) -> State | None:
        """Return what follows *state* by *move*, *state* itself where another role chooses; None at an end."""
        following: State | None = prover.search.game.compiled_state(state)
        if move is not None and following is not None:
            legal = [(move,) if role == self.role else following.legal_moves(role) for role in self.game.roles]
            if all(len(moves) == 1 for moves in legal):
                following = following.next_state(tuple(moves[0] for moves in legal))
        return None if following is None or following.is_terminal else following

    def _end_proof(self) -> None:
        if self._proof is not None:
            self._proof.stop()
            self._proof = None

    def rest(self) -> None:
        """Stop thinking."""
        self._end_proof()
        if self.background is not None:
            self.background.stop()

    def renew(self) -> None:
        """Begin a new tree if the game has been compiled since the last was begun."""
        evaluator = evaluator_of(self.game)
        if type(evaluator) is not type(self.tree.evaluator):
            self.tree = uct.TreeSearch(self.game, self.random, evaluator)
        is_fit = self.game.engine == "compiled" and self.options.playouts is None and not self._has_stuck_plays
        if is_fit and self.options.engine != PYTHON_TREE and len(self.game.roles) > 1 and self.background is None:
            game = compiled_game_of(self.game)
            self.background = BackgroundSearch(self._search_of(game, self.random.getrandbits(32)))
            if self.options.proves and has_two_sides(game):
                self.prover = BackgroundTask(partial(Prover, game, self._table_mb), "proof search")

    def _search_of(self, game: CompiledGame, seed: int) -> Callable[[], CompiledSearch]:
        return partial(CompiledSearch, game, seed, self.options.settings, self.options.n_threads)

    @property
    def _table_mb(self) -> int:
        return max(1, min(DEFAULT_TABLE_MB, int(self.options.settings.memory_mb * _TABLE_SHARE)))
