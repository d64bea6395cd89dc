"""Workers: the answer, the error or the limit of every call in a child process, and no process is left over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from gdl.errors import ChildProcessDiedError, LimitExceeded, StratificationError
from gdl.worker import COMMAND, ChildLimits, NotWanted, Replies, call, death, end, opening, run_limited, start_options
from tests.kit.gdl import child_functions
from tests.kit.polling import wait_until
from tests.kit.server.processes import children_of, is_running

ROOT: Final = Path(__file__).resolve().parent.parent.parent.parent
PATIENT: Final = ChildLimits(max_seconds=60.0, max_memory_mb=512)
KILLED: Final = "it was killed, as by a system that has no memory left: end other programs, or allow less at once"


@pytest.fixture(autouse=True)
def _no_child_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that what a test starts has ended; threads of earlier tests may still compile games in other processes."""
    started: list[int] = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *words: object, **options: object) -> None:
            super().__init__(*words, **options)  # type: ignore[call-overload]  # whatever it was given
            if threading.current_thread() is threading.main_thread():
                started.append(self.pid)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    yield
    assert children_of(os.getpid()) & {*started} == set()


def test_the_result_of_the_function_comes_back() -> None:
    assert run_limited(child_functions.add, (2, 3), PATIENT) == 5


def test_a_system_without_memory_ends_a_worker_before_its_caller() -> None:
    score = Path("/proc/self/oom_score_adj")
    own, of_worker = int(score.read_text()), int(run_limited(Path.read_text, (score,), PATIENT))
    assert of_worker == min(1000, own + 300)


def test_a_call_needs_no_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    assert run_limited(child_functions.add, (2, 3), PATIENT) == 5


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [child_functions.spin, child_functions.sleep_for_good])
def test_who_takes_too_long_is_ended_at_the_limit_of_time(function: Callable[[], None]) -> None:
    begin_s = time.monotonic()
    with pytest.raises(LimitExceeded) as raised:
        run_limited(function, (), ChildLimits(max_seconds=0.5))
    assert (raised.value.what, raised.value.limit) == ("seconds", 0.5)
    assert time.monotonic() - begin_s < 20


@pytest.mark.parametrize("function", [child_functions.take_memory, child_functions.take_memory_in_small_pieces])
def test_a_child_that_takes_too_much_memory_fails_with_the_limit(function: Callable[[], int]) -> None:
    with pytest.raises(LimitExceeded) as raised:
        run_limited(function, (), ChildLimits(max_seconds=60.0, max_memory_mb=128))
    assert (raised.value.what, raised.value.limit) == ("megabytes of memory", 128)


@pytest.mark.parametrize(("wanted_mb", "allowed_mb"), [(4096, 512), (256, 256)])
def test_a_child_of_a_limited_process_may_use_no_more_than_that(wanted_mb: int, allowed_mb: int) -> None:
    assert run_limited(child_functions.memory_mb_of_a_child, (wanted_mb,), PATIENT) == allowed_mb


def test_an_answer_that_is_too_long_is_not_waited_for() -> None:
    with pytest.raises(LimitExceeded) as raised:
        run_limited(child_functions.answer_at_length, (3_000_000,), ChildLimits(max_answer_mb=2))
    assert (raised.value.what, raised.value.limit) == ("megabytes of answer", 2)


def test_a_typed_error_comes_back_with_its_data_and_its_place() -> None:
    with pytest.raises(StratificationError) as raised:
        run_limited(child_functions.refuse_rules, (), PATIENT)
    error = raised.value
    assert (error.message, error.cycle, error.span and error.span.place) == (
        "p needs not p",
        ("p", "not p"),
        "a.kif:1:1",
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (child_functions.kill_itself, KILLED),
        (child_functions.fail_unsendably, "UnsendableError: 3"),
        (child_functions.answer_with_a_function, "its result cannot be sent: "),
    ],
)
def test_a_child_without_an_answer_is_an_error_of_its_own(function: Callable[[], None], reason: str) -> None:
    with pytest.raises(ChildProcessDiedError) as raised:
        run_limited(function, (), PATIENT)
    assert raised.value.reason.startswith(reason)


def test_a_library_that_aborts_is_taken_to_be_out_of_memory() -> None:
    with pytest.raises(LimitExceeded) as raised:
        run_limited(child_functions.abort, (), PATIENT)
    assert raised.value.what == "megabytes of memory"


def test_processor_time_counts_where_it_is_limited() -> None:
    limits = ChildLimits(max_seconds=60.0, max_cpu_seconds=1.0)
    with pytest.raises(LimitExceeded) as raised:
        run_limited(child_functions.spin, (), limits)
    assert (raised.value.what, raised.value.limit) == ("seconds", 1.0)
    assert run_limited(child_functions.sleep_and_answer, (2.0,), limits) == 2.0


def test_a_child_whose_answer_is_not_wanted_any_more_is_ended() -> None:
    numbers: list[object] = []
    with pytest.raises(NotWanted):
        run_limited(child_functions.tell_number_and_sleep, (), PATIENT, numbers.append, lambda: not numbers)
    wait_until(lambda: not is_running(int(str(numbers[0]))))


def test_reports_come_in_order_and_before_the_result() -> None:
    reports: list[object] = []
    assert run_limited(child_functions.count_to, (5,), PATIENT, reports.append) == "counted"
    assert reports == [0, 1, 2, 3, 4]


def test_what_the_function_prints_does_not_mix_with_its_answer() -> None:
    assert run_limited(child_functions.print_and_answer, (), PATIENT) == "answer"


def test_an_error_in_a_report_ends_the_child() -> None:
    def refuse(_report: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_limited(child_functions.count_to, (1_000_000,), PATIENT, refuse)


@contextmanager
def asking(function: Callable[..., object], limits: ChildLimits) -> Iterator[Callable[..., tuple[str, str]]]:
    """Run a worker of many calls; each is answered by what kind of reply came, and what is in it, or by a death."""
    replies = Replies(limits)
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **start_options()) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        pipe = child.stdout
        child.stdin.write(opening(function, limits))

        def ask(*arguments: object) -> tuple[str, str]:
            assert child.stdin is not None
            child.stdin.write(call(*arguments))
            child.stdin.flush()
            while piece := os.read(pipe.fileno(), 1_000):
                for reply in replies.feed(piece):
                    return reply.kind, str(reply.value)
            return "death", str(death(child.wait(), limits))

        try:
            yield ask
        finally:
            end(child.pid)


def test_a_worker_that_is_asked_again_keeps_what_its_function_has_found() -> None:
    with asking(child_functions.Sum(), PATIENT) as ask:
        assert [ask(number) for number in (1, 2, -1, 3)] == [
            ("result", "1"), ("result", "3"), ("error", "-1"), ("result", "6")
        ]  # fmt: skip


def test_a_worker_that_is_asked_again_has_the_limits_of_one_that_is_not() -> None:
    limits = ChildLimits(max_memory_mb=128, max_answer_mb=1)
    with asking(child_functions.take_memory, limits) as ask:
        assert [ask(), ask()] == [("error", "limit reached: more than 128 megabytes of memory")] * 2
    with asking(child_functions.abort, limits) as ask:
        assert ask() == ("death", "limit reached: more than 128 megabytes of memory")
    with asking(child_functions.kill_itself, limits) as ask:
        assert ask() == ("death", f"the child process gave no answer: {KILLED}")


def test_processes_that_the_child_started_end_with_it() -> None:
    grandchild = run_limited(child_functions.start_another, (), PATIENT)
    wait_until(lambda: not is_running(grandchild))


def test_the_child_dies_when_its_parent_is_killed(tmp_path: Path) -> None:
    noted = tmp_path / "number"
    program = f"from tests.kit.gdl.child_functions import start_another_limited; start_another_limited({str(noted)!r})"
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT) as parent:
        wait_until(lambda: noted.exists() and noted.read_text(encoding="utf-8").endswith("\n"))
        child = int(noted.read_text(encoding="utf-8"))
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_running(child))
