"""Known inputs into gates and loops: what they fix is constant, and what is then equal is one.

Without loops only the gates that the known inputs reach are made again, in their places: a phase of a large game has
most gates of its circuit as they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gdl.compiler.gates import FALSE, TRUE, Gates, Inputs, Lit, Loop, are_contrary
from gdl.compiler.netlist import NodeQueue, Readers
from gdl.datalog.dependencies import components_of


@dataclass(frozen=True, slots=True)
class Folded:
    """Gates and loops made of others; `changed` are the literals that now stand for nodes of those, where they do.

    A gate without inputs is none any more, and nothing reads it.
    """

    gates: tuple[Inputs, ...]
    loops: tuple[Loop, ...]
    changed: Mapping[int, Lit]

    def of(self, literal: Lit) -> Lit:
        """Return what a literal of the gates before is now."""
        return self.changed.get(literal >> 1, literal & ~1) ^ (literal & 1)


class Folding:
    """*gates* and *loops* above *n_inputs* inputs, to be folded with one set of known inputs after the other."""

    def __init__(self, n_inputs: int, gates: Sequence[Inputs], loops: Sequence[Loop]) -> None:
        self._n_inputs, self._gates, self._loops = n_inputs, tuple(gates), tuple(loops)

    @cached_property
    def readers(self) -> Readers:
        """The gates that read each node."""
        return Readers(self._gates)

    @cached_property
    def _hashed(self) -> dict[tuple[Lit, ...], int]:
        return Gates.of(self._gates).hashed

    def folded(self, known: Mapping[int, bool]) -> Folded:
        """Return the gates and loops with the inputs *known* constant, and without loops that are none any more.

        The node of a loop whose value does not depend on itself becomes that value: rules that recur in one phase of a
        game only are plain gates in the others. Inputs keep their numbers.
        """
        if self._loops:
            return _with_fewer_loops(self._n_inputs, self._gates, self._loops, known)
        return self._made_again(known) if known else Folded(self._gates, (), {})

    def _made_again(self, known: Mapping[int, bool]) -> Folded:
        """Make those gates again, in topological order, of which an input stands for something else."""
        gates, hashed = list(self._gates), self._hashed.copy()
        changed = {node: TRUE if value else FALSE for node, value in known.items()}
        todo = NodeQueue()
        for node in known:
            todo.add(self.readers.of(node))
        for node in todo:
            before = gates[node] or ()
            if hashed.get(before) == node:
                del hashed[before]
            wanted = {changed.get(x >> 1, x & ~1) ^ (x & 1) for x in before}
            literal, gates[node] = FALSE, ()
            if FALSE not in wanted and not are_contrary(wanted):
                wanted.discard(TRUE)
                inputs = tuple(sorted(wanted))
                literal = inputs[0] if inputs else TRUE
                if len(inputs) > 1:
                    equal = hashed.get(inputs, node)
                    if equal >= node:
                        gates[node], hashed[inputs] = inputs, node
                        todo.add((equal,))
                    literal = 2 * hashed[inputs]
            if literal != 2 * node:
                changed[node] = literal
                todo.add(self.readers.of(node))
        return Folded(tuple(gates), (), changed)


def _with_fewer_loops(
    n_inputs: int, gates: Sequence[Inputs], loops: Sequence[Loop], known: Mapping[int, bool]
) -> Folded:
    inputs = [2 * node for node in range(n_inputs)]
    for node, value in known.items():
        inputs[node] = TRUE if value else FALSE
    found = _rebuilt(inputs, gates, loops, _components(n_inputs, gates, loops))
    while found.loops:
        components = _components(n_inputs, found.gates, found.loops)
        values = _values(found.loops)
        if all(_is_cycle(component, values) for component in components if component[0] in values):
            break
        again = _rebuilt([2 * node for node in range(n_inputs)], found.gates, found.loops, components)
        found = Folded(again.gates, again.loops, {node: again.of(found.of(2 * node)) for node in range(len(gates))})
    return found


def _rebuilt(
    inputs: list[Lit], gates: Sequence[Inputs], loops: Sequence[Loop], components: Iterable[tuple[int, ...]]
) -> Folded:
    """Return *gates* made again in the order of *components*, and a loop for each that is a cycle."""
    values = _values(loops)
    made, kept = Gates([None] * len(inputs)), []
    literals = [each for literal in inputs for each in (literal, literal ^ 1)]  # by literal, so that it is one look-up
    literals += [FALSE, TRUE] * (len(gates) - len(inputs))
    of = literals.__getitem__

    def put(node: int, literal: Lit) -> None:
        literals[2 * node], literals[2 * node + 1] = literal, literal ^ 1

    for component in components:
        if component[0] in values and not _is_cycle(component, values):
            put(component[0], of(values[component[0]]))
            continue
        nodes = [node for node in component if node in values]
        for node in nodes:
            put(node, made.input())
        for node in component:
            if node not in values:
                put(node, made.conjunction(map(of, gates[node] or ())))
        if nodes:
            kept.append(Loop(tuple(of(2 * node) >> 1 for node in nodes), tuple(of(values[node]) for node in nodes)))
    return Folded(tuple(made.gates), tuple(kept), dict(enumerate(literals[::2])))


def _values(loops: Iterable[Loop]) -> dict[int, Lit]:
    return {node: value for loop in loops for node, value in zip(loop.nodes, loop.values, strict=True)}


def _is_cycle(component: tuple[int, ...], values: Mapping[int, Lit]) -> bool:
    return len(component) > 1 or values[component[0]] >> 1 == component[0]


def _components(n_inputs: int, gates: Sequence[Inputs], loops: Sequence[Loop]) -> list[tuple[int, ...]]:
    """Return the nodes beside inputs, those together that depend on one another, after all that they depend on."""
    values = _values(loops)
    below = [(values[node],) if node in values else gates[node] or () for node in range(n_inputs, len(gates))]
    edges = [[(x >> 1) - n_inputs for x in inputs if x >> 1 >= n_inputs] for inputs in below]
    return [tuple(node + n_inputs for node in component) for component in components_of(edges)]
