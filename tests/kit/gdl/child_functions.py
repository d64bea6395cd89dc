"""What the tests of `gdl.worker` have a child do; a child finds functions by their module."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from gdl.diagnostics import Source, Span
from gdl.errors import StratificationError
from gdl.worker import ChildLimits, run_limited


class UnsendableError(Exception):
    """An error that cannot be made again from its arguments."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(first + second)


def add(left: int, right: int) -> int:
    return left + right


class Sum:
    """Adds up what it is called with, from call to call."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, number: int) -> int:
        if number < 0:
            raise ValueError(number)
        self.total += number
        return self.total


def spin() -> None:
    while True:
        pass


def sleep_for_good() -> None:
    signal.pause()


def sleep_and_answer(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def tell_number_and_sleep(report: Callable[[object], None]) -> None:
    report(os.getpid())
    signal.pause()


def take_memory() -> int:
    taken = [b"x" * (1024 * 1024)]
    while True:
        taken.append(bytes(len(taken[-1]) * 2))


def take_memory_in_small_pieces() -> int:
    taken: list[tuple[int, ...]] = []
    while True:
        taken.append(tuple(range(len(taken), len(taken) + 10)))


def refuse_rules() -> None:
    raise StratificationError("p needs not p", Span(Source("a.kif", "(<= p (not p))"), 0, 2), None, ("p", "not p"))


def fail_unsendably() -> None:
    raise UnsendableError(1, 2)


def count_to(n: int, report: Callable[[object], None]) -> str:
    for i in range(n):
        report(i)
    return "counted"


def abort() -> None:
    os.abort()


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def answer_at_length(n_bytes: int) -> bytes:
    return bytes(n_bytes)


def answer_with_a_function() -> Callable[[], None]:
    return lambda: None


def print_and_answer() -> str:
    sys.stdout.write("this is no answer\n")
    return "answer"


def start_another() -> int:
    """Start a process that would stay for long, and return its number."""
    return subprocess.Popen(["/bin/sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid


def start_another_limited(path: str) -> None:
    """Write the number of a child that never ends to *path*, and wait for that child."""
    run_limited(write_number_and_wait, (path,), ChildLimits(max_seconds=600))


def write_number_and_wait(path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 -- a plain name is what is handed over
        file.write(f"{os.getpid()}\n")
    signal.pause()


def memory_mb() -> int:
    """Return how much memory this process may use."""
    return resource.getrlimit(resource.RLIMIT_AS)[1] // (1024 * 1024)


def memory_mb_of_a_child(wanted_mb: int) -> int:
    """Return how much memory a child may use that is allowed *wanted_mb*."""
    return run_limited(memory_mb, (), ChildLimits(max_seconds=60, max_memory_mb=wanted_mb))
