"""Grounding takes work that grows with the rules, however they hang together."""

from __future__ import annotations

from functools import partial

import pytest

from gdl.compiler.pipeline import ground_rules
from gdl.datalog.clauses import Clause
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules
from tests.kit.tracing import lines_of

FRAME = "(role r) (init s) (legal r go) (next s) (goal r 50) (p0 a)\n"
CHAINS = {
    "from below": lambda n: "\n".join(f"(<= (p{i + 1} ?x) (p{i} ?x) (true s))" for i in range(n)),
    "from above": lambda n: "\n".join(f"(<= (p{i + 1} ?x) (p{i} ?x) (true s))" for i in reversed(range(n))),
}


def chain(kind: str, n: int) -> tuple[Clause, ...]:
    text = f"{FRAME}{CHAINS[kind](n)}\n(<= terminal (p{n} a))"
    return tuple(clauses_of(read_rules(text).rules))


@pytest.mark.parametrize("kind", CHAINS)
def test_four_times_the_rules_of_a_chain_are_four_times_the_work(kind: str) -> None:
    ground_rules(chain(kind, 1), 1_000)
    small, large = (lines_of(partial(ground_rules, chain(kind, n), 100_000)) for n in (100, 400))
    assert large <= 6.0 * small
