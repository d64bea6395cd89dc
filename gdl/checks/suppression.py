"""The suppression of findings: those that a comment allows, and those that say the same as another one.

A comment, `; ggp: allow gdl/unused-relation -- kept for the variants`, stands before its rule, or at the end of the
rule's first or last line. An error cannot be allowed: every engine that runs a file relies on the verdict.
"""

import difflib
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from gdl.diagnostics import Code, Diagnostic, Severity, Source, Span, codes, diagnostic, in_order
from gdl.errors import KifSyntaxError
from gdl.language.kif import DEFAULT_LIMITS, Form, ReadLimits, Token, tokens
from gdl.language.recovery import read_rule_forms

_COMMENT: Final = re.compile(r";+[ \t]*ggp:[ \t]*(?P<order>.*)", re.DOTALL)
_ALLOW: Final = re.compile(r"allow(?=\s)(?P<codes>(?:(?!\s--(?:\s|$)).)*)(?:\s--(?P<reason>.*))?", re.DOTALL)
_MAX_COMMENTS: Final = 1_000
"""How many such comments are read; a file that has more is no rule file."""
_FIRST_CHECK_IN_PLAY: Final = 17
_HOW: Final = "write `; ggp: allow gdl/some-code -- the reason` before the rule or at the end of one of its lines"


@dataclass(frozen=True, slots=True)
class Allowed:
    """A diagnostic that a comment of the file allows, and the reason given there."""

    diagnostic: Diagnostic
    reason: str


@dataclass(frozen=True, slots=True)
class Sifted:
    """Diagnostics that count, by place, and those that comments allow."""

    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Allowed, ...] = ()


@dataclass(frozen=True, slots=True)
class Comment:
    """What a comment at `span` orders for the forms from `start` up to `end`; no codes where it is not understood."""

    span: Span
    start: int
    end: int
    codes: tuple[str, ...]
    reason: str

    @property
    def allowed(self) -> Iterator[Code]:
        """The codes that it can allow."""
        known = (codes().get(name) for name in self.codes)
        return (code for code in known if code is not None and code.severity is not Severity.ERROR)


def sift(
    source: Source, diagnostics: Iterable[Diagnostic], limits: ReadLimits = DEFAULT_LIMITS, *, is_played: bool = False
) -> Sifted:
    """Return *diagnostics* of *source* without those that its comments allow, and with what is wrong in such comments.

    *is_played* says that *diagnostics* would hold what shows only in play, too.
    """
    found = tuple(in_order(diagnostics))
    comments = comments_in(source, limits)
    if not comments:
        return Sifted(found)
    by_code: defaultdict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(found):
        by_code[one.code.name].append(number)
    reasons: dict[int, str] = {}
    complaints: list[Diagnostic] = []
    for comment in comments:
        complaints += _complaints(comment)
        for code in comment.allowed:
            covered = _covered(found, by_code[code.name], comment)
            reasons |= dict.fromkeys(covered, comment.reason)
            if not covered and (is_played or code.check < _FIRST_CHECK_IN_PLAY):
                complaints.append(_unused(comment, code))
    kept = (one for number, one in enumerate(found) if number not in reasons)
    allowed = (Allowed(found[number], reason) for number, reason in sorted(reasons.items()))
    return Sifted(tuple(in_order([*kept, *complaints])), tuple(allowed))


def _covered(found: Sequence[Diagnostic], numbers: list[int], comment: Comment) -> list[int]:
    """Return those of *numbers*, which are in the order of places, that lie in what *comment* is for."""

    def start(number: int) -> int:
        return found[number].span.start

    return numbers[bisect_left(numbers, comment.start, key=start) : bisect_left(numbers, comment.end, key=start)]


def comments_in(source: Source, limits: ReadLimits = DEFAULT_LIMITS) -> tuple[Comment, ...]:
    """Return the comments of *source* to the validator, in their order; none where it is no text of rules."""
    if "ggp:" not in source.text:
        return ()
    try:
        orders = ((token, _COMMENT.match(token.text)) for token in tokens(source, limits))
        found = list(islice(((token, match["order"]) for token, match in orders if match), _MAX_COMMENTS))
    except KifSyntaxError:
        return ()
    if not found:
        return ()
    reading = read_rule_forms(source, limits, lambda _error: None)
    forms = sorted((*reading.forms, *reading.broken), key=lambda form: form.start)
    return tuple(_comment(source, forms, token, order) for token, order in found)


def _comment(source: Source, forms: Sequence[Form], token: Token, order: str) -> Comment:
    understood = _ALLOW.fullmatch(order.strip())
    names = re.split(r"[\s,]+", understood["codes"]) if understood else ()
    reason = (understood["reason"] or "").strip() if understood else ""
    start, end = _extent(source, forms, token)
    return Comment(Span(source, token.start, token.end), start, end, tuple(filter(None, names)), reason)


def _extent(source: Source, forms: Sequence[Form], token: Token) -> tuple[int, int]:
    """Return from where to where the forms reach that a comment is for: those that begin on its line or the next."""
    after = bisect_right(forms, token.start, key=lambda form: form.start)
    if after and token.start < forms[after - 1].end:
        return forms[after - 1].start, forms[after - 1].end
    line, column = source.line_column(token.start)
    is_alone = not source.text[token.start - column + 1 : token.start].strip()
    if is_alone and after == len(forms):
        return 0, 0
    if is_alone:
        line = forms[after].span.line
    of_line = [form for form in _around(forms, after, source, line) if form.span.line == line]
    if not of_line and after and source.line_column(forms[after - 1].end)[0] == line:
        of_line = [forms[after - 1]]  # it stands behind the last line of a rule
    return (of_line[0].start, of_line[-1].end) if of_line else (0, 0)


def _around(forms: Sequence[Form], after: int, source: Source, line: int) -> Sequence[Form]:
    first = bisect_left(forms, source.line_starts[line - 1], key=lambda form: form.start)
    ends = source.line_starts[line] if line < len(source.line_starts) else len(source.text)
    return forms[first : bisect_left(forms, ends, lo=min(after, len(forms)), key=lambda form: form.start)]


def _complaints(comment: Comment) -> Iterator[Diagnostic]:
    if not comment.codes:
        yield diagnostic("unknown-comment", comment.span, "this comment to the validator is not understood", _HOW)
    for name in comment.codes:
        code = codes().get(name)
        if code is None:
            near = difflib.get_close_matches(f"gdl/{name[:100].removeprefix('gdl/')}", codes(), 1)
            meant = f"did you mean `{near[0]}`?" if near else "`ggp validate` shows the code behind each message"
            yield diagnostic("unknown-code", comment.span, f"there is no code `{name[:100]}` to allow", meant)
        elif code.severity is Severity.ERROR:
            yield diagnostic(
                "error-allowed", comment.span, f"`{name}` is an error, and an error cannot be allowed", "mend the rule"
            )
    if comment.codes and not comment.reason:
        hint = "say why it is meant so: `; ggp: allow gdl/some-code -- the reason`"
        yield diagnostic("allowed-without-reason", comment.span, "this comment allows something without a reason", hint)


def _unused(comment: Comment, code: Code) -> Diagnostic:
    message = f"this comment allows `{code.name}`, which the rule does not have"
    hint = "delete the comment, or put it before the rule it is for or at the end of one of that rule's lines"
    return diagnostic("allowed-in-vain", comment.span, message, hint)


_TOLD_BY: Final[Mapping[str, str]] = {
    # These list all places, and know what is misspelt.
    "gdl/undeclared-fluent": "gdl/fluent-without-base",
    "gdl/undeclared-move": "gdl/move-without-input",
    # This one lists all places, too, and knows which declaration is misspelt.
    "gdl/no-such-role": "gdl/undeclared-role",
    # These are errors: that a rule is missing does harm in play.
    "gdl/role-without-goal": "gdl/no-goal",
    "gdl/role-without-legal": "gdl/no-legal-move",
}
"""Codes, each with the one that tells the same, and better, where both are found of one fluent, move or role."""
_REPEATED: Final = frozenset({*_TOLD_BY, *_TOLD_BY.values()})
_NAME: Final = re.compile(r"\(?\s*(?:role\s+)?([^\s()]+)")

_Subject: TypeAlias = tuple[str, bool]
"""A name in lower case, and whether it stands in parentheses, as one with arguments does."""


def repetitions(found: Collection[Diagnostic]) -> dict[Diagnostic, Diagnostic]:
    """Return those of *found* that say the same as another one of them, each with that one, which says it better."""
    paired = [(one, _subject(one.span)) for one in found if one.code.name in _REPEATED]
    first: dict[tuple[str, _Subject], Diagnostic] = {}
    for one, subject in paired:
        first.setdefault((one.code.name, subject), one)
    better = ((one, first.get((_TOLD_BY.get(one.code.name, ""), subject))) for one, subject in paired)
    return {one: other for one, other in better if other is not None}


def _subject(span: Span) -> _Subject:
    """Return what the fluent, the move, or the fact of a role at *span* is about."""
    name = _NAME.match(span.text)
    return ("" if name is None else name[1].lower(), span.text.startswith("("))
