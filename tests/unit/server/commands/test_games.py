"""`ggp games` and `ggp show`: what the library has, and what a game is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gdl.games.library import find_game, game_names
from tests.kit.server.commands.fixtures import Ggp

TICTACTOE = """\
First position:
1 . . .
2 . . .
3 . . .
  1 2 3
x to move

Legal moves: x 9, o 1
"""


def test_games_lists_every_game_with_its_title(ggp: Ggp) -> None:
    ended = ggp("games")
    rows = [line.split()[0] for line in ended.output.splitlines()]
    assert (ended.exit_code, ended.errors, rows) == (0, "", ["name", *game_names()])
    assert "Connect four" in ended.output


@pytest.mark.parametrize("width", [40, 60])
def test_names_are_whole_in_a_narrow_terminal(ggp: Ggp, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr("server.terminal.command_line.WIDTH_OF_A_PIPE", width)
    lines = ggp("games").output.splitlines()
    assert {line.split()[0] for line in lines if not line.startswith(" ")} == {"name", *game_names()}
    assert max(map(len, lines)) == width


def test_games_as_json_has_what_a_script_needs(ggp: Ggp) -> None:
    games = {game["name"]: game for game in json.loads(ggp("games", "--json").output)}
    assert tuple(games) == game_names()
    assert not games["pig"]["has_imperfect_information"]  # the rules are GDL-II, and each role sees everything
    assert games["montyhall"] == {
        "name": "montyhall",
        "title": "Monty Hall",
        "roles": ["candidate", "random"],
        "has_imperfect_information": True,
        "path": str(find_game("montyhall").path),
    }


def test_show_ends_with_the_first_position_and_its_legal_moves(ggp: Ggp) -> None:
    ended = ggp("show", "tictactoe")
    assert (ended.exit_code, ended.errors) == (0, "")
    assert ended.output.startswith("Tic-tac-toe (tictactoe)\n")
    assert ended.output.endswith(TICTACTOE)


def test_show_tells_how_unclear_sentences_were_decided(ggp: Ggp) -> None:
    assert "- Is a draw played again?\n  No: it ends the game" in ggp("show", "rockpaperscissors").output


def test_show_with_rules_ends_with_the_rule_file(ggp: Ggp) -> None:
    assert ggp("show", "nim", "--rules").output.endswith("\n" + find_game("nim").read().source.text)


def test_show_as_json_says_the_same(ggp: Ggp) -> None:
    shown = json.loads(ggp("show", "nim", "--json", "--rules").output)
    assert {key: shown[key] for key in ("name", "roles", "facts", "legal", "board", "rules")} == {
        "name": "nim",
        "roles": ["left", "right"],
        "facts": ["(control left)", "(heap a 3)", "(heap b 4)", "(heap c 5)"],
        "legal": {"left": 12, "right": 1},
        "board": "a  | | |  3\nb  | | | |  4\nc  | | | | |  5\nleft to move",
        "rules": find_game("nim").read().source.text,
    }
    assert shown["about"]["title"] == "Nim"


def test_show_lists_the_facts_of_a_file_without_description(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "bare.kif"
    path.write_text("(role me) (init (at b)) (init (at a)) (legal me rest) terminal (goal me 100)", encoding="utf-8")
    lines = ggp("show", path).output.splitlines()
    assert lines == [
        "bare",
        "roles: me",
        "information: perfect",
        "",
        "First position:",
        "at: a, b",
        "",
        "Legal moves: me 1",
    ]


def test_a_misspelt_name_is_wrong_usage_with_suggestions(ggp: Ggp) -> None:
    assert ggp("show", "brekthrough") == (
        2,
        "",
        "ggp: no game 'brekthrough'; did you mean breakthrough or knightthrough?\n",
    )


def test_a_wrong_description_is_reported_with_its_problems(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "game.kif").write_text("(role me)", encoding="utf-8")
    path = tmp_path / "game.toml"
    path.write_text('title = "x"\nroles = ["me"]\nplayers = 1\nsummary = "y"\nsumary = "z"\n', encoding="utf-8")
    expected = f"ggp: {path}: authors: missing\n{path}: sumary: unknown key\n"
    assert ggp("show", tmp_path / "game.kif") == (1, "", expected)


def test_a_game_whose_description_is_damaged_is_listed_all_the_same(
    ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "odd.kif").write_text("(role x)", encoding="utf-8")
    (tmp_path / "odd" / "odd.toml").write_text("title = ", encoding="utf-8")
    monkeypatch.setenv("GGP_GAMES", str(tmp_path))
    ended = ggp("games", "--json")
    told = {key: json.loads(ended.output)[-1][key] for key in ("name", "title", "roles")}
    assert (ended.exit_code, told) == (1, {"name": "odd", "title": "odd", "roles": []})
    assert ended.errors.startswith(f"ggp: {tmp_path / 'odd' / 'odd.toml'}: ")
