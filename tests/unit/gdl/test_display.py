"""Games and states in notebooks: the board of their layout, beside the rules or guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gdl.boards import board_of, layout_of, svg_of
from gdl.engines import ENGINES, make_game
from gdl.games.library import find_game
from gdl.language.rules import Description, read_file, read_rules

FILE = find_game("tictactoe")


def shown(it: Any) -> str:
    """Return what a notebook shows of *it*."""
    return str(it._repr_svg_())


def by_hand(description: Description, *, has_layout: bool) -> str:
    """Return the picture of the first position, with the layout of the library or a guessed one."""
    about = FILE.metadata() if has_layout else None
    board = board_of(layout_of(description, about), description, make_game(description).initial_state.facts)
    return svg_of(board, standalone=True, title=about.title if about else "Board")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_game_and_its_first_state_show_the_same_board_on_each_engine(engine: str) -> None:
    game = make_game(FILE.read(), engine)
    assert {shown(game), shown(game.initial_state)} == {by_hand(game.description, has_layout=True)}


def test_of_rules_without_a_file_the_board_is_guessed() -> None:
    game = make_game(read_rules(FILE.text()))
    assert shown(game) == by_hand(game.description, has_layout=False)


@pytest.mark.parametrize("about", [None, "title = 3", "\xff"])
def test_without_a_right_description_beside_the_rules_the_board_is_guessed(about: str | None, tmp_path: Path) -> None:
    rules = tmp_path / "mine.kif"
    rules.write_text(FILE.text(), encoding="utf-8")
    if about is not None:
        rules.with_suffix(".toml").write_bytes(about.encode("latin-1"))
    game = make_game(read_file(rules))
    assert shown(game) == by_hand(game.description, has_layout=False)
