"""`ggp bench --player`: how fast a player searches, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kit.server.commands.fixtures import Ggp


@pytest.mark.exhaustive
@pytest.mark.parametrize("spec", ["mcts", "mcts:engine=python"])
def test_programs_get_the_figures_of_a_search(ggp: Ggp, spec: str) -> None:
    ended = ggp("bench", "--player", spec, "--seconds", "0.2", "--json", "tictactoe", "nim")
    assert (ended.exit_code, ended.errors) == (0, "")
    found = json.loads(ended.output)
    assert [(each["game"], each["player"]) for each in found] == [("tictactoe", spec), ("nim", spec)]
    assert set(found[0]) == {
        "game", "player", "role", "leaves_per_s", "playouts_per_s", "depth", "value", "move", "line", "used_s",
    }  # fmt: skip
    assert found[0]["line"][0] == found[0]["move"]


def test_a_move_that_is_known_at_once_has_no_speed(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "oracle.py"
    path.write_text(
        "import players\n"
        "from gdl.wire.insights import Insight\n"
        "class Oracle(players.Player):\n"
        "    def move(self, state, role, deadline):\n"
        "        return state.legal_moves(role)[0]\n"
        "    def insight(self):\n"
        "        return Insight(2, 0, 0.0, 50.0, (), True)\n"
    )
    ended = ggp("bench", "--player", path, "--seconds", "0.1", "tictactoe")
    assert (ended.exit_code, ended.output.splitlines()[-1].split()[2:]) == (0, ["0", "50", "(mark", "1", "1)"])
    assert ended.errors.endswith("knows its move at once, so that there is no speed to measure\n")


def test_a_player_that_tells_nothing_has_a_line_without_figures(ggp: Ggp) -> None:
    ended = ggp("bench", "--player", "legal", "--seconds", "0.1", "tictactoe")
    assert (ended.exit_code, ended.output.splitlines()[-1].split()) == (0, ["tictactoe", "legal", "(mark", "1", "1)"])


@pytest.mark.exhaustive
def test_a_game_that_fails_leaves_the_others_their_figures(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "bad.kif").write_text("(role a) (init")
    ended = ggp("bench", "--player", "legal", "--seconds", "0.1", "--json", tmp_path / "bad.kif", "nim")
    found = json.loads(ended.output)
    assert (ended.exit_code, "error" in found[0], found[1]["game"]) == (1, True, "nim")


@pytest.mark.exhaustive
def test_where_chance_moves_first_the_player_sits_at_the_first_role_with_a_choice(ggp: Ggp) -> None:
    ended = ggp("bench", "--player", "legal", "--seconds", "0.1", "--json", "kuhnpoker")
    [found] = json.loads(ended.output)
    assert (ended.exit_code, found["role"], found["move"]) == (0, "alice", "bet")


@pytest.mark.exhaustive
def test_a_game_without_a_choice_is_refused(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "still.kif"
    path.write_text(
        "(role robot) (init a) (legal robot go) (<= (next b) (true a)) (<= terminal (true b)) (goal robot 7)"
    )
    ended = ggp("bench", "--player", "legal", path)
    told = "ggp: still: no role has a choice before step 1, so that there is no search to measure\n"
    assert (ended.exit_code, ended.output, ended.errors) == (1, "", told)


@pytest.mark.exhaustive
def test_a_player_that_returns_no_legal_move_has_failed(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "forgetful.py"
    path.write_text(
        "import players\n"
        "class Forgetful(players.Player):\n"
        "    def move(self, state, role, deadline):\n"
        "        self.suggest(state.legal_moves(role)[0])\n"
    )
    ended = ggp("bench", "--player", path, "--seconds", "0.1", "tictactoe")
    told = "ggp: tictactoe: None is not a legal move of x in this state\n"
    assert (ended.exit_code, ended.output, ended.errors) == (1, "", told)


@pytest.mark.parametrize(
    "words",
    [
        ("--player", "mcts"),
        ("--player", "mcts", "--seconds", "1,2", "nim"),
        ("--player", "mcts", "--engine", "interpreter", "nim"),
        ("--player", "mcts", "--half", "test", "nim"),
        ("--half", "test", "nim"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(ggp: Ggp, words: tuple[str, ...]) -> None:
    assert ggp("bench", *words).exit_code == 2
