"""Rule files to rules: facts and rules with their conditions, keywords in lower case, every part with its place.

Rules of the same game that begin in another position.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gdl.diagnostics import Source, Span
from gdl.errors import MalformedRuleError, RuleFileError, wrong_type
from gdl.language.kif import DEFAULT_LIMITS, Form, ReadLimits, in_front_of_name, list_problem, term_of, too_large
from gdl.language.recovery import OnError, read_rule_forms, refuse
from gdl.language.syntax import (
    ARITIES,
    CONNECTIVES,
    GDL2_ARITIES,
    GDL2_KEYWORDS,
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
from gdl.language.terms import Compound, Term, Variable
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
        children = form.children
        if problems:
            return None
        if children is None:
            self._word = form
        if children and children[0].name in _FOREIGN_ARROWS:
            message = f"{children[0].name} is no word of the language; a rule begins with <="
            self._tell(
                "misspelt-arrow",
                message,
                children[0],
                "write (<= head condition ...): first what follows, then what it follows from",
            )
            return None
        if children and children[0].name.startswith("<=") and children[0].name != "<=":
            hint = f"write a blank behind the arrow: (<= {children[0].name[2:]} ...)"
            self._tell("misspelt-arrow", f"{children[0].name} begins no rule: an arrow stands alone", children[0], hint)
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
            if name in ("and", "or") and form.children:
                hint = (
                    "write a rule for each of what follows" if name == "and" else "a rule has one head: say which it is"
                )
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


_MAX_RULES_INSIDE: Final = 10
"""How deep rules are looked for inside rules, where the first misses a parenthesis."""


@dataclass(frozen=True)
class Description:
    """A rule file: its rules in order, and whether it is meant as GDL-II."""

    source: Source = field(compare=False, repr=False)
    rules: tuple[Rule, ...]
    is_gdl2: bool

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text, in hex digits."""
        return rules_sha256(self.source.text)


def rules_sha256(text: str) -> str:
    """Return the SHA-256 of rules, in hex digits; halves of characters, which no rules have, count as `?`."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read_file(path: str | Path, limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None) -> Description:
    """Return the rules that the file at *path* holds: UTF-8, else Latin-1.

    Raises:
        OSError: the file cannot be read.
        RuleFileError: as `read_rules`.
    """
    max_bytes = 4 * limits.max_characters  # UTF-8 takes no more for a character
    with Path(path).open("rb") as file:  # a device or a pipe has no size: its end may never come
        raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes:
        message = (
            f"the file has more than {max_bytes:,} bytes: more than the limit of {limits.max_characters:,} characters"
        )
        raise too_large(message, Span(Source(str(path), ""), 0, 0))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return read_rules(text, str(path), limits, is_gdl2=is_gdl2)


def read_rules(
    text: str, name: str = "<rules>", limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None
) -> Description:
    """Return the rules that *text* holds; *name* is what errors call it.

    *is_gdl2* None leaves it to the text: GDL-II has `(role random)`, or `sees` with a role and a percept. The mark that
    some editors put before a text is left out.

    Raises:
        KifSyntaxError: the text is no sequence of balanced forms within *limits*.
        MalformedRuleError: a form is neither a fact nor a rule, or misuses a keyword.
        WrongTypeError: *text* is none, as a path, which `read_file` takes.
    """
    if not isinstance(text, str):
        raise wrong_type(text, "rules as text (gdl.read_file takes a path)")
    source = Source(name, text.removeprefix("\ufeff"))
    reading = read_forms_as_rules(source, limits, is_gdl2=is_gdl2)
    return Description(source, reading.rules, reading.is_gdl2)


@dataclass(frozen=True, slots=True)
class RuleReading:
    """What was read of a rule file: `forms` have their keywords in lower case, `rules` are those that are well-formed.

    `broken` are the forms that are not, as far as they go; `is_whole` is False where reading had to stop early.
    """

    forms: tuple[Form, ...]
    rules: tuple[Rule, ...]
    broken: tuple[Form, ...]
    is_gdl2: bool
    is_whole: bool


def read_forms_as_rules(
    source: Source, limits: ReadLimits = DEFAULT_LIMITS, on_error: OnError = refuse, *, is_gdl2: bool | None = None
) -> RuleReading:
    """Return the rules of *source*; *on_error* is called with what cannot be one, and raises it by default.

    Where *on_error* returns, the form is passed over, and rules that stand inside it are read for themselves.
    """
    found = read_rule_forms(source, limits, on_error)
    if is_gdl2 is None:
        is_gdl2 = _is_meant_as_gdl2(found.forms)
    keywords = KEYWORDS | GDL2_KEYWORDS if is_gdl2 else KEYWORDS
    forms, broken, rules = [], list(found.broken), []
    todo = [(_with_keywords(form, keywords), 0) for form in reversed(found.forms)]
    while todo:
        form, depth = todo.pop()
        rule = RuleReader(on_error, is_gdl2=is_gdl2).rule(form)
        if rule is None:
            broken.append(form)
            if depth < _MAX_RULES_INSIDE:
                todo += ((inner, depth + 1) for inner in reversed(_rules_inside(form)))
        else:
            forms.append(form)
            rules.append(rule)
    return RuleReading(tuple(forms), tuple(rules), tuple(broken), is_gdl2, found.is_whole)


def _rules_inside(form: Form) -> list[Form]:
    found: list[Form] = []
    todo = list(reversed(form.children or ()))
    while todo:
        top = todo.pop()
        if top.children and top.children[0].name == "<=":
            found.append(top)
        else:
            todo += reversed(top.children or ())
    return found


def _heads(forms: tuple[Form, ...]) -> Iterator[tuple[Form, ...]]:
    for form in forms:
        inner = form.children or ()
        if len(inner) > 1 and inner[0].name == "<=":
            inner = inner[1].children or ()
        if inner and inner[0].name:
            yield inner


def _is_meant_as_gdl2(forms: tuple[Form, ...]) -> bool:
    heads = tuple(_heads(forms))
    roles = {head[1].name for head in heads if head[0].name.lower() == "role" and len(head) == 2}
    if any(role.lower() == "random" for role in roles):
        return True
    return any(
        head[0].name.lower() == "sees" and len(head) == 3 and (head[1].is_variable or head[1].name in roles)
        for head in heads
    )


def _with_keywords(form: Form, keywords: frozenset[str]) -> Form:
    """Return *form* with its keywords in lower case."""
    done: list[list[Form]] = [[]]
    todo: list[tuple[Form, bool]] = [(form, False)]
    while todo:
        top, is_complete = todo.pop()
        if top.children is None:
            lower = top.name.lower()
            is_keyword = lower in keywords and lower != top.name
            done[-1].append(Form(top.source, top.start, top.end, lower, None) if is_keyword else top)
        elif is_complete:
            children = tuple(done.pop())
            done[-1].append(Form(top.source, top.start, top.end, "", children))
        else:
            done.append([])
            todo.append((top, True))
            todo += ((child, False) for child in reversed(top.children))
    return done[0][0]


def rules_from(description: Description, facts: Iterable[Term]) -> str:
    """Return the text of *description*'s rules with the state of *facts* as the first one: all else is as it was.

    What each player perceived on the way is not part of a state: in GDL-II these rules reveal this state to every role.

    Example:
        >>> from gdl.language.kif import read_term
        >>> from gdl.language.rules import read_rules
        >>> rules = read_rules("(role a) (init (at 1)) (<= (next (at 2)) (true (at 1)))")
        >>> print(rules_from(rules, [read_term("(at 2)")]))
        (role a)  (<= (next (at 2)) (true (at 1)))
        (init (at 2))
    """
    text, end, kept = description.source.text, 0, []
    for rule in description.rules:
        if isinstance(rule.head.term, Compound) and rule.head.term.functor == "init":
            kept.append(text[end : rule.span.start])
            end = rule.span.end
    kept.append(text[end:].rstrip())
    return "\n".join(["".join(kept), *sorted(f"(init {fact})" for fact in facts)])
