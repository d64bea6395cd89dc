"""Clauses to ground rules: an answer-set program that over-approximates all reachable fluents and moves at once.

Every fluent that can be in the first or a next state may be true, every legal move may be made; clingo's grounder
derives what follows, semi-naively, and folds away what is the same in all states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import clingo

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


@dataclass(frozen=True, slots=True)
class GroundProgram:
    """Ground rules over numbered atoms.

    `atoms` gives, per relation that GDL names, the arguments of its atoms and their numbers, 0 for an atom that holds
    in every state; `rules` are heads with their bodies.
    """

    atoms: dict[str, dict[tuple[Term, ...], int]]
    rules: tuple[tuple[int, Body], ...]


def ground(clauses: Iterable[Clause], on_rule: Callable[[int], None] = lambda _: None) -> GroundProgram:
    """Return the ground rules of *clauses*; *on_rule* is called with their number so far, and may raise.

    Raises:
        RuntimeError: clingo refuses the program.
    """
    names = _Names()
    program = "\n".join([*_OPEN, *map(names.rule, clauses)])
    control = clingo.Control(["--warn=none"])
    observer = _Observer(on_rule)
    control.register_observer(observer)
    control.add("base", [], program)
    control.ground([("base", [])])
    atoms: dict[str, dict[tuple[Term, ...], int]] = {}
    guards = names.guards
    held: dict[int, Body] = {}
    for atom in control.symbolic_atoms:
        if atom.symbol.name in guards and atom.literal:
            held[atom.literal] = ()
        elif atom.symbol.name in _Names.FIXED and (atom.is_fact or atom.literal):  # no number: it can never hold
            arguments = tuple(map(names.term_of, atom.symbol.arguments))
            atoms.setdefault(atom.symbol.name, {})[arguments] = 0 if atom.is_fact else atom.literal
    rules = (rule for rule in observer.rules if rule[0] not in held)
    return GroundProgram(atoms, (*held.items(), *rules))


class _Observer(clingo.Observer):
    """Hears the ground rules from clingo."""

    def __init__(self, on_rule: Callable[[int], None]) -> None:
        self.rules: list[tuple[int, Body]] = []
        self._on_rule = on_rule

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        if not choice and len(head) == 1:
            self.rules.append((head[0], tuple(body)))
            self._on_rule(len(self.rules))


class _Names:
    """Writes terms as clingo reads them, each name under a number, and reads them back."""

    FIXED: Final = frozenset({"true", "does", "legal", "next", "terminal", "goal", "init", "role", "sees"})

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._terms: dict[clingo.Symbol, Term] = {}

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

    @property
    def guards(self) -> set[str]:
        """The names of the relations that only bind variables, as clingo knows them."""
        return {f"p{number}" for name, number in self._numbers.items() if name.startswith(GUARD)}

    def _number(self, name: str) -> int:
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self._names)
            self._names.append(name)
        return found

    def term_of(self, symbol: clingo.Symbol) -> Term:
        """Return the term that clingo's *symbol* stands for."""
        found = self._terms.get(symbol)
        if found is None:
            name = self._names[int(symbol.name[1:])]
            arguments = tuple(map(self.term_of, symbol.arguments))
            found = self._terms[symbol] = Compound(name, arguments) if arguments else Constant(name)
        return found
