"""The constants of a game renamed to nonsense, so that players cannot go by names; everything translates both ways."""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gdl.language.kif import words
from gdl.language.rules import Description
from gdl.language.syntax import GDL2_KEYWORDS, KEYWORDS
from gdl.language.terms import Compound, Constant, Term, Variable

_CONSONANTS: Final = "bdfgklmnprstvz"
_VOWELS: Final = "aeiou"
_SYLLABLES: Final = tuple(c + v for c in _CONSONANTS for v in _VOWELS)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
_NEVER_USED: Final = frozenset({"nil", "info", "ping", "preview", "start", "play", "stop", "abort", "ready", "done"})


class Scrambling:
    """New names for the constants and variables of one game, decided by *seed* alone.

    Keywords and numbers stay, and in GDL-II `sees` and `random`. No new name is the name of anything else, and no two
    differ in case alone, so that players who change the case do no harm. Names that the game does not have stay.

    Example:
        >>> from gdl.language.kif import read_term
        >>> from gdl.language.rules import read_rules
        >>> scrambling = Scrambling(read_rules("(init (cell 1 blank)) (role white)"), seed=1)
        >>> new = scrambling.scrambled(read_term("(cell 1 blank)"))
        >>> str(scrambling.original(new)), "blank" in str(new), "1" in str(new)
        ('(cell 1 blank)', False, True)
    """

    def __init__(self, description: Description, seed: int) -> None:
        self._keywords = KEYWORDS | GDL2_KEYWORDS if description.is_gdl2 else KEYWORDS
        names = dict.fromkeys(word for word in words(description.source.text) if not self._stays(word))
        taken = frozenset(map(str.lower, names)) | KEYWORDS | GDL2_KEYWORDS | _NEVER_USED
        self._new_names = _new_names(names, taken, seed)
        self._old_names = {new: old for old, new in self._new_names.items()}
        self._description = description

    def _stays(self, name: str) -> bool:
        return name in "()" or name.lower() in self._keywords or _NUMBER.fullmatch(name) is not None

    @property
    def names(self) -> Mapping[str, str]:
        """The new name of every constant and variable that has one."""
        return self._new_names

    def rules(self) -> str:
        """Return the rules under their new names, on one line, without comments."""
        text = " ".join(self._new_names.get(word, word) for word in words(self._description.source.text))
        return text.replace("( ", "(").replace(" )", ")")

    def scrambled(self, term: Term) -> Term:
        """Return *term* under the new names."""
        return _renamed(term, lambda name: self._new_names.get(name, name))

    def original(self, term: Term) -> Term:
        """Return *term*, which a player said in whatever case, under the game's own names."""
        return _renamed(term, lambda name: self._old_names.get(name.lower(), name))


def _new_names(names: Iterable[str], taken: frozenset[str], seed: int) -> dict[str, str]:
    generator = random.Random(seed)
    nonsense = _nonsense(generator, taken)
    olds = list(names)
    generator.shuffle(olds)
    return {old: f"?{new}" if old.startswith("?") else new for old, new in zip(olds, nonsense, strict=False)}


def _nonsense(generator: random.Random, taken: frozenset[str]) -> Iterator[str]:
    """Yield words of three syllables and, when these become rare, of more, each once."""
    used = set(taken)
    n_syllables, n_failed = 3, 0
    while True:
        word = "".join(generator.choices(_SYLLABLES, k=n_syllables))
        if word in used or f"?{word}" in used:
            n_failed += 1
            n_syllables += n_failed % 100 == 0
            continue
        used.add(word)
        yield word


def _renamed(term: Term, rename: Callable[[str], str]) -> Term:
    """Return *term* with every name replaced; terms may nest deeper than Python's stack."""
    done: list[list[Term]] = [[]]
    todo: list[tuple[Term, bool]] = [(term, False)]
    while todo:
        top, is_complete = todo.pop()
        if isinstance(top, Constant):
            done[-1].append(Constant(rename(top.name)))
        elif isinstance(top, Variable):
            done[-1].append(Variable(rename(top.name)))
        elif is_complete:
            arguments = tuple(done.pop())
            done[-1].append(Compound(rename(top.functor), arguments))
        else:
            done.append([])
            todo.append((top, True))
            todo += ((argument, False) for argument in reversed(top.arguments))
    return done[0][0]
