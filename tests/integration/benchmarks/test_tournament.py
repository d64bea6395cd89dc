"""The benchmark of tournaments: every match is played, and no deadline missed."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.tournament import TournamentRun, play


@pytest.mark.exhaustive
def test_players_that_answer_at_once_miss_no_deadline() -> None:
    run = asyncio.run(play(20))
    assert (run.n_matches, run.n_errors) == (20, 0)
    assert run.elapsed_s > 0 < run.work_s


def test_the_line_has_rates_and_errors() -> None:
    assert TournamentRun(100, 2, 20.0, 3.0).line() == (
        "100 matches in 20.0 s: 5.0 a second, 30.0 ms of processor time each, 2 errors"
    )
