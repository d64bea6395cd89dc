"""Forms to rules: facts and rules with their conditions, keywords in lower case, every part with its place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from gdl.errors import KifSyntaxError, MalformedRuleError
from gdl.kif import DEFAULT_LIMITS, Form, ReadLimits, read_forms, term_of
from gdl.source import Source, Span
from gdl.terms import Compound, Constant, Term, Variable, signature

ARITIES: Final = {
    "role": 1, "init": 1, "true": 1, "next": 1, "does": 2, "legal": 2, "goal": 2, "terminal": 0, "base": 1, "input": 2,
}  # fmt: skip
"""The relations that GDL-I gives a meaning, with their numbers of arguments."""

CONNECTIVES: Final = frozenset({"<=", "not", "and", "or", "distinct"})
KEYWORDS: Final = frozenset(ARITIES) | CONNECTIVES
GDL2_KEYWORDS: Final = frozenset({"sees", "random"})
MAX_CONDITION_DEPTH: Final = 100
"""How deep `or`, `and` and `not` may nest."""


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


@dataclass(frozen=True)
class Description:
    """A rule file: its rules in order, and whether it is meant as GDL-II."""

    source: Source = field(compare=False, repr=False)
    rules: tuple[Rule, ...]
    is_gdl2: bool

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text, in hex digits."""
        return hashlib.sha256(self.source.text.encode()).hexdigest()


def read_file(path: Path, limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None) -> Description:
    """Return the rules that the file at *path* holds: UTF-8, else Latin-1.

    Raises:
        OSError: the file cannot be read.
        RuleFileError: as `read_rules`.
    """
    if path.stat().st_size > 4 * limits.max_characters:
        message = f"the file has {path.stat().st_size:,} bytes, more than {limits.max_characters:,} characters"
        raise KifSyntaxError(message, Span(Source(str(path), ""), 0, 0))
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return read_rules(text, str(path), limits, is_gdl2=is_gdl2)


def read_rules(
    text: str, name: str = "<rules>", limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None
) -> Description:
    """Return the rules that *text* holds; *name* is what errors call it.

    *is_gdl2* None leaves it to the text: GDL-II has `(role random)`, or `sees` with a role and a percept.

    Raises:
        KifSyntaxError: the text is no sequence of balanced forms within *limits*.
        MalformedRuleError: a form is neither a fact nor a rule, or misuses a keyword.
    """
    forms = read_forms(Source(name, text), limits)
    if is_gdl2 is None:
        is_gdl2 = _is_meant_as_gdl2(forms)
    keywords = KEYWORDS | GDL2_KEYWORDS if is_gdl2 else KEYWORDS
    rules = tuple(_rule(_with_keywords(form, keywords)) for form in forms)
    return Description(Source(name, text), rules, is_gdl2)


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


def _rule(form: Form) -> Rule:
    children = form.children
    if children and children[0].name == "<=":
        if len(children) == 1:
            raise MalformedRuleError("a rule without a head", form.span, "write (<= head condition ...)")
        body = tuple(_condition(child, 0) for child in children[2:])
        return Rule(_head(children[1]), body, form.span)
    return Rule(_head(form), (), form.span)


def _head(form: Form) -> Atom:
    atom = _atom(form)
    name = signature(atom.term)[0]
    if name in CONNECTIVES or name in ("true", "does"):
        raise MalformedRuleError(
            f"`{name}` in the place of a fact or a head", form.span, "a fact or a head is a relation over terms"
        )
    return atom


def _condition(form: Form, depth: int) -> Condition:
    children = form.children
    name = children[0].name if children else form.name
    if name not in CONNECTIVES:
        return _atom(form)
    if depth >= MAX_CONDITION_DEPTH:
        raise MalformedRuleError(f"conditions nest deeper than {MAX_CONDITION_DEPTH}", form.span)
    parts = (children or ())[1:]
    if name == "<=":
        raise MalformedRuleError("a rule inside a rule", form.span, "is a closing parenthesis missing before it?")
    if name == "distinct":
        left, right = (term_of(part) for part in _exactly(2, form, parts))
        return Distinct(left, right, form.span)
    if name == "not":
        return Not(_condition(_exactly(1, form, parts)[0], depth + 1), form.span)
    inner = tuple(_condition(part, depth + 1) for part in parts)
    return And(inner, form.span) if name == "and" else Or(inner, form.span)


def _exactly(n: int, form: Form, parts: tuple[Form, ...]) -> tuple[Form, ...]:
    if len(parts) != n:
        what = (form.children or (form,))[0].name
        raise MalformedRuleError(f"`{what}` takes {n}, but {len(parts)} given", form.span)
    return parts


def _atom(form: Form) -> Atom:
    term = term_of(form)
    if isinstance(term, Variable):
        raise MalformedRuleError("a variable in the place of a relation", form.span, "write (relation argument ...)")
    name, arity = signature(term)
    if ARITIES.get(name, arity) != arity:
        raise MalformedRuleError(
            f"`{name}` takes {ARITIES[name]} arguments, but {arity} given",
            form.span,
            "look for a misplaced parenthesis",
        )
    return Atom(term, form.span)
