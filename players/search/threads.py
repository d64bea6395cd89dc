"""Several trees of a game, each searched in a thread of its own; what they find near the root counts together.

While they search they tell each other the walks through their most visited nodes, and the sums.
Source: Chaslot, Winands and van den Herik 2008, parallel Monte-Carlo tree search (root parallelisation); Bourki et al.
2010, scalability and parallelization of Monte-Carlo tree search (slow tree parallelisation).
"""

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from random import Random
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.game import Role, State
from gdl.language.terms import Term
from players.deadline import SearchBudget
from players.player import Insight
from players.search.figures import MoveFigures, chosen_among, insight_of, joined
from players.search.positions import Report, ignore
from players.search.tree import nodes
from players.search.tree.nodes import Tree
from players.search.tree.rounds import N_WALKS
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import DEFAULT, SearchSettings
from players.search.tree.weights import FluentWeights

_SHARE: Final = 0.05
"""How many of the root's walks lead to a node that is told of."""
_LEAST: Final = 64
"""How many walks do, at least."""
_GROWTH: Final = 1.05
"""How many walks a tree has that tells again, for each that it had before: later there is less news."""
_TOLD: Final = slice(nodes.TOTAL, nodes.VISITS + 1)
"""The columns of an edge that are told: the sum of goals, and the walks."""


class OfTree(Protocol):
    """A search, by its tree."""

    @property
    def tree(self) -> Tree:
        """The tree as it is now."""

    def node_of(self, words: NDArray[np.uint64]) -> int | None:
        """Return the node of a state, given as words, a new one where there is none; None where there is no room."""


@dataclass(frozen=True, slots=True)
class Walked:
    """Walks through a node, and along its edges with the sums of their goals. *Shapes*: `edges` (E, 2), sums first."""

    visits: int
    edges: NDArray[np.int32]


@dataclass(slots=True)
class Exchange:
    """Takes what each of some trees, by number, has walked by itself, and gives it to the others.

    To be asked for a tree by the thread that searches it. A node is known by its state. A tree tells again when its
    walks have grown by a factor.
    """

    n_roles: int
    growth: float = _GROWTH
    _own: dict[int, Mapping[bytes, Walked]] = field(default_factory=dict)
    _lent: dict[int, dict[bytes, Walked]] = field(default_factory=dict)
    _visits: dict[int, int] = field(default_factory=dict)

    def meet(self, number: int, search: OfTree, root: int) -> None:
        """Tell the others what a tree knows of nodes near its *root*, and add what they know now to it."""
        tree, lent = search.tree, self._lent.setdefault(number, {})
        if tree.node[root, nodes.VISITS] < self.growth * self._visits.get(number, 0):
            return
        others = [told for other, told in list(self._own.items()) if other != number]
        own = {}
        for key, node, edges in _top(tree, self.n_roles, root):
            own[key] = mine = _without(tree, node, edges, lent.get(key))
            theirs = [told[key] for told in others if key in told]
            if theirs:
                lent[key] = more = _sum(theirs)
                _put(tree, node, edges, _sum((mine, more)))
        self._own[number], self._visits[number] = own, int(tree.node[root, nodes.VISITS])

    def part(self, number: int, search: OfTree) -> None:
        """Leave in a tree what it has walked by itself alone."""
        for key, lent in self._lent.pop(number, {}).items():
            node = search.node_of(np.frombuffer(key, np.uint64))
            edges = search.tree.edge[:0] if node is None else _edges(search.tree, self.n_roles, node)
            if node is not None and len(edges) == len(lent.edges):  # else it was forgotten since
                _put(search.tree, node, edges, _without(search.tree, node, edges, lent))


def _top(tree: Tree, n_roles: int, root: int) -> Iterator[tuple[bytes, int, NDArray[np.int32]]]:
    """Yield the most visited nodes from *root* on that have edges, and are not solved: states, numbers and edges."""
    least, met, todo = max(_LEAST, int(_SHARE * tree.node[root, nodes.VISITS])), set(), [root]
    while todo:
        node = todo.pop()
        row = tree.node[node]
        if node in met or row[nodes.FIRST] < 0 or row[nodes.SOLVED]:
            continue
        met.add(node)
        edges = _edges(tree, n_roles, node)
        yield tree.words[node].tobytes(), node, edges
        if row[nodes.DECIDER] >= 0:
            todo += [child for child in edges[edges[:, nodes.VISITS] >= least, nodes.CHILD].tolist() if child >= 0]


def _edges(tree: Tree, n_roles: int, node: int) -> NDArray[np.int32]:
    """Return the edges of a node (E, 4), a view; none where it has not been opened."""
    row = tree.node[node].tolist()
    first, n = row[nodes.FIRST], sum(row[nodes.BOUNDS + n_roles : nodes.BOUNDS + 2 * n_roles])
    return tree.edge[first : first + n] if first >= 0 else tree.edge[:0]


def _without(tree: Tree, node: int, edges: NDArray[np.int32], lent: Walked | None) -> Walked:
    """Return the walks through a node without those that were *lent* to it."""
    visits, walked = int(tree.node[node, nodes.VISITS]), edges[:, _TOLD]
    if lent is None:
        return Walked(visits, walked.copy())
    return Walked(max(0, visits - lent.visits), np.maximum(walked - lent.edges, 0))


def _sum(walked: Sequence[Walked]) -> Walked:
    first, *others = walked
    visits, edges = first.visits, first.edges
    for each in others:
        visits, edges = visits + each.visits, edges + each.edges
    return Walked(visits, edges)


def _put(tree: Tree, node: int, edges: NDArray[np.int32], walked: Walked) -> None:
    tree.node[node, nodes.VISITS] = walked.visits
    edges[:, _TOLD] = walked.edges


MAX_THREADS: Final = 64
"""More have hardly any memory each, and few machines have the cores."""
_GRACE_S: Final = 0.05
"""How long after the end of a search a tree is waited for that is late, as on a busy machine."""
_LOG: Final = logging.getLogger(__name__)

IsWanted: TypeAlias = Callable[[], bool]
Work: TypeAlias = Callable[[IsWanted], bool]
"""Goes on as long as it is wanted; returns whether the others need not go on either."""


class Crew:
    """Threads that do some *works* until `dismiss`, or until one of them has done all that there is, or has failed."""

    def __init__(self, works: Iterable[Work] = ()) -> None:
        self._is_dismissed = threading.Event()
        self._failure: Exception | None = None
        self._threads = [
            threading.Thread(target=self._run, args=(work,), name="tree search", daemon=True) for work in works
        ]
        for thread in self._threads:
            try:
                thread.start()
            except RuntimeError as error:  # the system gives no thread: the trees that have one do
                _LOG.warning("a tree is not searched: %s", error)

    def _run(self, work: Work) -> None:
        try:
            if work(self.is_wanted):
                self.dismiss()
        except Exception as error:  # it is raised where the crew is waited for
            self._failure = error
            self.dismiss()

    def is_wanted(self) -> bool:
        """Return whether to go on."""
        return not self._is_dismissed.is_set()

    def dismiss(self) -> None:
        """Let all stop at their next opportunity."""
        self._is_dismissed.set()

    def wait(self, patience_s: float) -> None:
        """Wait until all have stopped, at most so many seconds.

        Raises: what a work has failed with.
        """
        until_s = time.monotonic() + patience_s
        for thread in self._threads:
            if thread.is_alive():
                thread.join(None if patience_s == inf else max(0.0, until_s - time.monotonic()))
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def is_at_rest(self, number: int) -> bool:
        """Return whether the thread of that work has stopped."""
        return number >= len(self._threads) or not self._threads[number].is_alive()


class ThreadedSearch:
    """A search of a compiled game by *n_threads* trees, which share the memory; the first is searched by the caller.

    The choice among moves is that of one tree, by what all trees know of them. What is reported before the end is what
    the first tree finds. To be used by one thread.
    """

    def __init__(self, game: CompiledGame, seed: int, settings: SearchSettings = DEFAULT, n_threads: int = 2) -> None:
        share, random = replace(settings, memory_mb=settings.memory_mb / n_threads), Random(seed)
        seeds = (seed, *(random.getrandbits(32) for _ in range(n_threads - 1)))
        self.game = game
        self.searches = tuple(CompiledSearch(game, each, share) for each in seeds)
        self._roots = [0] * n_threads
        self._crew = Crew()

    def think(self, state: State, role: Role, budget: SearchBudget, report: Report = ignore) -> Term:
        """Return the best move of *role* that *budget* finds, reporting the best one so far to *report*.

        Rounds are shared out. A tree that is late does not count.

        Raises:
            StuckPlayError: in a play a role has no legal move.
        """
        self.rest()
        here, (first, *others) = self._compiled(state), self._shares(budget)
        exchange = Exchange(len(self.game.roles))
        crew = self._crew = Crew(partial(self._search, n, here, each, exchange) for n, each in enumerate(others, 1))
        slices = self._slices(0, here, first, exchange, crew.is_wanted)
        best: Term | None = None
        try:
            for root in slices:
                found = self.searches[0].best_move(root, role)
                if found is not None and found != best:
                    best = found
                    report(best)
            if self.searches[0].is_solved(self._roots[0]):
                crew.dismiss()
            crew.wait(_GRACE_S + (inf if budget.deadline is None else budget.deadline.remaining_s))
        finally:
            crew.dismiss()
            slices.close()
        return self._best(role) or state.legal_moves(role)[0]

    def _search(self, number: int, state: State, budget: SearchBudget, exchange: Exchange, is_wanted: IsWanted) -> bool:
        """Let a tree search from *state* in a thread; return whether it has solved it."""
        for _ in self._slices(number, state, budget, exchange, is_wanted):
            pass
        return self.searches[number].is_solved(self._roots[number])

    def _slices(
        self, number: int, state: State, budget: SearchBudget, exchange: Exchange, is_wanted: IsWanted
    ) -> Generator[int, None, None]:
        """Let a tree search from *state* as long as that is wanted, yielding its root after each slice.

        In the meantime it counts what other trees have walked, too.
        """
        search = self.searches[number]
        begun = self._roots[number] = search.begin(state, budget)
        if not is_wanted():
            return
        try:
            exchange.meet(number, search, begun)
            for root in search.slices(begun, budget):
                self._roots[number] = root
                exchange.meet(number, search, root)
                yield root
                if not is_wanted():
                    return
        finally:
            exchange.part(number, search)

    def ponder(self, state: State, role: Role | None, move: Term | None, is_wanted: IsWanted) -> None:
        """Search on from *state*, or what follows it where *role* makes *move*, as long as it is wanted.

        Raises:
            StuckPlayError: in a play a role has no legal move.
        """
        self.rest()
        here = self._compiled(state)
        crew = self._crew = Crew(partial(_ponder, search, here, role, move) for search in self.searches[1:])
        try:
            self.searches[0].ponder(here, role, move, lambda: is_wanted() and crew.is_wanted())
        finally:
            crew.dismiss()
        crew.wait(inf)

    def weigh(self, weights: FluentWeights) -> None:
        """Cut plays short from now on and judge them by *weights*; what the trees hold is forgotten."""
        self.rest()
        for search in self.searches:
            search.weigh(weights)

    def prefer(self) -> None:
        """Let plays prefer moves that do well from now on, in each tree by what its own plays say."""
        self.rest()
        for search in self.searches:
            search.prefer()

    def rest(self) -> None:
        """Return when no tree is searched any more; what a tree that was late has failed with is logged."""
        self._crew.dismiss()
        try:
            self._crew.wait(inf)
        except Exception:
            _LOG.exception("a tree has failed after the end of its search")

    def settle(self, words: NDArray[np.uint64], goals: Sequence[int]) -> None:
        """Take over that a state, given as words, is worth *goals* to the roles, which was proven elsewhere."""
        self.rest()
        for search in self.searches:
            search.settle(words, goals)

    def has_solved(self, state: State) -> bool:  # noqa: ARG002 -- the signature is that of one tree
        """Return whether what the state of the last move is worth is proven."""
        return any(self.searches[number].is_solved(self._roots[number]) for number in self._at_rest())

    def insight(self, state: State, role: Role) -> Insight:  # noqa: ARG002 -- the signature is that of one tree
        """Return what the trees found for *role* in their last move, with the line of the tree of the most walks."""
        best, found, numbers = self._best(role), self.figures(role), self._at_rest()
        counted = np.sum([search.counted for search in self.searches], axis=0)
        number = max(numbers, key=lambda number: int(self.searches[number].counted[N_WALKS]))
        line = self.searches[number].line(self._roots[number], best)
        return insight_of(best, found, counted, line)

    def _best(self, role: Role) -> Term | None:
        return chosen_among(self.figures(role), is_decision=self._is_decision(role))

    def figures(self, role: Role) -> list[MoveFigures]:
        """Return what is known of the moves of *role* at the state of the last move; nothing where one is forced."""
        return joined(self.searches[number].figures(self._roots[number], role) for number in self._at_rest())

    def _is_decision(self, role: Role) -> bool:
        """Return whether *role* alone chooses, as those trees have it that know of moves."""
        roots = [(self.searches[number], self._roots[number]) for number in self._at_rest()]
        return any(search.figures(root, role) and search.is_decision(root, role) for search, root in roots)

    def _at_rest(self) -> list[int]:
        """Return the numbers of the trees whose search has ended, the first one always."""
        return [0, *(number for number in range(1, len(self.searches)) if self._crew.is_at_rest(number - 1))]

    def _compiled(self, state: State) -> State:
        """Return *state* as all trees take it, since the engine may be asked by one thread alone."""
        return state if isinstance(state, CompiledState) else self.game.state(state.facts)

    def _shares(self, budget: SearchBudget) -> list[SearchBudget]:
        n = len(self.searches)
        if budget.max_rounds is None:
            return [budget] * n
        return [replace(budget, max_rounds=(budget.max_rounds + i) // n) for i in reversed(range(n))]


def _ponder(search: CompiledSearch, state: State, role: Role | None, move: Term | None, is_wanted: IsWanted) -> bool:
    """Let a tree search on; it ends by itself where the state is solved."""
    search.ponder(state, role, move, is_wanted)
    return True


AnySearch: TypeAlias = CompiledSearch | ThreadedSearch
"""A search of a compiled game, by one tree or several."""
