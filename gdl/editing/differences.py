"""Two rule files compared by meaning: which rules are new, gone or changed, whatever their order and variables."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gdl.language.normalization import normal_text
from gdl.language.rules import Description
from gdl.language.sentences import Rule
from gdl.language.terms import signature

_LEAST_ALIKE: Final = 0.5
"""From how alike on, from 0 to 1, two rules of one relation are the same rule, changed."""
_MOST_COMPARED: Final = 20_000
"""How many pairs of rules are compared at most; beyond, rules are gone and new rather than changed."""
_MOST_CHARACTERS: Final = 2_000
"""How much of a rule is compared."""
_STRUCTURE: Final = str.maketrans("()", "  ")
"""What all rules have in common."""


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule that is another one now: `old` is None where it is new, `new` is None where it is gone."""

    old: Rule | None
    new: Rule | None

    @property
    def kind(self) -> str:
        """What became of it: added, removed or changed."""
        return "added" if self.old is None else "removed" if self.new is None else "changed"

    @property
    def relation(self) -> str:
        """The relation that the rule is of."""
        rule = self.new or self.old
        assert rule is not None
        return signature(rule.head.term)[0]


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """What differs between two rule files: changes, by place, and how many rules are the same."""

    changes: tuple[RuleChange, ...]
    n_same: int

    def of_kind(self, kind: str) -> tuple[RuleChange, ...]:
        """Return the changes of that kind."""
        return tuple(change for change in self.changes if change.kind == kind)


def difference(old: Description, new: Description) -> RuleDifference:
    """Return what differs between *old* and *new*: rules are equal where their normal forms are.

    Of those that are not, rules of one relation are matched that are most alike. A rule that stands there twice is one.

    Example:
        >>> from gdl.language.rules import read_rules
        >>> old = read_rules("(role a) (<= (p ?x) (q ?x) (r ?x)) (q 1)")
        >>> new = read_rules("(<= (p ?y) (r ?y) (q ?y) (distinct ?y 1)) (role a) (q 2)")
        >>> [(change.kind, str(change.relation)) for change in difference(old, new).changes]
        [('changed', 'p'), ('added', 'q'), ('removed', 'q')]
    """
    olds, news = _by_text(old.rules), _by_text(new.rules)
    gone = {text: rule for text, rule in olds.items() if text not in news}
    come = {text: rule for text, rule in news.items() if text not in olds}
    pairs = _pairs(gone, come)
    changes = [RuleChange(gone.pop(first), come.pop(second)) for first, second in pairs]
    changes += [RuleChange(None, rule) for rule in come.values()]
    changes += [RuleChange(rule, None) for rule in gone.values()]
    return RuleDifference(tuple(sorted(changes, key=_place)), len(olds.keys() & news.keys()))


def _by_text(rules: Iterable[Rule]) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for rule in rules:
        found.setdefault(normal_text(rule), rule)
    return found


def _place(change: RuleChange) -> tuple[int, int]:
    """Return where *change* is listed: by the new file, what is gone at the end."""
    return (0, change.new.span.start) if change.new is not None else (1, change.old.span.start if change.old else 0)


def _pairs(gone: dict[str, Rule], come: dict[str, Rule]) -> list[tuple[str, str]]:
    """Return the normal texts of rules that were changed, old and new: the most alike of each relation first."""
    relations: dict[tuple[str, int, bool], list[str]] = defaultdict(list)
    for text, rule in come.items():
        relations[_relation(rule)].append(text)
    scored: list[tuple[float, str, str]] = []
    n_left = _MOST_COMPARED
    for text, rule in gone.items():
        others = relations[_relation(rule)] if rule.body else []  # a fact that is another one was not changed
        n_left -= len(others)
        if n_left < 0:
            break
        scored += [(_likeness(text, other), text, other) for other in others]
    taken: set[tuple[bool, str]] = set()
    pairs = []
    for score, first, second in sorted(scored, reverse=True):
        if score >= _LEAST_ALIKE and not taken & {(False, first), (True, second)}:
            taken |= {(False, first), (True, second)}
            pairs.append((first, second))
    return pairs


def _relation(rule: Rule) -> tuple[str, int, bool]:
    return (*signature(rule.head.term), bool(rule.body))


def _likeness(first: str, second: str) -> float:
    """Return how alike two rules are, from 0 to 1: the share of words that they have in common."""
    one, other = (Counter(text[:_MOST_CHARACTERS].translate(_STRUCTURE).split()[1:]) for text in (first, second))
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def changed_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the lines of *old* and *new*, each with `-`, `+` or a blank before it.

    Only whole lines are compared: looking into lines that are alike would take time that is cubic in their number.

    >>> changed_lines(["a", "b"], ["a", "c"])
    [' a', '-b', '+c']
    """
    found: list[str] = []
    for kind, i, i_end, j, j_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            found += [f" {line}" for line in old[i:i_end]]
        else:
            found += [f"-{line}" for line in old[i:i_end]]
            found += [f"+{line}" for line in new[j:j_end]]
    return found
