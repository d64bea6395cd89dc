"""Rules of the same game that begin in another position."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.rules import Description
from gdl.terms import Compound, Term


def rules_from(description: Description, facts: Iterable[Term]) -> str:
    """Return the text of *description*'s rules with the state of *facts* as the first one: all else is as it was.

    What each player perceived on the way is not part of a state: in GDL-II everybody is told this state.

    Example:
        >>> from gdl.kif import read_term
        >>> from gdl.rules import read_rules
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
