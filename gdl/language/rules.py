"""Rule files to rules: facts and rules with their conditions, keywords in lower case, every part with its place.

Rules of the same game that begin in another position.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gdl.diagnostics import Source, Span
from gdl.errors import wrong_type
from gdl.language.kif import DEFAULT_LIMITS, Form, ReadLimits, too_large
from gdl.language.recovery import OnError, read_rule_forms, refuse
from gdl.language.rule_reader import RuleReader
from gdl.language.syntax import GDL2_KEYWORDS, KEYWORDS, Rule
from gdl.language.terms import Compound, Term

RULES_SUFFIX: Final = ".kif"
METADATA_SUFFIX: Final = ".toml"
"""How the names of a rule file and of the description of its game beside it end."""
_MAX_RULES_INSIDE: Final = 10
"""How deep rules are looked for inside rules, where the first misses a parenthesis."""


@dataclass(frozen=True)
class Description:
    """A rule file: its rules in order, and whether it is meant as GDL-II."""

    source: Source = field(compare=False, repr=False)
    rules: tuple[Rule, ...]
    is_gdl2: bool

    @property
    def sha256(self) -> str:
        """The SHA-256 of the text, in hex digits."""
        return rules_sha256(self.source.text)


def rules_sha256(text: str) -> str:
    """Return the SHA-256 of rules, in hex digits; halves of characters, which no rules have, count as `?`."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def read_file(path: str | Path, limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None) -> Description:
    """Return the rules that the file at *path* holds: UTF-8, else Latin-1.

    Raises:
        OSError: the file cannot be read.
        RuleFileError: as `read_rules`.
    """
    max_bytes = 4 * limits.max_characters  # UTF-8 takes no more for a character
    with Path(path).open("rb") as file:  # a device or a pipe has no size: its end may never come
        raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes:
        message = (
            f"the file has more than {max_bytes:,} bytes: more than the limit of {limits.max_characters:,} characters"
        )
        raise too_large(message, Span(Source(str(path), ""), 0, 0))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return read_rules(text, str(path), limits, is_gdl2=is_gdl2)


def read_rules(
    text: str, name: str = "<rules>", limits: ReadLimits = DEFAULT_LIMITS, *, is_gdl2: bool | None = None
) -> Description:
    """Return the rules that *text* holds; *name* is what errors call it.

    *is_gdl2* None leaves it to the text: GDL-II has `(role random)`, or `sees` with a role and a percept. The mark that
    some editors put before a text is left out.

    Raises:
        KifSyntaxError: the text is no sequence of balanced forms within *limits*.
        MalformedRuleError: a form is neither a fact nor a rule, or misuses a keyword.
        WrongTypeError: *text* is none, as a path, which `read_file` takes.
    """
    if not isinstance(text, str):
        raise wrong_type(text, "rules as text (gdl.read_file takes a path)")
    source = Source(name, text.removeprefix("\ufeff"))
    reading = read_forms_as_rules(source, limits, is_gdl2=is_gdl2)
    return Description(source, reading.rules, reading.is_gdl2)


@dataclass(frozen=True, slots=True)
class RuleReading:
    """What was read of a rule file: `forms` have their keywords in lower case, `rules` are those that are well-formed.

    `broken` are the forms that are not, as far as they go; `is_whole` is False where reading had to stop early.
    """

    forms: tuple[Form, ...]
    rules: tuple[Rule, ...]
    broken: tuple[Form, ...]
    is_gdl2: bool
    is_whole: bool


def read_forms_as_rules(
    source: Source, limits: ReadLimits = DEFAULT_LIMITS, on_error: OnError = refuse, *, is_gdl2: bool | None = None
) -> RuleReading:
    """Return the rules of *source*; *on_error* is called with what cannot be one, and raises it by default.

    Where *on_error* returns, the form is passed over, and rules that stand inside it are read for themselves.
    """
    found = read_rule_forms(source, limits, on_error)
    if is_gdl2 is None:
        is_gdl2 = _is_meant_as_gdl2(found.forms)
    keywords = KEYWORDS | GDL2_KEYWORDS if is_gdl2 else KEYWORDS
    forms, broken, rules = [], list(found.broken), []
    todo = [(_with_keywords(form, keywords), 0) for form in reversed(found.forms)]
    while todo:
        form, depth = todo.pop()
        rule = RuleReader(on_error, is_gdl2=is_gdl2).rule(form)
        if rule is None:
            broken.append(form)
            if depth < _MAX_RULES_INSIDE:
                todo += ((inner, depth + 1) for inner in reversed(_rules_inside(form)))
        else:
            forms.append(form)
            rules.append(rule)
    return RuleReading(tuple(forms), tuple(rules), tuple(broken), is_gdl2, found.is_whole)


def _rules_inside(form: Form) -> list[Form]:
    found: list[Form] = []
    todo = list(reversed(form.children or ()))
    while todo:
        top = todo.pop()
        if top.children and top.children[0].name == "<=":
            found.append(top)
        else:
            todo += reversed(top.children or ())
    return found


def _heads(forms: tuple[Form, ...]) -> Iterator[tuple[Form, ...]]:
    for form in forms:
        inner = form.children or ()
        if len(inner) > 1 and inner[0].name == "<=":
            inner = inner[1].children or ()
        if inner and inner[0].name:
            yield inner


def _is_meant_as_gdl2(forms: tuple[Form, ...]) -> bool:
    heads = tuple(_heads(forms))
    roles = {head[1].name for head in heads if head[0].name.lower() == "role" and len(head) == 2}
    if any(role.lower() == "random" for role in roles):
        return True
    return any(
        head[0].name.lower() == "sees" and len(head) == 3 and (head[1].is_variable or head[1].name in roles)
        for head in heads
    )


def _with_keywords(form: Form, keywords: frozenset[str]) -> Form:
    """Return *form* with its keywords in lower case."""
    done: list[list[Form]] = [[]]
    todo: list[tuple[Form, bool]] = [(form, False)]
    while todo:
        top, is_complete = todo.pop()
        if top.children is None:
            lower = top.name.lower()
            is_keyword = lower in keywords and lower != top.name
            done[-1].append(Form(top.source, top.start, top.end, lower, None) if is_keyword else top)
        elif is_complete:
            children = tuple(done.pop())
            done[-1].append(Form(top.source, top.start, top.end, "", children))
        else:
            done.append([])
            todo.append((top, True))
            todo += ((child, False) for child in reversed(top.children))
    return done[0][0]


def rules_from(description: Description, facts: Iterable[Term]) -> str:
    """Return the text of *description*'s rules with the state of *facts* as the first one: all else is as it was.

    What each player perceived on the way is not part of a state: in GDL-II these rules reveal this state to every role.

    Example:
        >>> from gdl.language.kif import read_term
        >>> from gdl.language.rules import read_rules
        >>> rules = read_rules("(role a) (init (at 1)) (<= (next (at 2)) (true (at 1)))")
        >>> print(rules_from(rules, [read_term("(at 2)")]))
        (role a)  (<= (next (at 2)) (true (at 1)))
        (init (at 2))
    """
    text, end, kept = description.source.text, 0, []
    for rule in description.rules:
        if isinstance(rule.head.term, Compound) and rule.head.term.functor == "init":
            kept.append(text[end : rule.span.start])
            end = rule.span.end
    kept.append(text[end:].rstrip())
    return "\n".join(["".join(kept), *sorted(f"(init {fact})" for fact in facts)])
