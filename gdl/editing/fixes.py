"""Defects that a mechanical change of the text mends, and what mends them."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from gdl.checks import check
from gdl.checks.names import LikelyNames
from gdl.checks.subject import Subject, examine
from gdl.checks.suppression import Comment, comments_in
from gdl.diagnostics import Diagnostic, Source, Span
from gdl.editing.edits import Edit, Taken, deletions, edited, unwrapped
from gdl.language.kif import DEFAULT_LIMITS, Form, ReadLimits
from gdl.language.syntax import CONNECTIVES, Rule
from gdl.language.terms import signature

Place: TypeAlias = tuple[str, int, int]
"""An argument: of what, in lower case, which has how many, and its number from 1."""

_HEAD: Final[Place] = ("<=", 0, 1)
_CONDITION: Final[Place] = ("<=", 0, 2)


def _place(around: Sequence[Form], number: int, place: Place) -> Place:
    """Return the place of a child of the list *around*, which is at *place* itself."""
    name = around[0].name.lower()
    if name == "<=":
        return _HEAD if number == 1 else _CONDITION
    return place if name in ("and", "or", "not") else (name, len(around) - 1, number)


@dataclass(frozen=True)
class Draft:
    """A file to be mended, with its parts at hand by what fixers ask for."""

    subject: Subject
    limits: ReadLimits = DEFAULT_LIMITS

    @cached_property
    def forms_by_name(self) -> Mapping[str, Sequence[Form]]:
        """Where each name stands, whatever it is used as."""
        found: defaultdict[str, list[Form]] = defaultdict(list)
        for use, forms in self.subject.occurrences.items():
            found[use.name] += forms
        return found

    @cached_property
    def places_by_name(self) -> Mapping[str, AbstractSet[Place]]:
        """The places of each name, whatever it is used as."""
        found: defaultdict[str, set[Place]] = defaultdict(set)
        todo: list[tuple[Form, Place]] = [(form, _HEAD) for form in self.subject.forms]
        while todo:
            form, place = todo.pop()
            children = form.children or (form,)
            found[children[0].name].add(place)
            todo += ((child, _place(children, number, place)) for number, child in enumerate(children[1:], 1))
        return found

    @cached_property
    def forms_by_head(self) -> Mapping[tuple[str, int], Sequence[Form]]:
        """The facts and rules of each relation."""
        found: defaultdict[tuple[str, int], list[Form]] = defaultdict(list)
        for form, rule in zip(self.subject.forms, self.subject.rules, strict=True):
            found[_head(rule)].append(form)
        return found

    @cached_property
    def comments(self) -> Sequence[Comment]:
        """The comments that say which findings the validator is to leave out."""
        return comments_in(self.subject.source, self.limits)

    @cached_property
    def likely_names(self) -> LikelyNames:
        """What relations that nothing uses may have been meant to be."""
        return LikelyNames(self.subject)


Fixer: TypeAlias = Callable[[Draft, Diagnostic], Sequence[Edit]]


@dataclass(frozen=True, slots=True)
class Fix:
    """A defect and the edits that mend it, all of them or none."""

    diagnostic: Diagnostic
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text after its fixes; the diagnostics of `fixed` have places in the texts between, those of `left` in this."""

    source: Source
    fixed: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]


def fix_rules(source: Source, limits: ReadLimits = DEFAULT_LIMITS) -> Fixed:
    """Return *source* with every mechanical fix made; what cannot be read as a rule file stays as it is.

    One fix may make room for another, as where the rules that used a relation are gone. This ends, as each leaves fewer
    spellings, parentheses or rules.
    """
    fixed: list[Diagnostic] = []
    left = check(source, limits)
    while chosen := apart(fixes(source, left, limits)):
        fixed += (fix.diagnostic for fix in chosen)
        source = Source(source.name, edited(source, (edit for fix in chosen for edit in fix.edits)))
        left = check(source, limits)
    return Fixed(source, tuple(fixed), tuple(left))


def fixes(source: Source, diagnostics: Iterable[Diagnostic], limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Fix]:
    """Yield the fixes of those *diagnostics* of *source* that have one, if all of it could be read."""
    subject = examine(source, limits)
    if subject.diagnostics or subject.stray:  # something could not be read, and what follows it may be meant otherwise
        return
    draft = Draft(subject, limits)
    for one in diagnostics:
        fixer = FIXERS.get(one.code.name)
        edits = fixer(draft, one) if fixer else ()
        if edits:
            yield Fix(one, tuple(edits))


def apart(found: Iterable[Fix]) -> list[Fix]:
    """Return those fixes, first come first served, that can be made together: no two overlap, and one respells a name.

    Two names that are respelt each keep rules different, but together may make them one.
    """
    taken = Taken()
    chosen: list[Fix] = []
    is_respelt = False
    for fix in found:
        respells = FIXERS[fix.diagnostic.code.name] is usual_spelling
        if not (respells and is_respelt) and taken.take(fix.edits):
            chosen.append(fix)
            is_respelt |= respells
    return chosen


def usual_spelling(draft: Draft, found: Diagnostic) -> Sequence[Edit]:
    """Write a name as it is written most often, unless that made one of two rules or of two distinct terms.

    Only a likely slip is mended: a spelling that stands once, or never where the other does, as two pieces would.
    """
    old, new = found.span.text, found.related[0].span.text
    places = draft.forms_by_name.get(old, ())
    if len(places) > 1 and not draft.places_by_name[old].isdisjoint(draft.places_by_name[new]):
        return ()
    around = _tops(draft.subject, (*places, *draft.forms_by_name.get(new, ())))
    after = [tuple(new if word == old else word for word in _words(form)) for form in around]
    if len(set(after)) < len({tuple(_words(form)) for form in around}):
        return ()
    if any(_makes_one(form, old, new) for form in around):
        return ()
    return [Edit(form.span, new) for form in places]


def fact_for_rule(draft: Draft, found: Diagnostic) -> Sequence[Edit]:
    """Write `(<= (p a))` as the fact `(p a)`."""
    form = _form_at(draft.subject, found.span)
    arrow, head = form.children or (form, form)
    return unwrapped(form, head, arrow)


def lone_name(draft: Draft, found: Diagnostic) -> Sequence[Edit]:
    """Write `(p)` as `p`."""
    form = _form_at(draft.subject, found.span)
    (name,) = form.children or (form,)
    return () if name.name in CONNECTIVES else unwrapped(form, name)


def without_rules(draft: Draft, found: Diagnostic) -> Sequence[Edit]:
    """Delete the facts and rules of the relation in whose head the diagnostic is, unless those of another use it.

    With them go the comments that are for them alone, which would allow something in the rule that follows.

    One whose name is likely misspelt stays: it may be the rule that the game misses. Where those that use it go too,
    the next pass finds it unused; where a comment keeps them, they keep what they need.
    """
    graph, forms = draft.subject.graph, draft.subject.forms
    relation = _head(draft.subject.rules[bisect_right(forms, found.span.start, key=lambda form: form.start) - 1])
    if any(_head(use.rule) != relation for use in graph.users.get(relation, ())):
        return ()
    if draft.likely_names.meant_by(relation[0]) is not None:
        return ()
    gone = [form.span for form in draft.forms_by_head[relation]]
    return deletions((*gone, *_comments_for(draft, gone)))


FIXERS: Final[Mapping[str, Fixer]] = {
    "gdl/capitalisation": usual_spelling,
    "gdl/empty-body": fact_for_rule,
    "gdl/lone-name-in-parentheses": lone_name,
    "gdl/unused-relation": without_rules,
}
"""What mends each code."""


def _tops(subject: Subject, parts: Iterable[Form]) -> list[Form]:
    """Return the rules and facts that *parts* are in."""
    numbers = {bisect_right(subject.forms, part.start, key=lambda form: form.start) - 1 for part in parts}
    return [subject.forms[number] for number in sorted(numbers)]


def _head(rule: Rule) -> tuple[str, int]:
    return signature(rule.head.term)


def _form_at(subject: Subject, span: Span) -> Form:
    """Return the form that begins and ends with *span*, or else the rule or fact that it is in."""
    top = subject.forms[bisect_right(subject.forms, span.start, key=lambda form: form.start) - 1]
    form = top
    while (form.start, form.end) != (span.start, span.end) and form.children:
        following = bisect_right(form.children, span.start, key=lambda child: child.start)
        if not following:
            return top
        form = form.children[following - 1]
    return form


def _comments_for(draft: Draft, gone: Sequence[Span]) -> Iterator[Span]:
    """Yield the comments that allow something in the facts and rules *gone* alone, and stand outside of these."""
    forms, starts = draft.subject.forms, {span.start for span in gone}
    for comment in draft.comments:
        first, end = (bisect_left(forms, at, key=lambda form: form.start) for at in (comment.start, comment.end))
        covered = {form.start for form in forms[first:end]}
        is_inside = comment.start < comment.span.start < comment.end
        if comment.codes and covered and covered <= starts and not is_inside:
            yield comment.span


def _words(form: Form) -> Iterator[str]:
    """Yield the tokens of *form*, its parentheses among them but for those that mean nothing: of `(p)` and `(<= p)`."""
    todo: list[Form | str] = [form]
    while todo:
        top = todo.pop()
        if isinstance(top, str):
            yield top
        elif top.children is None:
            yield top.name
        elif len(top.children) == 1 or (len(top.children) == 2 and top.children[0].name == "<="):
            todo.append(top.children[-1])
        else:
            todo += (")", *reversed(top.children))
            yield "("


def _makes_one(form: Form, old: str, new: str) -> bool:
    """Return whether a `distinct` of *form* would hold the same term twice if *old* became *new*."""
    for part in form.walk():
        children = part.children or ()
        if len(children) == 3 and children[0].name == "distinct":
            left, right = ([new if word == old else word for word in _words(child)] for child in children[1:])
            if left == right:
                return True
    return False
