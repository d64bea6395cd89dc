"""Whether a file has the shape of a game: facts, rules, keywords in their places, one arity for each name.

Source: checks 1, 2, 4 to 6, 9, 12 and 16 of the language's reference.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from gdl.checks.name_uses import NameKind, NameUse, arguments_in_words
from gdl.checks.relation_graph import uses
from gdl.checks.subject import Subject
from gdl.diagnostics import Diagnostic, Related, Span, diagnostic
from gdl.game import RANDOM
from gdl.language.kif import BRACKETS_HINT, OTHER_BRACKETS, Form
from gdl.language.rule_reader import COMMENT_HINT
from gdl.language.syntax import GDL2_KEYWORDS, KEYWORDS, And, Atom, Condition, Distinct, Not, Or, Rule
from gdl.language.terms import Compound, Term, signature

_NEEDED: Final = {
    "role": "no role is declared: the game has no player",
    "init": "nothing is true at first: no `init`",
    "legal": "no move is ever legal: no `legal`",
    "goal": "no role ever gets points: no `goal`",
    "terminal": "the game never ends: no `terminal`",
}
_EXAMPLES: Final = {
    "role": "(role white)",
    "init": "(init (control white))",
    "legal": "(<= (legal ?role noop) (role ?role))",
    "goal": "(<= (goal ?role 100) (wins ?role))",
    "terminal": "(<= terminal (wins ?role))",
}


def missing_relations(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what every game defines and this one does not."""
    whole = Span(subject.source, 0, 0)
    if not subject.forms and not subject.broken:
        if subject.is_whole:
            yield diagnostic("no-rules", whole, "there is no rule in this file", "start with (role white)")
        return
    heads = _heads(subject)
    for name, near in needed_and_missing(subject).items():
        hint = f"add for example {_EXAMPLES[name]}" if near is None else f"should {near} be {name}?"
        place = whole if near is None else _head(heads[near]).span
        yield diagnostic(f"missing-{name}", place, _NEEDED[name], hint)


def needed_and_missing(subject: Subject) -> dict[str, str | None]:
    """Return the relations that every game defines and this one does not, with what is likely a misspelling of each."""
    heads = _heads(subject)
    intended = {inner.name.lower() for form in subject.broken for inner in form.walk() if inner.children is None}
    missing = [name for name in _NEEDED if name not in heads and name not in intended]
    others = set(heads) - set(_NEEDED)
    return {name: next(iter(get_close_matches(name, others, 1, 0.7)), None) for name in missing}


def _heads(subject: Subject) -> dict[str, Form]:
    """Return the first fact or rule of every relation, by name."""
    return {_head(form).name: form for form in reversed(subject.forms)}


def _head(form: Form) -> Form:
    children = form.children or (form,)
    head = children[1] if children[0].name == "<=" else form
    return head.children[0] if head.children else head


def stray_words(subject: Subject) -> Iterator[Diagnostic]:
    """Yield lines of words outside of parentheses, as a comment without its semicolon leaves them."""
    for words in subject.stray:
        span = Span(subject.source, words[0].start, words[-1].end)
        hint = BRACKETS_HINT if OTHER_BRACKETS.match(words[0].name) else COMMENT_HINT
        yield diagnostic("stray-words", span, "words outside of parentheses", hint)


def empty_bodies(subject: Subject) -> Iterator[Diagnostic]:
    """Yield rules without conditions; one with variables in its head is reported as a fact that has them."""
    for form, rule in zip(subject.forms, subject.rules, strict=True):
        if form.children and form.children[0].name == "<=" and len(form.children) == 2 and rule.head.term.is_ground:
            head = form.children[1].span
            yield diagnostic(
                "empty-body",
                form.span,
                "this rule has no condition",
                f"write it as a fact: {head.text if len(head.text) < 60 else 'its head alone'}",
            )


def lone_names_in_parentheses(subject: Subject) -> Iterator[Diagnostic]:
    """Yield propositions and objects written as `(p)`."""
    for form in subject.forms:
        for inner in form.walk():
            children = inner.children or ()
            if len(children) == 1 and children[0].name not in ("and", "or"):
                name = children[0].name
                message = f"({name}) is the same as {name}, but some players take them for two things"
                yield diagnostic("lone-name-in-parentheses", inner.span, message, f"write {name}")


def open_facts(subject: Subject) -> Iterator[Diagnostic]:
    """Yield facts with variables, at the first one."""
    for form, rule in zip(subject.forms, subject.rules, strict=True):
        if not rule.body and not rule.head.term.is_ground:
            found = _variables(form)
            names = ", ".join(variable.name for variable in found[:5]) + (" ..." if len(found) > 5 else "")
            message = (
                f"the variable{'s' if len(found) > 1 else ''} {names} in a fact: a fact holds names and numbers only"
            )
            hint = f"write names in place of {names}, or a rule with conditions that list them"
            if form.children and form.children[0].name == "<=":
                hint = f"add conditions that list {names}; does a parenthesis close the rule before them?"
            yield diagnostic("open-fact", found[0].span, message, hint)


def _variables(form: Form) -> list[Form]:
    first: dict[str, Form] = {}
    for inner in form.walk():
        if inner.is_variable:
            first.setdefault(inner.name, inner)
    return list(first.values())


def misplaced_connectives(subject: Subject) -> Iterator[Diagnostic]:
    """Yield `or` and `and` without conditions, and `not` over anything but a relation."""
    for rule in subject.rules:
        for condition in rule.body:
            yield from _misplaced(condition)


def _misplaced(condition: Condition) -> Iterator[Diagnostic]:
    match condition:
        case Not(inner):
            if not isinstance(inner, Atom):
                yield _negated(condition, inner)
            yield from _misplaced(inner)
        case And(parts) | Or(parts):
            name = "and" if isinstance(condition, And) else "or"
            if not parts:
                truth = "always" if name == "and" else "never"
                message = f"`{name}` without conditions, which {truth} holds"
                hint = f"put conditions in, as in ({name} condition ...), or delete it"
                yield diagnostic("empty-connective", condition.span, message, hint)
            for part in parts:
                yield from _misplaced(part)


def _negated(outer: Not, inner: Condition) -> Diagnostic:
    match inner:
        case Distinct(left, right):
            message = "`not` over `distinct`: two terms that are not distinct are equal"
            hint = f"write the same term for both, instead of {left} and {right}"
            return diagnostic("not-over-distinct", outer.span, message, hint)
        case Not(innermost):
            hint = f"write {innermost.span.text}" if len(innermost.span.text) < 60 else "delete both"
            return diagnostic("not-over-not", outer.span, "`not` over `not`", hint)
        case And():
            hint = "write (or (not ...) (not ...))"
            return diagnostic("not-over-connective", outer.span, "`not` over `and`", hint)
        case _:
            hint = "write (not ...) for each of the conditions"
            return diagnostic("not-over-connective", outer.span, "`not` over `or`", hint)


_NEVER_IN_BODIES: Final = {
    "init": "conditions ask for the present state: (true ...)",
    "next": "conditions ask for the present state: (true ...)",
    "base": "it lists what can be true, for readers; give the list a relation of its own and use that in both places",
    "input": "it lists what can be done, for readers; give the list a relation of its own and use that in both places",
}


def keywords_as_names(subject: Subject) -> Iterator[Diagnostic]:
    """Yield keywords in the place of a function or an object."""
    keywords = KEYWORDS | GDL2_KEYWORDS if subject.is_gdl2 else KEYWORDS
    for use, forms in subject.occurrences.items():
        if use.name not in keywords:
            continue
        for form in forms:
            if use.kind is NameKind.FUNCTION:
                message = f"`{use.name}` is a word of the language, and stands for a function here"
                hint = "is it one word too many, or a parenthesis misplaced? If not, choose another name"
                yield diagnostic("keyword-as-function", form.span, message, hint)
            elif use.kind is NameKind.OBJECT and use.name != RANDOM.name:
                message = f"`{use.name}` is a word of the language, and names an object here"
                yield diagnostic("keyword-as-object", form.span, message, "choose another name")
            elif use.kind is NameKind.RELATION and use.name == RANDOM.name:
                message = "`random` is the role that plays by chance, and stands for a relation here"
                yield diagnostic("random-as-relation", form.span, message, "choose another name")


def roles(subject: Subject) -> Iterator[Diagnostic]:
    """Yield roles that are not given by a fact and a name."""
    for rule in _rules_of(subject, "role", 1):
        if rule.body:
            message = "a rule for `role`: the roles are given by facts"
            yield diagnostic("role-by-rule", rule.head.span, message, "write a fact (role name) for each role")
        elif isinstance(_first(rule.head.term), Compound):
            message = "a role is a name, not a term with arguments"
            yield diagnostic("role-is-no-name", rule.head.span, message, "write (role name)")


def reserved_conditions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield `init`, `next`, `base` and `input` in the body of a rule."""
    for use in uses(subject.rules):
        name = signature(use.atom.term)[0]
        if name in _NEVER_IN_BODIES:
            message = f"`{name}` in the body of a rule: it may only be defined"
            yield diagnostic("reserved-body", use.atom.span, message, _NEVER_IN_BODIES[name])


def gdl2_keywords_in_gdl1(subject: Subject) -> Iterator[Diagnostic]:
    """Yield what means something in GDL-II, in a file that is read as GDL-I."""
    if subject.is_gdl2:
        return
    is_own_relation = any(name.lower() == "sees" for name, _ in subject.graph.users)
    for rule in () if is_own_relation else _rules_of(subject, "sees", 2):
        message = "this file is read as GDL-I, where `sees` is a relation like any other"
        hint = "for hidden information write (sees role percept) with a role; otherwise choose another name"
        yield diagnostic("sees-in-gdl1", rule.head.span, message, hint)
    for rule in _rules_of(subject, "role", 1):
        if str(_first(rule.head.term)).lower() == "random":
            message = "this file is read as GDL-I, where `random` is a role like any other"
            yield diagnostic("random-in-gdl1", rule.head.span, message, "read it as GDL-II, or choose another name")


def _rules_of(subject: Subject, name: str, arity: int) -> Iterator[Rule]:
    for rule in subject.rules:
        found, n_arguments = signature(rule.head.term)
        if n_arguments == arity and found.lower() == name:
            yield rule


def _first(term: Term) -> Term | None:
    return term.arguments[0] if isinstance(term, Compound) else None


_CODES: Final = {NameKind.RELATION: "relation-arities", NameKind.FUNCTION: "function-arities"}


def several_arities(subject: Subject) -> Iterator[Diagnostic]:
    """Yield relations and functions that have more than one number of arguments, at the rarer use."""
    for kind, code in _CODES.items():
        for group in _by_name(use for use in subject.occurrences if use.kind is kind).values():
            usual, *others = _most_frequent_first(subject, group)
            for other in others:
                here, elsewhere = arguments_in_words(other.arity), arguments_in_words(usual.arity)
                message = f"{other.name} takes {here} here, and {elsewhere} elsewhere"
                place = subject.occurrences[usual][0].span
                slip = "is one missing" if other.arity < usual.arity else "is one too many"
                hint = f"{slip}? If they are meant to be two things, give them two names"
                related = [Related(place, f"with {elsewhere} here")]
                yield diagnostic(code, subject.occurrences[other][0].span, message, hint, related)


def relations_as_functions(subject: Subject) -> Iterator[Diagnostic]:
    """Yield names that are both a relation and a function, at the first place of the rarer use.

    A relation that nothing gives is none: another check says what is likely missing around it.
    """
    given = {name for name, _ in subject.graph.defined}
    for group in _by_name(use for use in subject.occurrences if use.kind in _CODES).values():
        kinds = {use.kind: use for use in reversed(_most_frequent_first(subject, group))}
        if len(kinds) < 2 or group[0].name not in given - KEYWORDS - GDL2_KEYWORDS:
            continue
        usual, other = _most_frequent_first(subject, kinds.values())
        message = f"{other.name} is {other.kind} here, and {usual.kind} elsewhere"
        related = [Related(subject.occurrences[usual][0].span, f"{usual.kind} here")]
        hint = "if they are meant to be two things, give them two names"
        yield diagnostic("relation-and-function", subject.occurrences[other][0].span, message, hint, related)


def _by_name(uses: Iterable[NameUse]) -> dict[str, list[NameUse]]:
    found: dict[str, list[NameUse]] = defaultdict(list)
    for use in uses:
        found[use.name].append(use)
    return found


def _most_frequent_first(subject: Subject, uses: Iterable[NameUse]) -> list[NameUse]:
    places = subject.occurrences
    return sorted(uses, key=lambda use: (-len(places[use]), places[use][0].start))
