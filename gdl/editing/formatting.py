"""The one layout of rule files: facts on a line, rules with a condition a line, long terms wrapped.

The tokens of the text stay as they are and in their order, comments among them, so its meaning does too. What is the
author's own: comments, whether they stand alone or behind something; blank lines; facts set side by side.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Self

from gdl.diagnostics import LINE_END, Source
from gdl.language.kif import BLANKS, DEFAULT_LIMITS, ReadLimits, Token, nested, tokens

LINE_COLUMNS: Final = 100
INDENT: Final = 4
_MAX_INDENT: Final = 60
"""Deeper than this nothing is indented, so that the layout of any text stays of the order of its size."""

_CONNECTIVES: Final = frozenset({"and", "or", "not"})


def format_rules(source: Source, limits: ReadLimits = DEFAULT_LIMITS) -> str:
    r"""Return the text of *source* in the one layout; laying that out again changes nothing.

    Raises:
        KifSyntaxError: parentheses do not balance, or the text is larger or deeper than *limits* allow.

    Example:
        >>> print(format_rules(Source("<rules>", "(role x)(<= terminal(line ?p) ; three\n)")), end="")
        (role x)
        (<= terminal
            (line ?p) ; three
        )
    """
    found = list(tokens(source, limits))
    nested(source, found, limits)
    writer = _Writer()
    _Layout(_Text.of(source, found), writer).write()
    return writer.text


class _Text:
    """The tokens of a balanced text with what the layout asks about them, by their number.

    `ends[i]` is the last token of the form that begins at i; `columns[i]` is where token i would begin if all stood on
    one line, so that differences of columns are widths; `breaks[i]` counts the line ends before token i.
    """

    def __init__(self, found: list[Token], breaks: list[int]) -> None:
        self.words = [token.text.rstrip(BLANKS) for token in found]
        self.breaks = breaks
        self.is_comment = [word.startswith(";") for word in self.words]
        self.columns = list(accumulate(map(self._step, range(1, len(found))), initial=0))
        self.n_comments = list(accumulate(self.is_comment, initial=0))
        self.ends, self.n_closing = self._match()

    @classmethod
    def of(cls, source: Source, found: list[Token]) -> Self:
        starts = (0, *(token.end for token in found[:-1]))
        gaps = zip(starts, (token.start for token in found), strict=False)
        return cls(found, [len(LINE_END.findall(source.text, *gap)) for gap in gaps])

    def __len__(self) -> int:
        return len(self.words)

    def separator(self, i: int) -> str:
        """Return what stands before token *i* when it follows its predecessor on one line."""
        return "" if self.words[i] == ")" or self.words[i - 1] == "(" else " "

    def flat(self, i: int) -> str:
        """Return the form that begins at token *i* on one line."""
        following = range(i + 1, self.ends[i] + 1)
        return self.words[i] + "".join(self.separator(k) + self.words[k] for k in following)

    def width(self, i: int) -> int:
        """Return the columns of the form at token *i*, with the parentheses that close right behind it."""
        end = self.ends[i]
        return self.columns[end] + len(self.words[end]) - self.columns[i] + self.n_closing[end + 1]

    def has_comment(self, i: int) -> bool:
        """Return whether a comment stands inside the form that begins at token *i*."""
        return self.n_comments[i] != self.n_comments[self.ends[i]]

    def is_behind(self, i: int) -> bool:
        """Return whether the comment *i* ends a line on which something else stands."""
        return i > 0 and self.breaks[i] == 0

    def is_rule(self, i: int) -> bool:
        """Return whether `(<= head condition ...)` begins at token *i*."""
        return self.words[i] == "(" and self.words[i + 1] == "<="

    def _step(self, i: int) -> int:
        return len(self.words[i - 1]) + len(self.separator(i))

    def _match(self) -> tuple[list[int], list[int]]:
        ends = list(range(len(self)))
        n_closing = [0] * (len(self) + 1)
        opened: list[int] = []
        for i, word in enumerate(self.words):
            if word == "(":
                opened.append(i)
            elif word == ")":
                ends[opened.pop()] = i
        for i in range(len(self) - 1, -1, -1):
            n_closing[i] = n_closing[i + 1] + 1 if self.words[i] == ")" else 0
        return ends, n_closing


class _Writer:
    """Writes words and line ends, and knows its column."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.column = 0

    @property
    def text(self) -> str:
        return "".join((*self._pieces, "\n")) if self._pieces else ""

    def write(self, words: str) -> None:
        self._pieces.append(words)
        self.column += len(words)

    def new_line(self, indent: int, *, after_blank: bool) -> None:
        if self._pieces:
            self._pieces.append("\n\n" if after_blank else "\n")
        self._pieces.append(" " * indent)
        self.column = indent


@dataclass(slots=True)
class _List:
    """A list that does not stand on one line: its column, its kind, and how many of its members are written."""

    column: int
    functor: str
    is_rule: bool
    n_written: int = 0

    @property
    def has_line_for_each(self) -> bool:
        return self.is_rule or self.functor in _CONNECTIVES

    @property
    def indent(self) -> int:
        aligned = len(self.functor) + 2 if self.functor in _CONNECTIVES else INDENT
        return min(self.column + aligned, _MAX_INDENT)


class _Layout:
    """Writes a text; `_open` are the lists it is in, each in several lines."""

    def __init__(self, text: _Text, writer: _Writer) -> None:
        self._text, self._writer = text, writer
        self._open: list[_List] = []
        self._must_break = True
        self._may_be_joined = False

    def write(self) -> None:
        i = 0
        while i < len(self._text):
            i = self._element(i) + 1

    def _element(self, i: int) -> int:
        """Write the comment, parenthesis or form at token *i*, or its beginning; return the last token written."""
        if self._text.is_comment[i]:
            self._comment(i)
        elif self._text.words[i] == ")":
            self._close()
        elif self._open:
            return self._member(self._open[-1], i)
        else:
            return self._item(i)
        return i

    def _comment(self, i: int) -> None:
        if self._text.is_behind(i):
            self._writer.write(" ")
        else:
            self._new_line(i)
        self._writer.write(self._text.words[i])
        self._must_break = True
        self._may_be_joined = False

    def _close(self) -> None:
        closed = self._open.pop()
        if self._must_break:
            self._writer.new_line(min(closed.column, _MAX_INDENT), after_blank=False)
        self._writer.write(")")
        self._must_break = not self._open

    def _item(self, i: int) -> int:
        """Write a fact or a rule: facts that stood side by side go on doing so where they fit."""
        text, writer = self._text, self._writer
        is_flat = self._fits(i, 0) and not (text.is_rule(i) and text.ends[i] > i + 3)
        joins = is_flat and not text.is_rule(i)
        if joins and self._may_be_joined and text.breaks[i] == 0 and self._fits(i, writer.column + 1):
            writer.write(" ")
        else:
            self._new_line(i)
        self._must_break = True
        self._may_be_joined = joins
        return self._form(i, is_flat=is_flat)

    def _member(self, within: _List, i: int) -> int:
        """Write a form inside a list: on the same line where it may stand there, else on one of its own."""
        if self._must_break or not self._stays(within, i):
            self._new_line(i)
        elif within.n_written:
            self._writer.write(" ")
        within.n_written += 1
        self._must_break = False
        return self._form(i, is_flat=self._fits(i, self._writer.column))

    def _stays(self, within: _List, i: int) -> bool:
        if within.n_written > 1 and within.has_line_for_each:
            return False
        if within.n_written == 0 or self._fits(i, self._writer.column + 1):
            return True
        starts_early = self._writer.column < _MAX_INDENT - 2 * INDENT
        return within.n_written == 1 and starts_early and not self._fits(i, within.indent)

    def _form(self, i: int, *, is_flat: bool) -> int:
        text = self._text
        if is_flat or text.words[i] != "(":
            self._writer.write(text.flat(i))
            return text.ends[i]
        self._open.append(_List(self._writer.column, text.words[i + 1].lower(), text.is_rule(i) and not self._open))
        self._writer.write("(")
        self._must_break = False
        return i

    def _fits(self, i: int, column: int) -> bool:
        return not self._text.has_comment(i) and column + self._text.width(i) <= LINE_COLUMNS

    def _new_line(self, i: int) -> None:
        """Begin a line for token *i*; rules and what is between them keep their blank lines."""
        indent = self._open[-1].indent if self._open else 0
        keeps_blank = not self._open or (len(self._open) == 1 and self._open[0].is_rule)
        self._writer.new_line(indent, after_blank=keeps_blank and self._text.breaks[i] > 1)
