"""Whether every name is spelt in one way (check 13)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from gdl.checks.subject import Subject
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.kif import Form


def capitalisation(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names of which two spellings differ only in upper and lower case, at the rarer one."""
    for spellings in spellings_by_name(subject).values():
        usual, *others = sorted(spellings.values(), key=lambda forms: (-len(forms), forms[0].start))
        for forms in others:
            message = f"{forms[0].name} and {usual[0].name} differ only in upper and lower case"
            hint = f"write {usual[0].name} everywhere: some players take the two for one name, some do not"
            related = [Related(usual[0].span, f"{usual[0].name} here")]
            yield diagnostic("capitalisation", forms[0].span, message, hint, related)


def variable_capitalisation(subject: Subject) -> Iterator[Diagnostic]:
    """Yield variables of one rule that differ only in upper and lower case, at the one that comes later."""
    for form in subject.forms:
        first: dict[str, Form] = {}
        told: set[str] = set()
        for variable in _variables(form):
            other = first.setdefault(variable.name.lower(), variable)
            if variable.name not in {other.name} | told:
                told.add(variable.name)
                message = f"{variable.name} and {other.name} are two variables that differ only in upper and lower case"
                related = [Related(other.span, f"{other.name} here")]
                hint = "give one of them another name; or the same name, if they are meant to be one"
                yield diagnostic("variable-capitalisation", variable.span, message, hint, related)


def _variables(form: Form) -> Iterator[Form]:
    todo = [form]
    while todo:
        top = todo.pop()
        if top.is_variable:
            yield top
        todo += reversed(top.children or ())


def spellings_by_name(subject: Subject) -> dict[str, dict[str, list[Form]]]:
    """Return where each spelling of each name stands, by the name in lower case."""
    found: dict[str, dict[str, list[Form]]] = defaultdict(lambda: defaultdict(list))
    for use, forms in subject.occurrences.items():
        found[use.name.lower()][use.name] += forms
    for spellings in found.values():
        for forms in spellings.values():
            forms.sort(key=lambda form: form.start)
    return found
