"""The interruption of code whose clock has ended: by an alarm, and where that does not help, by the process ending."""

from __future__ import annotations

import faulthandler
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, TypeVar

T = TypeVar("T")

REPEAT_S: Final = 0.02
"""Between two alarms: one may be lost where Python swallows exceptions, as in the callback of a weak reference."""
HANG_S: Final = 0.5
"""How long after the alarm code may go on before the process is ended."""
_STDERR: Final = 2

_armed = False


class TimeUp(BaseException):
    """The clock has ended while the player was still thinking; `except Exception` lets it pass."""


def call_until(at_s: float, function: Callable[[], T], hang_s: float = HANG_S) -> T:
    """Return what *function* returns; interrupt it at the monotonic moment *at_s*.

    If it is still running *hang_s* later, the process prints where it hangs, and ends. To be called in the main
    thread. *Units*: seconds.

    Raises:
        TimeUp: the moment came first.
    """
    _arm(at_s, hang_s)
    try:
        try:
            return function()
        finally:
            _disarm()
    except TimeUp:
        while _armed:
            _disarm_despite_alarms()
        raise
    except Exception as error:
        if _has_interrupted(error):
            raise TimeUp from error
        raise


def _has_interrupted(error: BaseException) -> bool:
    """Return whether *error* comes of an interruption, as where a lock is let go of that was just being taken."""
    before = error.__context__
    return before is not None and (isinstance(before, TimeUp) or _has_interrupted(before))


def ignore_time_up(unraisable: sys.UnraisableHookArgs) -> None:
    """Ignore an interruption that Python swallowed, as a `sys.unraisablehook`: another one follows."""
    if not issubclass(unraisable.exc_type, TimeUp):
        sys.__unraisablehook__(unraisable)


def _arm(at_s: float, hang_s: float) -> None:
    global _armed  # noqa: PLW0603 -- a process has one alarm clock
    remaining_s = max(at_s - time.monotonic(), 0.001)
    signal.signal(signal.SIGALRM, _on_alarm)
    faulthandler.dump_traceback_later(remaining_s + hang_s, exit=True, file=_STDERR)
    _armed = True
    signal.setitimer(signal.ITIMER_REAL, remaining_s, REPEAT_S)


def _disarm() -> None:
    global _armed  # noqa: PLW0603 -- a process has one alarm clock
    signal.setitimer(signal.ITIMER_REAL, 0)
    faulthandler.cancel_dump_traceback_later()
    _armed = False


def _disarm_despite_alarms() -> None:
    try:
        _disarm()
    except TimeUp:
        return


def _on_alarm(_number: int, _frame: FrameType | None) -> None:
    if _armed:
        raise TimeUp
