"""Equilibria of the library's games of hidden information, beside what the field knows of them."""

from __future__ import annotations

from functools import cache

import pytest

from players.deadline import SearchBudget
from players.search.information.regret import RegretSearch
from players.search.information.sequences import sequence_form
from tests.kit.players.games import compiled

MAX_HISTORIES = 1_000_000
CHIP = 0.03
"""What a chip of Leduc poker is of a goal from 0 to 1."""


@cache
def solved(name: str, n_iterations: int) -> RegretSearch:
    """Return a search that goes on where one for matches would be content."""
    form = sequence_form(compiled(name), SearchBudget(), MAX_HISTORIES)
    assert form is not None
    search = RegretSearch(form)
    for _ in range(n_iterations):
        search.iterate()
    return search


def leduc_poker() -> RegretSearch:
    return solved("leducpoker", 1600)


@pytest.mark.exhaustive
def test_leduc_poker_has_as_many_information_sets_as_in_openspiel() -> None:
    """OpenSpiel's leduc_poker, too, tells the two cards of a rank apart; without suits there are 288.

    Source: Marc Lanctot and others, OpenSpiel: a framework for reinforcement learning in games, 2019.
    """
    form = leduc_poker().form
    assert [len(role.moves) for role in form.roles] == [468, 468, 0]
    assert form.n_infosets == 936


def test_leduc_poker_costs_its_first_player_0_0856_chips() -> None:
    chips = [(share - 0.5) / CHIP for share in leduc_poker().expectations()[:2]]
    assert chips == pytest.approx([-0.0856, 0.0856], abs=5e-5)


def test_leduc_poker_s_strategies_lose_hardly_anything_to_the_best_responses() -> None:
    chips = [(share - 0.5) / CHIP for share in leduc_poker().best_responses()[:2]]
    assert chips == pytest.approx([-0.0856, 0.0856], abs=5e-4)


@pytest.mark.exhaustive
def test_liar_s_dice_is_worth_seven_of_258_to_the_second_player() -> None:
    """With one die each; a win is one point, a loss costs one. Of 24,576 information sets half leave only a doubt.

    Source: Todd Neller and Marc Lanctot, An introduction to counterfactual regret minimization, 2013.
    """
    search = solved("liarsdice", 400)
    points = [2 * share - 1 for share in search.expectations()[:2]]
    assert [len(role.moves) for role in search.form.roles] == [6144, 6144, 0]
    assert points == pytest.approx([-7 / 258, 7 / 258], abs=1e-3)
