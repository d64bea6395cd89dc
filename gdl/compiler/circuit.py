"""Ground rules to a circuit: fluents and moves in, next fluents, legal moves, terminal, goals and percepts out.

What is still cyclic after grounding becomes loops, each iterated to its least fixpoint.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise, starmap

from gdl.compiler.bodies import Bodies
from gdl.compiler.folding import Folding
from gdl.compiler.gates import FALSE, TRUE, Gates, Inputs, Lit, Loop, any_of, are_contrary
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

    def literal(relation: str, *arguments: Term) -> Lit:
        number = program.atoms.get(relation, {}).get(arguments)
        return FALSE if number is None else found.of(values.of(number))

    return Circuit(
        roles=tuple(roles),
        fluents=tuple(fluents),
        moves=tuple(move for _, move in moves),
        moves_of=tuple(starmap(range, pairwise(accumulate(map(len, per_role), initial=0)))),
        initial=frozenset(i for i, fluent in enumerate(fluents) if (fluent,) in program.atoms.get("init", {})),
        gates=found.gates,
        loops=found.loops,
        next=tuple(literal("next", fluent) for fluent in fluents),
        legal=tuple(literal("legal", role, move) for role, move in moves),
        terminal=literal("terminal"),
        goals=tuple(
            tuple((str(goal), literal("goal", role, goal)) for goal in _said_of(program, "goal", role))
            for role in roles
        ),
        sees=tuple(
            tuple((percept, literal("sees", role, percept)) for percept in _said_of(program, "sees", role))
            for role in roles
        ),
    )


def _said_of(program: GroundProgram, relation: str, role: Role) -> Iterator[Term]:
    """Return the second arguments of those atoms of *relation* whose first is *role*.

    Where no role perceives anything, `sees` is a relation as any other: it may have more arguments, or fewer.
    """
    return (key[1] for key in program.atoms.get(relation, {}) if len(key) == 2 and key[0] is role)


class _Values:
    """The literal of every atom, derived component by component."""

    def __init__(self, program: GroundProgram, gates: Gates, known: dict[int, Lit]) -> None:
        self._gates = gates
        self._bodies = Bodies(program.rules, known)
        # By literal of an atom, 2 * number, or that + 1 for its negation; what nothing derives is false.
        self._literals = [FALSE, TRUE] * self._bodies.n_atoms
        for number in chain((0,), self._bodies.facts):
            self._put(number, TRUE)
        for number, literal in known.items():
            self._put(number, literal)
        self.loops: list[Loop] = []

    def of(self, number: int) -> Lit:
        """Return the literal of an atom; atoms that no rule derives are false."""
        return self._literals[2 * number] if number < self._bodies.n_atoms else FALSE

    def _put(self, number: int, literal: Lit) -> None:
        self._literals[2 * number], self._literals[2 * number + 1] = literal, literal ^ 1

    def derive(self) -> None:
        heads, successors = self._bodies.heads, self._bodies.successors
        for component in components_of(successors):
            if len(component) == 1 and component[0] not in successors[component[0]]:
                self._put(heads[component[0]], self._derived(component[0]))
            else:
                self._derive_loop(component)

    def _derive_loop(self, component: Sequence[int]) -> None:
        heads = [self._bodies.heads[place] for place in component]
        for head in heads:
            self._put(head, self._gates.input())
        nodes = tuple(self.of(head) >> 1 for head in heads)
        self.loops.append(Loop(nodes, tuple(map(self._derived, component))))

    def _derived(self, place: int) -> Lit:
        of = self._literals.__getitem__
        alternatives = self._bodies.single_literals(place)
        if alternatives is not None:
            return self._gates.disjunction(map(of, alternatives))
        products = [frozenset(map(of, body)) for body in self._bodies.of(place)]
        used = frozenset().union(*products)
        if TRUE in used or FALSE in used or are_contrary(used):  # else no product has any of these
            products = [product - {TRUE} for product in products if FALSE not in product and not are_contrary(product)]
        return any_of(self._gates, products)
