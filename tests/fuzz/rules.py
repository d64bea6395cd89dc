"""Random rules: literals drawn from relations, tests, `or`, and whatever it takes to bind every variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["thing", "role", "number"]
"""What may stand in the place of an argument; also the relation that lists it."""
THING: Final[tuple[Kind, ...]] = ("thing",)
PAIR: Final[tuple[Kind, ...]] = ("thing", "thing")

KIND_OF: Final[dict[str, Kind]] = {
    "?x": "thing", "?y": "thing", "?z": "thing", "?w": "thing", "?r": "role", "?n": "number", "?m": "number",
}  # fmt: skip
"""The variables. Rules have the second number only where it is asked for."""
_DRAWN: Final = ("?x", "?y", "?z", "?w", "?r", "?n")


@dataclass(frozen=True)
class Relation:
    """A relation, fluent or move: its name, the kinds of its arguments, and what is written around an atom of it."""

    name: str
    kinds: tuple[Kind, ...] = ()
    around: str = "*"

    def atom(self, *arguments: str) -> str:
        """Return the atom with these arguments, further ones left out."""
        some = arguments[: len(self.kinds)]
        return self.around.replace("*", f"({self.name} {' '.join(some)})" if some else self.name)

    def within(self, around: str) -> Relation:
        """Return the same with something else around it."""
        return replace(self, around=around)

    def variables(self) -> list[str]:
        """Return a variable for each argument, all different."""
        left = list(KIND_OF)
        return [left.pop(next(i for i, name in enumerate(left) if KIND_OF[name] == kind)) for kind in self.kinds]


class RuleWriter:
    """Writes random rules.

    Attributes:
        rules: what has been written.
        features: what the game has been drawn to have.
        constants: what each kind of argument can be.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rules: list[str] = []
        self.features: set[str] = set()
        self.constants: dict[Kind, Sequence[str]] = {}
        self._n_names = 0

    def chance(self, chance: float) -> bool:
        """Return True with that chance."""
        return self.random.random() < chance

    def has(self, feature: str, chance: float) -> bool:
        """Return True with that chance, and then note that the game has the feature."""
        is_drawn = self.chance(chance)
        if is_drawn:
            self.features.add(feature)
        return is_drawn

    def new(self, prefix: str, kinds: Sequence[Kind]) -> Relation:
        """Return a relation of a name that there was not before."""
        self._n_names += 1
        return Relation(f"{prefix}{self._n_names}", tuple(kinds))

    def add(self, head: str, *body: str) -> None:
        """Add a fact or rule, with conditions that bind the variables that are left open."""
        plain = {word for part in body if not part.startswith(("(or ", "(not ", "(distinct ")) for word in _words(part)}
        every = {word for part in (head, *body) for word in _words(part)}
        binders = [f"({kind} {name})" for name, kind in KIND_OF.items() if name in every - plain]
        parts = [part for part in dict.fromkeys([*body, *binders]) if part]
        self.random.shuffle(parts)
        self.rules.append(f"(<= {head} {' '.join(parts)})" if parts else head)

    def rule(
        self,
        head: Relation,
        known: Sequence[Relation],
        *given: str,
        n_literals: int | None = None,
        negative: Sequence[Relation] | None = None,
        arguments: Sequence[str] | None = None,
    ) -> None:
        """Add a rule for *head* with literals of *known*, perhaps a test of *negative*, and the conditions *given*.

        Without *arguments* those of the head are drawn, among the variables of the body for the most part.
        """
        n_literals = self.random.choice((1, 1, 2, 2, 3, 4)) if n_literals is None else n_literals
        body = [*given, *(self.literal(self.random.choice(known), _DRAWN) for _ in range(n_literals))]
        if n_literals and self.has("or", 0.12):
            body.append(self._either(known, negative or known))
        bound = [name for name in _DRAWN if any(name in _words(part) for part in body)]
        if n_literals and self.chance(0.4):
            body.append(self.test(negative or known, bound))
        if arguments is None:
            arguments = [self.term(kind, bound) for kind in head.kinds]
        self.add(head.atom(*arguments), *body)

    def literal(self, relation: Relation, names: Sequence[str]) -> str:
        """Return an atom of *relation* over *names* and constants."""
        return relation.atom(*(self.term(kind, names) for kind in relation.kinds))

    def test(self, known: Sequence[Relation], names: Sequence[str]) -> str:
        """Return a condition that binds nothing."""
        self.features.add("negation")
        atom = self.literal(self.random.choice(known), names)
        things = [name for name in names if KIND_OF[name] == "thing"]
        if not things:
            return f"(not {atom})"
        different = f"(distinct {self.random.choice(things)} {self.term('thing', things)})"
        forms = [f"(not {atom})", different, f"(not (and {atom} {different}))", f"(not (or {atom} {different}))"]
        return self.random.choices(forms, (6, 3, 1, 1))[0]

    def condition(self, known: Sequence[Relation], names: Sequence[str]) -> str:
        """Return a literal or a test."""
        return self.test(known, names) if self.chance(0.4) else self.literal(self.random.choice(known), names)

    def term(self, kind: Kind, names: Sequence[str]) -> str:
        """Return one of *names* of that kind, or a constant: seldom, or where there is none."""
        fitting = [name for name in names if KIND_OF[name] == kind]
        if fitting and self.chance(0.8):
            return self.random.choice(fitting)
        return self.random.choice(self.constants[kind])

    def ground(self, kinds: Sequence[Kind]) -> list[str]:
        """Return a constant for each argument."""
        return [self.random.choice(self.constants[kind]) for kind in kinds]

    def _either(self, known: Sequence[Relation], negative: Sequence[Relation]) -> str:
        branches = [self.literal(self.random.choice(known), _DRAWN) for _ in range(2)]
        if self.chance(0.4):
            test = self.test(negative, _DRAWN)
            branches.append(self.random.choice((test, f"(and {branches[0]} {test})")))
        return f"(or {' '.join(branches)})"


def _words(text: str) -> list[str]:
    return text.replace("(", " ").replace(")", " ").split()
