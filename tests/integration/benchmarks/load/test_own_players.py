"""Matches between players of ours, ordered at once from a real server: all end in time, and have no processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.load.own_players import OwnRun, play
from benchmarks.load.processes import managing


@pytest.mark.exhaustive
async def test_many_matches_of_random_at_once_end_in_time_and_have_no_processes(
    tmp_path: Path,
) -> None:
    async with managing(tmp_path, 1_000, ["--no-warm-up"]) as manager:
        run = await play(manager, "random", 60)
    assert (run.n_completed, run.n_errors) == (60, 0)
    assert run.most_processes <= 1  # the one that compiles the game
    assert all(figure.is_kept for figure in run.figures())


def test_what_is_promised() -> None:
    run = OwnRun("random", 10, n_completed=9, n_errors=1, n_steps=80, elapsed_s=1.0, most_processes=0)
    assert [figure.is_kept for figure in run.figures()] == [False, False, True, True, True]
