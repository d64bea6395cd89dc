"""What is measured of a process from outside."""

from __future__ import annotations

import math
import os

from benchmarks.load.processes import Listener


def test_of_a_manager_whose_process_is_not_known_nothing_is_measured() -> None:
    listener = Listener("http://example.org")
    assert (listener.memory_bytes(), math.isnan(listener.work_s())) == (0, True)


def test_of_a_process_of_this_machine_work_and_memory_are_measured() -> None:
    listener = Listener("http://127.0.0.1", os.getpid())
    assert listener.memory_bytes() > 1_000_000
    assert listener.work_s() > 0
