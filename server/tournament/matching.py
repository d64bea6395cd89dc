"""Entrants in pairs of least cost, exactly.

*Source*: J. Edmonds, Maximum matching and a polyhedron with 0,1-vertices, J. Res. NBS 69B (1965); the
bookkeeping in O(n³) follows Z. Galil, Efficient algorithms for finding maximum matching in graphs, ACM Computing
Surveys 18 (1986).
"""

from collections import deque
from collections.abc import Sequence
from enum import IntEnum

_Edge = tuple[int, int]


class _Side(IntEnum):
    """Where a vertex stands in the forest of alternating paths that grow from vertices without a partner."""

    FREE = -1
    OUTER = 0
    INNER = 1


def least_cost_matching(costs: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """Return the pairs, the smaller index first, into which all indices of *costs* part at the least sum of costs.

    Equal costs give equal matchings. The diagonal of *costs*, a symmetric matrix, is not looked at.

    Raises:
        ValueError: the number of indices is odd.
    """
    if len(costs) % 2:
        raise ValueError(f"{len(costs)} indices cannot be parted into pairs")
    if not costs:
        return ()
    search = _Search(costs)
    while search.has_exposed_vertex():
        search.augment_once()
    partners = search.partner
    return tuple((i - 1, partners[i] - 1) for i in range(1, len(costs) + 1) if i < partners[i])


class _Search:
    """Primal-dual search over vertices 1 to n, and blossoms with numbers above n; 0 stands for none.

    `slack_of` an edge of two vertices is at least 0 and is 0 for the edges of the matching; that proves its cost least.
    Costs are doubled and all first duals are even, which keeps every dual an integer.
    """

    def __init__(self, costs: Sequence[Sequence[int]]) -> None:
        self.n = n = len(costs)
        size = n + n // 2  # there are n/2 - 1 blossoms at most: one within the other, each two vertices larger
        self.top = n  # the highest number in use
        self.cost = [[], *([0, *(2 * cost for cost in row)] for row in costs)]
        self.edge: list[list[_Edge | None]] = [[None] * size for _ in range(size)]
        self.dual = [0] * size
        self.partner = [0] * size
        self.nearest = [0] * size  # the outer vertex with the edge of least slack to this vertex or blossom
        self.blossom = list(range(size))  # the outermost blossom of each vertex; 0 for a number that is free again
        self.parent = [0] * size  # the outer vertex that an inner vertex or blossom was taken from
        self.petals: list[list[int]] = [[] for _ in range(size)]
        self.petal_with = [[0] * (n + 1) for _ in range(size)]
        self.side = [_Side.FREE] * size
        self.seen = [0] * size
        self.n_walks = 0
        self.queue: deque[int] = deque()
        for u in range(1, n + 1):
            self.petal_with[u][u] = u
            self.dual[u] = -min(self.cost[u][v] for v in range(1, n + 1) if v != u)
            for v in range(1, n + 1):
                self.edge[u][v] = (u, v) if u != v else None
        self._match_greedily()

    def _match_greedily(self) -> None:
        for u in range(1, self.n + 1):
            for v in range(u + 1, self.n + 1):
                if not self.partner[u] and not self.partner[v] and not self.slack_of((u, v)):
                    self.partner[u], self.partner[v] = v, u

    def slack_of(self, edge: _Edge) -> int:
        u, v = edge
        return self.dual[u] + self.dual[v] + 2 * self.cost[u][v]

    def edge_between(self, x: int, y: int) -> _Edge:
        edge = self.edge[x][y]
        assert edge is not None
        return edge

    def outermost(self) -> list[int]:
        return [x for x in range(1, self.top + 1) if self.blossom[x] == x]

    def has_exposed_vertex(self) -> bool:
        return any(not self.partner[x] for x in self.outermost())

    def augment_once(self) -> None:
        """Grow the forest from all vertices without a partner until two of them are connected, and match them."""
        self.side = [_Side.FREE] * len(self.side)
        self.nearest = [0] * len(self.nearest)
        self.queue.clear()
        for x in self.outermost():
            if not self.partner[x]:
                self.side[x] = _Side.OUTER
                self._enqueue(x)
        while not (self._scan() or self._change_duals()):
            pass

    def _scan(self) -> bool:
        while self.queue:
            u = self.queue.popleft()
            for v in range(1, self.n + 1):
                if self.blossom[u] == self.blossom[v]:
                    continue
                if self.slack_of((u, v)):
                    self._note_nearest(u, self.blossom[v])
                elif self._take((u, v)):
                    return True
        return False

    def _change_duals(self) -> bool:
        """Change duals by as much as some edge or blossom allows, and take what that makes tight."""
        step = self._step()
        for u in range(1, self.n + 1):
            side = self.side[self.blossom[u]]
            self.dual[u] += (0, -step, step)[side + 1]
        for b in range(self.n + 1, self.top + 1):
            if self.blossom[b] == b:
                self.dual[b] += (0, 2 * step, -2 * step)[self.side[b] + 1]
        self.queue.clear()
        for x in self.outermost():
            u = self.nearest[x]
            if self.blossom[x] == x and u and self.blossom[u] != x:
                edge = self.edge_between(u, x)
                if not self.slack_of(edge) and self._take(edge):
                    return True
        for b in range(self.n + 1, self.top + 1):
            if self.blossom[b] == b and self.side[b] is _Side.INNER and not self.dual[b]:
                self._expand(b)
        return False

    def _step(self) -> int:
        steps: list[int] = []
        for x in self.outermost():
            if x > self.n and self.side[x] is _Side.INNER:
                steps.append(self.dual[x] // 2)
            if self.nearest[x] and self.side[x] is not _Side.INNER:
                slack = self.slack_of(self.edge_between(self.nearest[x], x))
                steps.append(slack if self.side[x] is _Side.FREE else slack // 2)
        return min(steps)

    def _note_nearest(self, u: int, x: int) -> None:
        best = self.nearest[x]
        if not best or self.slack_of(self.edge_between(u, x)) < self.slack_of(self.edge_between(best, x)):
            self.nearest[x] = u

    def _find_nearest(self, x: int) -> None:
        self.nearest[x] = 0
        for u in range(1, self.n + 1):
            if self.blossom[u] != x and self.side[self.blossom[u]] is _Side.OUTER:
                self._note_nearest(u, x)

    def _enqueue(self, x: int) -> None:
        if x <= self.n:
            self.queue.append(x)
        for petal in self.petals[x] if x > self.n else ():
            self._enqueue(petal)

    def _put_into(self, x: int, b: int) -> None:
        self.blossom[x] = b
        for petal in self.petals[x] if x > self.n else ():
            self._put_into(petal, b)

    def _take(self, edge: _Edge) -> bool:
        """Take a tight edge into the forest, and return whether it connected two trees, which are then matched."""
        u, v = self.blossom[edge[0]], self.blossom[edge[1]]
        if self.side[v] is _Side.FREE:
            self.parent[v], self.side[v] = edge[0], _Side.INNER
            mate = self.blossom[self.partner[v]]
            self.nearest[v] = self.nearest[mate] = 0
            self.side[mate] = _Side.OUTER
            self._enqueue(mate)
        elif self.side[v] is _Side.OUTER:
            ancestor = self._common_ancestor(u, v)
            if not ancestor:
                self._flip(u, v)
                self._flip(v, u)
                return True
            self._shrink(u, ancestor, v)
        return False

    def _common_ancestor(self, u: int, v: int) -> int:
        self.n_walks += 1
        while u or v:
            if u:
                if self.seen[u] == self.n_walks:
                    return u
                self.seen[u] = self.n_walks
                u = self.blossom[self.partner[u]]
                u = self.blossom[self.parent[u]] if u else 0
            u, v = v, u
        return 0

    def _flip(self, u: int, v: int) -> None:
        """Match *u* with *v*, and exchange matched and other edges from *u* to the root of its tree."""
        while True:
            mate = self.blossom[self.partner[u]]
            self._match(u, v)
            if not mate:
                return
            self._match(mate, self.blossom[self.parent[mate]])
            u, v = self.blossom[self.parent[mate]], mate

    def _match(self, u: int, v: int) -> None:
        edge = self.edge_between(u, v)
        self.partner[u] = edge[1]
        if u <= self.n:
            return
        entry = self.petal_with[u][edge[0]]
        place = self._even_place(u, entry)
        for i in range(place):
            self._match(self.petals[u][i], self.petals[u][i ^ 1])
        self._match(entry, v)
        self.petals[u] = self.petals[u][place:] + self.petals[u][:place]

    def _even_place(self, b: int, petal: int) -> int:
        """Return the place of *petal* around *b*, which is turned round if the place were odd."""
        place = self.petals[b].index(petal)
        if place % 2:
            self.petals[b][1:] = self.petals[b][:0:-1]
            place = len(self.petals[b]) - place
        return place

    def _shrink(self, u: int, ancestor: int, v: int) -> None:
        """Make a blossom of the odd circle from *ancestor* by *u* and *v* back to it."""
        b = next((b for b in range(self.n + 1, self.top + 1) if not self.blossom[b]), self.top + 1)
        self.top = max(self.top, b)
        self.dual[b], self.side[b], self.partner[b] = 0, _Side.OUTER, self.partner[ancestor]
        self.petals[b] = [ancestor, *reversed(self._stem(u, ancestor)), *self._stem(v, ancestor)]
        self._put_into(b, b)
        self._connect(b)
        self._find_nearest(b)

    def _stem(self, x: int, ancestor: int) -> list[int]:
        stem: list[int] = []
        while x != ancestor:
            mate = self.blossom[self.partner[x]]
            stem += (x, mate)
            self._enqueue(mate)
            x = self.blossom[self.parent[mate]]
        return stem

    def _connect(self, b: int) -> None:
        """Give blossom *b* for each other vertex or blossom the edge of least slack that its petals have."""
        for x in range(1, self.top + 1):
            edges = [edge for petal in self.petals[b] if (edge := self.edge[petal][x]) is not None]
            best = min(edges, key=self.slack_of, default=None)
            self.edge[b][x] = best
            self.edge[x][b] = None if best is None else (best[1], best[0])
        self.petal_with[b] = [0] * (self.n + 1)
        for petal in self.petals[b]:
            for x in range(1, self.n + 1):
                if self.petal_with[petal][x]:
                    self.petal_with[b][x] = petal

    def _expand(self, b: int) -> None:
        """Dissolve the inner blossom *b* of dual 0: the even way from its entry to its base stays in the tree.

        Its other petals are free, as they have been since the forest began to grow: a blossom made since is outer.
        """
        for petal in self.petals[b]:
            self._put_into(petal, petal)
        entry = self.petal_with[b][self.edge_between(b, self.parent[b])[0]]
        place = self._even_place(b, entry)
        petals = self.petals[b]
        for i in range(0, place, 2):
            inner, outer = petals[i], petals[i + 1]
            self.parent[inner] = self.edge_between(outer, inner)[0]
            self.side[inner], self.side[outer] = _Side.INNER, _Side.OUTER
            self._find_nearest(outer)
            self._enqueue(outer)
        self.side[entry], self.parent[entry] = _Side.INNER, self.parent[b]
        for petal in petals[place + 1 :]:
            self._find_nearest(petal)
        self.blossom[b] = 0
