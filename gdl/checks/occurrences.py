"""Every name of a rule file where it stands: as a relation, as a function, as an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from gdl.kif import Form


class Kind(StrEnum):
    """What a name is used as, in the words of a message."""

    RELATION = "a relation"
    FUNCTION = "a function"
    OBJECT = "an object"


class Use(NamedTuple):
    """A name as one kind of thing with one number of arguments."""

    kind: Kind
    name: str
    arity: int


def occurrences(forms: Iterable[Form]) -> Mapping[Use, list[Form]]:
    """Return the tokens of *forms*, facts and rules, by what they are used as, in the order of the text.

    Variables and connectives are left out; `p` and `(p)` are the same.
    """
    found: dict[Use, list[Form]] = {}
    for form in forms:
        _visit_sentence(form, found)
    return found


def _visit_sentence(form: Form, found: dict[Use, list[Form]]) -> None:
    todo = [form]
    while todo:
        top = todo.pop()
        name = top.children[0].name if top.children else top.name
        if name == "distinct":
            _visit_terms(_arguments(top), found)
        elif name in ("<=", "not", "and", "or"):
            todo += reversed(_arguments(top))
        else:
            _note(Kind.RELATION, top, found)
            _visit_terms(_arguments(top), found)


def _visit_terms(forms: Iterable[Form], found: dict[Use, list[Form]]) -> None:
    todo = list(forms)
    todo.reverse()
    while todo:
        top = todo.pop()
        children = top.children
        if children is not None and len(children) > 1:
            _note(Kind.FUNCTION, top, found)
            todo += reversed(children[1:])
        elif not top.is_variable:
            _note(Kind.OBJECT, top, found)


def _note(kind: Kind, form: Form, found: dict[Use, list[Form]]) -> None:
    if form.children is None:
        found.setdefault(Use(kind, form.name, 0), []).append(form)
    else:
        token = form.children[0]
        found.setdefault(Use(kind, token.name, len(form.children) - 1), []).append(token)


def _arguments(form: Form) -> tuple[Form, ...]:
    return form.children[1:] if form.children else ()
