"""Plays that a validation makes, in a child process: which engine makes them, and what came of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gdl import errors
from gdl.diagnostics import Diagnostic, Source
from gdl.language.kif import ReadLimits
from gdl.language.rules import Description, read_rules

if TYPE_CHECKING:
    from gdl.game import Game
    from gdl.simulation import SimulationBudget

_COMPILING_S: Final = 300.0
_COMPILING_MB: Final = 2048
"""What compiling may take beyond the budget, in a process of its own: seconds of processor time."""
_TRIAL_S: Final = 2.0
"""How long a play may take that shows whether the interpreter is fast enough."""


@dataclass(frozen=True, slots=True)
class SimulationRequest:
    """What is to be played, and how much; where `evidence_folder` is given, plays that show a defect go there.

    `name` is that of the game. Where `is_compiled`, the compiled engine plays, if the rules can be compiled, and
    where it is None if the interpreter seems too slow. Seconds of the budget are of processor time.
    """

    name: str
    source: Source
    read_limits: ReadLimits
    budget: SimulationBudget
    seed: int = 0
    evidence_folder: Path | None = None
    is_compiled: bool | None = False


@dataclass(frozen=True, slots=True)
class ShownDefect:
    """A defect that showed in play, and the match record of that play, if one was written."""

    diagnostic: Diagnostic
    evidence: Path | None = None


@dataclass(frozen=True, slots=True)
class TrialPlays:
    """What came of the plays: `figures` for programs, `lines` for people, `limit` where they led to no verdict."""

    shown: tuple[ShownDefect, ...]
    figures: dict[str, Any]
    lines: tuple[str, ...]
    limit: str | None


def _compiled(description: Description, budget: SimulationBudget, seconds: float) -> Description | Game:
    """Return the game that *description* defines, compiled; the description where that cannot be done in *seconds*."""
    from gdl.compiler.compilation import CompileLimits, compile_game  # noqa: PLC0415 -- numba is large
    from gdl.interpreter import InterpretedGame  # noqa: PLC0415 -- the static checks play nothing

    limits = CompileLimits(max_seconds=seconds, max_memory_mb=_COMPILING_MB)
    try:
        return compile_game(InterpretedGame(description, budget.limits_in_time), limits)
    except (errors.CannotCompileError, errors.LimitExceeded):
        return description


def _is_slow(description: Description, budget: SimulationBudget) -> bool:
    """Return whether the interpreter seems not to make the plays of *budget* in half of its time, by one of them."""
    from gdl.simulation import simulate  # noqa: PLC0415 -- the static checks play nothing

    trial = replace(budget, plays=1, seconds=min(budget.seconds, _TRIAL_S), states=0)
    found = simulate(description, trial, clock=time.process_time)
    return not found.n_plays or found.plays_s * budget.plays > budget.seconds / 2


def play_trials(order: SimulationRequest, report: Callable[[object], None]) -> TrialPlays:
    """Return what came of playing as *order* says; *report* is called after each play.

    Raises:
        OSError: a play cannot be written.
        RuleFileError: the rules have no meaning; the static checks say more.
    """
    from gdl.boards import layout_of  # noqa: PLC0415 -- pydantic is large, and the static checks draw nothing
    from gdl.simulation import simulate  # noqa: PLC0415 -- the static checks play nothing
    from server.validating.evidence import write_evidence  # noqa: PLC0415 -- nor write match records

    description = read_rules(order.source.text, order.source.name, order.read_limits)
    budget = replace(order.budget, limits=replace(order.budget.limits, clock=time.process_time))
    is_compiled, compiling_s = order.is_compiled, _COMPILING_S
    if is_compiled is None:
        is_compiled, compiling_s = _is_slow(description, budget), min(budget.seconds, _COMPILING_S)
    found = simulate(
        _compiled(description, budget, compiling_s) if is_compiled else description,
        budget,
        seed=order.seed,
        clock=time.process_time,
        on_play=lambda: report(None),
    )
    written = [] if order.evidence_folder is None else write_evidence(found, order.evidence_folder, order.name)
    paths = {id(finding): path for finding, path in written}
    shown = tuple(ShownDefect(finding.diagnostic, paths.get(id(finding))) for finding in found.findings)
    figures = found.as_json() | {"board": layout_of(description, None).kind}
    return TrialPlays(shown, figures, tuple(found.lines()), found.limit)
