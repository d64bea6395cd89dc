"""Positions and what is remembered of them."""

from __future__ import annotations

from players.search.positions import Positions, goal_shares
from tests.kit.players.games import COIN, FOUR_WAYS, after, game, game_of


def test_equal_states_are_one_position() -> None:
    tictactoe = game("tictactoe")
    positions = Positions(tictactoe)
    one_way = after(tictactoe, "(mark 1 1)", "(mark 2 2)", "(mark 3 3)")
    other_way = after(tictactoe, "(mark 3 3)", "(mark 2 2)", "(mark 1 1)")
    assert positions.at(one_way) is positions.at(other_way)
    assert len(positions) == 1


def test_choices_are_all_joint_moves_and_after_follows_them() -> None:
    rockpaperscissors = game("rockpaperscissors")
    root = Positions(rockpaperscissors).at(rockpaperscissors.initial_state)
    followers = [root.after(choice) for choice in root.choices()]
    expected = [root.state.next_state(root.joint_move(choice)) for choice in root.choices()]
    assert root.n_choices == 9
    assert [follower.state for follower in followers] == expected
    assert [root.after(choice) for choice in root.choices()] == followers


def test_keep_forgets_what_can_no_longer_follow() -> None:
    puzzle = game_of(FOUR_WAYS)
    positions = Positions(puzzle)
    root = positions.at(puzzle.initial_state)
    a, c = (root.after(choice) for choice in ((0,), (2,)))
    after_a = [a.after(choice) for choice in a.choices()]
    assert positions.keep(a.state) is a
    assert set(positions.by_state) == {a.state, *(position.state for position in after_a)}
    assert c.state not in positions


def test_a_full_table_remembers_nothing_more() -> None:
    puzzle = game_of(FOUR_WAYS)
    positions = Positions(puzzle, max_positions=1)
    root = positions.at(puzzle.initial_state)
    assert root.after((0,)) is not root.after((0,))
    assert (len(positions), root.successors) == (1, {})


def test_percepts_are_those_of_the_rules_and_none_for_chance() -> None:
    coin = game_of(COIN)
    positions = Positions(coin)
    tossing = positions.at(after(coin, "bold"))
    assert [tuple(map(str, percepts)) for percepts in tossing.percepts((0, 1))] == [("noop", "tails"), ()]


def test_a_role_without_a_legal_move_ends_a_search() -> None:
    stuck = game_of("(role a) (init x) (<= (legal a go) (true y)) (<= terminal (true y)) (<= (goal a 70) (true x))")
    position = Positions(stuck).at(stuck.initial_state)
    assert (position.state.is_terminal, position.is_end, position.goals) == (False, True, (0.7,))


def test_goals_are_shares_of_a_hundred_and_one_half_where_there_is_no_single_value() -> None:
    odd = game_of(
        "(role a) (role b) (role c) (init x) (<= (legal ?r go) (role ?r)) (<= terminal (true x))"
        "(goal a 25) (goal b 0) (goal b 100)"
    )
    assert goal_shares(odd.initial_state, odd.roles) == (0.25, 0.5, 0.5)
