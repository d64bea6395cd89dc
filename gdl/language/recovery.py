"""Reading rule files on after a problem: where a form most likely ends whose parentheses do not balance.

Every problem goes to `on_error`. By default it is raised, so the first one ends the reading; with a callback that
returns, the bad form is set aside and reading goes on.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from gdl.diagnostics import Related, Source, Span
from gdl.errors import KifSyntaxError, RuleFileError
from gdl.language import kif

OnError: TypeAlias = Callable[[RuleFileError], None]

_RULE: Final = re.compile(rf"\({kif.BLANK}*<={kif.NAME_END}")
_FACT: Final = re.compile(
    rf"\({kif.BLANK}*(?:role{kif.BLANK}+(?!\?){kif.NAME_CHARACTER}|(?:init|base|input){kif.NAME_END})", re.IGNORECASE
)
"""What is at the top of a file, and hardly anywhere else."""
_CONDITION: Final = re.compile(rf"\({kif.BLANK}*(?:true|does|not|or|and|distinct){kif.NAME_END}", re.IGNORECASE)
"""What is in bodies and nowhere else."""
_CLOSING: Final = re.compile(rf"\)(?:{kif.BLANK}*\))*")


def refuse(error: RuleFileError) -> None:
    """Raise *error*: strict reading ends with the first problem."""
    raise error


@dataclass(frozen=True, slots=True)
class RuleForms:
    """The balanced forms of a rule file, and those set aside; `is_whole` is False where reading had to stop early."""

    forms: tuple[kif.Form, ...]
    broken: tuple[kif.Form, ...]
    is_whole: bool


def read_rule_forms(
    source: Source, limits: kif.ReadLimits = kif.DEFAULT_LIMITS, on_error: OnError = refuse
) -> RuleForms:
    """Return the forms of the rule file *source*, as far as its parentheses can be made out."""
    reading = _Reading(source, limits, on_error)
    try:
        reading.run()
    except KifSyntaxError as error:
        on_error(error)
        return RuleForms((), (), is_whole=False)
    return RuleForms(tuple(reading.nesting.finished), tuple(reading.broken), is_whole=True)


class _Reading:
    """One reading of a rule file."""

    def __init__(self, source: Source, limits: kif.ReadLimits, on_error: OnError) -> None:
        self.source, self.limits, self.on_error = source, limits, on_error
        self.nesting = kif.Nesting(source, limits)
        self.broken: list[kif.Form] = []
        self._last = kif.Token(0, 0, "")
        self._is_after_unopened = False
        self._last_at_line_start = 0
        self._hiding_comment: kif.Token | None = None
        self._first_inner_line: int | None = None

    def run(self) -> None:
        """Read the text; where its end leaves a form open, read that form again and look for its end."""
        for token in kif.tokens(self.source, self.limits):
            self._note_layout(token)
            self._take(token)
        if self.nesting.open_at:
            start = self.nesting.open_at[0]
            is_indented = self._is_indented(start)
            self.nesting.give_up()
            self._hiding_comment = None
            for token in kif.tokens(self.source, self.limits, start):
                if self.nesting.open_at and self._begins_form(token, is_indented=is_indented):
                    self._set_open_aside(token)
                self._take(token)
            if self.nesting.open_at:
                self._set_open_aside(None)

    def _take(self, token: kif.Token) -> None:
        is_unopened = token.text == ")" and not self.nesting.open_at
        if is_unopened and not self._is_after_unopened:
            self._report_unopened(token)
        elif not is_unopened:
            if not self.nesting.open_at and self._is_at_line_start(token):
                self._last_at_line_start = len(self.nesting.finished)
            self.nesting.take(token)
        if token.text[0] != ";":
            self._last, self._is_after_unopened = token, is_unopened
        elif token.text.count(")") > token.text.count("("):
            self._hiding_comment = token

    def _is_at_line_start(self, token: kif.Token) -> bool:
        return token.start == 0 or self.source.text[token.start - 1] in "\r\n"

    def _note_layout(self, token: kif.Token) -> None:
        if self._first_inner_line is not None or token.text != "(" or not self.nesting.open_at:
            return
        if self._is_at_line_start(token):
            self._first_inner_line = token.start

    def _begins_form(self, token: kif.Token, *, is_indented: bool) -> bool:
        """Return whether *token*, met while another form is open, begins a form of its own."""
        if token.text != "(" or self._last.text == "<=":
            return False
        if _RULE.match(self.source.text, token.start):
            return True
        if not self._is_at_line_start(token):
            return False
        if _CONDITION.match(self.source.text, token.start):
            return False
        return is_indented or _FACT.match(self.source.text, token.start) is not None

    def _is_indented(self, start: int) -> bool:
        """Return whether the layout sets conditions off, as the forms before *start* show, and those behind it allow.

        Where conditions stand at the start of a line, taking them for forms leaves closing parentheses over.
        """
        if self._first_inner_line is not None and self._first_inner_line < start:
            return False
        depth = 0
        for token in kif.tokens(self.source, self.limits, start):
            if token.text == "(":
                depth = 1 if depth and self._begins_form(token, is_indented=True) else depth + 1
            elif token.text == ")":
                depth -= 1
            if depth < 0:
                return False
            if token.text[0] != ";":
                self._last = token
        return True

    def _set_open_aside(self, then: kif.Token | None) -> None:
        start = self.nesting.open_at[0]
        related = [Related(Span(self.source, self._last.start, self._last.end), "this is where it seems to end")]
        if then is not None:
            related.append(Related(Span(self.source, then.start, then.end), "the next form begins here"))
        comment = self._hiding_comment
        if comment is not None and comment.start > start:
            place = Span(self.source, comment.start, comment.end)
            related.append(Related(place, "a parenthesis in a comment does not count"))
        self.on_error(kif.unclosed(Span(self.source, start, start + 1), related, self._last.end))
        self.broken.append(self.nesting.give_up())

    def _report_unopened(self, token: kif.Token) -> None:
        run = _CLOSING.match(self.source.text, token.start)
        span = Span(self.source, token.start, run.end() if run else token.end)
        early = self._closed_early()
        if early is None:
            self.on_error(kif.unopened(span))
        elif early.children is None:
            place = Related(early.span, "an opening parenthesis may be missing here")
            self.on_error(kif.unopened(span, ", or write an opening one in front of what it closes", [place]))
        else:
            place = Related(Span(self.source, early.end - 1, early.end), "the rule is closed here")
            self.on_error(kif.unopened(span, ", or the one that closed the rule too early", [place]))

    def _closed_early(self) -> kif.Form | None:
        """Set a rule aside whose last parts stand behind its end, or that has no beginning; return its first part."""
        forms, first = self.nesting.finished, self._last_at_line_start
        if first + 1 >= len(forms):
            return None
        early = forms[first]
        if early.children is not None and not _RULE.match(self.source.text, early.start):
            return None
        self.broken += forms[first:]
        del forms[first:]
        return early
