"""The checks of programs on standard input and output find nothing wrong with a good one, and faults of others."""

from __future__ import annotations

import shlex
import sys
from contextlib import aclosing

import pytest

from server.player_checks.catalogue import PROGRAM_CHECKS
from server.player_checks.check_match import Clocks
from server.player_checks.examination import CheckedPlayer, CheckResult, CheckVerdict, examine
from server.player_checks.probe import ProgramProbe, Request

PATIENT = Clocks(start_s=60, play_s=30)
"""For programs that answer at once, on a machine that may be busy."""
BY_NAME = {check.name: check for check in PROGRAM_CHECKS}
GOOD = """
import re, sys
for line in sys.stdin:
    keyword = line[1:].split()[0].rstrip(")").upper()
    if keyword == "LEGAL":
        moves = line.split(None, 2)[2].strip()[1:-2]
        move = re.match(r"\\([^()]*\\)|[^() ]+", moves)[0]
        continue
    answers = dict(INFO="((name good) (status available))", START="ready", STOP="done", ABORT="aborted")
    print(answers.get(keyword) or move, flush=True)
"""
"""Plays the first of its legal moves."""


def program(code: str) -> str:
    # Without `-E` a variable of the environment decides whether the output is buffered.
    return shlex.join((sys.executable, "-E", "-c", code))


async def findings(code: str, *names: str) -> list[CheckResult]:
    async with aclosing(ProgramProbe(program(code), gets_legal_moves=True)) as probe:
        checks = [check for check in PROGRAM_CHECKS if not names or check.name in names]
        return [finding async for finding in examine(CheckedPlayer(probe, PATIENT), checks)]


async def test_nothing_is_wrong_with_a_good_program() -> None:
    assert [(finding.name, finding.verdict, finding.detail) for finding in await findings(GOOD)] == [
        (check.name, CheckVerdict.OK, "") for check in PROGRAM_CHECKS
    ]


@pytest.mark.parametrize(
    ("code", "name", "verdict", "detail"),
    [
        ("", "answers-start", CheckVerdict.WRONG, "START: the child process ended with exit code 0"),
        (GOOD.replace('"ready"', '"OK"'), "words-of-the-protocol", CheckVerdict.WARNING,
         "START, STOP, ABORT were answered with ok, done, aborted"),
        (GOOD.replace("or move,", "or move.strip('()'),"), "whole-match", CheckVerdict.WRONG,
         "step 1: 'mark' is not one of 9 legal moves ((mark 1 1), (mark 1 2), (mark 1 3), (mark 2 1) ...); "
         "a move of several words stands in parentheses, else its first word alone is read"),
        (GOOD.replace("or move,", "or move, '\\nthinking',"), "one-line-each", CheckVerdict.WRONG,
         "START: after the answer came 'thinking\\n', which the next message may get for its answer; "
         "print other things on standard error"),
        (GOOD.replace("or move,", "or '; GGP-Player-Insight: {\"value\": 500}\\n' + move,"), "thoughts",
         CheckVerdict.WARNING, "GGP-Player-Insight: an insight whose value is not from 0 to 100"),
    ],
)  # fmt: skip
async def test_a_fault_of_a_program_is_found(code: str, name: str, verdict: CheckVerdict, detail: str) -> None:
    found = (await findings(code, name))[-1]
    assert (found.verdict, found.detail) == (verdict, detail)


async def test_comments_are_no_second_line() -> None:
    found = await findings(GOOD.replace("or move,", "or move, '\\n; a comment\\n',"), "one-line-each")
    assert [finding.verdict for finding in found] == [CheckVerdict.OK]


async def test_a_program_that_does_not_flush_learns_so() -> None:
    code = GOOD.replace(", flush=True", "")
    async with aclosing(ProgramProbe(program(code), gets_legal_moves=False)) as probe:
        for limit_s in (0.2, 2, 20):  # on a busy machine a process may not have begun in the time of the first
            observed = await probe.exchange(Request(b"(INFO)"), limit_s)
            if "; " in observed.trouble:
                break
    told = f"no answer within {limit_s:g} s; does the program flush its output?"
    assert (observed.has_answered, observed.trouble) == (False, told)
