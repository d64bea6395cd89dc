"""Ground rules to a circuit: fluents and moves in, next fluents, legal moves, terminal, goals and percepts out.

A literal is 2 * node + complement; node 0 is constant and its plain literal is TRUE. The one kind of gate is AND of
any number of literals. Equal gates are one gate; constants are folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gdl.compiler.factoring import any_of
from gdl.compiler.grounding import Body, GroundProgram
from gdl.datalog.dependencies import components_of
from gdl.game import Role
from gdl.terms import Term

TRUE: Final = 0
FALSE: Final = 1

Lit: TypeAlias = int


@dataclass(frozen=True, slots=True)
class Loop:
    """Atoms that depend on one another: `nodes` start false and are set to `values` until nothing changes."""

    nodes: tuple[int, ...]
    values: tuple[Lit, ...]


@dataclass(frozen=True, slots=True)
class Circuit:
    """The function of a game.

    *Shapes*: nodes 1.. are the fluents, then the moves (role by role, ordered by text), then gates and the nodes of
    loops; `gates[n]` are the literals of node n, None for inputs and loop nodes. `next` has one literal per fluent,
    `legal` one per move; `moves_of[r]` is the range of role r's moves; `goals[r]` and `sees[r]` are lists of
    (value, literal) and (percept, literal).
    """

    roles: tuple[Role, ...]
    fluents: tuple[Term, ...]
    moves: tuple[Term, ...]
    moves_of: tuple[range, ...]
    initial: frozenset[int]
    gates: tuple[tuple[Lit, ...] | None, ...]
    loops: tuple[Loop, ...]
    next: tuple[Lit, ...]
    legal: tuple[Lit, ...]
    terminal: Lit
    goals: tuple[tuple[tuple[str, Lit], ...], ...]
    sees: tuple[tuple[tuple[Term, Lit], ...], ...]

    @property
    def n_inputs(self) -> int:
        """How many nodes are the constant, fluents and moves."""
        return 1 + len(self.fluents) + len(self.moves)


@dataclass(slots=True)
class Gates:
    """Gates under construction, each shape once."""

    gates: list[tuple[Lit, ...] | None]
    _hashed: dict[tuple[Lit, ...], int] = field(default_factory=dict)

    def input(self) -> Lit:
        """Return the literal of a new node that no gate defines."""
        self.gates.append(None)
        return 2 * (len(self.gates) - 1)

    def conjunction(self, literals: Iterable[Lit]) -> Lit:
        """Return the literal that is true where all are."""
        wanted = set(literals)
        wanted.discard(TRUE)
        if FALSE in wanted or any(literal ^ 1 in wanted for literal in wanted):
            return FALSE
        if len(wanted) < 2:
            return wanted.pop() if wanted else TRUE
        key = tuple(sorted(wanted))
        node = self._hashed.get(key)
        if node is None:
            node = self._hashed[key] = len(self.gates)
            self.gates.append(key)
        return 2 * node

    def disjunction(self, literals: Iterable[Lit]) -> Lit:
        """Return the literal that is true where one is."""
        return self.conjunction(literal ^ 1 for literal in literals) ^ 1


def build(program: GroundProgram, roles: Sequence[Role]) -> Circuit:
    """Return the circuit that *program* describes, for *roles* in their order."""
    true, does = program.atoms.get("true", {}), program.atoms.get("does", {})
    fluents = sorted((key[0] for key in true), key=str)
    per_role = [sorted((key[1] for key in does if key[0] is role), key=str) for role in roles]
    moves = [(role, move) for role, some in zip(roles, per_role, strict=True) for move in some]
    gates = Gates([None])
    known = {true[fluent,]: gates.input() for fluent in fluents}
    known |= {does[role, move]: gates.input() for role, move in moves}
    values = _Values(program, gates, known)
    values.derive()

    def value(relation: str, *arguments: Term) -> Lit:
        number = program.atoms.get(relation, {}).get(arguments)
        return FALSE if number is None else values.of(number)

    starts, total = [], 0
    for some in per_role:
        starts.append(range(total, total + len(some)))
        total += len(some)
    return Circuit(
        roles=tuple(roles),
        fluents=tuple(fluents),
        moves=tuple(move for _, move in moves),
        moves_of=tuple(starts),
        initial=frozenset(i for i, fluent in enumerate(fluents) if (fluent,) in program.atoms.get("init", {})),
        gates=tuple(gates.gates),
        loops=tuple(values.loops),
        next=tuple(value("next", fluent) for fluent in fluents),
        legal=tuple(value("legal", role, move) for role, move in moves),
        terminal=value("terminal"),
        goals=tuple(
            tuple((str(key[1]), values.of(n)) for key, n in program.atoms.get("goal", {}).items() if key[0] is role)
            for role in roles
        ),
        sees=tuple(
            tuple((key[1], values.of(n)) for key, n in program.atoms.get("sees", {}).items() if key[0] is role)
            for role in roles
        ),
    )


class _Values:
    """The literal of every atom, derived component by component."""

    def __init__(self, program: GroundProgram, gates: Gates, known: dict[int, Lit]) -> None:
        self._gates = gates
        self._literals = {0: TRUE, **known}
        self._bodies: dict[int, list[Body]] = {}
        self._facts: set[int] = set()
        self.loops: list[Loop] = []
        for head, body in program.rules:
            if head in known:
                continue
            if body:
                self._bodies.setdefault(head, []).append(body)
            else:
                self._facts.add(head)

    def of(self, number: int) -> Lit:
        """Return the literal of an atom; atoms that no rule derives are false."""
        return self._literals.get(number, TRUE if number in self._facts else FALSE)

    def derive(self) -> None:
        heads = [head for head in self._bodies if head not in self._facts]
        place = {head: i for i, head in enumerate(heads)}
        successors = [
            tuple({place[abs(x)] for body in self._bodies[head] for x in body if abs(x) in place}) for head in heads
        ]
        for component in components_of(successors):
            if len(component) == 1 and component[0] not in successors[component[0]]:
                head = heads[component[0]]
                self._literals[head] = self._derived(head)
            else:
                self._derive_loop([heads[i] for i in component])

    def _derive_loop(self, heads: list[int]) -> None:
        for head in heads:
            self._literals[head] = self._gates.input()
        nodes = tuple(self._literals[head] >> 1 for head in heads)
        self.loops.append(Loop(nodes, tuple(self._derived(head) for head in heads)))

    def _derived(self, head: int) -> Lit:
        products = (self._product(body) for body in self._bodies[head])
        return any_of(self._gates, (product for product in products if product is not None))

    def _product(self, body: Body) -> frozenset[Lit] | None:
        """Return what must be true for *body* to hold; None where it never does."""
        found = frozenset(self.of(abs(x)) ^ (x < 0) for x in body) - {TRUE}
        return None if FALSE in found or any(literal ^ 1 in found for literal in found) else found
