"""The likelihood of rankings: against chances worked out by hand, and its derivatives against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy  # its packages load when they are first used

from server.tournament.fixtures import MatchResult
from server.tournament.plackett_luce import Floats, RankedChoices, choices_of, parameters_of, posterior, stages_of

RESULTS = [
    MatchResult("chess", ("ann", "bob"), (100, 0)),
    MatchResult("chess", ("bob", "ann"), (50, 50)),
    MatchResult("trio", ("ann", "bob", "cat"), (100, 50, 50)),
    MatchResult("trio", ("cat", "ann", "bob"), (0, 20, 100)),
    MatchResult("chess", ("cat", "cat"), (100, 0)),
]


def choices_and_values() -> tuple[RankedChoices, Floats]:
    parameters = parameters_of(RESULTS, has_role_effects=True)
    values = np.random.default_rng(1).normal(size=parameters.size)
    return choices_of(RESULTS, parameters), values


def test_roles_are_ranked_by_their_goals() -> None:
    assert stages_of((50, 100, 50, 0)) == ((1,), (0, 2), (3,))


def test_parameters_are_players_roles_and_the_ties_that_there_were() -> None:
    parameters = parameters_of(RESULTS, has_role_effects=True)
    assert parameters.players == {"ann": 0, "bob": 1, "cat": 2}
    assert list(parameters.roles) == [("chess", 0), ("chess", 1), ("trio", 0), ("trio", 1), ("trio", 2)]
    assert parameters.ties == {("chess", 2): 8, ("trio", 2): 9}
    assert parameters.size == 10


def test_the_chance_of_a_draw_is_that_of_davidson() -> None:
    results = [MatchResult("chess", ("ann", "bob"), (50, 50))]
    parameters = parameters_of(results, has_role_effects=False)
    log_likelihood = choices_of(results, parameters).log_likelihood(np.array([math.log(4), 0, math.log(0.5)]))
    assert math.exp(log_likelihood) == pytest.approx(0.5 * 2 / (4 + 1 + 0.5 * 2))


def test_a_ranking_is_chosen_place_by_place() -> None:
    results = [MatchResult("trio", ("ann", "bob", "cat"), (50, 100, 0))]
    parameters = parameters_of(results, has_role_effects=False)
    log_likelihood = choices_of(results, parameters).log_likelihood(np.log([2.0, 3.0, 5.0]))
    assert math.exp(log_likelihood) == pytest.approx(3 / 10 * 2 / 7)


def test_a_tie_of_three_is_one_choice_among_all_sets() -> None:
    results = [MatchResult("trio", ("ann", "bob", "cat"), (50, 50, 50))]
    parameters = parameters_of(results, has_role_effects=False)
    log_likelihood = choices_of(results, parameters).log_likelihood(np.log([1.0, 8.0, 27.0, 2.0]))
    assert math.exp(log_likelihood) == pytest.approx(2 * 6 / (1 + 8 + 27 + 2 * 6))


def test_the_gradient_is_that_of_the_likelihood() -> None:
    choices, values = choices_and_values()
    assert choices.gradient(values) == pytest.approx(
        scipy.optimize.approx_fprime(values, choices.log_likelihood), abs=1e-6
    )


def test_the_information_is_the_negative_hessian() -> None:
    choices, values = choices_and_values()
    differences = np.array(
        [
            (choices.gradient(values - step) - choices.gradient(values + step)) / 2e-5
            for step in 1e-5 * np.eye(len(values))
        ]
    )
    assert choices.information(values) == pytest.approx(differences, abs=1e-6)


def test_at_the_mode_the_likelihood_pulls_as_much_as_the_prior() -> None:
    choices, values = choices_and_values()
    found = posterior(choices, np.full(len(values), 2.0))
    assert choices.gradient(found.mode) == pytest.approx(found.mode / 4, abs=1e-5)
    assert found.covariance @ (choices.information(found.mode) + np.eye(len(values)) / 4) == pytest.approx(
        np.eye(len(values)), abs=1e-9
    )
