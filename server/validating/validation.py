"""Validating a rule file: static checks, plays under limits, what its comments allow, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from gdl import errors
from gdl.checks import findings
from gdl.checks.suppression import Allowed, repetitions, sift
from gdl.diagnostics import Diagnostic, Severity, Source, Span, diagnostic
from gdl.language.kif import DEFAULT_LIMITS, ReadLimits
from gdl.language.rules import read_rules
from gdl.worker import ChildLimits, run_limited
from server.validating.rule_text import read_rule_text
from server.validating.trial_plays import SimulationRequest, TrialPlays, play_trials

if TYPE_CHECKING:
    from gdl.simulation import SimulationBudget

Result = TypeVar("Result")

SMALL_CHARACTERS: Final = 64 * 1024
"""A file up to this size is checked in this process: no check takes long for it."""
_GRACE_S: Final = 5.0
"""How long a simulation may take beyond its budget: to start, to conclude, to write evidence."""
_PATIENCE: Final = 20
"""How many times its processor time a child may take by the clock."""
_WAITING_S: Final = 600.0
"""How long a child may wait beside that: while it compiles, the work is done by a child of its own."""
_CODES: Final = {errors.UnsafeRuleError: "unsafe-variable", errors.StratificationError: "negative-cycle"}
"""What the engines refuse. The static checks say it first; this is for what they might overlook."""
_INCONCLUSIVE: Final = "gdl/limit-in-play"
"""The code of having no verdict; it is none itself, however strictly it is taken."""


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """How files are validated; without `budget` nothing is played.

    Where `is_compiled`, the compiled engine plays, if it is None where the interpreter is too slow; where `is_wanted`
    says no, child processes are ended. *Units*: seconds of processor time for the checks of one file.
    """

    max_seconds: float = 30.0
    max_memory_mb: int = 2048
    read_limits: ReadLimits = DEFAULT_LIMITS
    is_strict: bool = False
    budget: SimulationBudget | None = None
    seed: int = 0
    evidence_folder: Path | None = None
    is_compiled: bool | None = False
    is_wanted: Callable[[], bool] = lambda: True


class FileVerdict(StrEnum):
    """What a validation says of a file in a word."""

    OK = "ok"
    WRONG = "wrong"
    """There is an error."""
    UNKNOWN = "unknown"
    """A limit came first."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What is to be said of one file, by place; `limit` says what kept it from a verdict.

    Where not `is_checked`, the limit came before the checks of the text had ended; else it is one of the plays.
    `found` has everything, `diagnostics` what counts: each thing once, not allowed, and as strictly as asked for.
    `evidence` has the records of plays, by code and place of what they show.
    """

    source: Source
    found: tuple[Diagnostic, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    limit: str | None = None
    figures: dict[str, Any] | None = None
    lines: tuple[str, ...] = ()
    evidence: dict[tuple[str, int], Path] = field(default_factory=dict)
    is_checked: bool = True

    @property
    def is_wrong(self) -> bool:
        """Whether the file is unfit to play."""
        return any(found.is_error for found in self.diagnostics)

    @property
    def has_error(self) -> bool:
        """Whether there is an error however leniently warnings are taken, so that it makes no sense to play."""
        return any(found.is_error for found in self.found)

    @property
    def verdict(self) -> FileVerdict:
        """Whether the file is fit to play, as far as that is known."""
        if self.is_wrong:
            return FileVerdict.WRONG
        return FileVerdict.OK if self.limit is None else FileVerdict.UNKNOWN

    def count(self, severity: Severity) -> int:
        """Return how many diagnostics are of that severity."""
        return sum(found.severity is severity for found in self.diagnostics)

    def evidence_of(self, found: Diagnostic) -> Path | None:
        """Return the record of a play that shows the defect, if there is one."""
        return self.evidence.get((found.code.name, found.span.start))


class RulesUnfitError(errors.CallerError):
    """Rules that are not kept because they are not fit to play; `validation` says why."""

    template: ClassVar[str] = "these rules are not fit to play: {reason}"
    name: str
    validation: Validation

    @property
    def reason(self) -> str:
        """The limit that the validation reached, or else its verdict."""
        return self.validation.limit or "the validator finds errors"


def check_file(name: str, options: ValidationOptions) -> Validation:
    """Return what the static checks say of a game of the library, or of the rule file at a path, or of standard input.

    Raises:
        OSError: it cannot be read.
        UnknownNameError: there is no such game or file.
    """
    try:
        source = read_rule_text(name, options.read_limits).source
    except errors.RuleFileError as error:
        source = Source(name, "") if error.span is None else error.span.source
        return _sifted(Validation(source, (_refused(error, source),)), options)
    return check_source(source, options)


def check_source(source: Source, options: ValidationOptions) -> Validation:
    """Return what the static checks say of the rule file *source*."""
    try:
        found = _limited(findings, source, (source, options.read_limits), options)
        return _sifted(Validation(source, tuple(found)), options)
    except (errors.LimitExceeded, errors.ChildProcessDiedError) as error:
        return Validation(source, limit=str(error), is_checked=False)


def check_description(about: Path | Source, checked: Validation, options: ValidationOptions) -> Validation | None:
    """Return what is wrong with the TOML description *about*, a file or its text; None where nothing is.

    It is compared with the rules *checked*, where these have no error.

    Raises:
        OSError: the file cannot be read.
    """
    rules = checked.source if checked.is_checked and not checked.has_error else None
    try:
        found = _limited(_metadata_findings, checked.source, (about, rules, options.read_limits), options)
    except (errors.LimitExceeded, errors.ChildProcessDiedError):
        found = _metadata_findings(about, None, options.read_limits)
    shown = tuple(_strictly(one) for one in found) if options.is_strict else found
    return Validation(found[0].span.source, found, shown) if found else None


def _metadata_findings(about: Path | Source, rules: Source | None, limits: ReadLimits) -> tuple[Diagnostic, ...]:
    from gdl.boards.findings import metadata_findings  # noqa: PLC0415 -- pydantic is large, and rules alone need none

    return tuple(metadata_findings(about, None if rules is None else read_rules(rules.text, rules.name, limits)))


def play_file(
    name: str, checked: Validation, options: ValidationOptions, on_play: Callable[[], None] = lambda: None
) -> Validation:
    """Return what static checks and plays together say of the file *checked*, which has no error.

    *on_play* is called after each play.

    Raises:
        OSError: a play cannot be written.
    """
    assert options.budget is not None
    order = SimulationRequest(
        name=name,
        source=checked.source,
        read_limits=options.read_limits,
        budget=options.budget,
        seed=options.seed,
        evidence_folder=options.evidence_folder,
        is_compiled=options.is_compiled,
    )
    # The last question to the engine may take all of the time once more.
    limits = _limits(2 * options.budget.seconds + _GRACE_S, options)
    try:
        plays = run_limited(play_trials, (order,), limits, lambda _report: on_play(), options.is_wanted)
        return _sifted(_with(plays, checked), options, is_played=plays.limit is None)
    except errors.RuleFileError as error:
        return _sifted(replace(checked, found=(*checked.found, _refused(error, checked.source))), options)
    except errors.LimitExceeded as error:
        is_time = error.what == "seconds"  # then the limit is the budget, not what the child had beyond it
        return replace(
            checked, limit=str(errors.LimitExceeded(error.what, options.budget.seconds) if is_time else error)
        )
    except errors.ChildProcessDiedError as error:
        return replace(checked, limit=str(error))


def _with(plays: TrialPlays, checked: Validation) -> Validation:
    """Return *checked* with what came of the plays."""
    found = (*checked.found, *(shown.diagnostic for shown in plays.shown))
    better = repetitions(found)
    shown = ((better.get(one.diagnostic, one.diagnostic), one.evidence) for one in plays.shown)
    return replace(
        checked,
        found=found,
        limit=plays.limit,
        figures=plays.figures,
        lines=plays.lines,
        evidence={(one.code.name, one.span.start): path for one, path in shown if path is not None},
    )


def _limited(
    function: Callable[..., Result], source: Source, arguments: tuple[object, ...], options: ValidationOptions
) -> Result:
    """Return what *function* returns for *arguments*: in a child process under limits where *source* is large."""
    if len(source.text) <= SMALL_CHARACTERS:
        return function(*arguments)
    return run_limited(function, arguments, _limits(options.max_seconds, options), is_wanted=options.is_wanted)


def _limits(cpu_s: float, options: ValidationOptions) -> ChildLimits:
    """Return limits of *cpu_s* seconds of processor time, however busy the machine is."""
    return ChildLimits(_PATIENCE * cpu_s + _WAITING_S, options.max_memory_mb, max_cpu_seconds=cpu_s)


def _refused(error: errors.RuleFileError, source: Source) -> Diagnostic:
    code = error.code or _CODES.get(type(error), "no-rules")
    return diagnostic(code, error.span or Span(source, 0, 0), error.message, error.hint, error.related)


def _sifted(validation: Validation, options: ValidationOptions, *, is_played: bool = False) -> Validation:
    source, found = validation.source, validation.found
    sifting = partial(sift, is_played=is_played)
    sifted = _limited(sifting, source, (source, found, options.read_limits), options)
    repeated = repetitions(found)
    kept = (_strictly(one) if options.is_strict else one for one in sifted.diagnostics if one not in repeated)
    return replace(validation, diagnostics=tuple(kept), allowed=sifted.allowed)


def _strictly(found: Diagnostic) -> Diagnostic:
    return found if found.code.name == _INCONCLUSIVE else found.as_error()
