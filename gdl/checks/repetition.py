"""What the text of a file tells and plays show again: a report keeps one of two findings about the same thing."""

import re
from collections.abc import Collection, Mapping
from typing import Final, TypeAlias

from gdl.diagnostics import Diagnostic, Span

_TOLD_BY: Final[Mapping[str, str]] = {
    # These list all places, and know what is misspelt.
    "gdl/undeclared-fluent": "gdl/fluent-without-base",
    "gdl/undeclared-move": "gdl/move-without-input",
    # This one lists all places, too, and knows which declaration is misspelt.
    "gdl/no-such-role": "gdl/undeclared-role",
    # These are errors: that a rule is missing does harm in play.
    "gdl/role-without-goal": "gdl/no-goal",
    "gdl/role-without-legal": "gdl/no-legal-move",
}
"""Codes, each with the one that tells the same, and better, where both are found of one fluent, move or role."""
_CODES: Final = frozenset({*_TOLD_BY, *_TOLD_BY.values()})
_NAME: Final = re.compile(r"\(?\s*(?:role\s+)?([^\s()]+)")

_Subject: TypeAlias = tuple[str, bool]
"""A name in lower case, and whether it stands in parentheses, as one with arguments does."""


def repetitions(found: Collection[Diagnostic]) -> dict[Diagnostic, Diagnostic]:
    """Return those of *found* that say the same as another one of them, each with that one, which says it better."""
    paired = [(one, _subject(one.span)) for one in found if one.code.name in _CODES]
    first: dict[tuple[str, _Subject], Diagnostic] = {}
    for one, subject in paired:
        first.setdefault((one.code.name, subject), one)
    better = ((one, first.get((_TOLD_BY.get(one.code.name, ""), subject))) for one, subject in paired)
    return {one: other for one, other in better if other is not None}


def _subject(span: Span) -> _Subject:
    """Return what the fluent, the move, or the fact of a role at *span* is about."""
    name = _NAME.match(span.text)
    return ("" if name is None else name[1].lower(), span.text.startswith("("))
