"""Pictures of what is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.games.library import find_game
from players.human import metadata_for_rules, picture_of
from tests.kit.players.games import FOUR_WAYS, game, game_of


def test_rules_of_the_library_are_recognised_whatever_their_file_is_called() -> None:
    assert metadata_for_rules(game("tictactoe").description) == find_game("tictactoe").metadata()
    assert metadata_for_rules(game_of(FOUR_WAYS).description) is None


def test_rules_of_a_folder_of_games_are_recognised_beside_files_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, rules in (("broken", b"(role \xff)"), ("ways", FOUR_WAYS.encode())):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.kif").write_bytes(rules)
    about = 'title = "Ways"\nroles = ["player"]\nplayers = 1\nsummary = "s"\nauthors = ["a"]\n'
    (tmp_path / "ways" / "ways.toml").write_text(about, encoding="utf-8")
    monkeypatch.setenv("GGP_GAMES", str(tmp_path))
    found = metadata_for_rules(game_of(FOUR_WAYS).description)
    assert (found and found.title) == "Ways"


def test_without_a_layout_facts_are_listed() -> None:
    puzzle = game_of(FOUR_WAYS)
    assert picture_of(None, in_colour=False)(puzzle.description, puzzle.initial_state.facts) == "step: 0"


def test_colours_are_only_put_where_they_show() -> None:
    zion = game("zionsmall")
    plain, coloured = (
        picture_of(find_game("zionsmall").metadata(), in_colour=in_colour)(zion.description, zion.initial_state.facts)
        for in_colour in (False, True)
    )
    assert ("\x1b[" in plain, "\x1b[" in coloured) == (False, True)
