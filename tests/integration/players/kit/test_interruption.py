"""The end of code that does not end by itself."""

import subprocess
import sys
import threading
import time
from weakref import WeakValueDictionary

import pytest

from players.kit.interruption import TimeUp, call_until, ignore_time_up


def soon(seconds: float = 0.1) -> float:
    return time.monotonic() + seconds


def endless() -> None:
    while True:
        pass


def test_what_ends_in_time_is_returned() -> None:
    assert call_until(soon(60), lambda: 5) == 5


def test_an_endless_loop_is_interrupted() -> None:
    with pytest.raises(TimeUp):
        call_until(soon(), endless)


def test_an_error_passes_through_and_no_alarm_follows() -> None:
    with pytest.raises(ZeroDivisionError):
        call_until(soon(0.05), lambda: 1 / 0)
    time.sleep(0.1)


def test_an_interruption_is_not_swallowed_by_code_that_catches_exceptions() -> None:
    def careless() -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:  # the mistake that is tried
                continue

    with pytest.raises(TimeUp):
        call_until(soon(), careless)


def test_an_interruption_is_no_error_of_code_that_fails_on_its_way_out() -> None:
    lock = threading.Condition()

    def waits() -> None:
        with lock:
            lock.release()  # as `wait` does, which may be interrupted before it has the lock again
            endless()

    with pytest.raises(TimeUp):
        call_until(soon(), waits)


def test_an_interruption_that_python_swallows_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", ignore_time_up)

    class Weak:
        pass

    def churn() -> None:
        table: WeakValueDictionary[int, Weak] = WeakValueDictionary()
        while True:
            for i in range(100):
                table[i] = Weak()

    for _ in range(20):
        with pytest.raises(TimeUp):
            call_until(soon(0.02), churn)


STUBBORN = """
import time
from players.kit.interruption import call_until
def stubborn():
    while True:
        try:
            time.sleep(9)
        except BaseException:
            pass
call_until(time.monotonic() + 0.1, stubborn, hang_s=0.2)
"""


def test_a_process_that_cannot_be_interrupted_ends_and_says_where_it_hung() -> None:
    done = subprocess.run([sys.executable, "-c", STUBBORN], capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, "in stubborn" in done.stderr) == (1, True)
