"""Goals of many gates: last states are set aside and scored together, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.compiler.circuit import build
from gdl.compiler.decomposition import decompose
from gdl.compiler.grounding import ground
from gdl.compiler.kernels.choice import work_for
from gdl.compiler.kernels.lanes import DONE, N_LANES, PAUSED, Tally, lanes_for, play
from gdl.compiler.kernels.words import W, rows
from gdl.compiler.phases import phases
from gdl.compiler.tables import tables
from gdl.datalog.translation import clauses_of
from gdl.language.rules import read_rules
from gdl.language.terms import Constant

# Seven coins are thrown in turn by two robots; the goal adds them up, which takes more gates than the rest.
COINS = "\n".join(
    [
        "(role r) (init (turn 0)) (init (at 0)) (<= (legal r (throw h)) (true (at ?n)))",
        "(<= (legal r (throw t)) (true (at ?n)))",
        "(<= (next (turn 1)) (true (turn 0))) (<= (next (turn 0)) (true (turn 1)))",
        "(<= (next (coin ?n)) (true (coin ?n))) (<= (next (coin ?n)) (true (at ?n)) (does r (throw h)))",
        "(<= (next (at ?m)) (true (at ?n)) (succ ?n ?m)) (<= terminal (true (at 9)))",
        *[f"(succ {n} {n + 1})" for n in range(12)],
        "(<= (sum 0 0))",
        "(<= (sum ?m ?t) (sum ?n ?s) (succ ?n ?m) (true (coin ?n)) (succ ?s ?t))",
        "(<= (sum ?m ?s) (sum ?n ?s) (succ ?n ?m) (not (true (coin ?n))))",
        *[f"(<= (goal r {10 * n}) (sum 9 {n}))" for n in range(10)],
    ]
)


@pytest.mark.parametrize("n_steps", [7, 10_000])
def test_every_play_is_scored_by_its_last_state(n_steps: int) -> None:
    """Nine throws of a coin: the sums are distributed as in a binomial distribution, and every play has one."""
    circuit = build(ground(decompose(clauses_of(read_rules(COINS).rules))), [Constant("r")])
    found = tables(circuit, phases(circuit))
    n_goals = len(circuit.goals[0])
    start = rows(found.n_fluents)
    start[sorted(circuit.initial)] = ~np.uint64(0)
    lanes = lanes_for(found.n_rows, np.full(N_LANES, 40), np.zeros(N_LANES, np.int64), start)
    tally = Tally(np.zeros((1, n_goals), np.int64), np.zeros((1, 4), np.int64), np.array([0, n_goals], np.int32))
    work = work_for(len(found.choice_legal), 1)
    while (state := play(found, lanes, work, n_steps, tally, np.zeros((0, 1, W), np.uint64))) == PAUSED:
        assert tally.goal_counts.sum() == tally.lengths[0, 0]
    assert state == DONE
    counts = {value: count for (value, _), count in zip(circuit.goals[0], tally.goal_counts[0].tolist(), strict=True)}
    n_plays = 40 * N_LANES
    assert sum(counts.values()) == tally.lengths[0, 0] == n_plays
    mean = sum(int(value) * count for value, count in counts.items()) / n_plays
    assert abs(mean - 45) < 6 * 15 / np.sqrt(n_plays)
