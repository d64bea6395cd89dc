"""Whether a file is made of facts and rules, and whether what every game needs is there (checks 1, 2, 9, 12)."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from gdl.checks.subject import Subject
from gdl.diagnostics import Diagnostic, diagnostic
from gdl.kif import Form
from gdl.rules import And, Atom, Condition, Distinct, Not, Or
from gdl.source import Span

_NEEDED: Final = {
    "role": "no role is declared: nobody plays this game",
    "init": "nothing is true at first: no `init`",
    "legal": "no move is ever legal: no `legal`",
    "goal": "nobody ever gets points: no `goal`",
    "terminal": "the game never ends: no `terminal`",
}
_EXAMPLES: Final = {
    "role": "(role white)",
    "init": "(init (control white))",
    "legal": "(<= (legal ?role noop) (role ?role))",
    "goal": "(<= (goal ?role 100) (wins ?role))",
    "terminal": "(<= terminal (wins ?role))",
}


def missing_relations(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what every game defines and this one does not."""
    whole = Span(subject.source, 0, 0)
    if not subject.forms and not subject.broken:
        if subject.is_whole:
            yield diagnostic("no-rules", whole, "there is no rule in this file", "start with (role white)")
        return
    heads = _heads(subject)
    for name, near in needed_and_missing(subject).items():
        hint = f"add for example {_EXAMPLES[name]}" if near is None else f"should {near} be {name}?"
        place = whole if near is None else _head(heads[near]).span
        yield diagnostic(f"missing-{name}", place, _NEEDED[name], hint)


def needed_and_missing(subject: Subject) -> dict[str, str | None]:
    """Return the relations that every game defines and this one does not, with what is likely a misspelling of each."""
    heads = _heads(subject)
    intended = {name for form in subject.broken for name in _names(form)}
    missing = [name for name in _NEEDED if name not in heads and name not in intended]
    others = set(heads) - set(_NEEDED)
    return {name: next(iter(get_close_matches(name, others, 1, 0.7)), None) for name in missing}


def _heads(subject: Subject) -> dict[str, Form]:
    """Return the first fact or rule of every relation, by name."""
    return {name: form for form in reversed(subject.forms) for name in [_head_name(form)]}


def _head_name(form: Form) -> str:
    return _head(form).name


def _head(form: Form) -> Form:
    children = form.children or (form,)
    head = children[1] if children[0].name == "<=" else form
    return head.children[0] if head.children else head


def stray_words(subject: Subject) -> Iterator[Diagnostic]:
    """Yield lines of words outside of parentheses, as a comment without its semicolon leaves them."""
    for words in subject.stray:
        span = Span(subject.source, words[0].start, words[-1].end)
        hint = "a comment begins with a semicolon; what holds stands in parentheses: (name argument ...)"
        yield diagnostic("stray-words", span, "words outside of parentheses", hint)


def _names(form: Form) -> Iterator[str]:
    todo = [form]
    while todo:
        top = todo.pop()
        if top.children is None:
            yield top.name.lower()
        todo += top.children or ()


def empty_bodies(subject: Subject) -> Iterator[Diagnostic]:
    """Yield rules without conditions."""
    for form in subject.forms:
        if form.children and form.children[0].name == "<=" and len(form.children) == 2:
            head = form.children[1].span
            yield diagnostic(
                "empty-body",
                form.span,
                "this rule has no condition",
                f"write it as a fact: {head.text if len(head.text) < 60 else 'its head alone'}",
            )


def lone_names_in_parentheses(subject: Subject) -> Iterator[Diagnostic]:
    """Yield propositions and objects written as `(p)`."""
    for form in subject.forms:
        todo = [form]
        while todo:
            top = todo.pop()
            children = top.children or ()
            if len(children) == 1 and children[0].name not in ("and", "or"):
                name = children[0].name
                message = f"({name}) is the same as {name}, but some players take them for two things"
                yield diagnostic("lone-name-in-parentheses", top.span, message, f"write {name}")
            todo += [child for child in children if child.children is not None]


def open_facts(subject: Subject) -> Iterator[Diagnostic]:
    """Yield facts with variables, at the first one."""
    for form, rule in zip(subject.forms, subject.rules, strict=True):
        if not rule.body and not rule.head.term.is_ground:
            found = _variables(form)
            names = ", ".join(variable.name for variable in found[:5]) + (" ..." if len(found) > 5 else "")
            message = (
                f"the variable{'s' if len(found) > 1 else ''} {names} in a fact: a fact holds names and numbers only"
            )
            hint = f"write names in place of {names}, or a rule with conditions that list them"
            yield diagnostic("open-fact", found[0].span, message, hint)


def _variables(form: Form) -> list[Form]:
    first: dict[str, Form] = {}
    todo = [form]
    while todo:
        top = todo.pop()
        if top.is_variable:
            first.setdefault(top.name, top)
        todo += reversed(top.children or ())
    return list(first.values())


def misplaced_connectives(subject: Subject) -> Iterator[Diagnostic]:
    """Yield `or` and `and` without conditions, and `not` over anything but a relation."""
    for rule in subject.rules:
        for condition in rule.body:
            yield from _misplaced(condition)


def _misplaced(condition: Condition) -> Iterator[Diagnostic]:
    match condition:
        case Not(inner):
            if not isinstance(inner, Atom):
                yield _negated(condition, inner)
            yield from _misplaced(inner)
        case And(parts) | Or(parts):
            name = "and" if isinstance(condition, And) else "or"
            if not parts:
                truth = "always" if name == "and" else "never"
                message = f"`{name}` without conditions, which {truth} holds"
                yield diagnostic("empty-connective", condition.span, message, "put conditions in, or delete it")
            for part in parts:
                yield from _misplaced(part)


def _negated(outer: Not, inner: Condition) -> Diagnostic:
    match inner:
        case Distinct(left, right):
            message = "`not` over `distinct`: two terms that are not distinct are equal"
            hint = f"write the same term for both, instead of {left} and {right}"
            return diagnostic("not-over-distinct", outer.span, message, hint)
        case Not(innermost):
            hint = f"write {innermost.span.text}" if len(innermost.span.text) < 60 else "delete both"
            return diagnostic("not-over-not", outer.span, "`not` over `not`", hint)
        case And():
            hint = "write (or (not ...) (not ...))"
            return diagnostic("not-over-connective", outer.span, "`not` over `and`", hint)
        case _:
            hint = "write (not ...) for each of the conditions"
            return diagnostic("not-over-connective", outer.span, "`not` over `or`", hint)
