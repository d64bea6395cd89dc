"""`run_limited`: the answer, the error or the limit of a call in a child process; and nobody is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from gdl.errors import ChildProcessDiedError, LimitExceeded, StratificationError
from gdl.worker import ChildLimits, NotWanted, run_limited
from tests.kit.gdl import errands
from tests.kit.server.processes import children_of, is_running, wait_until

ROOT: Final = Path(__file__).resolve().parent.parent.parent.parent
PATIENT: Final = ChildLimits(max_seconds=60.0, max_memory_mb=512)


@pytest.fixture(autouse=True)
def _nobody_is_left() -> object:
    before = children_of(os.getpid())
    yield
    assert children_of(os.getpid()) == before


def test_the_result_of_the_function_comes_back() -> None:
    assert run_limited(errands.add, (2, 3), PATIENT) == 5


@pytest.mark.parametrize("errand", [errands.spin, errands.sleep_for_good])
def test_who_takes_too_long_is_ended_at_the_limit_of_time(errand: Callable[[], None]) -> None:
    begin_s = time.monotonic()
    with pytest.raises(LimitExceeded) as raised:
        run_limited(errand, (), ChildLimits(max_seconds=0.5))
    assert (raised.value.what, raised.value.limit) == ("seconds", 0.5)
    assert time.monotonic() - begin_s < 20


@pytest.mark.parametrize("errand", [errands.take_memory, errands.take_memory_in_small_pieces])
def test_who_takes_too_much_memory_is_told_the_limit(errand: Callable[[], int]) -> None:
    with pytest.raises(LimitExceeded) as raised:
        run_limited(errand, (), ChildLimits(max_seconds=60.0, max_memory_mb=128))
    assert (raised.value.what, raised.value.limit) == ("megabytes of memory", 128)


@pytest.mark.parametrize(("wanted_mb", "allowed_mb"), [(4096, 512), (256, 256)])
def test_a_child_of_a_limited_process_may_use_no_more_than_that(wanted_mb: int, allowed_mb: int) -> None:
    assert run_limited(errands.memory_mb_of_a_child, (wanted_mb,), PATIENT) == allowed_mb


def test_an_answer_that_is_too_long_is_not_waited_for() -> None:
    with pytest.raises(LimitExceeded) as raised:
        run_limited(errands.answer_at_length, (3_000_000,), ChildLimits(max_answer_mb=2))
    assert (raised.value.what, raised.value.limit) == ("megabytes of answer", 2)


def test_a_typed_error_comes_back_with_its_data_and_its_place() -> None:
    with pytest.raises(StratificationError) as raised:
        run_limited(errands.refuse_rules, (), PATIENT)
    error = raised.value
    assert (error.message, error.cycle, error.span and error.span.place) == (
        "p needs not p",
        ("p", "not p"),
        "a.kif:1:1",
    )


@pytest.mark.parametrize(
    ("errand", "reason"),
    [
        (errands.kill_itself, "it ended with exit code -9"),
        (errands.fail_unsendably, "UnsendableError: 3"),
        (errands.answer_with_a_function, "its result cannot be sent: "),
    ],
)
def test_a_child_without_an_answer_is_an_error_of_its_own(errand: Callable[[], None], reason: str) -> None:
    with pytest.raises(ChildProcessDiedError) as raised:
        run_limited(errand, (), PATIENT)
    assert raised.value.reason.startswith(reason)


def test_a_library_that_aborts_is_taken_to_be_out_of_memory() -> None:
    with pytest.raises(LimitExceeded) as raised:
        run_limited(errands.abort, (), PATIENT)
    assert raised.value.what == "megabytes of memory"


def test_processor_time_counts_where_it_is_limited() -> None:
    limits = ChildLimits(max_seconds=60.0, max_cpu_seconds=1.0)
    with pytest.raises(LimitExceeded) as raised:
        run_limited(errands.spin, (), limits)
    assert (raised.value.what, raised.value.limit) == ("seconds", 1.0)
    assert run_limited(errands.sleep_and_answer, (2.0,), limits) == 2.0


def test_a_child_whose_answer_is_not_wanted_any_more_is_ended() -> None:
    numbers: list[object] = []
    with pytest.raises(NotWanted):
        run_limited(errands.tell_number_and_sleep, (), PATIENT, numbers.append, lambda: not numbers)
    wait_until(lambda: not is_running(int(str(numbers[0]))))


def test_reports_come_in_order_and_before_the_result() -> None:
    reports: list[object] = []
    assert run_limited(errands.count_to, (5,), PATIENT, reports.append) == "counted"
    assert reports == [0, 1, 2, 3, 4]


def test_what_the_function_prints_does_not_mix_with_its_answer() -> None:
    assert run_limited(errands.print_and_answer, (), PATIENT) == "answer"


def test_an_error_in_a_report_ends_the_child() -> None:
    def refuse(_report: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_limited(errands.count_to, (1_000_000,), PATIENT, refuse)


def test_processes_that_the_child_started_end_with_it() -> None:
    grandchild = run_limited(errands.start_another, (), PATIENT)
    wait_until(lambda: not is_running(grandchild))


def test_the_child_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    noted = tmp_path / "number"
    program = f"from tests.kit.gdl.errands import start_another_limited; start_another_limited({str(noted)!r})"
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT) as parent:
        wait_until(lambda: noted.exists() and noted.read_text(encoding="utf-8").endswith("\n"))
        child = int(noted.read_text(encoding="utf-8"))
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_running(child))
