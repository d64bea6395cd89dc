"""Everything that can go wrong in `gdl`, each error saying whose fault it is and carrying its data.

`RuleFileError` is the rule file's fault, `CallerError` the caller's, `MessageError` the remote peer's;
`LimitExceeded` says that a budget ran out before there was an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gdl.diagnostics import Related
    from gdl.source import Span


class GdlError(Exception):
    """The root of all errors of this package."""


class RuleFileError(GdlError, ValueError):
    """The rule file is wrong: a sentence, where it is, and what to do about it.

    `span` names source, line and column where they are known; `str` of the error shows the line with a caret.
    `code` is the name of the defect in `gdl/codes.toml`, empty where it has none; `related` are other places.
    """

    def __init__(
        self,
        message: str,
        span: Span | None = None,
        hint: str | None = None,
        *,
        code: str = "",
        related: Sequence[Related] = (),
    ) -> None:
        super().__init__(message, span, hint)
        self.message, self.span, self.hint = message, span, hint
        self.code, self.related = code, tuple(related)

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

    def __init__(self, message: str, span: Span | None, hint: str | None, cycle: Sequence[str]) -> None:
        super().__init__(message, span, hint)
        self.cycle = tuple(cycle)

    def __reduce__(self) -> tuple[type[StratificationError], tuple[object, ...]]:
        return (StratificationError, (self.message, self.span, self.hint, self.cycle))


class NoLegalMoveError(RuleFileError):
    """The rules leave a role without a legal move although the play has not ended."""

    def __init__(self, role: str, step: int) -> None:
        super().__init__(f"{role} has no legal move in step {step}, though the state is not terminal")
        self.role, self.step = role, step

    def __reduce__(self) -> tuple[type[NoLegalMoveError], tuple[str, int]]:
        return (NoLegalMoveError, (self.role, self.step))


class AboutFileError(GdlError, ValueError):
    """The TOML description of a game is wrong; `problems` says what, one sentence each."""

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        super().__init__(name, problems)
        self.name, self.problems = name, tuple(problems)

    def __str__(self) -> str:
        return "\n".join(f"{self.name}: {problem}" for problem in self.problems)


class LimitExceeded(GdlError, RuntimeError):  # noqa: N818 -- it is no fault: a budget ended before the answer
    """A budget of time, facts or depth ran out before there was an answer; nothing is left half done."""

    def __init__(self, what: str, limit: float) -> None:
        super().__init__(what, limit)
        self.what, self.limit = what, limit

    def __str__(self) -> str:
        return f"limit reached: more than {f'{self.limit:,}'.removesuffix('.0')} {self.what}"


class ChildProcessDiedError(GdlError, RuntimeError):
    """A child process ended without an answer, and no limit explains it; `reason` says how it ended."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the child process gave no answer: {self.reason}"


class CannotCompileError(GdlError, RuntimeError):
    """The compiled engine cannot run a game; `reason` says why, and the interpreter still can."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the game cannot be compiled: {self.reason}"


class StuckPlayError(GdlError, RuntimeError):
    """A play came to a state that is not terminal and in which a role has no legal move: the rules are at fault."""

    def __str__(self) -> str:
        return "a play is stuck: a role has no legal move, though the state is not terminal"


class CallerError(GdlError, ValueError):
    """The caller asked for something that the game does not have."""


class UnknownRoleError(CallerError):
    """The game has no such role."""

    def __init__(self, role: str, roles: Sequence[str]) -> None:
        super().__init__(role, roles)
        self.role, self.roles = role, tuple(roles)

    def __str__(self) -> str:
        return f"no role {self.role!r} in this game; its roles are {', '.join(self.roles)}"


class IllegalMoveError(CallerError):
    """A role has no such legal move in this state."""

    def __init__(self, role: str, move: str) -> None:
        super().__init__(role, move)
        self.role, self.move = role, move

    def __str__(self) -> str:
        return f"{self.move} is not a legal move of {self.role} in this state"


class JointMoveError(CallerError):
    """A joint move does not have exactly one move for each role."""

    def __init__(self, n_moves: int, n_roles: int) -> None:
        super().__init__(n_moves, n_roles)
        self.n_moves, self.n_roles = n_moves, n_roles

    def __str__(self) -> str:
        return f"a joint move has one move per role: {self.n_roles} expected, {self.n_moves} given"


class TerminalStateError(CallerError):
    """The state is terminal: nobody moves any more."""

    def __str__(self) -> str:
        return "the state is terminal: there is no next state"


class UnknownNameError(CallerError):
    """A game, player or engine of that name is not there; `suggestions` are the nearest names."""

    def __init__(self, kind: str, name: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(kind, name, suggestions)
        self.kind, self.name, self.suggestions = kind, name, tuple(suggestions)

    def __str__(self) -> str:
        meant = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"no {self.kind} {self.name!r}{meant}"


class RenamingError(CallerError):
    """A name of a rule file cannot have another spelling, or not that one."""


class ArenaError(CallerError):
    """An arena cannot have that many rows, columns, cells, robots or turns."""

    def __init__(self, what: str, number: int, least: int, most: int) -> None:
        super().__init__(what, number, least, most)
        self.what, self.number, self.least, self.most = what, number, least, most

    def __str__(self) -> str:
        return f"an arena has from {self.least:,} to {self.most:,} {self.what}, not {self.number:,}"


class MessageError(GdlError, ValueError):
    """A message of a remote peer cannot be understood; `text` is the beginning of what it sent."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message, text[:200])
        self.message, self.text = message, text[:200]

    def __str__(self) -> str:
        return f"{self.message}: {self.text!r}" if self.text else self.message
