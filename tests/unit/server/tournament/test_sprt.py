"""Sequential tests: equal to fishtest and fastchess, to a case worked out by hand, and as seldom wrong as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from benchmarks.ratings import normalised_elo, pair_chances, simulated_tests
from server.tournament.fixtures import MatchResult
from server.tournament.sprt import ELO_PER_DEVIATION, Decision, Floats, SprtTest, pentanomial


@pytest.mark.parametrize(
    ("elo0", "elo1", "counts", "llr"),
    [
        (0, 2, (36027, 68692, 36433), 0.92),
        (-1.75, 0.25, (10650, 20431, 10871), 2.30),
        (0, 10, (0, 0, 4250), 120.56),
        (0, 2, (365, 16618, 36029 + 200, 16974, 390), 2.25),
        (-1.75, 0.25, (127, 4883, 10311 + 401, 5150, 104), 3.01),
        (0, 5, (0, 0, 0, 0, 5550), 111.82),
    ],
)
def test_the_ratio_is_that_of_the_tests_of_fastchess(
    elo0: float, elo1: float, counts: tuple[int, ...], llr: float
) -> None:
    assert SprtTest(elo0, elo1).llr(counts) == pytest.approx(llr, abs=0.01, rel=0.001)


def test_the_ratio_is_that_of_a_test_by_fishtest() -> None:
    """The statistics of https://montytest.muzhen.org/tests/stats/69d3c8dc7c5b3724e29d2712 (exact, normalised)."""
    assert SprtTest(0, 4).llr((13, 37, 50, 25, 3)) == pytest.approx(-0.54912, abs=1e-5)


def test_the_ratio_of_matches_all_won_can_be_worked_out_by_hand() -> None:
    """Wins are most likely where all else is losses; a share `w` of wins has the mean `w` and variance `w * (1 - w)`.

    With `(w - 1/2) / sqrt(w * (1 - w)) = t` that share is `(1 + t / sqrt(1 + t ** 2)) / 2`, and 1/2 at `t = 0`.
    """
    t = 20 / ELO_PER_DEVIATION
    share = (1 + t / math.sqrt(1 + t**2)) / 2
    assert SprtTest(0, 20).llr((0, 0, 30)) == pytest.approx(30 * math.log(share / 0.5), abs=0.001)


@pytest.mark.parametrize("counts", [(3, 8, 20, 14, 5), (9, 4, 7, 2, 1), (4, 6, 10), (12, 1, 3)])
def test_the_ratio_is_that_of_the_likeliest_distributions_found_directly(counts: tuple[int, ...]) -> None:
    scale = math.sqrt(2 if len(counts) == 5 else 1) / ELO_PER_DEVIATION
    losses = [least_loss(np.array(counts) / sum(counts), elo * scale) for elo in (-150, 150)]
    assert SprtTest(-150, 150).llr(counts) == pytest.approx(sum(counts) * (losses[0] - losses[1]), rel=1e-5)


def least_loss(frequencies: Floats, t: float) -> float:
    """Return what the likeliest distribution whose mean is *t* deviations from 1/2 loses, by a general minimiser."""
    scores = np.linspace(-0.5, 0.5, len(frequencies))

    def excess(shares: Floats) -> float:
        mean = shares @ scores
        return float(mean - t * np.sqrt(shares @ scores**2 - mean**2))

    found = scipy.optimize.minimize(
        lambda shares: float(frequencies @ np.log(frequencies / shares)),
        frequencies,
        method="SLSQP",
        bounds=[(1e-9, 1)] * len(frequencies),
        constraints=[{"type": "eq", "fun": lambda shares: shares.sum() - 1}, {"type": "eq", "fun": excess}],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert found.success
    return float(found.fun)


def test_the_bounds_are_those_of_wald() -> None:
    test = SprtTest(0, 10, alpha=0.05, beta=0.1)
    assert (test.lower, test.upper) == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))


def test_a_test_goes_on_until_a_bound_is_reached() -> None:
    test = SprtTest(0, 50)
    assert test.decision((0, 0, 0, 0, 0)) is Decision.CONTINUE
    assert test.decision((5, 20, 50, 22, 6)) is Decision.CONTINUE
    assert test.decision((5, 20, 50, 60, 20)) is Decision.H1
    assert test.decision((20, 60, 50, 20, 5)) is Decision.H0


def test_exchanged_players_have_exchanged_hypotheses() -> None:
    counts = (5, 20, 50, 40, 6)
    assert SprtTest(0, 30).llr(counts) == pytest.approx(-SprtTest(-30, 0).llr(counts[::-1]))


def test_many_ratios_are_those_of_each_alone() -> None:
    test, counts = SprtTest(-150, 150), np.random.default_rng(1).poisson([0.5, 2, 6, 3, 1], size=(50, 5))
    assert test.llrs(counts) == pytest.approx([test.llr(row) for row in counts.tolist()], abs=1e-6)
    assert np.isfinite(test.llrs(np.eye(5))).all()
    assert np.isfinite(SprtTest(0, 100).llr((2, 11, 44, 1, 1)))  # where Newton's method alone goes in a circle


def test_no_tests_have_no_ratios() -> None:
    assert SprtTest(0, 5).llrs(np.zeros((0, 5))).tolist() == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("elo", [0, 80])
def test_the_wrong_hypothesis_is_accepted_as_seldom_as_promised(elo: float) -> None:
    """Of 400 tests 20 may err; 34 are three deviations more."""
    verdicts = simulated_tests(np.random.default_rng(2), SprtTest(0, 80), pair_chances(elo, 150, 0.5), 400)
    wrong = verdicts.accepted if elo == 0 else 400 - verdicts.accepted
    assert wrong <= 34


def test_the_chances_of_the_simulation_have_the_elo_asked_for() -> None:
    assert normalised_elo(pair_chances(25, 100, 0.7)) == pytest.approx(25)


def test_a_pair_is_two_matches_of_a_game_with_the_roles_exchanged() -> None:
    results = [
        MatchResult("chess", ("ann", "bob"), (100, 0)),
        MatchResult("draughts", ("bob", "ann"), (0, 100)),
        MatchResult("chess", ("bob", "ann"), (50, 50)),
        MatchResult("chess", ("ann", "bob"), (0, 100)),
        MatchResult("chess", ("ann", "bob"), (100, 0)),
        MatchResult("chess", ("bob", "ann"), (100, 0)),
    ]
    assert pentanomial(results, "ann", "bob") == (1, 0, 0, 1, 0)
    assert pentanomial(results, "bob", "ann") == (0, 1, 0, 0, 1)


def test_counts_are_of_matches_or_pairs() -> None:
    with pytest.raises(ValueError, match=r"^the counts must be three of matches or five of pairs, not 4$"):
        SprtTest(0, 5).llr((1, 2, 3, 4))


HYPOTHESES = "the hypotheses must be -150.0 <= elo0 < elo1 <= 150.0"
RISKS = "alpha and beta must be above 0, and their sum below 1"


@pytest.mark.parametrize(
    ("elo0", "elo1", "alpha", "beta", "said"),
    [
        (5, 5, 0.05, 0.05, HYPOTHESES),
        (0, 151, 0.05, 0.05, HYPOTHESES),
        (-151, 0, 0.05, 0.05, HYPOTHESES),
        (math.nan, 5, 0.05, 0.05, HYPOTHESES),
        (0, 5, 0, 0.05, RISKS),
        (0, 5, 0.05, 0, RISKS),
        (0, 5, 0.5, 0.5, RISKS),
    ],
)
def test_hypotheses_and_errors_must_make_sense(elo0: float, elo1: float, alpha: float, beta: float, said: str) -> None:
    with pytest.raises(ValueError, match="must be") as refused:
        SprtTest(elo0, elo1, alpha, beta)
    assert str(refused.value) == said
