"""What is agreed before a match."""

from __future__ import annotations

from server.match.setup import MatchSetup


def test_match_ids_and_seeds_do_not_repeat() -> None:
    setups = [MatchSetup((), 10, 5) for _ in range(100)]
    assert len({(setup.match_id, setup.seed, setup.scramble_seed) for setup in setups}) == 100
    assert len({setup.seed for setup in setups} | {setup.scramble_seed for setup in setups}) == 200


def test_farewells_take_no_longer_than_a_move_and_never_long() -> None:
    assert [MatchSetup((), 10, clock_s).farewell_clock_s for clock_s in (3, 600)] == [3, 10]
