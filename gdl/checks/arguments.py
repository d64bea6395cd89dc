"""Whether conditions can hold, as far as single constants tell: fluents, moves, goal values, roles."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Final, TypeAlias

from gdl.checks.names import Known, Spellings, also_here, did_you_mean
from gdl.checks.subject import Subject, Use, part, uses
from gdl.datalog.domains import BOTTOM, TOP, Values, bound_by, narrow, values_of, values_of_heads, values_of_relations
from gdl.datalog.literals import Clause
from gdl.diagnostics import Diagnostic, Related, Span, diagnostic
from gdl.game import RANDOM
from gdl.language.rules import KEYWORDS, Atom, Rule
from gdl.language.terms import Compound, Constant, Signature, Term, Variable, arguments_of, signature

_MAKERS: Final = {"true": frozenset({"init", "next"}), "does": frozenset({"legal"})}


@dataclass
class _Terms:
    """Fluents or moves by name, with the atoms that hold them; `is_open` where a variable stands for any."""

    atoms: dict[str, list[Atom]] = field(default_factory=lambda: defaultdict(list))
    is_open: bool = False


def undefined_fluents(subject: Subject) -> Iterator[Diagnostic]:
    """Yield fluents that conditions ask for and no `init` or `next` makes true."""
    for name, places, near in _never_made(subject, "true"):
        message = f"no `init` or `next` makes {name} true: this never holds"
        hint = did_you_mean(near, f"add an `init` or a `next` for {name}, or delete this condition")
        yield diagnostic("undefined-fluent", places[0], message, hint, also_here(name, places))


def undefined_moves(subject: Subject) -> Iterator[Diagnostic]:
    """Yield moves that conditions ask for and no `legal` allows."""
    for name, places, near in _never_made(subject, "does"):
        message = f"no `legal` allows {name}: no role ever does it"
        hint = did_you_mean(near, f"add a rule for (legal ?role {name}) or the like, or delete this condition")
        yield diagnostic("undefined-move", places[0], message, hint, also_here(name, places))


def unused_fluents(subject: Subject) -> Iterator[Diagnostic]:
    """Yield fluents that `init` or `next` makes true and no condition asks for."""
    made, asked = _made(subject, "true"), _asked(subject, "true")
    if asked.is_open or subject.broken:
        return
    known = Known(asked.atoms)
    spellings = Spellings(name for name in asked.atoms if name not in made.atoms)
    for name, atoms in made.atoms.items():
        if name not in known:
            message = f"no condition asks whether {name} is true"
            hint = did_you_mean(spellings.near(name), "delete it, or ask for it with (true ...)")
            yield diagnostic("unused-fluent", _places(atoms)[0], message, hint)


def _never_made(subject: Subject, word: str) -> Iterator[tuple[str, list[Span], str | None]]:
    made, asked = _made(subject, word), _asked(subject, word)
    if made.is_open or not made.atoms or subject.broken:
        return
    spellings, known = Spellings(made.atoms), Known(made.atoms, KEYWORDS)
    for name, atoms in asked.atoms.items():
        if name not in known:
            yield name, _places(atoms), spellings.near(name)


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
            term = atom.term.arguments[-1]
            if isinstance(term, Variable):
                found.is_open |= not is_kept(term, rule)
            else:
                found.atoms[signature(term)[0]].append(atom)
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
_LONGEST_RULE: Final = 10_000
"""In how many characters a variable is looked for that may be meant."""


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
    def _names(self) -> Mapping[Place, Collection[str]]:
        """What stands at each place, in the order of the text, one of the spellings of each name."""
        found: dict[Place, dict[Term, str]] = defaultdict(dict)
        for head in self._heads:
            for place, term in _arguments(head):
                found[place].setdefault(_name_of(term), signature(term)[0])
        return {place: names.values() for place, names in found.items()}

    def near(self, place: Place, name: str) -> str | None:
        """Return what stands at *place* and is spelt much like *name*."""
        if place not in self._spellings:
            self._spellings[place] = Spellings(self._names[place])
        return self._spellings[place].near(name)

    def shown(self, place: Place) -> str:
        """Return some of what stands at *place*, as a list."""
        names = self._names[place]
        return ", ".join(islice(names, _MOST_TOLD)) + (" ..." if len(names) > _MOST_TOLD else "")


def unmatched_conditions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names as arguments of conditions where no fact or rule has them, so that the condition never holds."""
    if subject.broken:
        return
    given = _Given(subject)
    told: set[tuple[Place, Term]] = set()
    for use in uses(subject.rules):
        wrong = next((one for one in _arguments(use.atom) if given.excludes(*one)), None)
        if wrong is not None and wrong not in told:
            told.add(wrong)
            yield _unmatched(use, *wrong, given)


def _unmatched(use: Use, place: Place, term: Term, given: _Given) -> Diagnostic:
    kind, (name, _), number = place
    written = part(part(use.atom.span, signature(use.atom.term)[1]) if kind else use.atom.span, number + 1)
    said = signature(term)[0]
    near = f"?{said}" if _has_variable(use.rule, f"?{said}") else given.near(place, said)
    message = f"argument {number + 1} of `{name}` is never {said}: this never holds"
    hint = did_you_mean(near, f"facts and rules give {given.shown(place)} there")
    return diagnostic("unmatched-condition", written, message, hint)


def _has_variable(rule: Rule, name: str) -> bool:
    text = rule.span.text[:_LONGEST_RULE]
    return name in text.replace("(", " ").replace(")", " ").split()


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
    return kind, atom.term.arguments[-1] if kind and isinstance(atom.term, Compound) else atom.term


def _arguments(atom: Atom) -> Iterator[tuple[Place, Term]]:
    kind, inner = _inner(atom)
    if isinstance(inner, Compound) and (kind or inner.functor not in KEYWORDS):
        for number, term in enumerate(inner.arguments):
            yield (kind, signature(inner), number), term


_INTEGER: Final = re.compile("[-+]?[0-9]+")
_GOAL: Final = re.compile("100|[1-9]?[0-9]")
_OF_ROLES: Final = frozenset({("role", 1), ("does", 2), ("legal", 2), ("goal", 2), ("input", 2)})
"""The relations whose first argument is a role."""
_MOST_CHARACTERS: Final = 40
_MOST_VALUES: Final = 4
_MOST_PLACES: Final = 2_000
"""How many arguments are looked at for where a value comes from."""
_GOALS: Final = ("goal", 2)
_HINT: Final = "write a whole number from 0 to 100"
_OPEN_CODES: Final = {
    False: ("goal-is-no-number", "goal-may-be-no-number", "no whole number"),
    True: ("goal-not-in-range", "goal-may-not-be-in-range", "none of 0, 1, 2 ... 100"),
}
"""For values that are numbers and for others: the codes where all values are bad and where some are, and why."""
_GOAL_MAKERS: Final = {("true", 1): (("init", 1), ("next", 1)), ("does", 2): (("legal", 2),)}
"""By which relations there is what conditions ask for under another name."""


def goal_values(subject: Subject) -> Iterator[Diagnostic]:
    """Yield goal values that are no whole numbers from 0 to 100."""
    for rule in subject.rules:
        head = rule.head.term
        if isinstance(head, Compound) and signature(head) == _GOALS and not isinstance(head.arguments[1], Variable):
            value = str(head.arguments[1])
            if _GOAL.fullmatch(value) is None:
                yield _bad_goal(value, part(rule.head.span, 2))


def _bad_goal(value: str, place: Span) -> Diagnostic:
    if _INTEGER.fullmatch(value) is None:
        return diagnostic("goal-is-no-number", place, f"the goal value {_short(value)} is no whole number", _HINT)
    message = f"the goal value {_short(value)} is none of 0, 1, 2 ... 100"
    return diagnostic("goal-not-in-range", place, message, _HINT)


def variable_goal_values(subject: Subject) -> Iterator[Diagnostic]:
    """Yield goal values that are variables which may, or must, stand for something else than whole numbers to 100.

    It is an error where nothing that conditions leave to the variable is a goal value, else a warning.
    """
    goals = [rule for rule in subject.rules if signature(rule.head.term) == _GOALS]
    named = [rule for rule in goals if isinstance(rule.head.term, Compound)]
    if subject.broken or subject.alternatives.refused or not any(_is_open(rule.head.term) for rule in named):
        return
    known = values_of_relations(clause for _, clause in subject.alternatives.clauses)
    sources = Sources(subject.alternatives.clauses)
    for rule, clause in subject.alternatives.clauses:
        if signature(clause.head) == _GOALS and _is_open(clause.head):
            bound = bound_by(clause.literals, known)
            values = TOP if bound is None else values_of(arguments_of(clause.head)[1], bound)
            if not values.is_all:
                yield from _bad_values(rule, clause, values, sources)


def _is_open(goal: Term) -> bool:
    return isinstance(arguments_of(goal)[1], Variable)


def _bad_values(rule: Rule, clause: Clause, values: Values, sources: Sources) -> Iterator[Diagnostic]:
    texts: dict[str, Constant | None] = {str(constant): constant for constant in values.constants}
    texts |= {f"({name} ...)": None for name, _ in values.compounds}
    bad = sorted((text for text in texts if _GOAL.fullmatch(text) is None), key=lambda text: (len(text), text))
    variable = arguments_of(clause.head)[1]
    is_all_bad = len(bad) == len(texts)
    for is_number, (must, may, what) in _OPEN_CODES.items():
        found = [text for text in bad if (_INTEGER.fullmatch(text) is not None) == is_number]
        if found:
            shown = ", ".join(map(_short, found[:_MOST_VALUES])) + (" ..." if len(found) > _MOST_VALUES else "")
            places = (sources.of(clause, variable, value) for text in found[:_MOST_VALUES] if (value := texts[text]))
            related = [Related(place, "this value comes from here") for place in places if place is not None]
            message = f"the goal value {variable} {'can only' if is_all_bad else 'may'} be {shown}: {what}"
            yield diagnostic(must if is_all_bad else may, part(rule.head.span, 2), message, _HINT, related)


class Sources:
    """Where the values of variables come from, found by following them from condition to fact."""

    def __init__(self, clauses: Iterable[tuple[Rule, Clause]]) -> None:
        self._by_relation: dict[tuple[str, int], list[tuple[Rule, Clause]]] = defaultdict(list)
        for rule, clause in clauses:
            self._by_relation[signature(clause.head)].append((rule, clause))

    def of(self, clause: Clause, variable: Term, value: Constant) -> Span | None:
        """Return where *value* stands that *variable* may have in *clause*; None where that is not plain."""
        todo = deque(_asked_by(clause, variable, ()))
        seen = set(todo)
        while todo and len(seen) < _MOST_PLACES:
            relation, path = todo.popleft()
            for maker in _GOAL_MAKERS.get(relation, (relation,)):
                for rule, one in self._by_relation.get(maker, ()):
                    found, left = _followed(one.head, path)
                    if found is value and not left:
                        return part(rule.head.span, *path)
                    if isinstance(found, Variable):
                        new = [place for place in _asked_by(one, found, left) if place not in seen]
                        seen.update(new)
                        todo += new
        return None


def _asked_by(
    clause: Clause, variable: Term, rest: tuple[int, ...]
) -> Iterator[tuple[tuple[str, int], tuple[int, ...]]]:
    """Yield where the conditions of *clause* have *variable*: of which relation, and the way to it there."""
    for atom in clause.positive:
        todo: list[tuple[Term, tuple[int, ...]]] = [(atom, ())]
        while todo:
            term, path = todo.pop()
            if term is variable:
                yield signature(atom), path + rest
            todo += ((inner, (*path, number)) for number, inner in enumerate(arguments_of(term), 1))


def _followed(term: Term, path: tuple[int, ...]) -> tuple[Term, tuple[int, ...]]:
    """Return what stands at *path* in *term*, or the variable on the way there and what is left of the path."""
    for i, number in enumerate(path):
        arguments = arguments_of(term)
        if number > len(arguments):
            return term, path[i:]
        term = arguments[number - 1]
    return term, ()


def undeclared_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what is said of a role that no fact declares."""
    roles = _roles(subject)
    names = [role.name for role in roles]
    known, spellings = Known(names), Spellings(names)
    all_roles = f"the roles are {', '.join(map(_short, names[:10]))}"
    declared = [Related(rule.head.span, "the first role is declared here") for rule in list(roles.values())[:1]]
    for atom in _atoms_of_roles(subject) if roles else ():
        role = atom.term.arguments[0] if isinstance(atom.term, Compound) else None
        if isinstance(role, Constant | Compound) and str(role) not in known:
            message = f"{_short(str(role))} is no role of this game"
            otherwise = "add (role random), if chance has a part in this game" if role is RANDOM else all_roles
            hint = did_you_mean(spellings.near(str(role)), otherwise)
            yield diagnostic("undeclared-role", part(atom.span, 1), message, hint, declared)


def idle_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield roles for which there is no rule for `legal`, or none for `goal`; and games without a role to play."""
    roles = _roles(subject)
    players = {role: rule for role, rule in roles.items() if role is not RANDOM or not subject.is_gdl2}
    if roles and not players:
        hint = "add a role that a player takes: (role white)"
        message = "the only role is `random`, which no player takes"
        yield diagnostic("no-player", roles[RANDOM].head.span, message, hint)
    yield from _without(subject, roles, "legal", "can never move")
    yield from _without(subject, players, "goal", "never gets a goal value")


def _without(subject: Subject, roles: Mapping[Constant, Rule], name: str, what: str) -> Iterator[Diagnostic]:
    heads = [rule.head.term for rule in subject.rules if signature(rule.head.term) == (name, 2)]
    named = {head.arguments[0] for head in heads if isinstance(head, Compound)}
    if named and not subject.broken and all(isinstance(role, Constant) for role in named):
        for role, rule in roles.items():
            if role not in named:
                message = f"{role} {what}: no `{name}` names it"
                hint = f"add a fact or a rule for ({name} {role} ...)"
                yield diagnostic(f"role-without-{name}", rule.head.span, message, hint)


def _roles(subject: Subject) -> dict[Constant, Rule]:
    """Return the declared roles with the facts that declare them; none where some cannot be made out."""
    found: dict[Constant, Rule] = {}
    for rule in subject.rules:
        if isinstance(rule.head.term, Compound) and signature(rule.head.term) == ("role", 1):
            role = rule.head.term.arguments[0]
            if rule.body or not isinstance(role, Constant):
                return {}
            found.setdefault(role, rule)
    return {} if subject.broken else found


def _atoms_of_roles(subject: Subject) -> Iterator[Atom]:
    relations = _OF_ROLES | {("sees", 2)} if subject.is_gdl2 else _OF_ROLES
    atoms = chain((rule.head for rule in subject.rules), (use.atom for use in uses(subject.rules)))
    return (atom for atom in atoms if signature(atom.term) in relations)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
