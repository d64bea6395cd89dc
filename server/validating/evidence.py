"""Plays that show a defect of a rule file, as match records: `ggp replay` steps through them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gdl.game import RANDOM, Game, JointMove, Role, State
from gdl.language.terms import Term
from gdl.simulation import Finding, SimulationReport
from server.clock import now_ms
from server.match.chance import new_match_id, new_random_token
from server.match.exchange import Closed, Event, Failed, MoveOrigin, Started, StateReached, StepFinished
from server.match.position import state_text
from server.match.setup import MatchSetup, Seat
from server.records import entries, journal, record

_PLAYER: Final = "random play"
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]+")


def write_evidence(report: SimulationReport, folder: Path, name: str) -> list[tuple[Finding, Path]]:
    """Write the plays of *report* into *folder*, and return where each is; *name* is that of the game.

    Raises:
        OSError: the folder or a file cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, finding in enumerate(_with_plays(report), 1):
        path = folder / f"{_ODD.sub('-', name)}-{number}-{finding.diagnostic.code.name.removeprefix('gdl/')}.json"
        assert report.game is not None
        journal.write_record(evidence(report.game, finding, name, report.seed), path)
        written.append((finding, path))
    return written


def _with_plays(report: SimulationReport) -> Iterator[Finding]:
    if report.game is not None:
        yield from (finding for finding in report.findings if finding.play is not None)


def evidence(game: Game, finding: Finding, name: str, seed: int) -> dict[str, Any]:
    """Return the play of *finding* as a match record that failed with the diagnostic's sentence."""
    circumstances = entries.Circumstances(name, new_random_token())
    return record.record_of(entries.entry_of(event, circumstances) for event in _events(game, finding, seed)).as_json()


def _events(game: Game, finding: Finding, seed: int) -> Iterator[Event]:
    """Yield the events of the play of *finding*, as a match that failed by it."""
    at_ms, play = now_ms(), finding.play or ()
    seats = tuple(Seat(role, _PLAYER) for role in game.roles if not _is_chance(game, role))
    setup = MatchSetup(seats, 0, 0, new_match_id("evidence"), seed)
    yield Started(at_ms, setup, game.description, game.roles)
    state = game.initial_state
    yield StateReached(at_ms, 0, state_text(state.facts), None)
    for step, moves in enumerate(play):
        yield _finished(game, at_ms, step, moves)
        percepts = _percepts(game, state, moves)
        state = state.next_state(moves)
        yield StateReached(at_ms, step + 1, state_text(state.facts), percepts)
    yield Failed(at_ms, len(play), finding.diagnostic.code.name, finding.diagnostic.message)
    yield Closed(at_ms)


def _is_chance(game: Game, role: Role) -> bool:
    return game.has_imperfect_information and role is RANDOM


def _finished(game: Game, at_ms: int, step: int, moves: JointMove) -> StepFinished:
    nothing = ("",) * len(moves)
    origins = tuple(MoveOrigin.CHANCE if _is_chance(game, role) else MoveOrigin.PLAYER for role in game.roles)
    return StepFinished(at_ms, step, tuple(moves), nothing, nothing, (None,) * len(moves), origins)


def _percepts(game: Game, state: State, moves: JointMove) -> tuple[tuple[Term, ...], ...] | None:
    if not game.has_imperfect_information:
        return None
    return tuple(state.percepts(role, moves) for role in game.roles)
