"""Clauses to ground rules: an answer-set program that over-approximates all reachable fluents and moves at once.

Every fluent that can be in the first or a next state may be true, every legal move may be made; clingo's grounder
derives what follows, semi-naively, and folds away what is the same in all states.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import clingo
import numpy as np
from numpy.typing import NDArray

from gdl.compiler.decomposition import GUARD
from gdl.datalog.clauses import Clause, Difference, Literal
from gdl.language.terms import Compound, Constant, Term, Variable, signature

Body: TypeAlias = tuple[int, ...]
"""Atoms by number, negated ones with a minus."""

_OPEN: Final = (
    "{true(F)} :- init(F).",
    "{true(F)} :- next(F).",
    "{does(R,M)} :- legal(R,M), role(R).",
)


_EVERY: Final = 1024
"""After how many rules it is asked whether they are too many."""


class GroundRules:
    """Ground rules, in arrays, since there may be millions: `heads` of each, and all `literals`, which end at `ends`.

    Iterating yields heads with their bodies.
    """

    __slots__ = ("ends", "heads", "literals")

    def __init__(self, heads: "array[int]", literals: "array[int]", sizes: Sequence[int] | NDArray[np.int64]) -> None:
        self.heads, self.literals = heads, literals
        self.ends = array("q", np.cumsum(sizes, dtype=np.int64).tobytes())

    def __len__(self) -> int:
        return len(self.heads)

    def __iter__(self) -> Iterator[tuple[int, Body]]:
        begin = 0
        for head, end in zip(self.heads, self.ends, strict=True):
            yield head, tuple(self.literals[begin:end])
            begin = end


@dataclass(frozen=True, slots=True)
class GroundProgram:
    """Ground rules over numbered atoms.

    `atoms` gives, per relation that GDL names, the arguments of its atoms and their numbers, 0 for an atom that holds
    in every state; `rules` are heads with their bodies.
    """

    atoms: dict[str, dict[tuple[Term, ...], int]]
    rules: GroundRules


def ground(clauses: Iterable[Clause], on_rule: Callable[[int], None] = lambda _: None) -> GroundProgram:
    """Return the ground rules of *clauses*; *on_rule* is called with their number now and then, and may raise.

    Raises:
        RuntimeError: clingo refuses the program.
    """
    names = _Names()
    program = "\n".join([*_OPEN, *map(names.rule, clauses)])
    control = clingo.Control(["--warn=none"])
    observer = _Observer(on_rule)
    control.register_observer(observer, replace=True)  # no solver needs them, too
    control.add("base", [], program)
    control.ground([("base", [])])
    on_rule(observer.n_rules)
    atoms: dict[str, dict[tuple[Term, ...], int]] = {}
    held = []
    for name, n_arguments, is_positive in control.symbolic_atoms.signatures:
        if is_positive and (name in names.FIXED or name in names.guards):
            for atom in control.symbolic_atoms.by_signature(name, n_arguments):
                if name in names.guards:
                    held.append(atom.literal)
                elif atom.is_fact or atom.literal:  # no number: it can never hold
                    arguments = tuple(map(names.term_of, atom.symbol.arguments))
                    atoms.setdefault(name, {})[arguments] = 0 if atom.is_fact else atom.literal
    return GroundProgram(atoms, observer.rules(held))


class _Observer(clingo.Observer):
    """Hears the ground rules from clingo."""

    def __init__(self, on_rule: Callable[[int], None]) -> None:
        self.n_rules = 0
        self._told = array("i")  # of each rule the head, the body, and 0, which is no literal
        self._add, self._on_rule = self._told.extend, on_rule

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        if not choice and len(head) == 1:  # once a rule, of which there may be millions
            self._add([*head, *body, 0])
            self.n_rules = n_rules = self.n_rules + 1
            if not n_rules % _EVERY:
                self._on_rule(n_rules)

    def rules(self, held: Sequence[int]) -> GroundRules:
        """Return the rules, with facts instead of those whose heads are *held* to be true; 0 is no atom."""
        told = np.frombuffer(self._told, np.int32)
        ends = np.flatnonzero(told == 0)
        begins = np.concatenate([[0], 1 + ends])[:-1]
        heads, sizes = told[begins], ends - begins - 1
        facts = np.array([atom for atom in dict.fromkeys(held) if atom], np.int32)
        is_held = np.zeros(1 + max(int(heads.max(initial=0)), int(facts.max(initial=0))), np.bool_)
        is_held[facts] = True
        is_kept = ~is_held[heads]
        is_literal = np.repeat(is_kept, sizes + 2)
        is_literal[begins] = is_literal[ends] = False
        return GroundRules(
            array("i", np.concatenate([facts, heads[is_kept]]).tobytes()),
            array("i", told[is_literal].tobytes()),
            np.concatenate([np.zeros(len(facts), np.int64), sizes[is_kept]]),
        )


class _Names:
    """Writes terms as clingo reads them, each name under a number, and reads them back."""

    FIXED: Final = frozenset({"true", "does", "legal", "next", "terminal", "goal", "init", "role", "sees"})

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._terms: dict[clingo.Symbol, Term] = {}
        self.guards: set[str] = set()
        """The names of the relations that only bind variables, as clingo knows them."""

    def rule(self, clause: Clause) -> str:
        variables: dict[Variable, str] = {}
        parts: list[Literal | Difference] = [*clause.literals, *clause.differences]
        body = ", ".join(self._part(part, variables) for part in parts)
        return f"{self._atom(clause.head, variables)}{' :- ' if body else ''}{body}."

    def _part(self, part: Literal | Difference, variables: dict[Variable, str]) -> str:
        if isinstance(part, Difference):
            return f"{self._term(part.left, variables)} != {self._term(part.right, variables)}"
        return ("" if part.is_positive else "not ") + self._atom(part.atom, variables)

    def _atom(self, atom: Constant | Compound, variables: dict[Variable, str]) -> str:
        name, _ = signature(atom)
        written = name if name in self.FIXED else f"p{self._number(name)}"
        if not isinstance(atom, Compound):
            return written
        return f"{written}({','.join(self._term(argument, variables) for argument in atom.arguments)})"

    def _term(self, term: Term, variables: dict[Variable, str]) -> str:
        if isinstance(term, Variable):
            return variables.setdefault(term, f"V{len(variables)}")
        if isinstance(term, Constant):
            return f"c{self._number(term.name)}"
        inner = ",".join(self._term(argument, variables) for argument in term.arguments)
        return f"f{self._number(term.functor)}({inner})"

    def _number(self, name: str) -> int:
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self._names)
            self._names.append(name)
            if name.startswith(GUARD):
                self.guards.add(f"p{found}")
        return found

    def term_of(self, symbol: clingo.Symbol) -> Term:
        """Return the term that clingo's *symbol* stands for."""
        found = self._terms.get(symbol)
        if found is None:
            name = self._names[int(symbol.name[1:])]
            arguments = tuple(map(self.term_of, symbol.arguments))
            found = self._terms[symbol] = Compound(name, arguments) if arguments else Constant(name)
        return found
