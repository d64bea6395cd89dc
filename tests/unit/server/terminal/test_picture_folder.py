"""The states of a match as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.engines import make_game
from gdl.games.library import find_game
from gdl.language.kif import read_term
from server.terminal.picture_files import PictureFolder
from tests.kit.gdl.boards.drawn import cells, texts


def test_each_step_is_a_picture_with_the_moves_before_it_marked(tmp_path: Path) -> None:
    file = find_game("tictactoe")
    game = make_game(file.read(), "interpreter")
    pictures = PictureFolder(tmp_path / "new" / "folder", game.description, file.metadata())
    moves = (read_term("(mark 1 3)"), read_term("noop"))
    state = game.initial_state
    pictures.add(0, state.facts, moves)
    pictures.add(1, state.next_state(moves).facts, None)
    first, second = sorted((tmp_path / "new" / "folder").iterdir())
    assert (first.name, second.name) == ("000.svg", "001.svg")
    assert texts(second.read_text(encoding="utf-8"), "title")[0] == "Tic-tac-toe, step 1"
    assert {name: kind for name, kind in cells(second.read_text(encoding="utf-8")).items() if kind != "cell"} == {
        "0,2": "cell to"
    }


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        PictureFolder(tmp_path / "file" / "folder", find_game("nim").read(), None)
