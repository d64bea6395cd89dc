"""Clauses to all that the compiled engine needs of a game: the stages of the compiler in a row."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, TypeAlias

from gdl.compiler import decomposition, exclusion, verification
from gdl.compiler.circuit import Circuit, build
from gdl.compiler.decisive import decisive
from gdl.compiler.grounding import GroundProgram, ground
from gdl.compiler.phases import phases, plain
from gdl.compiler.registers import reuse
from gdl.compiler.tables import CompiledRules, Tables, phase_inputs, tables
from gdl.datalog import demand, dependencies, splitting
from gdl.datalog.clauses import Clause
from gdl.errors import CannotCompileError
from gdl.game import Role
from gdl.language.terms import signature
from gdl.quantities import whole_number

Grounded: TypeAlias = tuple[tuple[Clause, ...], GroundProgram]
"""Decomposed clauses, and their ground rules."""

_DECLARING: Final = frozenset({("base", 1), ("input", 2)})
"""Relations that list fluents and moves for readers of the rules; seldom does another rule read them."""
_OF_STATES: Final = ("legal", "terminal", "goal")
_MANY_RULES: Final = 400_000
"""With more ground rules than that, it is worth while to look for a way around them.

Of the public rule files that are compiled without such a way, the largest has 333,584; those with one have millions.
"""
MAX_GOAL: Final = 1_000_000
"""With larger goals the sums of squares would overflow."""
_MAX_LOOP_STEPS: Final = 10**9
"""How many gates may have to be evaluated in one state until its loops are stable."""


def compile_rules(clauses: Sequence[Clause], roles: Sequence[Role], max_ground_rules: int) -> CompiledRules:
    """Return the tables of the game that *clauses* define.

    Raises:
        CannotCompileError: there are too many ground rules, the grounder refuses, or they are no game that it can run.
    """
    check_shape(clauses)
    _, program = ground_rules(clauses, max_ground_rules)
    circuit = build(program, roles)
    del program  # it may be the largest part of what there is
    if not all(circuit.moves_of):
        raise CannotCompileError("a role never has a legal move")
    found = rules_of(circuit)
    check_loops(found.single)
    return found


def check_shape(clauses: Sequence[Clause]) -> None:
    """Raise CannotCompileError where a state is not all that decides what may be done in it."""
    used: dict[str, set[str]] = {}
    for clause in clauses:
        used.setdefault(signature(clause.head)[0], set()).update(signature(part.atom)[0] for part in clause.literals)
    for asked in _OF_STATES:
        found, todo = {asked}, [asked]
        while todo:
            new = used.get(todo.pop(), set()) - found
            found |= new
            todo += new
        if "does" in found:
            raise CannotCompileError(f"`{asked}` depends on moves")


def ground_rules(clauses: Sequence[Clause], max_ground_rules: int) -> Grounded:
    """Return *clauses* decomposed, and their ground rules.

    Where there are very many, arguments that do not matter are left out, or relations that are only asked with
    constants are derived on demand.

    Raises:
        CannotCompileError: there are too many ground rules, or the grounder refuses.
    """
    clauses = _without_unread_lists(clauses)
    first = demand.narrowed(clauses)
    if max_ground_rules <= _MANY_RULES:
        return grounded(first, max_ground_rules)
    try:
        return grounded(first, max_ground_rules, lambda n_rules: n_rules > _MANY_RULES and _has_way_around(clauses))
    except CannotCompileError as error:
        for way in (without_dont_cares, on_demand):
            with suppress(CannotCompileError):
                return way(clauses, max_ground_rules)
        if not isinstance(error, _ManyRulesError):
            raise
    return grounded(first, max_ground_rules)


class _ManyRulesError(CannotCompileError):
    """There are so many ground rules that it is worth while to look for a way around them."""


@lru_cache(maxsize=1)
def _has_way_around(clauses: tuple[Clause, ...]) -> bool:
    """Return whether there is anything to try where there are many ground rules."""
    return splitting.split(clauses) != clauses or bool(demand.asked_with_constants(clauses))


def _without_unread_lists(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """Return *clauses* but those of `base` and `input` where no rule reads them, save such clauses themselves."""
    listing = [clause for clause in clauses if signature(clause.head) in _DECLARING]
    new = [clause for clause in clauses if signature(clause.head) not in _DECLARING]
    unread = _DECLARING
    while new:
        unread -= {signature(literal.atom) for clause in new for literal in clause.literals}
        new = [clause for clause in listing if signature(clause.head) not in unread]
        listing = [clause for clause in listing if signature(clause.head) in unread]
    return tuple(clause for clause in clauses if signature(clause.head) not in unread)


def without_dont_cares(clauses: Sequence[Clause], max_ground_rules: int) -> Grounded:
    """Return what `grounded` does of *clauses* from which arguments that do not matter are left out.

    Raises:
        CannotCompileError: there are none, or as `grounded`.
    """
    others = splitting.split(clauses)
    if others == tuple(clauses):
        raise CannotCompileError("it has no don't-care arguments")
    return grounded(demand.narrowed(others), max_ground_rules)


def on_demand(clauses: Sequence[Clause], max_ground_rules: int) -> Grounded:
    """Return what `grounded` does of *clauses*, relations that are only asked with constants derived on demand.

    Raises:
        CannotCompileError: there are no such relations, or an atom depends on its own negation then, or as `grounded`.
    """
    chosen = demand.asked_with_constants(clauses)
    if not chosen:
        raise CannotCompileError("no relation is always asked with constants")
    found = grounded(demand.on_demand(clauses, chosen), max_ground_rules)
    check_negation(found[1])
    return found


def grounded(
    clauses: Sequence[Clause], max_ground_rules: int, is_given_up: Callable[[int], bool] = lambda _: False
) -> Grounded:
    """Return *clauses* decomposed, and their ground rules, unless it is given up after so many of them.

    Raises:
        CannotCompileError: it is given up, there are too many ground rules, or the grounder refuses.
    """
    reasons: list[CannotCompileError] = []

    def check(n_rules: int) -> None:
        if n_rules > max_ground_rules:
            reasons.append(CannotCompileError(f"it has more than {max_ground_rules:,} ground rules"))
        elif is_given_up(n_rules):
            reasons.append(_ManyRulesError(f"it has {n_rules:,} ground rules, and more"))
        if reasons:
            raise reasons[0]

    decomposed = decomposition.decompose(clauses)
    try:
        return decomposed, ground(decomposed, check)
    except RuntimeError as error:  # the grounder passes on errors of the callback as its own
        raise reasons[0] if reasons else CannotCompileError(f"the grounder refuses: {error}") from error


def check_negation(program: GroundProgram) -> None:
    """Raise CannotCompileError where an atom depends on its own negation.

    A demand may depend on the negation of its answer.
    """
    needed: dict[int, set[int]] = {}
    for head, body in program.rules:
        needed.setdefault(head, set()).update(body)
    place = {head: i for i, head in enumerate(needed)}
    component_of: dict[int, int] = {}
    edges = [[place[abs(x)] for x in below if abs(x) in place] for below in needed.values()]
    for number, component in enumerate(dependencies.components_of(edges)):
        component_of |= dict.fromkeys(component, number)
    for head, below in needed.items():
        for x in below:
            if x < 0 and -x in place and component_of[place[-x]] == component_of[place[head]]:
                raise CannotCompileError("an atom depends on its own negation")


def rules_of(circuit: Circuit) -> CompiledRules:
    """Return the tables of *circuit*.

    Raises:
        CannotCompileError: a goal is too large to be added up.
        FaultyTablesError: a kernel could read or write outside the tables.
    """
    cycle = tuple(exclusion.exclusive(circuit, phase) for phase in phases(circuit))
    single, phased = tables(circuit, (plain(circuit),)), tables(circuit, cycle)
    verification.verify(single)
    ahead = decisive(circuit, cycle)
    found = CompiledRules(
        fluents=circuit.fluents,
        moves=circuit.moves,
        moves_of=circuit.moves_of,
        initial=tuple(sorted(circuit.initial)),
        goals=tuple(tuple(_number(value) for value, _ in goals) for goals in circuit.goals),
        sees=tuple(tuple(percept for percept, _ in percepts) for percepts in circuit.sees),
        single=single,
        phased=_with_fewer_rows(phased),
        phases=phase_inputs(cycle),
        decisive=None if ahead is None else _with_fewer_rows(tables(circuit, ahead)),
    )
    verification.verify_rules(found)
    return found


def _with_fewer_rows(before: Tables) -> Tables:
    reads = verification.verify(before)
    found = reuse(before, reads)
    verification.verify_reuse(before, reads, found)
    return found


def _number(value: str) -> int | None:
    number = whole_number(value)
    if number is not None and number > MAX_GOAL:
        raise CannotCompileError(f"a goal is above {MAX_GOAL:,}")
    return number


def check_loops(found: Tables) -> None:
    """Check that no loop could take long to be stable: as many passes as it has pairs, of all its gates.

    Raises:
        CannotCompileError: one could.
    """
    n_gates = found.segments[:, 1] - found.segments[:, 0]
    n_passes = found.segments[:, 3] - found.segments[:, 2]
    if int((n_gates.astype("int64") * n_passes).sum()) > _MAX_LOOP_STEPS:
        raise CannotCompileError("its recursive rules could take long in one state")
