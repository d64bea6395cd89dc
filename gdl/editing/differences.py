"""Two rule files compared by meaning: their rules in normal form, and which rules are new, gone or changed.

In normal form variables are renamed by their order, and conditions sorted, so that equal texts are equal rules. What is
equal here means the same; a rule that means the same in other words may be another one here.
"""

import difflib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gdl.language.kif import words
from gdl.language.rules import Description
from gdl.language.syntax import And, Atom, Condition, Distinct, Not, Or, Rule
from gdl.language.terms import signature

_MOST_ORDERED: Final = 60
_MOST_LETTERS: Final = 20_000
"""Up to how many conditions, and characters, a body's conditions are ordered by the names that earlier ones give; those
of a larger one are sorted once."""
_UNNAMED: Final = "?~"
"""What a variable without a name is called where conditions are ordered: it comes after those that have one."""


def normal_text(rule: Rule) -> str:
    """Return *rule* as a text that names of variables and the order of conditions do not change.

    Example:
        >>> from gdl.language.rules import read_rules
        >>> rules = read_rules("(<= (p ?a) (q ?a ?b) (distinct ?b c)) (<= (p ?y) (distinct c ?z) (q ?y ?z))").rules
        >>> [normal_text(rule) for rule in rules]
        ['(<= (p ?1) (distinct ?2 c) (q ?1 ?2))', '(<= (p ?1) (distinct ?2 c) (q ?1 ?2))']
    """
    names: dict[str, str] = {}
    head = list(words(str(rule.head.term)))
    _name(head, names)
    left = list(_flat(rule.body))
    if not left:
        return _renamed(head, names)
    is_small = len(left) <= _MOST_ORDERED and rule.span.end - rule.span.start <= _MOST_LETTERS
    for condition in _ordered(left, names) if is_small else sorted(left, key=lambda one: _text(one, names)):
        _name(_in_order(condition, names), names)
    return f"(<= {_renamed(head, names)} {' '.join(sorted(_text(one, names) for one in left))})"


def _flat(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Yield conditions that must all hold, each alone."""
    for condition in conditions:
        if isinstance(condition, And):
            yield from _flat(condition.parts)
        else:
            yield condition


def _ordered(conditions: Sequence[Condition], names: dict[str, str]) -> Iterator[Condition]:
    """Yield *conditions*, each the first by its text as *names*, which grow meanwhile, write it."""
    left = list(conditions)
    while left:
        first = min(left, key=lambda one: _text(one, names))
        left.remove(first)
        yield first


def _in_order(condition: Condition, names: dict[str, str]) -> list[str]:
    """Return the words of *condition* with the variables as the file has them, its parts in the order of `_text`."""
    if isinstance(condition, Atom):
        return list(words(str(condition.term)))
    if isinstance(condition, Not):
        return _in_order(condition.inner, names)
    if isinstance(condition, Distinct):
        sides = [list(words(str(side))) for side in (condition.left, condition.right)]
        return [word for side in sorted(sides, key=lambda side: _renamed(side, names)) for word in side]
    parts = sorted(condition.parts, key=lambda part: _text(part, names))
    return [word for part in parts for word in _in_order(part, names)]


def _name(found: Iterable[str], names: dict[str, str]) -> None:
    for word in found:
        if word[0] == "?":
            names.setdefault(word, f"?{len(names) + 1}")


def _text(condition: Condition, names: dict[str, str]) -> str:
    """Return *condition* with the variables that have *names* renamed, all others alike, and its parts sorted."""
    if isinstance(condition, Atom):
        return _renamed(words(str(condition.term)), names)
    if isinstance(condition, Distinct):
        sides = sorted(_renamed(words(str(side)), names) for side in (condition.left, condition.right))
        return f"(distinct {' '.join(sides)})"
    if isinstance(condition, Not):
        return f"(not {_text(condition.inner, names)})"
    word = "or" if isinstance(condition, Or) else "and"
    return f"({word} {' '.join(sorted(_text(part, names) for part in condition.parts))})"


def _renamed(found: Iterable[str], names: dict[str, str]) -> str:
    pieces: list[str] = []
    for word in found:
        if pieces and word != ")" and pieces[-1] != "(":
            pieces.append(" ")
        pieces.append(names.get(word, _UNNAMED) if word[0] == "?" else word)
    return "".join(pieces)


def normal_sha256(description: Description) -> str:
    """Return the SHA-256 of all rules in normal form, whatever their order, in hex digits."""
    texts = sorted({normal_text(rule) for rule in description.rules})
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()


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
