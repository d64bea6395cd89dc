"""Answers about clauses in any state: models of states are cached, and what is too large is derived on demand."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from gdl.datalog.clauses import Clause
from gdl.datalog.demand import can_be_chosen, on_demand
from gdl.datalog.model import Model, Oversized
from gdl.datalog.program import Layer, Program
from gdl.datalog.relations import Key, Row, placed_term
from gdl.errors import StratificationError
from gdl.game import Budget, EvaluationLimits
from gdl.language.terms import Compound, Constant, Signature, Term, signature

Move: TypeAlias = tuple[Constant, Term]
"""A role and its move."""

Answers: TypeAlias = list[tuple[Key, Row]]

_RECENT_STATES: Final = 16
"""How many states keep their derived relations; a tree of many states keeps only facts."""


class Reasoner:
    """Answers queries about clauses in any state; queries may come from several threads.

    Raises:
        StratificationError: a clause depends on its own negation.
    """

    def __init__(self, clauses: Sequence[Clause], limits: EvaluationLimits) -> None:
        self._clauses = clauses
        self._limits = limits
        self._lock = threading.RLock()
        self._demanded: frozenset[Signature] = frozenset()
        self._accepted: frozenset[Signature] = frozenset()
        self._use(Program(clauses))

    def answers(
        self, atom: Constant | Compound, true: frozenset[Term] | None = None, does: Sequence[Move] = ()
    ) -> Answers:
        """Return the rows of the relation of *atom*, all that agree with *atom* among them.

        Without *true*, the query is about what never changes; *does* is a joint move.

        Raises:
            LimitExceeded: the answer costs more than the limits allow; other queries may still be asked.
        """
        with self._lock:
            budget = Budget(self._limits)
            while True:
                self._static.budget = budget
                try:
                    return self._answers(atom, true, does)
                except Oversized as found:
                    self._derive_on_demand(found.relation)
                except BaseException:
                    self._use(self._program)  # a model that was interrupted may lack what its indexes promise
                    raise

    def _answers(self, atom: Constant | Compound, true: frozenset[Term] | None, does: Sequence[Move]) -> Answers:
        model = self._static if true is None else self._state_model(true)
        moves = [placed_term("does", (role,), move) for role, move in does]
        if moves:
            model = self._model(Layer.MOVE, model, moves)
        found = [(key, row) for key, rows in model.rows(self._program.query(atom)) for row in rows]
        model.budget.check_symbols(term for _, row in found for term in row)
        return found

    def _state_model(self, true: frozenset[Term]) -> Model:
        found = self._recent.pop(true, None)
        if found is None:
            found = self._model(Layer.STATE, self._static, [placed_term("true", (), fact) for fact in true])
        found.budget = self._static.budget
        self._recent[true] = found
        if len(self._recent) > _RECENT_STATES:
            self._recent.popitem(last=False)
        return found

    def _model(self, layer: Layer, below: Model | None, facts: Iterable[tuple[Key, Row]]) -> Model:
        model = Model(self._program, layer, below, below.budget if below else Budget(self._limits))
        for key, row in facts:
            model.add(key, (row,))
        return model

    def _derive_on_demand(self, relation: Signature) -> None:
        """Change to a program that derives *relation* on demand, or takes it as large as it is where that fails."""
        chosen = {relation} - self._demanded or self._askers(relation)
        demanded = self._demanded | {name for name in chosen - self._accepted if can_be_chosen(name)}
        if demanded > self._demanded and self._demand(demanded):
            return
        self._accepted |= {relation}
        # Derived whole, it answers what its copies would.
        if not self._demand(self._demanded - {relation}):
            self._demand(self._demanded)

    def _demand(self, relations: frozenset[Signature]) -> bool:
        """Derive *relations* on demand; return False where a demand would depend on the negation of its answer."""
        try:
            program = Program(on_demand(self._clauses, relations, may_change=True), self._accepted)
        except StratificationError:
            return False
        self._demanded = relations
        self._use(program)
        return True

    def _askers(self, relation: Signature) -> set[Signature]:
        """Return the nearest relations not derived on demand that ask *relation*, if only through some that are."""
        clauses = self._program.clauses
        found: set[Signature] = set()
        seen, todo = {relation}, [relation]
        while todo:
            asked = todo.pop()
            asking = {signature(c.head) for c in clauses if any(signature(x.atom) == asked for x in c.literals)}
            for asker in asking - seen:
                seen.add(asker)
                if can_be_chosen(asker) and asker not in self._demanded:
                    found.add(asker)
                else:
                    todo.append(asker)
        return found

    def _use(self, program: Program) -> None:
        self._program = program
        self._recent: OrderedDict[frozenset[Term], Model] = OrderedDict()
        self._static = self._model(Layer.STATIC, None, ())
