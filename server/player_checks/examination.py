"""Sends every message, good and odd, to the player under test and says what it got wrong: checks and their verdicts.

Each check is independent, and what it looks at is a public sentence: another project can run `examine` on its player.
"""

import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, Final, TypeAlias

from gdl.wire.messages import Info, to_text
from server.player_checks.check_match import TICTACTOE, CheckFailedError, CheckMatch, Clocks, PlayerBusyError, Setting
from server.player_checks.probe import Observed, Probe, Request

ANSWER_S: Final = 5.0
"""How long a message without a clock may take."""


_LISTENING_S: Final = 1.0
"""How long a player that failed in a check has to show that it is there; it need not answer."""


class CheckVerdict(StrEnum):
    """What came of a check."""

    OK = "ok"
    WARNING = "warning"
    """Some game managers cannot use this player, or not fully."""
    WRONG = "wrong"
    """The player would lose matches by this."""
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckedPlayer:
    """The player that is examined."""

    probe: Probe
    clocks: Clocks
    _matches: list[CheckMatch] = field(default_factory=list)

    def new_match(self, setting: Setting = TICTACTOE) -> CheckMatch:
        """Return a match that the player has not heard of yet; the examination sees to it that it is ended."""
        self._matches.append(CheckMatch(self.probe, self.clocks, setting))
        return self._matches[-1]

    async def end_matches(self) -> None:
        """Close the matches of a check, so that they are not in the way of the next one."""
        while self._matches:
            await self._matches.pop().close()

    async def say(self, text: str | bytes, timeout_s: float = ANSWER_S) -> Observed:
        """Send *text*, and return what was observed within *timeout_s*."""
        return await self.probe.exchange(Request(text.encode() if isinstance(text, str) else text), timeout_s)

    async def play_match(self, setting: Setting = TICTACTOE) -> None:
        """Play a match from START to STOP.

        Raises:
            CheckFailedError: an answer is missing or late, or a move is not legal.
        """
        match = self.new_match(setting)
        await match.start()
        await match.play()
        await match.stop()


Run: TypeAlias = Callable[[CheckedPlayer], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a player should do: `what` says it; if it `is_must`, failing is wrong, else a warning.

    `risk` says what may become of a weak player by it.
    """

    name: str
    what: str
    is_must: bool
    run: Run
    risk: str = ""


def must(run: Run) -> Check:
    """Make a function a check that has to hold; its name and its docstring are those of the check."""
    return _check(run, is_must=True)


def risky(risk: str) -> Callable[[Check], Check]:
    """Tell of a check what may become of a weak player by it."""
    return partial(replace, risk=risk)


def should(run: Run) -> Check:
    """Make a function a check that merely warns."""
    return _check(run, is_must=False)


def _check(run: Run, *, is_must: bool) -> Check:
    return Check(run.__name__.replace("_", "-"), (run.__doc__ or "").partition("\n")[0].rstrip("."), is_must, run)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What came of one check. *Units*: seconds."""

    name: str
    what: str
    verdict: CheckVerdict
    detail: str
    took_s: float

    def as_json(self) -> dict[str, object]:
        """Return the finding as a JSON object."""
        return {**asdict(self), "verdict": self.verdict.value, "took_s": round(self.took_s, 3)}


async def examine(
    examinee: CheckedPlayer, checks: Sequence[Check], before: Callable[[Check], None] = lambda _: None
) -> AsyncIterator[CheckResult]:
    """Yield what comes of each of *checks*, in order; *before* is called with each that is made, before it is.

    The first check is whether the player answers at all: if it fails, the others are skipped, and so is each for which
    the player takes no match, or is gone.
    """
    is_reachable, gone_in = True, ""
    for i, check in enumerate(checks):
        if not is_reachable:
            yield CheckResult(check.name, check.what, CheckVerdict.SKIPPED, "the player does not answer", 0.0)
            continue
        if gone_in and await _is_gone(examinee):
            detail = f"nothing listens there since the check {gone_in}: see why the player ended, and start it again"
            yield CheckResult(check.name, check.what, CheckVerdict.SKIPPED, detail, 0.0)
            continue
        before(check)
        finding = await _finding(examinee, check)
        is_reachable = i > 0 or finding.verdict is CheckVerdict.OK
        gone_in = check.name if finding.verdict is not CheckVerdict.OK and await _is_gone(examinee) else ""
        yield finding


async def _is_gone(examinee: CheckedPlayer) -> bool:
    """Return whether nothing listens where the player was."""
    return (await examinee.say(to_text(Info()), _LISTENING_S)).is_refused


async def _finding(examinee: CheckedPlayer, check: Check) -> CheckResult:
    """Make *check*, end the matches that it left open, and return what came of it."""
    began_s = time.monotonic()
    verdict, detail = CheckVerdict.OK, ""
    try:
        await check.run(examinee)
    except CheckFailedError as error:
        verdict, detail = CheckVerdict.WRONG if check.is_must else CheckVerdict.WARNING, str(error)
    except PlayerBusyError as error:
        verdict, detail = CheckVerdict.SKIPPED, str(error)
    took_s = time.monotonic() - began_s
    await examinee.end_matches()
    return CheckResult(check.name, check.what, verdict, detail, took_s)
