"""A rule file that fails, made as small as fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from tests.kit.gdl.oracle import Tree, text_of, trees

Fails: TypeAlias = Callable[[str], bool]

MAX_TRIES: Final = 600


def shrunk(text: str, fails: Fails, max_seconds: float, clock: Callable[[], float] = time.monotonic) -> str:
    """Return the rules *text* without rules and conditions that the failure does not need, as far as time allows."""
    rules = trees(text)
    end_s = clock() + max_seconds
    n_tries = 0

    def still_fails(candidate: list[Tree]) -> bool:
        nonlocal n_tries
        n_tries += 1
        return n_tries <= MAX_TRIES and clock() < end_s and fails(_written(candidate))

    size = len(rules)
    while size:
        smaller = _without_some(rules, size, still_fails)
        size = size // 2 if len(smaller) == len(rules) or size > len(smaller) else size
        rules = smaller
    while True:
        found = next((candidate for candidate in _with_less(rules) if still_fails(candidate)), None)
        if found is None:
            return _written(rules)
        rules = found


def _written(rules: list[Tree]) -> str:
    return "".join(f"{text_of(rule)}\n" for rule in rules)


def _without_some(rules: list[Tree], size: int, still_fails: Callable[[list[Tree]], bool]) -> list[Tree]:
    """Return *rules* without the runs of *size* rules that are not needed."""
    first = 0
    while first < len(rules):
        candidate = rules[:first] + rules[first + size :]
        if still_fails(candidate):
            rules = candidate
        else:
            first += size
    return rules


def _with_less(rules: list[Tree]) -> Iterator[list[Tree]]:
    """Yield the rules with one rule or one condition less."""
    for i, rule in enumerate(rules):
        yield rules[:i] + rules[i + 1 :]
        if rule[0] == "<=":
            for k in range(2, len(rule)):
                shorter = rule[:k] + rule[k + 1 :]
                yield [*rules[:i], shorter if len(shorter) > 2 else shorter[1], *rules[i + 1 :]]
