"""KIF text to forms: pyparsing finds the tokens, an explicit stack nests them.

A grammar that recurses would end at the depth of Python's stack; this reader takes linear time at any depth.
Reading is strict here: the first problem is raised. `gdl.language.recovery` goes on after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyparsing as pp

from gdl.diagnostics import Related, Source, Span
from gdl.errors import KifSyntaxError, wrong_type
from gdl.language.terms import Compound, Constant, Term, Variable

BLANKS: Final = " \t\r\n\f\v"
"""The characters between tokens."""
BINARY: Final = "\0\ud800-\udfff"
"""NUL, and halves of surrogate pairs, which no encoding can write: characters that no text has, as a range."""

BLANK: Final = f"[{BLANKS}]"
NAME_CHARACTER: Final = f"[^{BLANKS}();]"
NAME: Final = f"{NAME_CHARACTER}+"
NAME_END: Final = f"(?!{NAME_CHARACTER})"
NUMBER: Final = "-?[0-9]+"
COMMENT: Final = r";[^\r\n]*"
"""What the parts of a text are, as patterns for `re`: whatever reads or writes KIF is made of these."""
TOKEN: Final = re.compile(rf"[()]|{COMMENT}|{NAME}")
"""A parenthesis, a comment or a name, for what looks over a text without the places of its forms."""

_TOKEN: Final = pp.Regex(TOKEN).set_whitespace_chars(BLANKS).parse_with_tabs()
_NAME_BEFORE: Final = re.compile(rf"(?<!{NAME_CHARACTER}){NAME}\Z")
_LONGEST_NAME: Final = 60
_LONGEST_LINE: Final = 200
UNEQUAL: Final = ("/=", "!=", "\\=", "<>", "≠")
"""How other languages write that two terms differ."""
OTHER_BRACKETS: Final = re.compile(r"[\[\]{}（）﹙﹚［］｛｝【】〔〕]")  # noqa: RUF001 -- they look alike
BRACKETS_HINT: Final = "write ( and ): there are no other brackets"
"""What to say where other brackets stand for parentheses; they are characters of names."""
_BINARY: Final = re.compile(f"[{BINARY}]")


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What the reader accepts. *Units*: characters, levels of nesting."""

    max_characters: int = 10_000_000
    max_depth: int = 25_000


DEFAULT_LIMITS: Final = ReadLimits()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Form:
    """A token or a parenthesised list of forms, with its place in the source.

    `children` is None for a token; `name` is the token's text, and empty for a list.
    """

    source: Source
    start: int
    end: int
    name: str
    children: tuple[Form, ...] | None

    @property
    def span(self) -> Span:
        """Where the form stands."""
        return Span(self.source, self.start, self.end)

    @property
    def is_variable(self) -> bool:
        """Whether the form is a token that starts with a question mark."""
        return self.name.startswith("?")

    def walk(self) -> Iterator[Form]:
        """Yield the form and all forms within it, in the order of the text."""
        todo = [self]
        while todo:
            top = todo.pop()
            yield top
            todo += reversed(top.children or ())


@dataclass(frozen=True, slots=True)
class Token:
    """A parenthesis, a name or a comment. *Units*: offsets in characters."""

    start: int
    end: int
    text: str


def tokens(source: Source, limits: ReadLimits = DEFAULT_LIMITS, start: int = 0) -> Iterator[Token]:
    """Yield the tokens of *source* from the offset *start*, comments included.

    Raises:
        KifSyntaxError: the text is longer than *limits* allow, or binary.

    Source: KIF 3.0, the part that GDL uses.
    """
    text = source.text
    if len(text) > limits.max_characters:
        message = f"the text has {len(text):,} characters, more than the limit of {limits.max_characters:,}"
        raise too_large(message, Span(source, 0, 1))
    odd = _BINARY.search(text)
    if odd is not None:
        what = "a NUL character" if odd[0] == "\0" else "half of a character"
        raise KifSyntaxError(
            f"{what}: this is no text", Span(source, *odd.span()), "save it as UTF-8 text", code="no-text"
        )
    for found, first, end in _TOKEN.scan_string(text[start:] if start else text):
        yield Token(start + first, start + end, found[0])


def words(text: str) -> Iterator[str]:
    """Yield the names and parentheses of *text*, without its comments."""
    return (word for word in TOKEN.findall(text) if word[0] != ";")


def read_forms(source: Source, limits: ReadLimits = DEFAULT_LIMITS) -> tuple[Form, ...]:
    """Return the forms of *source*, nested as its parentheses say; comments are left out.

    Raises:
        KifSyntaxError: parentheses do not balance, or the text is larger or deeper than *limits* allow.
    """
    return nested(source, tokens(source, limits), limits)


def nested(source: Source, found: Iterable[Token], limits: ReadLimits = DEFAULT_LIMITS) -> tuple[Form, ...]:
    """Return the forms that the tokens *found* in *source* make; comments are left out.

    Raises:
        KifSyntaxError: as `read_forms`.
    """
    nesting = Nesting(source, limits)
    for token in found:
        if token.text == ")" and not nesting.open_at:
            raise unopened(Span(source, token.start, token.end))
        nesting.take(token)
    if nesting.open_at:
        raise unclosed(Span(source, nesting.open_at[-1], nesting.open_at[-1] + 1))
    return tuple(nesting.finished)


class Nesting:
    """Forms as they grow token by token; `finished` are the complete ones, `open_at` the parentheses still open."""

    def __init__(self, source: Source, limits: ReadLimits) -> None:
        self.finished: list[Form] = []
        self.open_at: list[int] = []
        self._source = source
        self._limits = limits
        self._levels: list[list[Form]] = [self.finished]

    def take(self, token: Token) -> None:
        """Add *token*; a closing parenthesis needs one that is open.

        Raises:
            KifSyntaxError: the parentheses nest too deep.
        """
        if token.text == "(":
            self._check_depth(token)
            self.open_at.append(token.start)
            self._levels.append([])
        elif token.text == ")":
            children = tuple(self._levels.pop())
            self._levels[-1].append(Form(self._source, self.open_at.pop(), token.end, "", children))
        elif token.text[0] != ";":
            self._levels[-1].append(Form(self._source, token.start, token.end, token.text, None))

    def give_up(self) -> Form:
        """Close all that is open where the last token ended, take the form so made away and return it."""
        end = max((form.end for level in self._levels for form in level[-1:]), default=0)
        while self.open_at:
            start, children = self.open_at.pop(), tuple(self._levels.pop())
            self._levels[-1].append(Form(self._source, start, max(end, start + 1), "", children))
        return self.finished.pop()

    def _check_depth(self, token: Token) -> None:
        if len(self.open_at) >= self._limits.max_depth:
            raise KifSyntaxError(
                f"parentheses nest deeper than the limit of {self._limits.max_depth:,}",
                Span(self._source, token.start, token.end),
                "count with numbers in place of terms inside terms",
                code="too-deep",
            )


def too_large(message: str, span: Span) -> KifSyntaxError:
    """Return the error of a text that is longer than allowed."""
    hint = "say it with rules that have variables in place of long lists of facts, or allow more characters"
    return KifSyntaxError(message, span, hint, code="too-large")


def unopened(span: Span, instead: str = "", related: Sequence[Related] = ()) -> KifSyntaxError:
    """Return the error of closing parentheses, one or a run of them, without opening ones.

    *instead* says what else than deleting them may be meant.
    """
    n_closing = span.text.count(")")
    which = "a closing parenthesis" if n_closing == 1 else f"{n_closing} closing parentheses"
    hint = f"delete {'it' if n_closing == 1 else 'them'}{instead}"
    before = span.source.text[max(0, span.start - _LONGEST_LINE) : span.start]
    if OTHER_BRACKETS.search(before.splitlines()[-1] if before else ""):
        hint = BRACKETS_HINT
    message = f"{which} that nothing opened"
    return KifSyntaxError(message, span, hint, code="unopened-parenthesis", related=related)


def unclosed(span: Span, related: Sequence[Related] = (), end: int | None = None) -> KifSyntaxError:
    """Return the error of an opening parenthesis without a closing one before *end*, by default that of the text."""
    message, hint = "this parenthesis is never closed", "add a closing parenthesis"
    if OTHER_BRACKETS.search(span.source.text, span.start, len(span.source.text) if end is None else end):
        hint = BRACKETS_HINT
    return KifSyntaxError(message, span, hint, code="unclosed-parenthesis", related=related)


def term_of(form: Form) -> Term:
    """Return the term that *form* writes; `(p)` is the constant `p`.

    Raises:
        KifSyntaxError: a list is empty, or begins with a list or a variable.
    """
    done: list[list[Term]] = [[]]
    todo: list[tuple[Form, bool]] = [(form, False)]
    while todo:
        top, is_complete = todo.pop()
        if top.children is None:
            done[-1].append(Variable(top.name) if top.is_variable else Constant(top.name))
        elif is_complete:
            arguments = tuple(done.pop())
            functor = top.children[0].name
            done[-1].append(Compound(functor, arguments) if arguments else Constant(functor))
        else:
            problem = list_problem(top)
            if problem is not None:
                raise problem
            done.append([])
            todo.append((top, True))
            todo += ((child, False) for child in reversed(top.children[1:]))
    return done[0][0]


def list_problem(form: Form, hint: str = "a list begins with a name: (name argument ...)") -> KifSyntaxError | None:
    """Return what keeps *form* from beginning with a name, as every list must; None for a token.

    *hint* says what to write where nothing around the list tells.
    """
    if form.children is None:
        return None
    if not form.children:
        wanted = "write a name after the opening parenthesis, or delete the pair"
        return KifSyntaxError("an empty pair of parentheses", form.span, wanted, code="empty-list")
    first = form.children[0]
    if first.children is None and not first.is_variable:
        return None
    what = "variable" if first.is_variable else "list"
    called = _NAME_BEFORE.search(form.source.text, max(0, form.start - _LONGEST_NAME), form.start)
    if called is not None and called[0] != "<=":
        hint = in_front_of_name(called[0])
    elif len(names := [part.name for part in form.children[:4]]) == 3 and names[1] in UNEQUAL and all(names):
        hint = f"did you mean (distinct {names[0][:_LONGEST_NAME]} {names[2][:_LONGEST_NAME]})?"
    return KifSyntaxError(f"a list begins with a {what}", first.span, hint, code=f"{what}-before-name")


def in_front_of_name(name: str) -> str:
    """Return what to write instead of `name(...)`, as other languages have it."""
    return f"the parenthesis stands in front of the name: write ({name} ...), not {name}(...)"


def read_term(text: str, limits: ReadLimits = DEFAULT_LIMITS) -> Term:
    """Return the one term that *text* writes.

    Raises:
        KifSyntaxError: *text* is not exactly one term.
        WrongTypeError: *text* is none.

    Example:
        >>> str(read_term("( cell 1  (f ?x))"))
        '(cell 1 (f ?x))'
    """
    if not isinstance(text, str):
        raise wrong_type(text, "a term as text")
    source = Source("<term>", text)
    forms = read_forms(source, limits)
    if len(forms) != 1:
        raise KifSyntaxError(f"one term expected, {len(forms)} found", Span(source, 0, len(text)))
    return term_of(forms[0])
