"""The compiled search: a tree that lasts for a match, worked on in short calls of the kernel of batches."""

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from math import inf
from random import Random
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame
from gdl.compiler.kernels.packing import n_words
from gdl.compiler.kernels.words import rows
from gdl.compiler.tables import Tables
from gdl.compiler.warm_up import tiny_rules
from gdl.errors import StuckPlayError
from gdl.game import Role, State
from gdl.language.terms import Constant, Term
from players.deadline import SearchBudget
from players.player import Insight
from players.search.kernel_calls import Pace
from players.search.positions import Report, ignore
from players.search.tree.averages import MoveAverages
from players.search.tree.bandits import RULES, UCB
from players.search.tree.batches import N_BATCHES, N_PLAYS, N_WALKS, room_for, search, with_work
from players.search.tree.choices import first_choices
from players.search.tree.collection import collect
from players.search.tree.figures import insight_of
from players.search.tree.implicit import MINIMAX_SHARE
from players.search.tree.leaves import NO_ROOM, STUCK, insert
from players.search.tree.memory import ProvenState, TreeMemory
from players.search.tree.nodes import empty_tree, rule_facts, tree_size
from players.search.tree.settings import DEFAULT, SearchSettings
from players.search.tree.weights import FluentWeights, load_weight_kernels
from players.search.tree.workers import IsWanted, TreeWorker, WorkerThreads

_ALL: Final = 1 << 40
_FADING: Final = 2
"""By what the walks of earlier moves count less, where the deviation of goals is found."""
_GRACE_S: Final = 0.05
"""How long after the end of a search other threads are waited for that are late, as on a busy machine."""
_LINE_STEPS: Final = 12
"""How far the best line is followed to a state."""
_TOLD_MOVES: Final = 12
_TOLD_STEPS: Final = 48
"""How many moves of it are told, and after how many steps at most: there are more where moves are forced."""
_LOG: Final = logging.getLogger(__name__)
Found = TypeVar("Found")


class CompiledSearch:
    """A search of a compiled game, by *n_threads* on one tree: the caller's, and others while it searches.

    `n_iterations` counts the walks of the caller's thread in the last move. `counts` adds up walks, plays, batches and
    the depths of walks of all; plays are by the tables `played`, and `uses_amaf` says whether what they say of moves
    counts; `n_used` is how many of the threads search. `workers` are what each thread has, the caller's first, and
    `knobs` what all go by; `averages` say which moves plays prefer, if they do. Where one role chooses at a time, and
    minimax is to count, it `can_look_ahead`. To be asked by one thread. With a budget of iterations it has no other
    threads, and moves the same each time.
    """

    def __init__(self, game: CompiledGame, seed: int, settings: SearchSettings = DEFAULT, n_threads: int = 1) -> None:
        self.game, self.rules, self.seed = game, game.rules, seed
        self.n_iterations, self.n_used = 0, n_threads
        first = first_choices(game)
        self.uses_amaf = settings.uses_amaf(game, first.mean_moves)
        self.knobs = settings.knobs(uses_amaf=self.uses_amaf, n_threads=n_threads)
        played = (game.rules.decisive if settings.decisive else None) or game.rules.phased
        self.workers = self._new_workers(played, n_threads, settings.turn_s)
        self._threads, self._is_helped = WorkerThreads(), False
        sized = partial(tree_size, game.rules, settings.memory_mb, first.mean_moves, uses_amaf=self.uses_amaf)
        self._sized = partial(sized, uses_minimax=settings.minimax)
        self.can_look_ahead = settings.minimax and not first.are_joint
        rule = RULES[settings.simultaneous]
        self.tree = TreeMemory(game, sized(uses_minimax=False), rule, has_joint_moves=first.are_joint)
        self._before = self._counted()
        self.averages: MoveAverages | None = None
        if settings.mast:
            self.prefer()
        self._call(self.workers[0], 0, 0, 0)  # loads the kernel, which takes longer than a slice

    def _new_workers(self, played: Tables, n_threads: int, turn_s: float) -> tuple[TreeWorker, ...]:
        random, words = Random(self.seed), n_words(len(self.game.fluents))
        seeds = (self.seed, *(random.getrandbits(32) for _ in range(n_threads - 1)))
        room = partial(room_for, self.rules, played, n_words=words, keeps_moves=self.uses_amaf)
        return tuple(TreeWorker(room(seed=each, number=n), Pace(turn_s=turn_s)) for n, each in enumerate(seeds))

    def weigh(self, weights: FluentWeights, *, looks_ahead: bool = False) -> None:
        """Cut plays short from now on and judge them by *weights*; what the tree holds is forgotten.

        A search that *looks_ahead*, which it must be able to, makes no plays, but all moves of new nodes.

        Raises:
            MemoryError: there is no room for what weights say beside the tree; the search is as it was.
        """
        self.rest()
        self.tree.forget(self._sized(looks_ahead=looks_ahead))
        for worker in self.workers:
            worker.room = worker.room._replace(plays=worker.room.plays._replace(weights=weights.values))
            worker.room.walks.goal_sums[:] = 0  # what weights say spreads otherwise: bounds are as wide as at first
        share = MINIMAX_SHARE if self.tree.arrays.uses_minimax else 0.0
        self.knobs = self.knobs._replace(max_steps=weights.n_steps, minimax_share=share, looks_ahead=int(looks_ahead))

    def prefer(self) -> None:
        """Let plays prefer moves that do well from now on."""
        self.rest()
        self.averages = MoveAverages(self.rules, self.played)
        for worker in self.workers:
            room = with_work(worker.room, made=rows(self.played.n_rows), keeps_made=1)
            worker.room = room._replace(sums=self.averages.sums)

    @property
    def played(self) -> Tables:
        """The tables by which plays are made."""
        return self.workers[0].room.played

    def _find_levels(self) -> None:
        """Give moves other levels, where plays say more of them than before."""
        found = None if self.averages is None else self.averages.levelled(int(self.counted[N_PLAYS]))
        if found is not None:
            for worker in self.workers:  # those of other threads go by them in their next slice
                worker.room = with_work(worker.room, level=found.level, has_levels=1)._replace(played=found.tables)

    def think(self, state: State, role: Role, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move of *role* that *budget* finds, reporting the best one so far to *report*.

        Where a play gets stuck, it begins anew, and from then on such plays end with the goals as they stand.

        Raises:
            StuckPlayError: a role has no legal move at *state*.
        """
        return self._ending_stuck_plays(lambda: self._think(state, role, budget, report))

    def _ending_stuck_plays(self, search: Callable[[], Found]) -> Found:
        """Return what *search* returns, which begins anew with plays that end where a role has no legal move."""
        try:
            return search()
        except StuckPlayError:
            if self.workers[0].room.plays.work.ends_stuck:
                raise
            _LOG.warning("a play got stuck, since a role has no legal move: such plays end from now on")
            self.rest()
            for worker in self.workers:
                worker.room = with_work(worker.room, ends_stuck=1)
            self.tree.clear()
            return search()

    def _think(self, state: State, role: Role, budget: SearchBudget, report: Report) -> Term:
        root = begun = self.begin(state, budget)
        best: Term | None = None
        try:
            for root in self.slices(begun, budget):
                found = self.tree.best_move(root, role)
                if found is not None and found != best:
                    best = found
                    report(best)
                if self.tree.is_known(root, role):
                    break
        finally:
            self._threads.dismiss()
        self._threads.wait(_GRACE_S)
        best = self.tree.best_move(root, role)
        return best if best is not None else state.legal_moves(role)[0]

    def begin(self, state: State, budget: SearchBudget) -> int:
        """Prepare to search from *state* by the clock of *budget*; return its node."""
        self.n_iterations = 0
        root = self._enter(state, has_time=False)
        if budget.deadline is not None:
            if self.tree.is_due:
                root = self.tree.recycle(root, budget.deadline.remaining_s / 4)
            for worker in self.workers:
                worker.pace.clock = budget.deadline.clock
            first = self.workers[0]  # after one slow slice there must be another try
            first.slice_s = min(first.slice_s / 2, budget.deadline.remaining_s / 4)
        return root

    def _enter(self, state: State, *, has_time: bool) -> int:
        """Count anew what is done from *state* on; return its node."""
        self.rest()
        self._before = self._counted()
        for worker in self.workers:
            worker.room.walks.goal_sums[:] //= _FADING
        if self.averages is not None:
            self.averages.begin()
        return self.tree.keep(state, has_time=has_time)

    def slices(self, root: int, budget: SearchBudget) -> Iterator[int]:
        """Search on slice by slice, yielding the root after each, until it is solved or *budget* is spent.

        Raises: as `work`.
        """
        while not (self.tree.is_solved(root) or self._is_over(budget)):
            if budget.max_iterations is None:
                self._be_helped(root)
            left = _ALL if budget.max_iterations is None else budget.max_iterations - self.n_iterations
            left_s = inf if budget.deadline is None else budget.deadline.remaining_s
            root = self.work(root, left, left_s / 2)
            yield root

    def ponder(self, state: State, role: Role | None, move: Term | None, is_wanted: IsWanted) -> None:
        """Search on from *state*, or what follows it where *role* makes *move*, as long as it is wanted.

        Raises: as `think`.
        """
        self._ending_stuck_plays(lambda: self._ponder(state, role, move, is_wanted))

    def _ponder(self, state: State, role: Role | None, move: Term | None, is_wanted: IsWanted) -> None:
        root = self._enter(state, has_time=True)
        if role is not None and move is not None:
            root = self.tree.after(root, role, move)
        try:
            while is_wanted() and not self.tree.is_solved(root):
                self._be_helped(root)
                root = self.work(root)
        finally:
            self._threads.dismiss()
        self._threads.wait()

    def _be_helped(self, root: int) -> None:
        """Let the other threads search from *root* as well, where they do not yet."""
        if not self._is_helped and self.n_used > 1:
            self._is_helped = True
            others = self.workers[1 : self.n_used]
            self._threads = WorkerThreads(partial(self._help, worker, root) for worker in others)

    def _help(self, worker: TreeWorker, root: int, is_wanted: IsWanted) -> None:
        while is_wanted() and not self.tree.is_solved(root):
            if self._work(worker, root) == NO_ROOM:
                return  # the caller's thread sees that, too, and makes room

    def rest(self) -> None:
        """Return when no other thread searches any more; what one that was late has failed with is logged."""
        self._threads.dismiss()
        self._is_helped = False
        try:
            self._threads.wait()
        except Exception:
            _LOG.exception("a thread has failed after the end of its search")

    def _is_over(self, budget: SearchBudget) -> bool:
        if budget.is_spent(self.n_iterations):
            return True
        needed_s = max(self.workers[0].slice_s, 4 * self.tree.recycling_s if self.tree.is_due else 0.0)
        return budget.deadline is not None and budget.deadline.remaining_s < needed_s

    def work(self, root: int, n_walks: int = _ALL, seconds: float = inf) -> int:
        """Search on for a slice of time or *n_walks* walks; return the root, which has another number after recycling.

        Where the tree is full the next slice begins with that, within about so many *seconds*.

        Raises:
            StuckPlayError: in a play a role has no legal move.
        """
        if self.tree.is_due:
            self.rest()
            root = self.tree.recycle(root, seconds)
        counts = self.workers[0].room.counts
        n_before = int(counts[N_WALKS])
        self.tree.is_due = self._work(self.workers[0], root, n_walks) == NO_ROOM
        self.n_iterations += int(counts[N_WALKS]) - n_before
        self._find_levels()
        return root

    def _work(self, worker: TreeWorker, root: int, n_walks: int = _ALL) -> int:
        """Search on for a slice of time in a thread; return OK or NO_ROOM."""
        n_before = int(worker.room.counts[N_BATCHES])
        worker.pace.begin()
        ending = self._call(worker, root, worker.pace.n_steps, n_walks)
        took_s = worker.pace.end(int(worker.room.counts[N_BATCHES]) - n_before)
        worker.slice_s = max(took_s, 0.7 * worker.slice_s)
        if ending == STUCK:
            raise StuckPlayError
        return ending

    def _call(self, worker: TreeWorker, root: int, n_batches: int, n_walks: int) -> int:
        tree, knobs = self.tree, self.knobs
        return int(search(self.rules.single, tree.facts, tree.arrays, knobs, worker.room, root, n_batches, n_walks))

    def take_proofs(self, states: Iterable[ProvenState]) -> None:
        """Take over what *states* are worth, which was proven elsewhere."""
        self.rest()
        for state in states:
            self.tree.take_proof(state)

    def has_solved(self, state: State) -> bool:
        """Return whether what *state* is worth is proven."""
        node = self.tree.find(state)
        return node is not None and self.tree.is_solved(node)

    def reopen(self, state: State, role: Role) -> bool:
        """Search *state* anew where it is proven what it is worth, and not by which move; return whether that is so."""
        self.rest()
        node = self.tree.find(state)
        return node is not None and self.tree.reopen(node, role)

    def line(self, state: State) -> Iterator[State]:
        """Yield *state* and those that follow on the best line from it, as long as one role chooses at a time."""
        root = self.tree.find(state)
        yield state
        for move, _ in () if root is None else tuple(self.tree.line(root, _LINE_STEPS)):
            if state.is_terminal:
                return
            legal = [state.legal_moves(role) for role in self.game.roles]
            state = state.next_state(tuple(move if move in own else own[0] for own in legal))
            yield state

    def insight(self, state: State, role: Role) -> Insight:
        """Return what the search found for *role* at *state* in its last move."""
        root = self.tree.find(state)
        if root is None:
            return insight_of(None, (), self.counted, ())
        best = self.tree.best_move(root, role)
        choices = (move for move, is_choice in self.tree.line(root, _TOLD_STEPS) if is_choice)
        return insight_of(best, self.tree.figures(root, role), self.counted, islice(choices, _TOLD_MOVES))

    @property
    def counted(self) -> NDArray[np.int64]:
        """What `counts` of a room were in the last move."""
        return self._counted() - self._before

    def _counted(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.array([worker.room.counts for worker in self.workers]).sum(axis=0)
        return found

    @property
    def counts(self) -> dict[str, int]:
        """What the search did so far: walks, plays, batches, and the sum of the depths of walks."""
        names = ("walks", "plays", "batches", "depths")
        return dict(zip(names, self._counted().tolist(), strict=True)) | {"nodes": int(self.tree.arrays.size[0])}


def load_search_kernel() -> None:
    """Load the kernels of the search, compiled to the cache on disk the first time on a machine."""
    rules, role = tiny_rules(), Constant("player")
    size = tree_size(rules, 1.0, 2.0, uses_amaf=True, uses_minimax=True)
    facts = rule_facts(rules, (role,), is_opposed=False)
    tree = empty_tree(rules, size, UCB)
    root = insert(tree, facts, np.zeros((1, 1), np.uint64))
    room = room_for(rules, rules.phased, n_words=1, seed=0, number=0, keeps_moves=True)
    knobs = DEFAULT.knobs(uses_amaf=False)._replace(minimax_share=MINIMAX_SHARE)
    search(rules.single, facts, tree, knobs, room, root, 0, 0)
    collect(tree, facts, root)
    load_weight_kernels()
