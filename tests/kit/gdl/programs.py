"""Random rule files: small stratified programs with recursion, negation, function terms, `or` and dead variables.

They are drawn from a seed rather than by hypothesis, whose simplest cases derive next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

FRAME: Final = """(role left)
(role right)
(legal left pass)
(<= (legal ?r (take ?x)) (role ?r) (d ?x))
(<= (legal right (take ?x)) (true (at ?x)))
(<= (legal right ?m) (does left ?m))
(<= (legal right pass) (not (d a)))
(<= (legal left (see e ?x ?y)) (e ?x ?y))
(<= (legal left (see p ?x)) (p ?x))
(<= (legal left (see q ?x ?y)) (q ?x ?y))
(<= (legal right (see s ?x ?y)) (s ?x ?y))
(<= (legal right (see u ?x)) (u ?x))
(<= (legal right (see t)) t)
"""
"""What every random game has: its relations can all be seen as legal moves."""

TERMS: Final = ("a", "b", "c", "a", "b", "c", "(f a)", "(f b)", "(g a b)", "(g b b)")
VARIABLES: Final = ("?x", "?y", "?z", "?w")

DERIVED: Final = ("(d *)", "(e * *)", "(p *)", "(q * *)", "t", "(s * *)", "(u *)")
"""Relations, a star for each argument; each may negate those before it, and use itself and those before it."""

GIVEN: Final = ("(true (on * *))", "(true (at *))", "(true *)", "(role *)")
DONE: Final = ("(does * (take *))", "(does * *)", "(does left pass)", "(legal * (take *))", "(legal right *)")
CHANGES: Final = ("(next (on * *))", "(next (at *))", "(next *)")
ENDS: Final = ("terminal", "(goal left *)", "(goal * 50)", "(goal left 100)")


def rule_file(seed: int) -> str:
    """Return the text of the random rule file of that number."""
    return RuleWriter(Random(seed)).rule_file()


class RuleWriter:
    """Writes one random rule file."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def rule_file(self) -> str:
        """Return facts, and rules for every relation, in any order."""
        rules = [self._rule(DERIVED[i], DERIVED[: i + 1], DERIVED[:i], GIVEN) for i in self._levels()]
        rules += [self._rule(self._random.choice(CHANGES), DERIVED, DERIVED, GIVEN + DONE) for _ in range(4)]
        rules += [
            self._rule(self._random.choice(ENDS), DERIVED, DERIVED, GIVEN) for _ in range(self._random.randint(0, 2))
        ]
        self._random.shuffle(rules)
        return FRAME + "\n".join(self._facts() + rules) + "\n"

    def _levels(self) -> list[int]:
        return [level for level in range(len(DERIVED)) for _ in range(self._random.choice((0, 1, 1, 2, 3)))]

    def _facts(self) -> list[str]:
        stars = [
            ("(init (on * *))", 4),
            ("(init (at *))", 2),
            ("(e * *)", 5),
            ("(d *)", 2),
            ("(p *)", 1),
            ("(q * *)", 2),
        ]
        return [self._filled(pattern, TERMS) for pattern, most in stars for _ in range(self._random.randint(0, most))]

    def _rule(self, head: str, positive: Sequence[str], negative: Sequence[str], given: Sequence[str]) -> str:
        known = (*positive, *given)
        body = [self._atom(self._random.choice(known), VARIABLES) for _ in range(self._random.choice((1, 2, 2, 3, 4)))]
        bound = [variable for variable in VARIABLES if any(variable in atom for atom in body)] or ["a"]
        body += [self._test((*negative, *given), bound) for _ in range(self._random.choice((0, 0, 1, 2)))]
        if self._random.random() < 0.25:
            branches = [self._branch(known, (*negative, *given), bound) for _ in range(self._random.randint(1, 3))]
            body.append(f"(or {' '.join(branches)})")
        if self._random.random() < 0.1:
            body.append(self._random.choice(body))
        self._random.shuffle(body)
        return f"(<= {self._head(head, bound)} {' '.join(body)})"

    def _branch(self, positive: Sequence[str], negative: Sequence[str], bound: Sequence[str]) -> str:
        kind = self._random.random()
        if kind < 0.3:
            return self._test(negative, bound)
        atom = self._atom(self._random.choice(positive), VARIABLES)
        return atom if kind < 0.8 else f"(and {atom} {self._test(negative, bound)})"

    def _test(self, relations: Sequence[str], bound: Sequence[str]) -> str:
        """Return a condition whose variables are all bound elsewhere."""
        atom = self._atom(self._random.choice(relations), bound)
        different = f"(distinct {self._random.choice(bound)} {self._term(bound)})"
        forms = [f"(not {atom})", different, f"(not (and {atom} {different}))", f"(not (or {atom} {different}))"]
        return self._random.choices(forms, (5, 4, 1, 1))[0]

    def _head(self, pattern: str, bound: Sequence[str]) -> str:
        terms = [self._random.choice(bound) for _ in range(pattern.count("*"))]
        if terms and self._random.random() < 0.25:
            terms[self._random.randrange(len(terms))] = self._term(bound)
        return self._with(pattern, terms)

    def _atom(self, pattern: str, names: Sequence[str]) -> str:
        return self._with(pattern, [self._term(names) for _ in range(pattern.count("*"))])

    def _term(self, names: Sequence[str]) -> str:
        """Return a variable of *names*, or seldom something larger or constant."""
        kind = self._random.random()
        if kind < 0.8:
            return self._random.choice(names)
        if kind < 0.9:
            return self._random.choice(TERMS)
        first, second = self._random.choice(names), self._random.choice((*names, "b"))
        return self._random.choice((f"(f {first})", f"(g {first} {second})"))

    def _filled(self, pattern: str, terms: Sequence[str]) -> str:
        return self._with(pattern, [self._random.choice(terms) for _ in range(pattern.count("*"))])

    def _with(self, pattern: str, terms: Sequence[str]) -> str:
        for term in terms:
            pattern = pattern.replace("*", term, 1)
        return pattern
