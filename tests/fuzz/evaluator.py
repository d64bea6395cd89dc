"""Games by the naive meaning of their rules, and what random plays come to, exactly.

States are sets of fluents, moves and percepts are terms, all as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final, TypeAlias

from tests.kit.gdl.oracle import Model, Program, TooLarge, Tree, text_of, trees

Fluents: TypeAlias = frozenset[str]
Moves: TypeAlias = tuple[str, ...]
Goals: TypeAlias = tuple[int | None, ...]
End: TypeAlias = tuple[int, Goals] | None
"""How a play ended: its length and the goal of every role; None where a role could not move."""
Ends: TypeAlias = dict[End, Fraction | float]

EXACT_STEPS: Final = 30
MAX_STEPS: Final = 3_000
NEGLIGIBLE: Final = 1e-15
_TRUE: Final = ("true", 2)
_DOES: Final = ("does", 3)


@dataclass(frozen=True)
class Position:
    """A state and all that is known of it without a move."""

    fluents: Fluents
    is_terminal: bool
    legal: tuple[Moves, ...]
    goals: Goals
    model: Model = field(repr=False, compare=False)

    @property
    def is_stuck(self) -> bool:
        """Whether the play cannot go on although it is not over."""
        return not self.is_terminal and not all(self.legal)

    @property
    def n_joint_moves(self) -> int:
        """How many joint moves there are, 0 where the play is over."""
        return 0 if self.is_terminal else prod(map(len, self.legal))


@dataclass(frozen=True)
class After:
    """What a joint move brings about: the next fluents, and the percepts of every role."""

    fluents: Fluents
    percepts: tuple[Moves, ...]


class NaiveGame:
    """The game that a rule file defines.

    Attributes:
        n_steps_left: how many joint moves may still be evaluated; one more raises TooLarge.
    """

    def __init__(self, text: str, n_steps: int) -> None:
        rules = trees(text)
        self.n_steps_left = n_steps
        self._program = Program(rules)
        self._static = self._program.extended({}, (), without={_TRUE, _DOES})
        self.roles = self._find_roles(rules)
        heads = [rule[1] if rule[0] == "<=" else rule for rule in rules]
        self.is_gdl2 = "random" in self.roles or any(head[0] == "sees" and len(head) == 3 for head in heads)
        self._positions: dict[Fluents, Position] = {}
        self._after: dict[tuple[Fluents, Moves], After] = {}
        self._ways: dict[Fluents, Counter[Fluents]] = {}
        self.initial = self.position(_last(self._static, "init"))

    def _find_roles(self, rules: Iterable[Tree]) -> Moves:
        """Return the roles: those that stand in the file in its order, then those that follow, by name."""
        facts = [rule[1] if rule[0] == "<=" else rule for rule in rules if rule[0] != "<=" or len(rule) == 2]
        listed = [fact[1] for fact in facts if fact[0] == "role" and len(fact) == 2]
        return tuple(dict.fromkeys([*listed, *sorted(_last(self._static, "role"))]))

    @property
    def n_positions(self) -> int:
        """How many states have been met."""
        return len(self._positions)

    def position(self, fluents: Fluents) -> Position:
        """Return the state of exactly these *fluents*."""
        found = self._positions.get(fluents)
        if found is None:
            facts = [("true", trees(fluent)[0]) for fluent in fluents]
            known = self._program.extended(self._static, facts, without={_DOES})
            found = self._positions[fluents] = Position(
                fluents,
                is_terminal=bool(known.get(("terminal", 1))),
                legal=tuple(tuple(sorted(_last(known, "legal", role))) for role in self.roles),
                goals=tuple(_only_number(_last(known, "goal", role)) for role in self.roles),
                model=known,
            )
        return found

    def after(self, position: Position, moves: Moves) -> After:
        """Return what follows the joint move *moves*, one legal move per role."""
        found = self._after.get((position.fluents, moves))
        if found is None:
            if self.n_steps_left == 0:
                raise TooLarge
            self.n_steps_left -= 1
            does = [("does", role, trees(move)[0]) for role, move in zip(self.roles, moves, strict=True)]
            known = self._program.extended(position.model, does)
            seen = tuple(tuple(sorted(_last(known, "sees", role))) for role in self.roles)
            percepts = seen if self.is_gdl2 else (moves,) * len(self.roles)
            found = self._after[position.fluents, moves] = After(_last(known, "next"), percepts)
        return found

    def next(self, position: Position, moves: Moves) -> Position:
        """Return the state after the joint move *moves*."""
        return self.position(self.after(position, moves).fluents)

    def ends(self, position: Position) -> Ends:
        """Return how likely each end of a play from *position* is, all legal moves of a role being equally likely.

        Chances are exact as long as plays take at most EXACT_STEPS steps, and floats from then on.

        Raises:
            TooLarge: there are too many joint moves, or plays do not come to an end.
        """
        under_way: dict[Fluents, Fraction | float] = {position.fluents: Fraction(1)}
        found: dict[End, Fraction | float] = {}
        for length in range(MAX_STEPS):
            following: dict[Fluents, Fraction | float] = {}
            for fluents, chance in under_way.items():
                here = self.position(fluents)
                if here.is_terminal or here.is_stuck:
                    end = (length, here.goals) if here.is_terminal else None
                    found[end] = found.get(end, 0) + chance
                    continue
                share = chance / here.n_joint_moves
                for then, n_ways in self._following(here).items():
                    following[then] = following.get(then, 0) + n_ways * share
            if length >= EXACT_STEPS:
                following = {then: float(chance) for then, chance in following.items()}
            if sum(following.values()) < NEGLIGIBLE:
                return found
            under_way = following
        raise TooLarge

    def _following(self, position: Position) -> Counter[Fluents]:
        """Return the states after *position*, each with the number of joint moves that lead there."""
        found = self._ways.get(position.fluents)
        if found is None:
            if position.n_joint_moves > self.n_steps_left:
                raise TooLarge
            joint_moves = product(*position.legal)
            found = Counter(self.after(position, moves).fluents for moves in joint_moves)
            self._ways[position.fluents] = found
        return found


def _last(model: Model, relation: str, *first: str) -> Fluents:
    """Return the last arguments of the atoms that begin with *relation* and *first*."""
    facts = model.get((relation, len(first) + 2), ())
    return frozenset(text_of(fact[-1]) for fact in facts if fact[1:-1] == first)


def _only_number(values: Fluents) -> int | None:
    value = next(iter(values)) if len(values) == 1 else ""
    return int(value) if value.isdecimal() else None
