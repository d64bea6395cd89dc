"""What the stages of the compiler hand on, as text: clauses, ground rules, the gates of a circuit.

Clauses are printed as rules that can be read again. In ground rules, `#12` is an atom that no relation of GDL names.
In circuits nodes are numbers, `~12` is the negation of node 12, and `&` joins the inputs of a gate.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import FALSE, TRUE, Lit
from gdl.compiler.grounding import GroundProgram
from gdl.datalog.clauses import Clause
from gdl.game import Role
from gdl.language.terms import Compound, Constant, Term, signature


def clause_lines(clauses: Iterable[Clause]) -> Iterator[str]:
    """Yield each clause as a rule; relations that the compiler made get names that can be read."""
    for clause in clauses:
        literals = (replace(literal, atom=_readable(literal.atom)) for literal in clause.literals)
        yield str(replace(clause, head=_readable(clause.head), literals=tuple(literals)))


def _readable(atom: Constant | Compound) -> Constant | Compound:
    name, _ = signature(atom)
    name = name.replace(" ", "_").replace(",", "_")
    return Compound(name, atom.arguments) if isinstance(atom, Compound) else Constant(name)


def program_lines(program: GroundProgram) -> Iterator[str]:
    """Yield the atoms that hold in every state, then each ground rule."""
    names: dict[int, str] = {}
    for relation, atoms in program.atoms.items():
        for arguments, number in atoms.items():
            atom = str(Compound(relation, arguments) if arguments else Constant(relation))
            if number:
                names[number] = atom
            else:
                yield atom
    for head, body in program.rules:
        if body:  # what always holds is above
            literals = (_ground_literal(x, names) for x in sorted(body, key=lambda x: (x < 0, abs(x))))
            yield f"(<= {names.get(head, f'#{head}')} {' '.join(literals)})"


def _ground_literal(literal: int, names: dict[int, str]) -> str:
    name = names.get(abs(literal), f"#{abs(literal)}")
    return name if literal > 0 else f"(not {name})"


def circuit_lines(circuit: Circuit) -> Iterator[str]:
    """Yield inputs, gates and loops, then what is to be known of a state."""
    yield from _input_lines(circuit)
    for node, inputs in enumerate(circuit.gates):
        if inputs is not None:
            yield f"{node} = {' & '.join(map(_literal, inputs))}"
    for loop in circuit.loops:
        pairs = zip(loop.nodes, loop.values, strict=True)
        yield f"loop {', '.join(f'{node} = {_literal(value)}' for node, value in pairs)}"
    yield from _output_lines(circuit)


def _input_lines(circuit: Circuit) -> Iterator[str]:
    for i, fluent in enumerate(circuit.fluents):
        yield f"{1 + i} fluent {fluent}{' at first' if i in circuit.initial else ''}"
    for role, numbers in zip(circuit.roles, circuit.moves_of, strict=True):
        for i in numbers:
            yield f"{1 + len(circuit.fluents) + i} move {role} {circuit.moves[i]}"


def _output_lines(circuit: Circuit) -> Iterator[str]:
    for role, numbers in zip(circuit.roles, circuit.moves_of, strict=True):
        for i in numbers:
            yield f"legal {role} {circuit.moves[i]} = {_literal(circuit.legal[i])}"
    for fluent, value in zip(circuit.fluents, circuit.next, strict=True):
        yield f"next {fluent} = {_literal(value)}"
    yield f"terminal = {_literal(circuit.terminal)}"
    for role, goals in zip(circuit.roles, circuit.goals, strict=True):
        yield from _named_lines("goal", role, goals)
    for role, percepts in zip(circuit.roles, circuit.sees, strict=True):
        yield from _named_lines("sees", role, percepts)


def _named_lines(relation: str, role: Role, values: Iterable[tuple[str | Term, Lit]]) -> Iterator[str]:
    for name, value in values:
        yield f"{relation} {role} {name} = {_literal(value)}"


def _literal(literal: Lit) -> str:
    if literal in (TRUE, FALSE):
        return "true" if literal == TRUE else "false"
    return f"{'~' if literal & 1 else ''}{literal >> 1}"
