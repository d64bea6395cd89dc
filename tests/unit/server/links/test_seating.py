"""Which player each role of a match has, with which name and seed."""

from __future__ import annotations

import pytest

from gdl.errors import UnknownNameError
from server.errors import TooManyRolesError
from server.links.player_spec import PlayerSpec
from server.links.seating import check_n_roles, check_roles, seated, seeded, with_distinct_names
from tests.kit.server.plays import LEFT, RIGHT, two_steps


def test_who_is_left_out_is_played_by_one_of_ours() -> None:
    ann = PlayerSpec("legal", is_own=True)
    assert seated(two_steps(), {"right": ann}) == {LEFT: PlayerSpec("random", is_own=True), RIGHT: ann}


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("lefd", "no role to play 'lefd'; did you mean left?"),
        ("x", "no role to play 'x'; did you mean left or right?"),
    ],
)
def test_a_role_that_no_player_can_have_is_refused_with_those_that_one_can(named: str, told: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        check_roles(two_steps(), ["left", named])
    assert str(caught.value) == told


def test_a_game_has_as_many_roles_as_may_be_played() -> None:
    check_n_roles(two_steps(), 2)
    with pytest.raises(TooManyRolesError) as caught:
        check_n_roles(two_steps(), 1)
    assert (caught.value.n_roles, caught.value.limit) == (2, 1)


def test_players_of_ours_have_a_seed_for_each_seat() -> None:
    ours, other = PlayerSpec("random", is_own=True), PlayerSpec("http://127.0.0.1:9147", is_own=False)
    found = seeded({LEFT: ours, RIGHT: ours}, 7)
    assert found == seeded({LEFT: ours, RIGHT: ours}, 7)
    assert len({7, *(player.seed for player in found.values() if isinstance(player, PlayerSpec))}) == 3
    assert seeded({LEFT: other}, 7) == {LEFT: other}


def test_commands_of_a_match_have_different_names() -> None:
    texts = {"x": "cmd+legal:sh -e a/bot.sh", "o": "cmd:sh b/other.sh --fast", "z": "cmd:sh c/bot.sh", "y": "mcts"}
    specs = {role: PlayerSpec(text, is_own=text == "mcts") for role, text in texts.items()}
    assert {role: spec.name for role, spec in with_distinct_names(specs).items()} == {
        "x": "cmd+legal:sh -e a/bot.sh",
        "o": "other.sh",
        "z": "cmd:sh c/bot.sh",
        "y": "mcts",
    }
