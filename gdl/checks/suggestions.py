"""Names that checks suggest, and how messages show those of a file: which is likely meant, where else one stands."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from gdl.diagnostics import Related, Span
from gdl.language.syntax import Rule

_LONGEST: Final = 40
_SHORTEST: Final = 3
"""Names of how many characters are found by one more, less or other."""
_MOST_NAMES: Final = 5_000
"""Of how many names the near misses are kept."""

_MOST_PLACES: Final = 3
_MOST_CHARACTERS: Final = 40
_LONGEST_RULE: Final = 10_000
"""In how many characters a variable is looked for that may be meant."""


class Spellings:
    """Some names, found by near misses: one character more, less or other, two exchanged, or other `_` and case.

    Takes linear time, as a hostile file may misspell every name.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_key: dict[str, list[str]] = defaultdict(list)
        for name in islice(dict.fromkeys(names), _MOST_NAMES):
            for key in _keys(name):
                self._by_key[key].append(name)

    def near(self, name: str) -> str | None:
        """Return the name that is most likely meant by *name*, if one is near."""
        for key in _keys(name):
            for found in self._by_key.get(key, ()):
                if found != name:
                    return found
        return None


def _keys(name: str) -> Iterator[str]:
    plain = name.lower().replace("_", "").replace("-", "")
    yield plain
    if _SHORTEST <= len(plain) <= _LONGEST:
        for i in range(len(plain)):
            yield plain[:i] + plain[i + 1 :]


class KnownNames:
    """Names without regard to upper and lower case, which another check reports."""

    def __init__(self, *names: Iterable[str]) -> None:
        self._names = {name.lower() for some in names for name in some}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._names


def did_you_mean(name: str | None, otherwise: str) -> str:
    """Return a hint that proposes *name*, or the hint *otherwise* where there is none."""
    return otherwise if name is None else f"did you mean {name}?"


def as_variable(name: str, rule: Rule) -> str | None:
    """Return the variable of *rule* that is *name* behind a question mark, if it has it."""
    text = rule.span.text[:_LONGEST_RULE]
    variable = f"?{name}"
    return variable if variable in text.replace("(", " ").replace(")", " ").split() else None


def also_here(name: str, places: Sequence[Span]) -> list[Related]:
    """Return some of the further places of *name*, of which the diagnostic itself names the first."""
    return [Related(place, f"{name} is here, too") for place in places[1 : 1 + _MOST_PLACES]]


def short(text: str) -> str:
    """Return *text* as messages show it: of a long one the beginning."""
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
