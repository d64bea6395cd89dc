"""Warming up."""

from __future__ import annotations

from players.kit.worker import prepare_workers, start_warming


def test_the_kernels_are_made_by_a_process_that_ends_by_itself() -> None:
    prepare_workers()
    process = start_warming(idle_s=0.0)
    assert process is not None
    process.join(120)
    assert process.exitcode == 0


def test_the_program_does_not_wait_for_it() -> None:
    process = start_warming(idle_s=1000.0)
    assert process is not None
    assert process.daemon
    process.terminate()
    process.join(10)
    assert process.exitcode is not None
