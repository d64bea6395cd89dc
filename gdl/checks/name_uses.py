"""Every name of a rule file by what it is used as: a relation, a function, an object, with how many arguments."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from gdl.language.kif import Form
from gdl.quantities import quantity


class NameKind(StrEnum):
    """What a name is used as, in the words of a message."""

    RELATION = "a relation"
    FUNCTION = "a function"
    OBJECT = "an object"


class NameUse(NamedTuple):
    """A name as one kind of thing with one number of arguments."""

    kind: NameKind
    name: str
    arity: int


def arguments_in_words(arity: int) -> str:
    """Return how many arguments a name stands with, as messages say it.

    Example:
        >>> arguments_in_words(0), arguments_in_words(1), arguments_in_words(2)
        ('no argument', '1 argument', '2 arguments')
    """
    return quantity(arity, "argument") if arity else "no argument"


def occurrences(forms: Iterable[Form]) -> Mapping[NameUse, list[Form]]:
    """Return the tokens of *forms*, facts and rules, by what they are used as, in the order of the text.

    Variables and connectives are left out; `p` and `(p)` are the same.
    """
    found: dict[NameUse, list[Form]] = {}
    for form in forms:
        _visit_sentence(form, found)
    return found


def _visit_sentence(form: Form, found: dict[NameUse, list[Form]]) -> None:
    todo = [form]
    while todo:
        top = todo.pop()
        name = top.children[0].name if top.children else top.name
        if name == "distinct":
            _visit_terms(_arguments(top), found)
        elif name in ("<=", "not", "and", "or"):
            todo += reversed(_arguments(top))
        else:
            _note(NameKind.RELATION, top, found)
            _visit_terms(_arguments(top), found)


def _visit_terms(forms: Iterable[Form], found: dict[NameUse, list[Form]]) -> None:
    todo = list(forms)
    todo.reverse()
    while todo:
        top = todo.pop()
        children = top.children
        if children is not None and len(children) > 1:
            _note(NameKind.FUNCTION, top, found)
            todo += reversed(children[1:])
        elif not top.is_variable:
            _note(NameKind.OBJECT, top, found)


def _note(kind: NameKind, form: Form, found: dict[NameUse, list[Form]]) -> None:
    if form.children is None:
        found.setdefault(NameUse(kind, form.name, 0), []).append(form)
    else:
        token = form.children[0]
        found.setdefault(NameUse(kind, token.name, len(form.children) - 1), []).append(token)


def _arguments(form: Form) -> tuple[Form, ...]:
    return form.children[1:] if form.children else ()
