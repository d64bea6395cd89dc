"""What each stage of the compiler hands on, for people: the beginning of its listing, or the figures of all stages."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from gdl.compiler import compilation, decomposition, listing, pipeline
from gdl.compiler.circuit import Circuit, build
from gdl.compiler.phases import Phase, phases
from gdl.compiler.tables import Tables, tables
from gdl.datalog.clauses import Clause
from gdl.datalog.translation import clauses_of
from gdl.errors import CannotCompileError
from gdl.interpreter import InterpretedGame
from gdl.language.rules import Description
from gdl.worker import ChildLimits, run_limited

Result = TypeVar("Result")

STAGES: Final = ("rules", "ground", "circuit", "stats")
"""What can be shown."""
_MAX_CHARACTERS: Final = 2_000
"""How much of a line is kept."""


@dataclass(frozen=True, slots=True)
class PhaseFigures:
    """How large the circuit is in a phase; `n_choices` are the moves that may be legal, of each role with a choice."""

    n_gates: int
    n_choices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompilationFigures:
    """What the stages came to. *Units*: seconds by the clock, bytes of the tables that play."""

    n_rules: int
    n_clauses: int
    n_clauses_decomposed: int
    n_ground_rules: int
    n_fluents: int
    n_moves: dict[str, int]
    n_gates: int
    n_gate_inputs: int
    n_loops: int
    phases: tuple[PhaseFigures, ...]
    n_rows: int
    table_bytes: int
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class StageOutput:
    """The first lines of what a stage hands on, and how many there are; or the figures of all stages."""

    lines: tuple[str, ...] = ()
    n_lines: int = 0
    figures: CompilationFigures | None = None


def stage_output(description: Description, stage: str, max_lines: int, limits: ChildLimits) -> StageOutput:
    """Return what the *stage* of that name hands on, of which no more than *max_lines* are kept.

    Raises:
        GdlError: the rules are refused, or time or memory ran out.
    """
    return run_limited(_output, (description, stage, max_lines), limits)


@dataclass(slots=True)
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, name: str, stage: Callable[..., Result], *inputs: object) -> Result:
        begin_s = time.perf_counter()
        result = stage(*inputs)
        self.seconds[name] = round(time.perf_counter() - begin_s, 4)
        return result


def _output(description: Description, stage: str, max_lines: int) -> StageOutput:
    """Run the stages up to *stage* in this process, and return what that one hands on."""
    clock = _Clock()
    roles = clock.timed("check", InterpretedGame, description).roles
    clauses = clock.timed("clauses", clauses_of, description.rules)
    if stage == "rules":
        return _first(listing.clause_lines(_grounded_clauses(clauses)), max_lines)
    decomposed, program = clock.timed(
        "ground", pipeline.ground_rules, clauses, compilation.DEFAULT_COMPILE_LIMITS.max_ground_rules
    )
    if stage == "ground":
        return _first(listing.program_lines(program), max_lines)
    circuit = clock.timed("build", build, program, roles)
    if stage == "circuit":
        return _first(listing.circuit_lines(circuit), max_lines)
    cycle = clock.timed("phases", phases, circuit)
    found = clock.timed("tables", tables, circuit, cycle)
    sizes = len(description.rules), len(clauses), len(decomposed), len(program.rules)
    return StageOutput(figures=_figures(sizes, circuit, cycle, found, clock.seconds))


def _grounded_clauses(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """Return the clauses that are grounded, or would be if that were not too much."""
    try:
        return pipeline.ground_rules(clauses, compilation.DEFAULT_COMPILE_LIMITS.max_ground_rules)[0]
    except CannotCompileError:
        return decomposition.decompose(clauses)


def _first(lines: Iterable[str], max_lines: int) -> StageOutput:
    kept: list[str] = []
    n_lines = 0
    for line in lines:
        n_lines += 1
        if n_lines <= max_lines:
            kept.append(line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS]} ...")
    return StageOutput(tuple(kept), n_lines)


def _figures(
    sizes: tuple[int, int, int, int],
    circuit: Circuit,
    cycle: tuple[Phase, ...],
    found: Tables,
    seconds: dict[str, float],
) -> CompilationFigures:
    """Return what all stages came to; *sizes* are the numbers of rules and clauses on the way to *circuit*."""
    gates = [inputs for inputs in circuit.gates if inputs is not None]
    return CompilationFigures(
        *sizes,
        n_fluents=len(circuit.fluents),
        n_moves={role.name: len(numbers) for role, numbers in zip(circuit.roles, circuit.moves_of, strict=True)},
        n_gates=len(gates),
        n_gate_inputs=sum(map(len, gates)),
        n_loops=len(circuit.loops),
        phases=tuple(PhaseFigures(sum(map(bool, phase.gates)), tuple(map(len, phase.choices))) for phase in cycle),
        n_rows=found.n_rows,
        table_bytes=sum(array.nbytes for array in found if not isinstance(array, int)),
        seconds=seconds,
    )
