"""Whether conditions can hold, as far as single constants tell: of fluents, of moves, of arguments of relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final, TypeAlias

from gdl.checks.name_uses import arguments_in_words
from gdl.checks.names import doubtful_words
from gdl.checks.relation_graph import Use, uses
from gdl.checks.subject import Subject, part
from gdl.checks.suggestions import Spellings, also_here, as_variable, did_you_mean
from gdl.datalog.values import BOTTOM, Values, narrow, values_of_heads
from gdl.diagnostics import Diagnostic, Span, diagnostic
from gdl.language.syntax import KEYWORDS, And, Atom, Distinct, Or, Rule
from gdl.language.terms import Compound, Constant, Signature, Term, Variable, signature

_MAKERS: Final = {"true": frozenset({"init", "next"}), "does": frozenset({"legal"})}


_LISTS: Final = {"true": "base", "does": "input"}
"""In which relation a file may list its fluents, and in which its moves."""

_Shape: TypeAlias = tuple[str, bool]
"""The name of a fluent or move, and whether it has arguments; another check compares how many."""


@dataclass
class _Terms:
    """Fluents or moves by shape, with the atoms that hold them; `is_open` where a variable stands for any."""

    atoms: dict[_Shape, list[Atom]] = field(default_factory=lambda: defaultdict(list))
    is_open: bool = False

    @property
    def names(self) -> dict[str, Atom]:
        """The first atom of each name."""
        return {name: atoms[0] for (name, _), atoms in reversed(self.atoms.items())}

    def without(self, others: _Terms, meant: Iterable[str]) -> Iterator[tuple[str, list[Atom], str, str | None]]:
        """Yield names with their atoms of which *others* has none alike, a hint, and the one of *meant* that is near.

        Upper and lower case count as one here; another check reports two spellings.
        """
        alike = {(name.lower(), has_arguments) for name, has_arguments in others.atoms}
        by_name = {name.lower(): atom for name, atom in others.names.items()}
        spellings = Spellings(meant)
        for (name, has_arguments), atoms in self.atoms.items():
            if (name.lower(), has_arguments) in alike:
                continue
            other = by_name.get(name.lower())
            if other is None:
                near = spellings.near(name)
                yield name, atoms, did_you_mean(near, ""), near
            else:
                hint = f"{name} stands with {arguments_in_words(signature(_held(other))[1])} elsewhere"
                yield name, atoms, hint, None


def undefined_fluents(subject: Subject) -> Iterator[Diagnostic]:
    """Yield fluents that conditions ask for and no `init` or `next` makes true."""
    for name, places, likely, meant in _never_made(subject, "true"):
        message = f"no `init` or `next` makes {name} true: this never holds"
        hint = likely or f"add an `init` or a `next` for {name}, or delete this condition"
        yield diagnostic("undefined-fluent", places[0], message, hint, also_here(name, places), meant=meant)


def undefined_moves(subject: Subject) -> Iterator[Diagnostic]:
    """Yield moves that conditions ask for and no `legal` allows."""
    for name, places, likely, meant in _never_made(subject, "does"):
        message = f"no `legal` allows {name}: no role ever does it"
        hint = likely or f"add a rule for (legal ?role {name}) or the like, or delete this condition"
        yield diagnostic("undefined-move", places[0], message, hint, also_here(name, places), meant=meant)


def unused_fluents(subject: Subject) -> Iterator[Diagnostic]:
    """Yield fluents that `init` or `next` makes true and no condition asks for."""
    made, asked = _made(subject, "true"), _asked(subject, "true")
    if asked.is_open or subject.broken:
        return
    spellings = Spellings(asked.names)
    for name, atoms, likely, near in made.without(asked, asked.names.keys() - made.names.keys()):
        if name.lower() in KEYWORDS:
            continue  # another check reports it
        message = f"no condition asks whether {name} is true"
        # A name that is made true once may be misspelt there alone.
        meant = near or (spellings.near(name) if len(atoms) == 1 and not likely else None)
        hint = likely or did_you_mean(meant, "delete it, or ask for it with (true ...)")
        yield diagnostic("unused-fluent", _places(atoms)[0], message, hint, meant=meant)


def unlisted_fluents(subject: Subject) -> Iterator[Diagnostic]:
    """Yield fluents that `init` or `next` makes true and no `base` lists, in a file that has `base`."""
    yield from _unlisted(subject, "true", "fluent-without-base", "`init` or `next` makes {} true")


def unlisted_moves(subject: Subject) -> Iterator[Diagnostic]:
    """Yield moves that `legal` allows and no `input` lists, in a file that has `input`."""
    yield from _unlisted(subject, "does", "move-without-input", "`legal` allows {}")


def _unlisted(subject: Subject, word: str, code: str, made_so: str) -> Iterator[Diagnostic]:
    list_of = _LISTS[word]
    listed = _collected((rule.head, rule) for rule in subject.rules if signature(rule.head.term)[0] == list_of)
    if listed.is_open or not listed.atoms or subject.broken or list_of in doubtful_words(subject):
        return
    made = _made(subject, word)
    spellings = Spellings(name for name in listed.names if name not in made.names)
    for name, atoms, other, _ in made.without(listed, ()):
        if name.lower() not in KEYWORDS:
            near = spellings.near(name)
            hint = other or (f"should {near} be {name}?" if near else f"list it, or leave `{list_of}` out altogether")
            places = _places(atoms)
            message = f"{made_so.format(name)}, but no `{list_of}` lists it"
            yield diagnostic(code, places[0], message, hint, also_here(name, places))


def _never_made(subject: Subject, word: str) -> Iterator[tuple[str, list[Span], str, str | None]]:
    made, asked = _made(subject, word), _asked(subject, word)
    if made.is_open or not made.atoms or subject.broken or doubtful_words(subject) & _MAKERS[word]:
        return
    for name, atoms, hint, meant in asked.without(made, made.names):
        if name.lower() not in KEYWORDS:
            yield name, _places(atoms), hint, meant


def _made(subject: Subject, word: str) -> _Terms:
    heads = ((rule.head, rule) for rule in subject.rules)
    return _collected((atom, rule) for atom, rule in heads if signature(atom.term)[0] in _MAKERS[word])


def _asked(subject: Subject, word: str) -> _Terms:
    conditions = ((use.atom, use.rule) for use in uses(subject.rules))
    return _collected((atom, rule) for atom, rule in conditions if signature(atom.term)[0] == word)


def _collected(atoms: Iterable[tuple[Atom, Rule]]) -> _Terms:
    found = _Terms()
    for atom, rule in atoms:
        if isinstance(atom.term, Compound):
            term = _held(atom)
            if isinstance(term, Variable):
                found.is_open |= not is_kept(term, rule)
            else:
                name, arity = signature(term)
                found.atoms[name, arity > 0].append(atom)
    return found


def _places(atoms: Iterable[Atom]) -> list[Span]:
    return [part(atom.span, signature(atom.term)[1]) for atom in islice(atoms, 5)]


def is_kept(variable: Variable, rule: Rule) -> bool:
    """Return whether *rule* only lets what is true stay so: `(<= (next ?f) (true ?f) ...)`."""
    stays: tuple[Term, Term] = (Compound("next", (variable,)), Compound("true", (variable,)))
    conditions = [condition.term for condition in rule.body if isinstance(condition, Atom)]
    return rule.head.term is stays[0] and stays[1] in conditions


Kind: TypeAlias = str
"""`true` for fluents, `does` for moves, nothing for relations that a file defines itself."""

Place: TypeAlias = tuple[Kind, Signature, int]
"""An argument: of what, with which name and number of arguments, and its number from 0."""

_KINDS: Final[Mapping[str, Kind]] = {
    "init": "true", "next": "true", "true": "true", "legal": "does", "does": "does",
}  # fmt: skip
_ANY: Final = Variable("?any")
_MOST_TOLD: Final = 4


class _Given:
    """What stands as each argument where facts and rules give it, whatever their conditions leave of it."""

    def __init__(self, subject: Subject) -> None:
        self._heads = [rule.head for rule in subject.rules if not _keeps(rule)]
        self._known = values_of_heads(map(_outline, self._heads))
        self._spellings: dict[Place, Spellings] = {}

    def excludes(self, place: Place, term: Term) -> bool:
        """Return whether *term* never stands at *place*; another check reports a relation that nothing gives."""
        kind, relation, number = place
        if not kind and self._arguments("true", relation):
            return False  # a `true` around it is missing, which another check reports
        values = self._arguments(kind, relation)
        return bool(values) and not narrow([_name_of(term)], [values[number]], {})

    def _arguments(self, kind: Kind, relation: Signature) -> tuple[Values, ...]:
        if not kind:
            return self._known.get(relation, ())
        (values,) = self._known.get((kind, 1), (BOTTOM,))
        return () if values.is_all else values.compounds.get(relation, ())

    @cached_property
    def _names(self) -> Mapping[Place, Mapping[Term, str]]:
        """What stands at each place, in the order of the text, one of the spellings of each name."""
        found: dict[Place, dict[Term, str]] = defaultdict(dict)
        for head in self._heads:
            for place, term in _arguments(head):
                found[place].setdefault(_name_of(term), signature(term)[0])
        return found

    def near(self, place: Place, name: str) -> str | None:
        """Return what stands at *place* and is spelt much like *name*."""
        if place not in self._spellings:
            self._spellings[place] = Spellings(self._names[place].values())
        return self._spellings[place].near(name)

    def arities(self, place: Place, name: str) -> list[int]:
        """Return with how many arguments *name* stands at *place*, if it does."""
        found = (signature(term) for term in self._names[place])
        return sorted(arity for other, arity in found if other == name.lower())

    def shown(self, place: Place) -> str:
        """Return some of what stands at *place*, as a list."""
        names = self._names[place].values()
        return ", ".join(islice(names, _MOST_TOLD)) + (" ..." if len(names) > _MOST_TOLD else "")


def unmatched_conditions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names as arguments of conditions where no fact or rule has them, so that the condition never holds."""
    if subject.broken:
        return
    given = _Given(subject)
    doubtful = doubtful_words(subject)
    unknown = {kind for kind, makers in _MAKERS.items() if doubtful & makers}
    told: set[tuple[Place, Term]] = set()
    for use in uses(subject.rules):
        wrong = next((one for one in _arguments(use.atom) if given.excludes(*one)), None)
        if wrong is not None and wrong not in told and wrong[0][0] not in unknown:
            told.add(wrong)
            yield _unmatched(use, *wrong, given)


def equal_terms(subject: Subject) -> Iterator[Diagnostic]:
    """Yield `distinct` of a term and the same term; under a `not` it is reported as that."""
    for rule in subject.rules:
        todo = list(rule.body)
        while todo:
            match todo.pop():
                case Distinct(left, right, span) if left == right:
                    message = f"`distinct` of {left} and the same term: this never holds"
                    yield diagnostic("never-distinct", span, message, "is one of the two misspelt?")
                case And(parts) | Or(parts):
                    todo += parts


def _unmatched(use: Use, place: Place, term: Term, given: _Given) -> Diagnostic:
    kind, (name, _), number = place
    written = part(part(use.atom.span, signature(use.atom.term)[1]) if kind else use.atom.span, number + 1)
    said, arity = signature(term)
    arities = given.arities(place, said)
    if arities:
        message = (
            f"argument {number + 1} of `{name}` is never {said} with {arguments_in_words(arity)}: this never holds"
        )
        hint = f"facts and rules give {said} with {' or '.join(map(arguments_in_words, arities))} there"
        return diagnostic("unmatched-condition", written, message, hint)
    near = as_variable(said, use.rule) or given.near(place, said)
    message = f"argument {number + 1} of `{name}` is never {said}: this never holds"
    hint = did_you_mean(near, f"facts and rules give {given.shown(place)} there")
    return diagnostic("unmatched-condition", written, message, hint)


def _keeps(rule: Rule) -> bool:
    """Return whether *rule* gives nothing new: fluents that are true already."""
    _, inner = _inner(rule.head)
    return isinstance(inner, Variable) and is_kept(inner, rule)


def _outline(head: Atom) -> Constant | Compound:
    """Return *head* as far as it counts here: a fluent or move within its kind, and of its arguments the names."""
    kind, inner = _inner(head)
    named = Compound(inner.functor, tuple(map(_name_of, inner.arguments))) if isinstance(inner, Compound) else inner
    if kind:
        return Compound(kind, (named,))
    assert not isinstance(named, Variable)
    return named


def _name_of(term: Term) -> Term:
    """Return *term* in lower case with variables as its arguments; another check reports two spellings of a name."""
    if isinstance(term, Compound):
        return Compound(term.functor.lower(), (_ANY,) * len(term.arguments))
    return Constant(term.name.lower()) if isinstance(term, Constant) else term


def _inner(atom: Atom) -> tuple[Kind, Term]:
    """Return the fluent or move that *atom* holds, else all of it."""
    kind = _KINDS.get(signature(atom.term)[0], "")
    return kind, _held(atom) if kind else atom.term


def _held(atom: Atom) -> Term:
    """Return the last argument of *atom*, in which `true` and the like hold a fluent or move; without one all of it."""
    return atom.term.arguments[-1] if isinstance(atom.term, Compound) else atom.term


def _arguments(atom: Atom) -> Iterator[tuple[Place, Term]]:
    kind, inner = _inner(atom)
    if isinstance(inner, Compound) and (kind or inner.functor not in KEYWORDS):
        for number, term in enumerate(inner.arguments):
            yield (kind, signature(inner), number), term
