"""The figures of a run tell what was measured, and no more."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.load.load_generator import Ordering, Run

RUN = Run(
    10,
    n_completed=9,
    n_errors=1,
    n_steps=80,
    n_most_at_once=7,
    ordering_s=0.5,
    elapsed_s=10.0,
    work_s=0.4,
    shares_s=[0.001, 0.002, 0.003],
    longest_answer_s=1.5,
    longest_lag_s=0.002,
    memory_before=1_000_000,
    memory_most=2_000_000,
)
TOGETHER = replace(RUN, ordering=Ordering(0.03, 1.5, 0.002, None))


def figures(run: Run) -> dict[str, float]:
    """Return the values of the figures of *run* by their names."""
    return {figure.name: figure.value for figure in run.figures((0.005, 0.050))}


def test_matches_that_begin_as_they_are_ordered_have_their_work_together() -> None:
    subject = "10 matches that begin as they are ordered"
    assert figures(RUN) == {
        f"{subject}: not completed": 1,
        f"{subject}: missed deadlines and other errors": 1,
        f"{subject}: steps": 80,
        f"{subject}: most of them at once": 7,
        f"{subject}: until all were ordered": 0.5,
        f"{subject}: the manager's share of a step, median": 2.0,
        f"{subject}: the manager's share of a step, 99 %": 3.0,
        f"{subject}: longest answer of a player": 1.5,
        f"{subject}: longest delay of the players' process": 2.0,
        f"{subject}: work of the manager for each match": 40.0,
        f"{subject}: a core busy with the manager": 4.0,
        f"{subject}: memory for each match": 0.1,
    }


def test_where_all_begin_together_orders_and_steps_have_theirs_apart() -> None:
    found = figures(TOGETHER)
    work = {name.rpartition(": ")[2]: value for name, value in found.items() if "work" in name}
    assert work == {"work of the manager for each order": 3.0, "work of the manager for each step": 5.0}


def test_the_shares_that_are_promised_are_the_bounds_of_their_figures() -> None:
    bounds = [figure.at_most for figure in RUN.figures((0.005, 0.050)) if "share" in figure.name]
    assert bounds == [5.0, 50.0]
