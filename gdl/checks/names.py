"""Whether every relation that is used is defined, and every name spelt in one way."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from gdl.checks.structure import needed_and_missing
from gdl.checks.subject import Subject, part
from gdl.checks.suggestions import KnownNames, Spellings, also_here, did_you_mean
from gdl.diagnostics import Diagnostic, Related, diagnostic
from gdl.language.kif import BRACKETS_HINT, OTHER_BRACKETS, UNEQUAL, Form
from gdl.language.syntax import GDL2_KEYWORDS, KEYWORDS, Rule
from gdl.language.terms import Compound, Signature, Variable, signature

_UNUSUAL: Final = re.compile("[^A-Za-z0-9_-]")
_UNUSUAL_IN_VARIABLE: Final = re.compile(r"[^A-Za-z0-9!$%&*+\-./<=>?_~]")
"""No variable leaves the program that reads it: all that KIF 3.0 allows is harmless there, and `?n++` is customary."""

_MOST_SHOWN: Final = 5
_INSTEAD: Final = tuple(
    (re.compile(among), hint)
    for among, hint in (
        (",", "leave the comma out: blanks alone separate"),
        (OTHER_BRACKETS, BRACKETS_HINT),
        ("[\"'`\u2018-\u201f\u00ab\u00bb]", "leave the quotation marks out: a name stands as it is"),
        (r"\s", "write a blank of the keyboard in its place"),
        ("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]", "delete the character, which cannot be seen"),
    )
)
"""Characters that are in a text by mistake, and what to write instead."""

_WORDS: Final = KEYWORDS | GDL2_KEYWORDS
"""Another check reports words of GDL-II in a file of GDL-I."""

_COUNTING: Final = frozenset(("+", "*", "/", "%"))
"""Signs of arithmetic that are no signs of a name."""

_NO_ARITHMETIC: Final = "there is no arithmetic: list in facts which number follows which, as (succ 1 2)"
_OPERATORS: Final = {
    **dict.fromkeys(("=", "=="), "write one term in both places, or (distinct a b) for what must differ"),
    **dict.fromkeys(UNEQUAL, "did you mean distinct?"),
    **dict.fromkeys(("~", "!", "¬", "-"), "did you mean not?"),
    **dict.fromkeys(("<", ">", ">=", "=<", "≥", "≤"), "there is no arithmetic: list in facts which numbers are so"),
    "is": _NO_ARITHMETIC,
    **dict.fromkeys(("&", "&&", "∧", ",", ":-"), "leave it out: the conditions of a rule stand one behind the other"),
    **dict.fromkeys(("||", "|"), "write (or condition condition)"),
}
"""What to write instead of the operators of other languages."""

_GIVEN: Final = ("role", "init", "next", "legal", "goal", "terminal", "base", "input")
_ASKED: Final = ("true", "does", "not", "distinct", "role", "legal", "goal", "terminal")
"""The words that begin heads, and those that begin conditions."""


def undefined_relations(subject: Subject) -> Iterator[Diagnostic]:
    """Yield relations that conditions ask for and no fact or rule gives."""
    own = _own_relations(subject)
    spellings, words = Spellings(own), Spellings(_ASKED)
    known = KnownNames(own, _words_of(subject), _names_in_broken(subject))
    fluents, moves = _held_by(subject, ("init", "next")), _held_by(subject, ("legal",))
    for (name, _), found in subject.graph.users.items():
        if name not in known:
            places = [part(use.atom.span, 0) for use in found[:5]]
            message = f"no fact or rule gives `{name}`: this never holds"
            atom = found[0].atom.term
            held = f"(true {atom})" if name in fluents else f"(does ?role {atom})" if name in moves else None
            meant = None if held else spellings.near(name) or words.near(name)
            otherwise = _OPERATORS.get(name, f"add facts or rules for `{name}`, or delete this condition")
            hint = did_you_mean(held or meant, otherwise)
            yield diagnostic(
                "undefined-relation", places[0], message, hint, also_here(f"`{name}`", places), meant=meant
            )


def unused_relations(subject: Subject) -> Iterator[Diagnostic]:
    """Yield relations on which nothing depends that matters in a game."""
    likely = LikelyNames(subject)
    for (name, arity), rule in _unused(subject):
        if not (arity == 0 and _is_punctuation(name)):
            alone = "" if (name, arity) not in subject.graph.users else ", other than by rules that are not used either"
            message = f"`{name}` is not used{alone}"
            meant = likely.meant_by(name)
            hint = did_you_mean(meant, "delete it, or use it in a rule that the game needs")
            yield diagnostic("unused-relation", part(rule.head.span, 0), message, hint, meant=meant)


def _unused(subject: Subject) -> Iterator[tuple[Signature, Rule]]:
    graph = subject.graph
    roots = {*_WORDS, *needed_and_missing(subject).values()}  # one that misspells `terminal` is reported with that
    used = {name for name, _ in graph.reached_from(relation for relation in graph.relations if relation[0] in roots)}
    known = KnownNames(used, _names_in_broken(subject))
    return ((relation, rule) for relation, rule in graph.defined.items() if relation[0] not in known)


@lru_cache(maxsize=1)  # several checks ask, and for files of many names it takes long
def doubtful_words(subject: Subject) -> frozenset[str]:
    """Return the words of the language of which other heads may be meant, so that what they give is not known.

    Other checks report these heads: nothing uses their relation, or a word stands in them for a fluent or move.
    """
    unused = [name for (name, _), _ in _unused(subject)]
    found = set(map(LikelyNames(subject).meant_by, unused)) if unused else set()
    found |= {name for name, near in needed_and_missing(subject).items() if near is not None}
    for head in (rule.head.term for rule in subject.rules):
        if isinstance(head, Compound) and head.functor in _GIVEN and signature(head.arguments[-1])[0] in KEYWORDS:
            found.add(head.functor)
    return frozenset(_GIVEN).intersection(found)


class LikelyNames:
    """What the names of relations that nothing uses are likely meant to be."""

    def __init__(self, subject: Subject) -> None:
        asked = {name for name, _ in subject.graph.users}
        self._asked = Spellings(asked - _own_relations(subject) - _words_of(subject))
        self._words = Spellings(_GIVEN)

    def meant_by(self, name: str) -> str | None:
        """Return a name near *name* that conditions ask for and nothing gives, or else a word of the language."""
        return self._asked.near(name) or self._words.near(name)


def unusual_characters(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names with characters that other systems may not read, each name once.

    For an operator of another language another check says what to write.
    """
    asked = {name for name, _ in subject.graph.users}
    told = {"<=", *((_OPERATORS.keys() & asked) - _own_relations(subject))}
    for inner in (inner for form in subject.forms for inner in form.walk()):
        unusual = _UNUSUAL_IN_VARIABLE if inner.is_variable else _UNUSUAL
        odd = dict.fromkeys(unusual.findall(inner.name))
        if odd and inner.name not in told:
            told.add(inner.name)
            message = f"{_in_words(list(odd))} in a name: other systems may not read it"
            hint = _NO_ARITHMETIC if inner.name in _counted_by(subject) else _instead_of(odd)
            yield diagnostic("unusual-character", inner.span, message, hint)


@lru_cache(maxsize=1)  # asked for each name with an odd character
def _counted_by(subject: Subject) -> frozenset[str]:
    """Return the signs of arithmetic that stand before two terms or more, as in `(+ ?n 1)`."""
    applied = (form.children for top in subject.forms for form in top.walk() if form.children)
    return _COUNTING.intersection(first.name for first, *terms in applied if len(terms) > 1)


def _is_punctuation(word: str) -> bool:
    """Return whether a slip of the finger left *word*, which is reported for its characters."""
    return _UNUSUAL.search(word) is not None and not any(map(str.isalnum, word))


def _in_words(characters: Sequence[str]) -> str:
    """Return *characters* with what Unicode calls those beyond ASCII: many look like others, or cannot be seen."""
    shown = [each if each.isascii() and each.isprintable() else _called(each) for each in characters]
    return " and ".join(shown[:_MOST_SHOWN]) + (" and others" if len(shown) > _MOST_SHOWN else "")


def _called(character: str) -> str:
    plain = f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
    return f"{character} ({plain})" if character.isprintable() else plain


def _instead_of(characters: Iterable[str]) -> str:
    """Return what to write instead of *characters*, the first of which decides where that depends on them."""
    hints = (hint for each in characters for among, hint in _INSTEAD if among.fullmatch(each))
    return next(hints, "use English letters, digits, _ and -")


def _held_by(subject: Subject, words: Collection[str]) -> set[str]:
    """Return the names of the fluents or moves that stand in heads of *words*."""
    heads = (rule.head.term for rule in subject.rules)
    held = (head.arguments[-1] for head in heads if isinstance(head, Compound) and head.functor in words)
    return {signature(term)[0] for term in held if not isinstance(term, Variable)}


def _own_relations(subject: Subject) -> set[str]:
    return {name for name, _ in subject.graph.defined} - _words_of(subject)


def _words_of(subject: Subject) -> frozenset[str]:
    """Return the words that mean something in the file: those of GDL-II are names like others in GDL-I."""
    return _WORDS if subject.is_gdl2 else KEYWORDS


def _names_in_broken(subject: Subject) -> set[str]:
    """Return the names in forms that could not be read: they may be used or given there."""
    return {inner.name for form in subject.broken for inner in form.walk()}


def capitalisation(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names of which two spellings differ only in upper and lower case, at the rarer one."""
    for spellings in spellings_by_name(subject).values():
        usual, *others = sorted(spellings.values(), key=lambda forms: (-len(forms), forms[0].start))
        for forms in others:
            message = f"{forms[0].name} and {usual[0].name} differ only in upper and lower case"
            hint = f"write {usual[0].name} everywhere; if they are two things, give one another name"
            related = [Related(usual[0].span, f"{usual[0].name} here")]
            yield diagnostic("capitalisation", forms[0].span, message, hint, related)


def variable_capitalisation(subject: Subject) -> Iterator[Diagnostic]:
    """Yield variables of one rule that differ only in upper and lower case, at the one that comes later."""
    for form in subject.forms:
        first: dict[str, Form] = {}
        told: set[str] = set()
        for variable in (inner for inner in form.walk() if inner.is_variable):
            other = first.setdefault(variable.name.lower(), variable)
            if variable.name not in {other.name} | told:
                told.add(variable.name)
                message = f"{variable.name} and {other.name} are two variables that differ only in upper and lower case"
                related = [Related(other.span, f"{other.name} here")]
                hint = "give one of them another name; or the same name, if they are meant to be one"
                yield diagnostic("variable-capitalisation", variable.span, message, hint, related)


def spellings_by_name(subject: Subject) -> dict[str, dict[str, list[Form]]]:
    """Return where each spelling of each name stands, by the name in lower case."""
    found: dict[str, dict[str, list[Form]]] = defaultdict(lambda: defaultdict(list))
    for use, forms in subject.occurrences.items():
        found[use.name.lower()][use.name] += forms
    for spellings in found.values():
        for forms in spellings.values():
            forms.sort(key=lambda form: form.start)
    return found
