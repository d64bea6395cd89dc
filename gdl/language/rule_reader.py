"""Forms to facts, rules and conditions: each that is none is a problem with its place, and a hint how to write it."""

from __future__ import annotations

from typing import Final

from gdl.errors import MalformedRuleError, RuleFileError
from gdl.language.kif import BRACKETS_HINT, OTHER_BRACKETS, Form, in_front_of_name, list_problem, term_of
from gdl.language.recovery import OnError
from gdl.language.syntax import (
    ARITIES,
    CONNECTIVES,
    GDL2_ARITIES,
    KEYWORDS,
    USAGE,
    And,
    Atom,
    Condition,
    Distinct,
    Not,
    Or,
    Rule,
)
from gdl.language.terms import Variable
from gdl.quantities import quantity

MAX_CONDITION_DEPTH: Final = 100
"""How deep `or`, `and` and `not` may nest."""

_FOREIGN_ARROWS: Final = frozenset(
    {"=>", "->", "<-", ":-", "=<", "<==", "==>", "<=>", "≤", "≥", "←", "→", "⇐", "⇒", "⟵", "⟶", "⟸", "⟹", "&lt"}
)
"""What other languages write, a slip of the finger makes, or a web page shows in the place of the arrow."""
_CONDITION_WORDS: Final = frozenset({"true", "does", "not", "or", "and", "distinct"})
_HOLDERS: Final = frozenset({"init", "next", "true", "base", "does", "legal", "input", "sees"})
"""The relations whose last argument is a term that has arguments itself."""
_HEAD: Final = "a fact or a head is a relation over terms: (relation argument ...)"
_SEVERAL_HEADS: Final = {
    "and": "write a rule for each of what follows",
    "or": "a rule has one head: say which it is",
}
_RESERVED: Final = {"true": "did you mean init or next?", "does": "did you mean legal or input?"}
"""The relations that no rule may define, and what is asked where one does."""
_LONGEST_HINT: Final = 60
COMMENT_HINT: Final = "a comment begins with a semicolon; what holds stands in parentheses: (name argument ...)"
"""What is said of words that stand outside of all parentheses."""


class RuleReader:
    """Reads forms, keywords in lower case, as facts, rules and conditions; other parts are reported and left out."""

    def __init__(self, on_error: OnError, *, is_gdl2: bool) -> None:
        self._on_error = on_error
        self._arities = ARITIES | GDL2_ARITIES if is_gdl2 else ARITIES
        self._word: Form | None = None

    def rule(self, form: Form) -> Rule | None:
        """Return the fact or rule that *form* is; None where a part of it is wrong."""
        found = (_list_problem(part, is_top=part is form) for part in form.walk())
        problems = [problem for problem in found if problem is not None]
        for problem in problems:
            self._on_error(problem)
        if problems:
            return None
        if form.children is None:
            self._word = form
        name = _name(form)
        if name != "<=" and form.children and (name in _FOREIGN_ARROWS or name.startswith("<=")):
            self._misspelt_arrow(form.children[0])
            return None
        if name != "<=" or not form.children:
            head = self._head(form)
            return None if head is None else Rule(head, (), form.span)
        return self._headed(form, form.children[1:])

    def _headed(self, form: Form, parts: tuple[Form, ...]) -> Rule | None:
        """Return the rule of these *parts*, a head and conditions; None where there is no head, or a part is wrong."""
        if not parts:
            self._tell("rule-without-head", "a rule without a head", form, "write (<= head condition ...)")
            return None
        head = self._head(parts[0])
        body = self._conditions(parts[1:], 0)
        return None if head is None or body is None else Rule(head, body, form.span)

    def _misspelt_arrow(self, word: Form) -> None:
        if word.name in _FOREIGN_ARROWS:
            message = f"{word.name} is no word of the language; a rule begins with <="
            hint = "write (<= head condition ...): first what follows, then what it follows from"
        else:
            message = f"{word.name} begins no rule: an arrow stands alone"
            hint = f"write a blank behind the arrow: (<= {word.name[2:]} ...)"
        self._tell("misspelt-arrow", message, word, hint)

    def _head(self, form: Form) -> Atom | None:
        name = _name(form)
        if name == "<=":
            self._nested(form)
        elif name in CONNECTIVES:
            hint = _SEVERAL_HEADS.get(name, _HEAD) if form.children else _HEAD
            self._tell("connective-in-head", f"`{name}` in the place of a fact or a head", form, hint)
        elif name in _RESERVED:
            message = f"`{name}` in the place of a fact or a head: no rule may define it"
            self._tell("reserved-head", message, form, _RESERVED[name])
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
            few = quantity(n, "argument") if n else "no argument"
            message = f"`{_name(form)}` takes {few}, but {len(parts)} given"
            self._tell("keyword-arity", message, form, _as_it_takes(n, form, parts))
        return len(parts) == n

    def _tell(self, code: str, message: str, form: Form, hint: str) -> None:
        if form is self._word and form.name != "<=" and not _is_called(form):
            hint = COMMENT_HINT
        self._on_error(MalformedRuleError(message, form.span, hint, code=code))


def _name(form: Form) -> str:
    return form.children[0].name if form.children else form.name


def _list_problem(form: Form, *, is_top: bool) -> RuleFileError | None:
    first = _name(form.children[0]) if form.children else ""
    if is_top and form.children and len(form.children) > 1:
        return list_problem(form, "a rule begins with an arrow: write (<= head condition ...)")
    if first in _CONDITION_WORDS:
        return list_problem(form, "several conditions stand in (and condition ...) or (or condition ...)")
    return list_problem(form)


def _as_it_takes(n: int, form: Form, parts: tuple[Form, ...]) -> str:
    """Return how to write *form*, a keyword that takes *n* arguments and has been given *parts*."""
    name = _name(form)
    if any(OTHER_BRACKETS.match(part.name) for part in parts):
        return BRACKETS_HINT
    for word in (form, *parts):
        if word.children is None and _is_called(word):
            return in_front_of_name(word.name)
    if name not in _CONDITION_WORDS and any(part.children and _name(part) in _CONDITION_WORDS for part in parts):
        return f"a rule begins with an arrow: write (<= {USAGE[name]} condition ...)"
    if name in _HOLDERS and len(parts) > n and not any(part.children or _name(part) in KEYWORDS for part in parts):
        *before, inner = (*(part.name for part in parts[: n - 1]), " ".join(part.name for part in parts[n - 1 :]))
        whole = " ".join((name, *before, f"({inner})"))
        if len(whole) < _LONGEST_HINT and not parts[n - 1].is_variable:
            return f"write ({whole})"
    return f"write {USAGE[name]}; is a parenthesis misplaced?"


def _is_called(name: Form) -> bool:
    """Return whether a parenthesis follows *name* at once, as in other languages: `true(step 1)`."""
    return name.source.text[name.end : name.end + 1] == "("
