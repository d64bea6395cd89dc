"""Defects noticed in play as diagnostics: the rule to look at, a sentence, and what to do about it."""

from collections.abc import Callable, Iterable
from typing import Final

from gdl.diagnostics import Diagnostic, Related, Span, diagnostic
from gdl.errors import LimitExceeded
from gdl.game import Game, State
from gdl.language.syntax import Rule
from gdl.language.terms import Compound, Term, Variable, signature
from gdl.quantities import quantity
from gdl.simulation.figures import Defect
from gdl.simulation.observer import Derivations, Derived, part

_MOST_RELATED: Final = 3


def diagnose(defect: Defect, game: Game | None, witness: Derivations) -> Diagnostic:
    """Return *defect* as a diagnostic that points at the rules which have it; *game* None could not be made."""
    return _WRITERS[defect.code](_Case(defect, game, witness))


class _Case:
    """A defect with what its play says about the rules."""

    def __init__(self, defect: Defect, game: Game | None, witness: Derivations) -> None:
        self.defect, self.witness = defect, witness
        self._game = game
        self.role = defect.role
        self.n_steps = len(defect.play)

    @property
    def when(self) -> str:
        """At which moment of the play, as the beginning of a sentence."""
        return "in the initial state" if self.n_steps == 0 else f"after {quantity(self.n_steps, 'joint move')}"

    def derived(self, relation: str, step: int) -> list[Derived]:
        """Return what holds of *relation* at that step of the play, by rule; nothing where that costs too much."""
        try:
            if step < 0:
                return self.witness.derived(relation)
            assert self._game is not None
            moves = self.defect.play[step] if step < self.n_steps else ()
            return self.witness.derived(
                relation, self._state(self._game, step).facts, tuple(zip(self._game.roles, moves, strict=False))
            )
        except LimitExceeded:
            return []

    def _state(self, game: Game, step: int) -> State:
        state = game.initial_state
        for moves in self.defect.play[:step]:
            state = state.next_state(moves)
        return state

    def blamed(self, relation: str, step: int, *arguments: Term | None) -> list[Rule]:
        """Return the rules that derive *relation* with these arguments at that step, else those that may."""
        found = [
            one.rule
            for one in self.derived(relation, step)
            if all(wanted is None or wanted is has for wanted, has in zip(arguments, one.arguments, strict=False))
        ]
        return found or list(self.witness.rules(relation, *arguments))

    def first(self, rules: Iterable[Rule]) -> Span:
        """Return where the head of the first of *rules* stands, else the role, else a place for the whole file."""
        spans = [rule.head.span for rule in (*rules, *self.witness.rules("role", self.role))]
        return spans[0] if spans else Span(self.witness.description.source, 0, 1)

    def argument(self, rules: Iterable[Rule], number: int) -> Span:
        """Return where the argument of that number stands in the head of the first of *rules*."""
        first = next(iter(rules), None)
        return self.first(()) if first is None else part(first.head.span, number)


def _related(rules: Iterable[Rule], message: str) -> list[Related]:
    spans = dict.fromkeys(rule.head.span for rule in rules)
    return [Related(span, message) for span in list(spans)[:_MOST_RELATED]]


def _no_legal_move(case: _Case) -> Diagnostic:
    rules = case.witness.rules("legal", case.role)
    return diagnostic(
        "no-legal-move",
        case.first(rules),
        f"{case.when} `{case.role}` has no legal move, yet the state is not terminal",
        "add a legal move that does nothing for such states, or make them terminal",
        _related(rules[1:], f"another rule for the legal moves of `{case.role}`"),
    )


def _no_goal(case: _Case) -> Diagnostic:
    rules = case.witness.rules("goal", case.role)
    return diagnostic(
        "no-goal",
        case.first(rules),
        f"{case.when} the play is over, and no rule gives `{case.role}` a goal value",
        "every role needs exactly one goal value in every terminal state",
        _related(rules[1:], f"another rule for the goal of `{case.role}`"),
    )


def _several_goals(case: _Case) -> Diagnostic:
    found = [one for one in case.derived("goal", case.n_steps) if one.arguments[0] is case.role]
    values = sorted({one.arguments[1] for one in found}, key=_by_size)
    *others, last = [one.rule for one in found] or case.witness.rules("goal", case.role)
    return diagnostic(
        "several-goals",
        last.head.span,
        f"{case.when} the play is over, and `{case.role}` has several goal values: {', '.join(map(str, values))}",
        "make the conditions of the goal rules exclude each other",
        _related((rule for rule in others if rule != last), f"this rule gives `{case.role}` a value as well"),
    )


def _by_size(value: Term) -> tuple[int, str]:
    text = str(value)
    return len(text), text


def _goal_out_of_range(case: _Case) -> Diagnostic:
    found = [one.arguments[1] for one in case.derived("goal", case.n_steps) if one.arguments[0] is case.role]
    return diagnostic(
        "goal-out-of-range",
        case.argument(case.blamed("goal", case.n_steps, case.role), 2),
        f"{case.when} the goal value of `{case.role}` is `{found[0] if found else '?'}`: no whole number from 0 to 100",
        "write goal values as whole numbers from 0 (lost) to 100 (won)",
    )


def _undeclared_fluent(case: _Case) -> Diagnostic:
    (fluent,) = case.defect.terms
    return diagnostic(
        "undeclared-fluent",
        case.argument(case.blamed("next" if case.n_steps else "init", case.n_steps - 1, fluent), 1),
        f"{case.when} `{fluent}` is true, but no `base` declares it",
        "declare it with `base`; or leave out every `base`: a file may have none",
        _related(case.witness.rules("base", _pattern(fluent)), f"what is declared of `{signature(fluent)[0]}`"),
    )


def _undeclared_move(case: _Case) -> Diagnostic:
    (move,) = case.defect.terms
    alike = case.witness.rules("input", case.role, _pattern(move))
    return diagnostic(
        "undeclared-move",
        case.argument(case.blamed("legal", case.n_steps, case.role, move), 2),
        f"{case.when} `{move}` is a legal move of `{case.role}`, but no `input` declares it",
        "declare it with `input`; or leave out every `input`: a file may have none",
        _related(alike, f"what is declared of `{signature(move)[0]}`"),
    )


def _pattern(term: Term) -> Term:
    """Return the term of the same functor that has only variables."""
    if not isinstance(term, Compound):
        return term
    return Compound(term.functor, tuple(Variable(f"?{i}") for i, _ in enumerate(term.arguments)))


def _endless_play(case: _Case) -> Diagnostic:
    since = case.defect.since
    before = "the initial state" if since == 0 else f"the state after {since:,}"
    return diagnostic(
        "endless-play",
        case.first(case.witness.rules("terminal")),
        f"{case.when} the state is {before} again: a play can go round in a circle for ever",
        "count the steps in a fluent, and make the state terminal when the count is full",
    )


def _overlong_play(case: _Case) -> Diagnostic:
    return diagnostic(
        "overlong-play",
        case.first(case.witness.rules("terminal")),
        f"{case.when} a random play has not come to its end",
        "count the steps in a fluent and make the last one terminal; or allow more steps",
    )


def _no_such_role(case: _Case) -> Diagnostic:
    role, relation = case.role, case.defect.relation
    step = case.n_steps - (relation == "sees")
    return diagnostic(
        "no-such-role",
        case.argument(case.blamed(relation, step, role), 1),
        f"{case.when} `{relation}` holds for `{role}`, but there is no such role",
        f"add a condition such as (role ?r) to the rule, or declare the role: (role {role})",
        _related(case.witness.rules("role"), "a role"),
    )


def _never_perceives(case: _Case) -> Diagnostic:
    return diagnostic(
        "never-perceives",
        case.first(case.witness.rules("sees", case.role)),
        f"`{case.role}` perceived nothing in any play: no move, not even its own",
        "look at the conditions of its `sees` rules: they are asked in the state before the joint move",
    )


def _starts_at_its_end(case: _Case) -> Diagnostic:
    return diagnostic(
        "starts-at-its-end",
        case.first(case.blamed("terminal", 0)),
        "the initial state is terminal: no role ever makes a move",
        "look at `terminal`, and at the `init` facts that it needs, or must not have",
    )


def _nothing_initial(case: _Case) -> Diagnostic:
    return diagnostic(
        "nothing-initial",
        case.first(case.witness.rules("init")),
        "nothing is true in the initial state: no `init` rule holds",
        "write at least one fact such as (init (step 1)), or correct the conditions of the `init` rules",
    )


def _never_wins(case: _Case) -> Diagnostic:
    return diagnostic(
        "never-wins",
        case.first(case.witness.rules("goal", case.role)),
        f"no play at all gives `{case.role}` the goal value 100{case.defect.detail}",
        "see whether its best end can be reached; if you want it so, all is well",
    )


def _limit_in_play(case: _Case) -> Diagnostic:
    relation, detail = case.defect.relation, case.defect.detail
    return diagnostic(
        "limit-in-play",
        case.first(case.witness.rules(relation or "terminal")),
        f"{case.when} `{relation}` costs too much to derive: {detail}" if relation else detail,
        "allow more time, or look for a rule that joins many conditions or a term that grows with every step",
    )


_WRITERS: Final[dict[str, Callable[[_Case], Diagnostic]]] = {
    "no-legal-move": _no_legal_move,
    "no-goal": _no_goal,
    "several-goals": _several_goals,
    "goal-out-of-range": _goal_out_of_range,
    "undeclared-fluent": _undeclared_fluent,
    "undeclared-move": _undeclared_move,
    "endless-play": _endless_play,
    "overlong-play": _overlong_play,
    "no-such-role": _no_such_role,
    "never-perceives": _never_perceives,
    "starts-at-its-end": _starts_at_its_end,
    "nothing-initial": _nothing_initial,
    "never-wins": _never_wins,
    "limit-in-play": _limit_in_play,
}

CODES: Final = frozenset(_WRITERS)
"""The names of the codes that only a simulation finds."""
