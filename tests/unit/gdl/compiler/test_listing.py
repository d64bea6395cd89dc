"""What is printed of the compiler's stages: rules that mean the same, ground rules, gates."""

from __future__ import annotations

from typing import Final

import pytest

from gdl.compiler.circuit import build
from gdl.compiler.decomposition import decompose
from gdl.compiler.grounding import ground
from gdl.compiler.listing import circuit_lines, clause_lines, program_lines
from gdl.datalog.splitting import split
from gdl.datalog.translation import clauses_of
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules
from gdl.traces import trace_game

SWITCH: Final = """
(role robot) (init off)
(<= (legal robot toggle) (true off))
(<= (legal robot wait) (true on))
(<= (next on) (does robot toggle))
(<= terminal (true on) (not (true off)))
(<= (goal robot 100) (true on))
"""


@pytest.mark.parametrize("name", ["tictactoe", "connectfour", "kuhnpoker"])
def test_the_decomposed_rules_are_rules_of_the_same_game(name: str) -> None:
    description = find_game(name).read()
    printed = read_rules("\n".join(clause_lines(decompose(clauses_of(description.rules)))))
    original, decomposed = (trace_game(InterpretedGame(rules), 2, 7) for rules in (description, printed))
    assert decomposed.matches == original.matches


def test_relations_that_the_compiler_makes_have_names_without_blanks() -> None:
    rules = """
    (kind a) (e a a) (<= (near ?x ?i) (e ?x ?y) (kind ?i)) (<= (next (at ?x)) (near ?x ?y) (true (at ?y)))
    """
    assert "(<= (near_without_1 ?x) (e ?x ?y))" in clause_lines(split(clauses_of(read_rules(rules).rules)))


def test_ground_rules_are_printed_after_what_always_holds() -> None:
    program = ground(decompose(clauses_of(read_rules(SWITCH).rules)))
    lines = list(program_lines(program))
    assert set(lines[:2]) == {"(role robot)", "(init off)"}
    assert set(lines[2:]) == {
        "(<= (legal robot toggle) (true off))",
        "(<= (legal robot wait) (true on))",
        "(<= (next on) (does robot toggle))",
        "(<= terminal (true on) (not (true off)))",
        "(<= (goal robot 100) (true on))",
    }


def test_a_circuit_is_printed_from_its_inputs_to_its_outputs() -> None:
    description = read_rules(SWITCH)
    circuit = build(ground(decompose(clauses_of(description.rules))), InterpretedGame(description).roles)
    assert list(circuit_lines(circuit)) == [
        "1 fluent off at first",
        "2 fluent on",
        "3 move robot toggle",
        "4 move robot wait",
        "5 = ~1 & 2",
        "legal robot toggle = 1",
        "legal robot wait = 2",
        "next off = false",
        "next on = 3",
        "terminal = 5",
        "goal robot 100 = 2",
    ]
