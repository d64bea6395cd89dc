"""The compiled search: a tree that lasts for a match, worked on in short calls of the kernel of rounds."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame, CompiledState, tiny_rules
from gdl.compiler.kernels.packing import n_words, words_of
from gdl.compiler.kernels.words import rows
from gdl.errors import StuckPlayError
from gdl.game import Role, State
from gdl.language.terms import Constant, Term
from players.deadline import SearchBudget
from players.player import Insight
from players.search.figures import MoveFigures, chosen_among, insight_of
from players.search.kernel_calls import Pace
from players.search.positions import Report, ignore
from players.search.tree import nodes
from players.search.tree.averages import MoveAverages
from players.search.tree.bandits import RULES, UCB
from players.search.tree.collection import collect
from players.search.tree.implicit import MINIMAX_SHARE
from players.search.tree.leaves import NO_ROOM, STUCK, insert
from players.search.tree.nodes import Tree, empty_tree, rule_facts, tree_size
from players.search.tree.rounds import DEPTHS, N_PLAYS, N_ROUNDS, N_WALKS, room_for, search
from players.search.tree.settings import DEFAULT, SearchSettings, mean_moves
from players.search.tree.weights import FluentWeights, load_weight_kernels

_ALL: Final = 1 << 40
_FADING: Final = 2
"""By what the walks of earlier moves count less, where the spread of goals is found."""
_KEPT: Final = 2
"""A tree that is recycled keeps at most one of so many nodes of its room."""


class CompiledSearch:
    """A search of a compiled game. `n_rounds` counts the walks of the last move.

    `counts` adds up walks, plays, rounds and the depths of walks; plays are by the tables `played`, and `uses_amaf`
    says whether what they say of moves counts. Not to be shared by threads.
    """

    def __init__(self, game: CompiledGame, seed: int, settings: SearchSettings = DEFAULT) -> None:
        self.game, self.rules, self.seed = game, game.rules, seed
        self.played = (game.rules.decisive if settings.decisive else None) or game.rules.phased
        self.n_rounds = 0
        self._facts = rule_facts(game.rules, game.roles)
        n_moves = mean_moves(game)
        self.uses_amaf = settings.uses_amaf(game, n_moves)
        self._knobs = settings.knobs(uses_amaf=self.uses_amaf)
        self._room = room_for(game.rules, self.played, n_words(len(game.fluents)), seed, self.uses_amaf)
        sized = partial(tree_size, game.rules, settings.memory_mb, n_moves, uses_amaf=self.uses_amaf)
        self._size, self._size_with_weights = sized(uses_minimax=False), sized(uses_minimax=settings.minimax)
        self._rule = RULES[settings.simultaneous]
        self._tree = self._empty_tree()
        self._pace, self._slice_s = Pace(turn_s=settings.turn_s), 0.0
        self._before = self._room.counts.copy()
        self._averages: MoveAverages | None = None
        if settings.mast:
            self.prefer()
        self._call(0, 0, 0)  # loads the kernel, which takes longer than a slice

    def weigh(self, weights: FluentWeights) -> None:
        """Cut plays short from now on and judge them by *weights*; what the tree holds is forgotten."""
        self._room = self._room._replace(plays=self._room.plays._replace(weights=weights.values))
        self._room.walks.goal_sums[:] = 0  # what weights say spreads otherwise: bounds are as wide as at first
        self._size = self._size_with_weights
        share = MINIMAX_SHARE if self._size.uses_minimax else 0.0
        self._knobs = self._knobs._replace(max_steps=weights.n_steps, minimax_share=share)
        self._tree = self._empty_tree()

    def prefer(self) -> None:
        """Let plays prefer moves that do well from now on."""
        self._averages = MoveAverages(self.rules, self.played)
        work = self._room.plays.work._replace(made=rows(self.played.n_rows), keeps_made=1)
        self._room = self._room._replace(plays=self._room.plays._replace(work=work), sums=self._averages.sums)

    @property
    def prefers(self) -> bool:
        """Whether plays prefer moves that do well."""
        return self._averages is not None

    def _find_levels(self) -> None:
        """Give moves other levels, where plays say more of them than before."""
        found = None if self._averages is None else self._averages.levelled(int(self.counted[N_PLAYS]))
        if found is not None:
            self.played = found.tables
            work = self._room.plays.work._replace(level=found.level, has_levels=1)
            self._room = self._room._replace(plays=self._room.plays._replace(work=work))

    def _empty_tree(self) -> Tree:
        return empty_tree(self.rules, self._size, self._rule)

    def think(self, state: State, role: Role, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move of *role* that *budget* finds, reporting the best one so far to *report*.

        Raises:
            StuckPlayError: in a play a role has no legal move.
        """
        root = begun = self.begin(state, budget)
        best: Term | None = None
        for root in self.slices(begun, budget):
            found = self.best_move(root, role)
            if found is not None and found != best:
                best = found
                report(best)
        best = self.best_move(root, role)
        return best if best is not None else state.legal_moves(role)[0]

    def begin(self, state: State, budget: SearchBudget) -> int:
        """Prepare to search from *state* by the clock of *budget*; return its node."""
        self.n_rounds = 0
        root = self._enter(state)
        if budget.deadline is not None:  # after one slow slice there must be another try
            self._pace.clock = budget.deadline.clock
            self._slice_s = min(self._slice_s / 2, budget.deadline.remaining_s / 4)
        return root

    def _enter(self, state: State) -> int:
        """Count anew what is done from *state* on; return its node."""
        self._before = self._room.counts.copy()
        self._room.walks.goal_sums[:] //= _FADING
        if self._averages is not None:
            self._averages.begin()
        return self.keep(state)

    def slices(self, root: int, budget: SearchBudget) -> Iterator[int]:
        """Search on slice by slice, yielding the root after each, until it is solved or *budget* is spent.

        Raises: as `work`.
        """
        while not (self.is_solved(root) or self._is_over(budget)):
            left = _ALL if budget.max_rounds is None else budget.max_rounds - self.n_rounds
            root = self.work(root, left)
            yield root

    def ponder(self, state: State, role: Role | None, move: Term | None, is_wanted: Callable[[], bool]) -> None:
        """Search on from *state*, or what follows it where *role* makes *move*, as long as it is wanted.

        Raises: as `work`.
        """
        root = self._enter(state)
        if role is not None and move is not None:
            root = self.after(root, role, move)
        while is_wanted() and not self.is_solved(root):
            root = self.work(root)

    def rest(self) -> None:
        """Do nothing: it has no thread of its own."""

    def _is_over(self, budget: SearchBudget) -> bool:
        if budget.is_spent(self.n_rounds):
            return True
        return budget.deadline is not None and budget.deadline.remaining_s < self._slice_s

    def work(self, root: int, n_walks: int = _ALL) -> int:
        """Search on for a slice of time or *n_walks* walks; return the root, which has another number after recycling.

        Raises:
            StuckPlayError: in a play a role has no legal move.
        """
        counts = self._room.counts
        n_walks_before, n_rounds_before = int(counts[N_WALKS]), int(counts[N_ROUNDS])
        self._pace.begin()
        ending = self._call(root, self._pace.n_steps, n_walks)
        took_s = self._pace.end(int(counts[N_ROUNDS]) - n_rounds_before)
        self._slice_s = max(took_s, 0.7 * self._slice_s)
        self.n_rounds += int(counts[N_WALKS]) - n_walks_before
        if ending == STUCK:
            raise StuckPlayError
        self._find_levels()
        return self._recycled(root) if ending == NO_ROOM else root

    def _call(self, root: int, n_rounds: int, n_walks: int) -> int:
        single, phased = self.rules.single, self.played
        ending = search(single, phased, self._facts, self._tree, self._knobs, self._room, root, n_rounds, n_walks)
        return int(ending)

    def keep(self, state: State) -> int:
        """Return the node of *state*; where the tree is half full, forget what cannot follow it."""
        here = state if isinstance(state, CompiledState) else self.game.state(state.facts)
        if not isinstance(here, CompiledState):
            raise ValueError("a state that cannot be reached from the first has no packed form")
        words = words_of(here.packed, len(self.game.fluents))[None]
        root = int(insert(self._tree, self._facts, words))
        if root < 0:
            self._cleared(0)
            return int(insert(self._tree, self._facts, words))
        is_full = 2 * self._tree.size[0] > self._size.n_nodes or 2 * self._tree.size[1] > self._size.n_edges
        return self._recycled(root) if is_full else root

    def node_of(self, words: NDArray[np.uint64]) -> int | None:
        """Return the node of a state, given as words, a new one where there is none; None where there is no room."""
        node = int(insert(self._tree, self._facts, words[None]))
        return None if node < 0 else node

    def settle(self, words: NDArray[np.uint64], goals: Sequence[int]) -> None:
        """Take over that a state, given as words, is worth *goals* to the roles, which was proven elsewhere."""
        node = self.node_of(words)
        if node is not None:
            self._tree.node[node, nodes.BOUNDS : nodes.BOUNDS + len(goals)] = [goal | goal << 8 for goal in goals]
            self._tree.node[node, nodes.SOLVED] = 1

    def _recycled(self, root: int) -> int:
        """Keep what of the tree is below *root*, as much as was visited most; return the root's new number."""
        min_visits = 1
        while True:
            try:
                fresh = self._empty_tree()
            except MemoryError:
                return self._cleared(root)
            found = collect(self._tree, fresh, self._facts, root, min_visits, self._size.n_nodes // _KEPT)
            if found >= 0 and 4 * fresh.size[1] < 3 * self._size.n_edges:
                self._tree = fresh
                return int(found)
            min_visits *= 4

    def _cleared(self, root: int) -> int:
        """Forget all but the root's state, in the room that there is."""
        words = self._tree.words[root : root + 1].copy()
        self._tree.size[:] = (0, 1, 0)
        self._tree.table.fill(0)
        self._tree.joint_edge.fill(0)
        return int(insert(self._tree, self._facts, words))

    def after(self, node: int, role: Role, move: Term) -> int:
        """Return the node after *move* where *role* alone chooses and the move was searched; else *node* itself."""
        number = self.game.roles.index(role)
        if self._tree.node[node, nodes.DECIDER] == number:
            for edge in self._edges(node, number):
                if self.game.moves[self._tree.move[edge]] == move and self._tree.edge[edge, nodes.CHILD] >= 0:
                    return int(self._tree.edge[edge, nodes.CHILD])
        return node

    def is_solved(self, node: int) -> bool:
        """Return whether what a node is worth is proven."""
        return bool(self._tree.node[node, nodes.SOLVED])

    def has_solved(self, state: State) -> bool:
        """Return whether what *state* is worth is proven."""
        return self.is_solved(self.keep(state))

    def figures(self, node: int, role: Role) -> list[MoveFigures]:
        """Return what is known of the moves of *role* at a node; nothing where it has no edges, or one is forced."""
        number = self.game.roles.index(role)
        limits = None if self.is_decision(node, role) else int(self._facts.low[number] | self._facts.high[number] << 8)
        edges = self._edges(node, number)
        rows, moves = (array[edges.start : edges.stop].tolist() for array in (self._tree.edge, self._tree.move))
        return [self._figures_of(row, move, limits) for row, move in zip(rows, moves, strict=True)]

    def is_decision(self, node: int, role: Role) -> bool:
        """Return whether *role* alone chooses at a node."""
        return bool(self._tree.node[node, nodes.DECIDER] == self.game.roles.index(role))

    def _edges(self, node: int, role: int) -> range:
        row, n_roles = self._tree.node[node], len(self.game.roles)
        if row[nodes.FIRST] < 0:
            return range(0)
        counts = row[nodes.BOUNDS + n_roles : nodes.BOUNDS + 2 * n_roles]
        first = int(row[nodes.FIRST] + counts[:role].sum())
        return range(first, first + int(counts[role]))

    def _figures_of(self, row: Sequence[int], move: int, limits: int | None) -> MoveFigures:
        """Return what is known of an edge, which has its own bounds unless there are *limits* for it."""
        n_walks, bounds = row[nodes.VISITS], row[nodes.LIMITS] if limits is None else limits
        mean = row[nodes.TOTAL] / n_walks if n_walks else 0.0
        return MoveFigures(self.game.moves[move], n_walks, mean, bounds & nodes.LOW, bounds >> 8 & nodes.LOW)

    def best_move(self, node: int, role: Role) -> Term | None:
        """Return the most promising move, as `chosen_among` has it; None where nothing is known."""
        return chosen_among(self.figures(node, role), is_decision=self.is_decision(node, role))

    def line(self, node: int, first: Term | None = None, n_steps: int = 12) -> Iterator[Term]:
        """Yield the moves of the best line from a node on, of those who choose; the *first* one may be given."""
        for _ in range(n_steps):
            decider = int(self._tree.node[node, nodes.DECIDER])
            if decider < 0:
                return
            role = self.game.roles[decider]
            move = first or self.best_move(node, role)
            if move is None:
                return
            yield move
            following = self.after(node, role, move)
            if following == node:
                return
            node, first = following, None

    def insight(self, state: State, role: Role) -> Insight:
        """Return what the search found for *role* at *state* in its last move."""
        root = self.keep(state)
        best = self.best_move(root, role)
        return insight_of(best, self.figures(root, role), self.counted, self.line(root))

    @property
    def counted(self) -> NDArray[np.int64]:
        """What `counts` of a room were in the last move."""
        return self._room.counts - self._before

    @property
    def tree(self) -> Tree:
        """The tree as it is now: another one after recycling."""
        return self._tree

    @property
    def counts(self) -> dict[str, int]:
        """What the search did so far: walks, plays, rounds, and the sum of the depths of walks."""
        counts = self._room.counts
        return {
            "walks": int(counts[N_WALKS]),
            "plays": int(counts[N_PLAYS]),
            "rounds": int(counts[N_ROUNDS]),
            "depths": int(counts[DEPTHS]),
            "nodes": int(self._tree.size[0]),
        }


def load_search_kernel() -> None:
    """Load the kernels of the search, compiled to the cache on disk the first time on a machine."""
    rules, role = tiny_rules(), Constant("player")
    size = tree_size(rules, 1.0, 2.0, uses_amaf=True, uses_minimax=True)
    facts = rule_facts(rules, (role,))
    tree, other = (empty_tree(rules, size, UCB) for _ in range(2))
    root = insert(tree, facts, np.zeros((1, 1), np.uint64))
    room = room_for(rules, rules.phased, 1, 0, True)
    knobs = DEFAULT.knobs(uses_amaf=False)._replace(minimax_share=MINIMAX_SHARE)
    search(rules.single, rules.phased, facts, tree, knobs, room, root, 0, 0)
    collect(tree, other, facts, root, 1, 1)
    load_weight_kernels()
