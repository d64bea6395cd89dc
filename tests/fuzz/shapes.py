"""Relations of the shapes in which rule files have them, and in which engines have been wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from tests.fuzz.rules import PAIR, THING, Kind, Relation, RuleWriter

Shape: TypeAlias = Callable[["Level"], None]


@dataclass(frozen=True)
class Level:
    """Where relations are written: from what is `known`, into `place`.

    Relations over moves have names with another `prefix` than those that a state alone decides.
    """

    prefix: str
    known: Sequence[Relation]
    place: list[Relation]

    @property
    def sources(self) -> list[Relation]:
        """What rules may be written from."""
        return [*self.known, *self.place]


class ShapeWriter(RuleWriter):
    """Writes relations of several shapes.

    Attributes:
        guards: conditions on whose turn or what phase it is.
    """

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.guards: list[str] = []

    def write_shape(self, level: Level) -> None:
        """Write relations of one shape."""
        shapes: dict[Shape, int] = {
            self._write_simple_loops: 3,
            self._write_reach: 2,
            self._write_path: 1,
            self._write_mutual: 1,
            self._write_any: 2,
            self._write_stratified_locally: 1,
            self._write_idle_arguments: 1,
        }
        self.random.choices(list(shapes), list(shapes.values()))[0](level)

    def write_loop(self, level: Level) -> None:
        """Write relations that need themselves."""
        self.random.choice((self._write_simple_loops, self._write_reach, self._write_mutual))(level)

    def guard(self) -> list[str]:
        """Return a condition on whose turn or what phase it is, or none."""
        return [self.random.choice(self.guards)] if self.guards and self.chance(0.6) else []

    def _write_simple_loops(self, level: Level) -> None:
        """Write relations that need themselves to no avail: in a circuit their loops may be a plain literal."""
        self.features.add("recursion")
        guard, last = self.guard(), ""
        for _ in range(self.random.randint(1, 3)):
            sources = level.sources
            relation = self.new(level.prefix, self.random.choice(((), (), THING)))
            atom = relation.atom("?x")
            for _ in range(self.random.choice((1, 1, 2))):
                is_chained = bool(last) and self.chance(0.6)
                given = [*guard, last] if is_chained else guard
                self.rule(relation, sources, *given, n_literals=0 if is_chained else 1, arguments=["?x"])
            self.add(atom, atom, *([] if self.chance(0.4) else [self.condition(sources, ["?x"])]))
            level.place.append(relation)
            last = atom

    def _write_reach(self, level: Level) -> None:
        """Write what can be reached along edges."""
        self.features.add("recursion")
        sources, guard = level.sources, self.guard()
        relation = self.new(level.prefix, THING)
        self.rule(relation, sources, *guard, n_literals=1)
        edge = self._edge(sources).atom(*self.random.choice((("?x", "?y"), ("?y", "?x"))))
        more = [self.condition(sources, ["?x", "?y"])] if self.chance(0.5) else []
        self.add(relation.atom("?y"), relation.atom("?x"), edge, *more, *guard)
        level.place.append(relation)

    def _write_path(self, level: Level) -> None:
        """Write the transitive closure of edges, by left, right or double recursion."""
        self.features.add("recursion")
        edge, path = self._edge(level.sources), self.new(level.prefix, PAIR)
        self.add(path.atom("?x", "?y"), edge.atom("?x", "?y"), *self.guard())
        first, second = self.random.choice(((path, edge), (edge, path), (path, path)))
        self.add(path.atom("?x", "?z"), first.atom("?x", "?y"), second.atom("?y", "?z"))
        level.place.append(path)

    def _edge(self, known: Sequence[Relation]) -> Relation:
        return self.random.choice([relation for relation in known if relation.kinds == PAIR])

    def _write_mutual(self, level: Level) -> None:
        """Write two relations that need one another."""
        self.features |= {"recursion", "mutual recursion"}
        sources, guard = level.sources, self.guard()
        kinds: tuple[Kind, ...] = self.random.choice(((), THING))
        pair = [self.new(level.prefix, kinds) for _ in range(2)]
        self.rule(pair[0], sources, *guard, n_literals=1)
        for relation, other in (pair, pair[::-1]):
            if kinds and self.chance(0.6):
                self.add(relation.atom("?y"), other.atom("?x"), "(edge ?x ?y)")
            else:
                n_literals = self.random.choice((0, 1))
                given = [other.atom("?x"), *self.guard()]
                self.rule(relation, sources, *given, n_literals=n_literals, arguments=["?x"])
        level.place.extend(pair)

    def _write_any(self, level: Level) -> None:
        """Write relations with random rules, which may need one another but negate only what was there before."""
        before = level.sources
        choice: tuple[tuple[Kind, ...], ...] = ((), THING, PAIR, ("thing", "role"))
        group = [self.new(level.prefix, self.random.choice(choice)) for _ in range(self.random.randint(1, 3))]
        is_recursive = self.has("recursion", 0.6)
        for i, relation in enumerate(group):
            for _ in range(self.random.randint(1, 3)):
                known = [*before, *(group * 3 if is_recursive else group[:i] * 2)]
                self.rule(relation, known, *(self.guard() if self.chance(0.3) else []), negative=before)
        level.place.extend(group)

    def _write_stratified_locally(self, level: Level) -> None:
        """Write a relation whose rules negate it, each for another constant."""
        self.features.add("locally stratified negation")
        sources = level.sources
        relation = self.new(level.prefix, ("number", "thing"))
        self.rule(relation, sources, n_literals=1, arguments=["1", "?x"])
        for number in range(2, self.random.randint(3, 4)):
            more = [self.condition(sources, ["?x"])] if self.chance(0.6) else []
            self.add(relation.atom(str(number), "?x"), f"(not {relation.atom(str(number - 1), '?x')})", *more)
        level.place.append(relation)

    def _write_idle_arguments(self, level: Level) -> None:
        """Write a relation of which one rule takes any value of an argument, and which is asked with constants."""
        self.features |= {"recursion", "don't-care arguments"}
        sources = level.sources
        wide, asked = self.new(level.prefix, PAIR), self.new(level.prefix, THING)
        idle = self.random.choice((["?x", "?y"], ["?y", "?x"]))
        self.rule(wide, sources, "(thing ?y)", n_literals=1, arguments=idle)
        self.add(wide.atom("?x", "?z"), wide.atom("?y", "?z"), "(edge ?x ?y)")
        question = wide.atom(self.random.choice(self.constants["thing"]), "?x")
        self.add(asked.atom("?x"), question if self.chance(0.6) else f"(not {question})")
        level.place.append(asked)
