"""A game played at random before anybody plays it: the simulation, in the plain data that leaves a child process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gdl.diagnostics import Diagnostic
from gdl.kif import ReadLimits
from gdl.rules import read_rules
from gdl.simulation import SimulationBudget, simulate
from gdl.source import Source
from server.validating.evidence import write_evidence


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be played, and how much; where `evidence_folder` is given, plays that show a defect go there.

    `name` is that of the game.
    """

    name: str
    source: Source
    read_limits: ReadLimits
    budget: SimulationBudget
    seed: int = 0
    evidence_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A defect that showed in play, and the match record of that play, if one was written."""

    diagnostic: Diagnostic
    evidence: Path | None = None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of the plays: `figures` for programs, `lines` for people, `limit` where they led to no verdict."""

    shown: tuple[Shown, ...]
    figures: dict[str, Any]
    lines: tuple[str, ...]
    limit: str | None


def rehearse(order: Order, report: Callable[[object], None]) -> Rehearsal:
    """Return what came of playing as *order* says; *report* is called after each play.

    Raises:
        OSError: a play cannot be written.
        RuleFileError: the rules have no meaning; the static checks say more.
    """
    description = read_rules(order.source.text, order.source.name, order.read_limits)
    found = simulate(description, order.budget, seed=order.seed, on_play=lambda: report(None))
    written = [] if order.evidence_folder is None else write_evidence(found, order.evidence_folder, order.name)
    paths = {id(finding): path for finding, path in written}
    shown = tuple(Shown(finding.diagnostic, paths.get(id(finding))) for finding in found.findings)
    return Rehearsal(shown, found.as_json(), tuple(found.lines()), found.limit)
