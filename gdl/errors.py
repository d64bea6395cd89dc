"""Everything that can go wrong in `gdl`, each error saying whose fault it is and carrying its data.

`RuleFileError` is the rule file's fault, `CallerError` the caller's, `MessageError` the remote peer's;
`LimitExceeded` says that a budget ran out before there was an answer.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar, cast, dataclass_transform

if TYPE_CHECKING:
    from pathlib import Path

    from gdl.diagnostics import Related, Span

_E = TypeVar("_E", bound="GdlError")


class _TemplateFormatter(Formatter):
    """Fills templates from the one object given: `{name}`, `{a.b}`, `{name[:100]!r}`; a tuple is joined by commas."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ARG002 -- as Formatter has it
        """Return the attribute that *field_name* names, or its first characters, as in `name[:100]`."""
        name, _, length = field_name.removesuffix("]").partition("[:")
        value = attrgetter(name)(args[0])
        return (value[: int(length)] if length else value), name

    def format_field(self, value: object, format_spec: str) -> str:
        """Return *value* as text."""
        return ", ".join(value) if isinstance(value, tuple) else format(value, format_spec)


_FORMATTER: Final = _TemplateFormatter()


def derived(value: object, *, init: Literal[False] = False) -> Any:
    """Return a field that is no argument of the constructor: *value*, where it is a text filled as a template is."""
    return field(init=init, metadata={"derived": value})


@dataclass_transform(eq_default=False, field_specifiers=(field, derived))
class GdlError(Exception):
    """The root of all errors of this package.

    A subclass annotates its fields, which are the arguments of its constructor and its attributes, and gives the
    `template` of its message, which names fields and properties of the error. Lists become tuples. Every error can be
    pickled, whatever its constructor.
    """

    template: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Make the constructor of the fields that *cls* annotates."""
        super().__init_subclass__()
        dataclass(eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        """Fill the derived fields, and set `args` to what the constructor takes by position."""
        found = fields(cast(Any, self))
        for each in found:
            if "derived" in each.metadata:
                value = each.metadata["derived"]
                setattr(self, each.name, self._filled(value) if isinstance(value, str) else value)
            elif isinstance(value := getattr(self, each.name), list):
                setattr(self, each.name, tuple(value))
        self.args = tuple(getattr(self, each.name) for each in found if each.init and not each.kw_only)

    def __str__(self) -> str:
        return self._filled(self.template)

    def __reduce__(self) -> tuple[object, ...]:
        return _blank, (type(self), self.args), self.__dict__

    def _filled(self, template: str) -> str:
        return _FORMATTER.vformat(template, (self,), {})


def _blank(kind: type[_E], args: tuple[object, ...]) -> _E:
    """Return an error of that *kind* without its attributes, which pickle sets next."""
    return kind.__new__(kind, *args)


class RuleFileError(GdlError, ValueError):
    """The rule file is wrong: a sentence, where it is, and what to do about it.

    `span` names source, line and column where they are known; `str` of the error shows the line with a caret.
    `code` is the name of the defect in `gdl/codes.toml`, empty where it has none; `related` are other places.
    """

    message: str
    span: Span | None = None
    hint: str | None = None
    code: str = field(default="", kw_only=True)
    related: Sequence[Related] = field(default=(), kw_only=True)

    def __str__(self) -> str:
        place = "" if self.span is None else f"{self.span.place}: "
        picture = "" if self.span is None else f"\n{self.span.picture}"
        hint = "" if self.hint is None else f"\nhint: {self.hint}"
        return f"{place}{self.message}{picture}{hint}"


class KifSyntaxError(RuleFileError):
    """The text is not a sequence of balanced KIF forms, or is too large or nests too deep."""


class MalformedRuleError(RuleFileError):
    """A form is neither a fact nor a rule, or a keyword is used as it may not be."""


class UnsafeRuleError(RuleFileError):
    """A variable of a head, a negation or a `distinct` is bound by no positive literal of the body."""


class StratificationError(RuleFileError):
    """A relation depends on its own negation; `cycle` lists the atoms from one to itself again."""

    cycle: Sequence[str] = ()


class NoLegalMoveError(RuleFileError):
    """The rules leave a role without a legal move although the play has not ended."""

    message: str = derived("{role} has no legal move in the state of step {step}, though it is not terminal")
    span: Span | None = derived(None)
    hint: str | None = derived(None)
    role: str
    step: int


class MetadataError(GdlError, ValueError):
    """The TOML description of a game is wrong; `problems` says what, one sentence each.

    `keys` are the paths of the keys that the problems are about, in the same order; empty where they are about none.
    `words` are those of which each value, or key, must be one; none where it may be something else.
    """

    name: str
    problems: Sequence[str]
    keys: Sequence[tuple[int | str, ...]] = ()
    words: Sequence[tuple[str, ...]] = ()

    def __str__(self) -> str:
        return "\n".join(f"{self.name}: {problem}" for problem in self.problems)


class LimitExceeded(GdlError, RuntimeError):  # noqa: N818 -- it is no fault: a budget ended before the answer
    """A budget of time, facts or depth ran out before there was an answer; nothing is left half done."""

    template: ClassVar[str] = "limit reached: more than {number} {what}"
    what: str
    limit: float

    @property
    def number(self) -> str:
        """The limit as text: a whole number has no decimal point."""
        return f"{self.limit:,}".removesuffix(".0")


class ChildProcessDiedError(GdlError, RuntimeError):
    """A child process ended without an answer, and no limit explains it; `reason` says how it ended."""

    template: ClassVar[str] = "the child process gave no answer: {reason}"
    reason: str


class CannotCompileError(GdlError, RuntimeError):
    """The compiled engine cannot run a game; `reason` says why, and the interpreter still can."""

    template: ClassVar[str] = "the game cannot be compiled: {reason}"
    reason: str


class FaultyTablesError(CannotCompileError):
    """A kernel could read or write outside these tables: the compiler is at fault, and no kernel ran."""


class UnstableLoopError(GdlError, RuntimeError):
    """A loop of the compiled engine is not stable after as many passes as it may take: the compiler is at fault."""

    template: ClassVar[str] = "a loop of the compiled engine does not become stable: the compiler is at fault"


class StuckPlayError(GdlError, RuntimeError):
    """A play came to a state that is not terminal and in which a role has no legal move: the rules are at fault."""

    template: ClassVar[str] = "a play is stuck: a role has no legal move, though the state is not terminal"


class CallerError(GdlError, ValueError):
    """The caller asked for something that is not there, or passed what is of another type."""


class WrongTypeError(CallerError, TypeError):
    """An argument is of another type: `expected` says in words what is asked for, `given` shows what came."""

    template: ClassVar[str] = "expected {expected}, not the {given}"
    expected: str
    given: str


def wrong_type(value: object, expected: str) -> WrongTypeError:
    """Return the error that *value* is of another type than what is *expected*, in words.

    >>> print(wrong_type(3, "a text"))
    expected a text, not the int 3
    """
    return WrongTypeError(expected, f"{type(value).__name__} {reprlib.repr(value)}")


class UnknownRoleError(CallerError):
    """The game has no such role."""

    template: ClassVar[str] = "no role {role!r} in this game; its roles are {roles}"
    role: str
    roles: Sequence[str]


class IllegalMoveError(CallerError):
    """A role has no such legal move in this state."""

    template: ClassVar[str] = "{move} is not a legal move of {role} in this state"
    role: str
    move: str


class JointMoveError(CallerError):
    """A joint move does not have exactly one move for each role."""

    template: ClassVar[str] = "a joint move has one move per role: {n_roles} expected, {n_moves} given"
    n_moves: int
    n_roles: int


class TerminalStateError(CallerError):
    """The state is terminal: no role moves any more."""

    template: ClassVar[str] = "the state is terminal: no role moves any more"


class ForeignStateError(CallerError):
    """A state is one of another game: `rules` are the name of its own, `expected` that of the game that was asked."""

    template: ClassVar[str] = "the state is one of {rules}, not of {expected}: a game plays from states of its own"
    rules: str
    expected: str


class UnknownNameError(CallerError):
    """A game, player or engine of that name is not there; `suggestions` are the nearest names."""

    template: ClassVar[str] = "no {kind} {name[:100]!r}{meant}"
    kind: str
    name: str
    suggestions: Sequence[str] = ()

    @property
    def meant(self) -> str:
        """The question whether one of the suggestions was meant."""
        return question(self.suggestions)


class NamedDescriptionError(CallerError):
    """A TOML description is named where the rules of the game are wanted, which are in another file."""

    template: ClassVar[str] = "{path} describes a game; its rules are in another file: name that, as in {rules}"
    path: Path
    rules: Path


def question(suggestions: Sequence[str]) -> str:
    """Return the end of a message that asks whether one of *suggestions* was meant; empty without any."""
    return f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""


class RenamingError(CallerError):
    """A name of a rule file cannot have another spelling, or not that one."""

    template: ClassVar[str] = "{message}"
    message: str


class SizeError(CallerError):
    """A game of a family cannot be made in that size."""

    template: ClassVar[str] = "{family} has from {least:,} to {most:,} {what}, not {number:,}"
    family: str
    what: str
    number: int
    least: int
    most: int


class PuzzleError(CallerError):
    """A level or a puzzle is none that a game can be made of; `line` and `column`, from 1, are 0 for all of it."""

    template: ClassVar[str] = "{place}{message}"
    message: str
    line: int = 0
    column: int = 0

    @property
    def place(self) -> str:
        """Where the mistake is, as the beginning of the message."""
        return f"line {self.line}, column {self.column}: " if self.line else ""


class FenError(CallerError):
    """A line is not Forsyth-Edwards Notation, or describes no position from which chess can be played."""

    template: ClassVar[str] = "not a position of chess: {reason} ({fen})"
    fen: str
    reason: str


class UnsendableMessageError(CallerError):
    """A message of the protocol cannot be written: its match id is no single name, or its dialect needs more."""

    template: ClassVar[str] = "{message}"
    message: str


class MessageError(GdlError, ValueError):
    """A message of a remote peer cannot be understood; `text` is the beginning of what it sent."""

    message: str
    text: str = ""

    def __post_init__(self) -> None:
        """Keep the beginning of the text alone."""
        self.text = self.text[:200]
        super().__post_init__()

    def __str__(self) -> str:
        return f"{self.message}: {self.text!r}" if self.text else self.message
