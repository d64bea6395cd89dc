"""Ground rules to a circuit: fluents and moves in, next fluents, legal moves, terminal, goals and percepts out.

What is still cyclic after grounding becomes loops, each iterated to its least fixpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from gdl.compiler.folding import Folding
from gdl.compiler.gates import FALSE, TRUE, Gates, Inputs, Lit, Loop, Product, any_of, are_contrary
from gdl.compiler.grounding import GroundProgram
from gdl.datalog.dependencies import components_of
from gdl.game import Role
from gdl.language.terms import Term


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
    gates: tuple[Inputs, ...]
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
    found = Folding(len(known) + 1, gates.gates, values.loops).folded({})

    def of(number: int) -> Lit:
        return found.of(values.of(number))

    def value(relation: str, *arguments: Term) -> Lit:
        number = program.atoms.get(relation, {}).get(arguments)
        return FALSE if number is None else of(number)

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
        gates=found.gates,
        loops=found.loops,
        next=tuple(value("next", fluent) for fluent in fluents),
        legal=tuple(value("legal", role, move) for role, move in moves),
        terminal=value("terminal"),
        goals=tuple(
            tuple((str(key[1]), of(n)) for key, n in program.atoms.get("goal", {}).items() if key[0] is role)
            for role in roles
        ),
        sees=tuple(
            tuple((key[1], of(n)) for key, n in program.atoms.get("sees", {}).items() if key[0] is role)
            for role in roles
        ),
    )


class _Values:
    """The literal of every atom, derived component by component."""

    def __init__(self, program: GroundProgram, gates: Gates, known: dict[int, Lit]) -> None:
        self._gates = gates
        self._literals = _Literals()
        for number, literal in ((0, TRUE), *known.items()):
            self._literals.put(number, literal)
        self._rules = program.rules
        self._numbers: dict[int, list[int]] = {}
        self.loops: list[Loop] = []
        facts = set()
        for number, head in enumerate(self._rules.heads):
            if head in known:
                continue
            body = self._rules.body(number)
            if not body:
                facts.add(head)
            elif head not in body:  # what needs itself adds nothing
                self._numbers.setdefault(head, []).append(number)
        for head in facts:
            self._literals.put(head, TRUE)
            self._numbers.pop(head, None)

    def of(self, number: int) -> Lit:
        """Return the literal of an atom; atoms that no rule derives are false."""
        return self._literals[number]

    def _bodies(self, head: int) -> Iterator[Sequence[int]]:
        return map(self._rules.body, self._numbers[head])

    def derive(self) -> None:
        heads = list(self._numbers)
        place = {head: i for i, head in enumerate(heads)}
        place |= {-head: i for i, head in enumerate(heads)}
        successors = []
        for head in heads:
            needed = filter(place.__contains__, chain.from_iterable(self._bodies(head)))
            successors.append(tuple(set(map(place.__getitem__, needed))))
        for component in components_of(successors):
            if len(component) == 1 and component[0] not in successors[component[0]]:
                head = heads[component[0]]
                self._literals.put(head, self._derived(head))
            else:
                self._derive_loop([heads[i] for i in component])

    def _derive_loop(self, heads: list[int]) -> None:
        for head in heads:
            self._literals.put(head, self._gates.input())
        nodes = tuple(self._literals[head] >> 1 for head in heads)
        self.loops.append(Loop(nodes, tuple(self._derived(head) for head in heads)))

    def _derived(self, head: int) -> Lit:
        products = map(self._product, self._bodies(head))
        return any_of(self._gates, (product for product in products if product is not None))

    def _product(self, body: Sequence[int]) -> Product | None:
        """Return what must be true for *body* to hold; None where it never does."""
        found = frozenset(map(self._literals.__getitem__, body))
        if TRUE in found:
            found -= {TRUE}
        return None if FALSE in found or are_contrary(found) else found


class _Literals(dict[int, Lit]):
    """The literals of atoms by number, of negated ones by minus their number; what nothing derives is false."""

    def put(self, number: int, literal: Lit) -> None:
        self[-number] = literal ^ 1
        self[number] = literal

    def __missing__(self, number: int) -> Lit:
        return FALSE if number > 0 else TRUE
