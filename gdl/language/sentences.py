"""Facts and rules, and how one form is read as one of them: every part with its place, every mistake reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gdl.errors import MalformedRuleError
from gdl.language.diagnostics import Span
from gdl.language.kif import Form, list_problem, term_of
from gdl.language.recovery import OnError, refuse
from gdl.language.terms import Compound, Constant, Term, Variable

ARITIES: Final = {
    "role": 1, "init": 1, "true": 1, "next": 1, "does": 2, "legal": 2, "goal": 2, "terminal": 0, "base": 1, "input": 2,
}  # fmt: skip
"""The relations that GDL-I gives a meaning, with their numbers of arguments."""

GDL2_ARITIES: Final = {"sees": 2}
"""What GDL-II adds to them."""

USAGE: Final = {
    "role": "(role name)", "init": "(init fluent)", "true": "(true fluent)", "next": "(next fluent)",
    "base": "(base fluent)", "does": "(does role move)", "legal": "(legal role move)", "input": "(input role move)",
    "goal": "(goal role points)", "sees": "(sees role percept)", "terminal": "terminal",
    "distinct": "(distinct term term)", "not": "(not condition)",
}  # fmt: skip
"""How the keywords that have a fixed number of arguments are written."""

CONNECTIVES: Final = frozenset({"<=", "not", "and", "or", "distinct"})
KEYWORDS: Final = frozenset(ARITIES) | CONNECTIVES
GDL2_KEYWORDS: Final = frozenset({"sees", "random"})


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation over terms: `(true (cell ?x ?y b))`, or a proposition."""

    term: Constant | Compound
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Two terms that must not be equal."""

    left: Term
    right: Term
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """A condition that must not hold."""

    inner: Condition
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """Conditions that must all hold."""

    parts: tuple[Condition, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Conditions of which one must hold."""

    parts: tuple[Condition, ...]
    span: Span = field(compare=False)


Condition: TypeAlias = Atom | Distinct | Not | And | Or


@dataclass(frozen=True, slots=True)
class Rule:
    """`head` holds where all of `body` holds; a fact has an empty body."""

    head: Atom
    body: tuple[Condition, ...]
    span: Span = field(compare=False)


MAX_CONDITION_DEPTH: Final = 100
"""How deep `or`, `and` and `not` may nest."""

_FOREIGN_ARROWS: Final = frozenset({"=>", "->", "<-", ":-", "=<", "<==", "==>", "<=>", "≤", "←"})
"""What other languages write, or a slip of the finger makes."""


class RuleReader:
    """Reads forms, keywords in lower case, as facts, rules and conditions; other parts are reported and left out."""

    def __init__(self, on_error: OnError = refuse, *, is_gdl2: bool = False) -> None:
        self._on_error = on_error
        self._arities = ARITIES | GDL2_ARITIES if is_gdl2 else ARITIES

    def rule(self, form: Form) -> Rule | None:
        """Return the fact or rule that *form* is; None where a part of it is wrong."""
        problems = [problem for problem in map(list_problem, _lists(form)) if problem is not None]
        for problem in problems:
            self._on_error(problem)
        children = form.children
        if problems:
            return None
        if children and children[0].name in _FOREIGN_ARROWS:
            message = f"{children[0].name} is no word of the language; a rule begins with <="
            self._tell(
                "misspelt-arrow",
                message,
                children[0],
                "write (<= head condition ...): first what follows, then what it follows from",
            )
            return None
        if not children or children[0].name != "<=":
            head = self._head(form)
            return None if head is None else Rule(head, (), form.span)
        if len(children) == 1:
            self._tell("rule-without-head", "a rule without a head", form, "write (<= head condition ...)")
            return None
        head = self._head(children[1])
        body = self._conditions(children[2:], 0)
        return None if head is None or body is None else Rule(head, body, form.span)

    def _head(self, form: Form) -> Atom | None:
        name = _name(form)
        if name == "<=":
            self._nested(form)
        elif name in CONNECTIVES:
            hint = "a fact or a head is a relation over terms: (relation argument ...)"
            self._tell("connective-in-head", f"`{name}` in the place of a fact or a head", form, hint)
        elif name in ("true", "does"):
            hint = "did you mean init or next?" if name == "true" else "did you mean legal or input?"
            self._tell("reserved-head", f"`{name}` in the place of a fact or a head: no rule may define it", form, hint)
        else:
            return self._atom(form)
        return None

    def _conditions(self, forms: tuple[Form, ...], depth: int) -> tuple[Condition, ...] | None:
        found = [self._condition(form, depth) for form in forms]
        good = tuple(condition for condition in found if condition is not None)
        return good if len(good) == len(found) else None

    def _condition(self, form: Form, depth: int) -> Condition | None:
        name = _name(form)
        parts = (form.children or ())[1:]
        if name not in CONNECTIVES:
            return self._atom(form)
        if name == "<=":
            self._nested(form)
            return None
        if depth >= MAX_CONDITION_DEPTH:
            self._tell("too-deep", f"conditions nest deeper than {MAX_CONDITION_DEPTH}", form, "write several rules")
            return None
        if name == "distinct":
            if not self._takes(2, form, parts):
                return None
            return Distinct(term_of(parts[0]), term_of(parts[1]), form.span)
        if name == "not" and not self._takes(1, form, parts):
            return None
        inner = self._conditions(parts, depth + 1)
        if inner is None:
            return None
        if name == "not":
            return Not(inner[0], form.span)
        return And(inner, form.span) if name == "and" else Or(inner, form.span)

    def _nested(self, form: Form) -> None:
        if form.children is None:
            hint = "write (<= head condition ...), with the arrow behind the opening parenthesis"
            self._tell("rule-without-head", "an arrow that begins no list", form, hint)
        else:
            self._tell("nested-rule", "a rule inside a rule", form, "is a closing parenthesis missing before it?")

    def _atom(self, form: Form) -> Atom | None:
        if form.is_variable:
            hint = "write (relation argument ...)"
            self._tell("variable-as-relation", "a variable in the place of a relation", form, hint)
            return None
        name = _name(form)
        n_given = len(form.children or (form,)) - 1
        if not self._takes(self._arities.get(name, n_given), form, (form.children or (form,))[1:]):
            return None
        term = term_of(form)
        assert not isinstance(term, Variable)
        return Atom(term, form.span)

    def _takes(self, n: int, form: Form, parts: tuple[Form, ...]) -> bool:
        if len(parts) != n:
            few = f"{n} argument{'s' if n != 1 else ''}" if n else "no argument"
            message = f"`{_name(form)}` takes {few}, but {len(parts)} given"
            word = next((part for part in (form, *parts) if part.children is None and _is_called(part)), None)
            hint = f"write {USAGE[_name(form)]}; is a parenthesis misplaced?"
            if word is not None:
                hint = f"the parenthesis stands in front of the name: write ({word.name} ...), not {word.name}(...)"
            self._tell("keyword-arity", message, form, hint)
        return len(parts) == n

    def _tell(self, code: str, message: str, form: Form, hint: str) -> None:
        self._on_error(MalformedRuleError(message, form.span, hint, code=code))


def _name(form: Form) -> str:
    return form.children[0].name if form.children else form.name


def _is_called(name: Form) -> bool:
    """Return whether a parenthesis follows *name* at once, as in other languages: `true(step 1)`."""
    return name.source.text[name.end : name.end + 1] == "("


def _lists(form: Form) -> Iterator[Form]:
    todo = [form]
    while todo:
        top = todo.pop()
        if top.children is not None:
            yield top
            todo += reversed(top.children)
