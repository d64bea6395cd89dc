"""Clauses and what they are made of: literals, pairs of terms that must differ."""

from dataclasses import dataclass, field
from typing import TypeAlias

from gdl.diagnostics import Span
from gdl.language.terms import Compound, Constant, Term


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom that must, or must not, hold; `span` is where the rule file has it, if it does."""

    atom: Constant | Compound
    is_positive: bool
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two terms that must differ; where `is_equal`, that must be the same (from `distinct` under `not`)."""

    left: Term
    right: Term
    is_equal: bool = False
    span: Span | None = field(default=None, compare=False)


Part: TypeAlias = Literal | Difference


@dataclass(frozen=True, slots=True)
class Clause:
    """A head that holds where all literals hold and all pairs differ; `span` is the rule that it came from."""

    head: Constant | Compound
    literals: tuple[Literal, ...]
    differences: tuple[Difference, ...]
    span: Span = field(compare=False)

    @property
    def positive(self) -> tuple[Constant | Compound, ...]:
        """The atoms that must hold."""
        return tuple(literal.atom for literal in self.literals if literal.is_positive)

    @property
    def negative(self) -> tuple[Constant | Compound, ...]:
        """The atoms that must not hold."""
        return tuple(literal.atom for literal in self.literals if not literal.is_positive)

    def __str__(self) -> str:
        body = [str(atom) for atom in self.positive] + [f"(not {atom})" for atom in self.negative]
        body += [f"(distinct {pair.left} {pair.right})" for pair in self.differences]
        return f"(<= {self.head} {' '.join(body)})" if body else str(self.head)
