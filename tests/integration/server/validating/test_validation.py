"""Validating one file: what counts, what is played, and what becomes of limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from gdl.diagnostics import Severity, Span, diagnostic
from gdl.errors import ChildProcessDiedError, LimitExceeded, RuleFileError, UnsafeRuleError
from gdl.simulation import SimulationBudget
from server.validating import validation
from server.validating.trial_plays import ShownDefect, TrialPlays
from server.validating.validation import (
    SMALL_CHARACTERS,
    Validation,
    ValidationOptions,
    check_file,
    play_file,
)

GOOD: Final = """
(role robot) (init (at 1)) (succ 1 2)
(<= (legal robot stay) (true (at ?x)))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does robot stay))
(<= terminal (true (at 2)))
(<= (goal robot 100) (true (at ?x)))
"""
PLAYING: Final = ValidationOptions(budget=SimulationBudget(plays=2, seconds=30))


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.kif"
    path.write_text(GOOD, encoding="utf-8")
    return str(path)


def instead(monkeypatch: pytest.MonkeyPatch, outcome: TrialPlays | Exception) -> None:
    """Have no child started; *outcome* is what came of it."""

    def run(*_: Any) -> TrialPlays:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(validation, "run_limited", run)


def shown(checked: Validation, code: str) -> ShownDefect:
    return ShownDefect(diagnostic(code, Span(checked.source, 1, 5), "odd"), Path("play.json"))


def test_plays_are_counted_as_they_end(good: str) -> None:
    plays: list[int] = []
    played = play_file("good", check_file(good, PLAYING), PLAYING, lambda: plays.append(1))
    assert (played.verdict, played.diagnostics, len(plays)) == ("ok", (), 2)
    assert played.figures is not None
    assert played.lines != ()


def test_what_showed_in_play_counts_beside_the_checks_and_keeps_its_play(
    monkeypatch: pytest.MonkeyPatch, good: str
) -> None:
    checked = check_file(good, PLAYING)
    instead(monkeypatch, TrialPlays((shown(checked, "no-legal-move"),), {}, (), None))
    played = play_file("good", checked, PLAYING)
    (found,) = played.diagnostics
    assert (played.verdict, played.evidence_of(found)) == ("wrong", Path("play.json"))


def test_what_the_text_tells_plays_do_not_tell_again_but_show(tmp_path: Path) -> None:
    path, options = tmp_path / "listed.kif", replace(PLAYING, evidence_folder=tmp_path / "plays")
    path.write_text(GOOD + "(base (att 1)) (base (att 2))", encoding="utf-8")
    played = play_file("listed", check_file(str(path), options), options)
    (found,) = played.diagnostics
    evidence = played.evidence_of(found)
    assert (found.code.name, found.hint) == ("gdl/fluent-without-base", "should att be at?")
    assert evidence is not None
    assert evidence.is_file()


@pytest.mark.parametrize("is_strict", [False, True])
def test_a_limit_is_no_verdict_however_strict(monkeypatch: pytest.MonkeyPatch, good: str, is_strict: bool) -> None:
    options = replace(PLAYING, is_strict=is_strict)
    checked = check_file(good, options)
    instead(monkeypatch, TrialPlays((shown(checked, "limit-in-play"),), {}, (), "out of time"))
    played = play_file("good", checked, options)
    assert (played.verdict, played.count(Severity.WARNING), played.limit) == ("unknown", 1, "out of time")


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        (LimitExceeded("seconds", 65.0), "limit reached: more than 30 seconds"),
        (LimitExceeded("megabytes of memory", 2048), "limit reached: more than 2,048 megabytes of memory"),
        (ChildProcessDiedError("exit code -9"), "the child process gave no answer: exit code -9"),
    ],
)
def test_a_child_that_is_ended_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch, good: str, error: Exception, limit: str
) -> None:
    checked = check_file(good, PLAYING)
    instead(monkeypatch, error)
    played = play_file("good", checked, PLAYING)
    assert (played.verdict, played.limit) == ("unknown", limit)


@pytest.mark.parametrize("error", [RuleFileError("odd"), UnsafeRuleError("odd")])
def test_what_only_the_engine_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch, good: str, error: Exception) -> None:
    checked = check_file(good, PLAYING)
    instead(monkeypatch, error)
    played = play_file("good", checked, PLAYING)
    assert (played.verdict, [found.message for found in played.diagnostics]) == ("wrong", ["odd"])


@pytest.mark.parametrize(("n_characters", "is_in_child"), [(SMALL_CHARACTERS, False), (SMALL_CHARACTERS + 1, True)])
def test_a_large_file_is_checked_in_a_child(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, n_characters: int, is_in_child: bool
) -> None:
    called: list[int] = []

    def run(function: Callable[..., object], arguments: tuple[object, ...], _limits: object, **_: object) -> object:
        called.append(1)
        return function(*arguments)

    monkeypatch.setattr(validation, "run_limited", run)
    path = tmp_path / "game.kif"
    path.write_text(GOOD.ljust(n_characters), encoding="utf-8")
    assert (check_file(str(path), ValidationOptions()).verdict, bool(called)) == ("ok", is_in_child)


def test_a_large_file_gets_the_same_answer(tmp_path: Path) -> None:
    text = f"{GOOD}(<= (lost ?x) (true (at ?x))) ; ggp: allow gdl/unused-relation -- later\n(goal robot ?z)\n"
    small, large = tmp_path / "small.kif", tmp_path / "large.kif"
    small.write_text(text, encoding="utf-8")
    large.write_text(text.ljust(SMALL_CHARACTERS + 1), encoding="utf-8")
    answers = [check_file(str(path), ValidationOptions(is_strict=True)) for path in (small, large)]
    told = [
        [(found.code.name, found.severity, found.span.start, found.message) for found in one.diagnostics]
        for one in answers
    ]
    assert told[0] == told[1]
    assert [one.allowed[0].reason for one in answers] == ["later", "later"]
