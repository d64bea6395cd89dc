"""Every way in which the compiler makes tables of a rule file, each forced on games that are too small to need it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Final, TypeAlias

from gdl.compiler import pipeline
from gdl.compiler.circuit import Circuit, build
from gdl.compiler.phases import Phase, phases, whole
from gdl.compiler.pipeline import rules_of
from gdl.compiler.registers import reuse
from gdl.compiler.tables import CompiledRules, Tables, phase_inputs, tables
from gdl.compiler.verification import verify
from gdl.datalog.clauses import Clause
from gdl.datalog.demand import can_be_chosen, narrowed, on_demand
from gdl.errors import CannotCompileError
from gdl.game import Role
from gdl.language.terms import signature

MAX_GROUND_RULES: Final = 20_000
Grounding: TypeAlias = Callable[[Sequence[Clause], int], pipeline.Grounded]


def _plain(clauses: Sequence[Clause], max_ground_rules: int) -> pipeline.Grounded:
    return pipeline.grounded(narrowed(clauses), max_ground_rules)


def _any_on_demand(clauses: Sequence[Clause], max_ground_rules: int) -> pipeline.Grounded:
    """Derive on demand what the compiler would not choose, too."""
    derived = sorted({signature(clause.head) for clause in clauses if clause.literals})
    fitting = [relation for relation in derived if can_be_chosen(relation)]
    chosen = frozenset(Random(len(clauses)).sample(fitting, (len(fitting) + 1) // 2))
    if not chosen:
        raise CannotCompileError("there is no relation to choose")
    found = pipeline.grounded(on_demand(clauses, chosen), max_ground_rules)
    pipeline.check_negation(found[1])
    return found


GROUNDINGS: Final[dict[str, Grounding]] = {
    "plain": _plain,
    "as written": pipeline.grounded,
    "don't-care arguments left out": pipeline.without_dont_cares,
    "on demand": pipeline.on_demand,
    "anything on demand": _any_on_demand,
}


def circuits(clauses: Sequence[Clause], roles: Sequence[Role]) -> Iterator[tuple[str, Circuit]]:
    """Yield the circuit of each grounding that is possible, with its name; no two are the same.

    Raises:
        CannotCompileError: the rules as such are beyond the compiler.
    """
    pipeline.check_shape(clauses)
    met: set[Circuit] = set()
    for name, grounding in GROUNDINGS.items():
        try:
            circuit = build(grounding(clauses, MAX_GROUND_RULES)[1], roles)
        except CannotCompileError:
            continue
        if not all(circuit.moves_of):
            raise CannotCompileError("a role never has a legal move")
        if circuit not in met:
            met.add(circuit)
            yield name, circuit


def rules_of_plays(circuit: Circuit) -> Iterator[tuple[str, CompiledRules]]:
    """Yield the tables of *circuit*, those for plays in every way: rows reused or not, with phases or without."""
    rules = rules_of(circuit)
    yield "rows reused", rules
    cycle = phases(circuit)
    yield "each gate its row", _with_plays(rules, cycle, tables(circuit, cycle))
    if len(cycle) > 1:
        yield "rows reused, no phases", _with_plays(rules, whole(circuit), reuse(tables(circuit, whole(circuit))))


def _with_plays(rules: CompiledRules, cycle: Sequence[Phase], plays: Tables) -> CompiledRules:
    verify(plays)
    return replace(rules, phased=plays, phases=phase_inputs(cycle))


def folds_loops(circuit: Circuit) -> bool:
    """Return whether some loop is none any more in plays, since a phase or the moves that it forces decide it."""
    return any(len(phase.loops) < len(circuit.loops) for phase in phases(circuit))
