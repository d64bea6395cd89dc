"""Plays every message, good and odd, at somebody's player and says what it got wrong: the examination and its verdicts.

Each check is independent, and what it looks at is a public sentence: another project can run `examine` on its player.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from server.checks.bout import TICTACTOE, Bout, CheckFailedError, Clocks, Setting
from server.checks.probe import Observed, Probe, Request

ANSWER_S: Final = 5.0
"""How long a message without a clock may take."""


class Verdict(StrEnum):
    """What came of a check."""

    OK = "ok"
    WARNING = "warning"
    """Some game managers cannot use this player, or not fully."""
    WRONG = "wrong"
    """The player would lose matches by this."""
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Examinee:
    """The player that is examined."""

    probe: Probe
    clocks: Clocks

    def bout(self, setting: Setting = TICTACTOE) -> Bout:
        """Return a match that the player has not heard of yet."""
        return Bout(self.probe, self.clocks, setting)

    async def say(self, text: str | bytes, timeout_s: float = ANSWER_S) -> Observed:
        """Send *text*, and return what was observed within *timeout_s*."""
        return await self.probe.exchange(Request(text.encode() if isinstance(text, str) else text), timeout_s)

    async def play_match(self, setting: Setting = TICTACTOE) -> None:
        """Play a match from START to STOP.

        Raises:
            CheckFailedError: an answer is missing or late, or a move is not legal.
        """
        bout = self.bout(setting)
        await bout.start()
        await bout.play()
        await bout.stop()


Run: TypeAlias = Callable[[Examinee], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a player should do: `what` says it; if it `is_must`, failing is wrong, else a warning."""

    name: str
    what: str
    is_must: bool
    run: Run


def must(run: Run) -> Check:
    """Make a function a check that has to hold; its name and its docstring are those of the check."""
    return _check(run, is_must=True)


def should(run: Run) -> Check:
    """Make a function a check that merely warns."""
    return _check(run, is_must=False)


def _check(run: Run, *, is_must: bool) -> Check:
    return Check(run.__name__.replace("_", "-"), (run.__doc__ or "").partition("\n")[0].rstrip("."), is_must, run)


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one check. *Units*: seconds."""

    name: str
    what: str
    verdict: Verdict
    detail: str
    took_s: float

    def as_json(self) -> dict[str, object]:
        """Return the finding as a JSON object."""
        return {**asdict(self), "verdict": self.verdict.value, "took_s": round(self.took_s, 3)}


async def examine(examinee: Examinee, checks: Sequence[Check]) -> AsyncIterator[Finding]:
    """Yield what comes of each of *checks*, in order; after a first that fails the others are skipped.

    The first check is whether anybody answers at all.
    """
    is_reachable = True
    for i, check in enumerate(checks):
        if not is_reachable:
            yield Finding(check.name, check.what, Verdict.SKIPPED, "nobody answers", 0.0)
            continue
        finding = await _finding(examinee, check)
        is_reachable = i > 0 or finding.verdict is Verdict.OK
        yield finding


async def _finding(examinee: Examinee, check: Check) -> Finding:
    began_s = time.monotonic()
    verdict, detail = Verdict.OK, ""
    try:
        await check.run(examinee)
    except CheckFailedError as error:
        verdict, detail = Verdict.WRONG if check.is_must else Verdict.WARNING, str(error)
    return Finding(check.name, check.what, verdict, detail, time.monotonic() - began_s)
