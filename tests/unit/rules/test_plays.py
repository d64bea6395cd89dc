"""Whole plays and single positions of the library's games, as data in `plays/` and `positions/`."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from gdl.engines import make_game
from gdl.games.library import find_game
from gdl.language.kif import read_term
from tests.kit.scripts import game_of, read_script, replay

FOLDER = Path(__file__).parent


class Position(BaseModel):
    """A state given by its facts, and what must hold in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    rules: str
    facts: list[str]
    is_terminal: bool
    goals: dict[str, int] | None = None
    legal: dict[str, list[str]] | None = None


@pytest.mark.sampled(9)
@pytest.mark.parametrize("path", sorted((FOLDER / "plays").glob("*.toml")), ids=lambda path: path.stem)
def test_play_goes_as_written(path: Path) -> None:
    script = read_script(path)
    assert replay(script, game_of(script, FOLDER)) == script


@pytest.mark.sampled(9)
@pytest.mark.parametrize("path", sorted((FOLDER / "positions").glob("*.toml")), ids=lambda path: path.stem)
def test_position_is_as_written(path: Path) -> None:
    position = Position.model_validate(tomllib.loads(path.read_text()))
    assert _found(position) == position


def _found(position: Position) -> Position:
    """Return the position that says what really holds, in as much detail as *position*."""
    game = make_game(find_game(position.rules).read())
    state = game.state(frozenset(map(read_term, position.facts)))
    goals = {role.name: goal for role in game.roles if (goal := state.goal(role)) is not None}
    legal = {role.name: [str(move) for move in state.legal_moves(role)] for role in game.roles}
    return position.model_copy(
        update={
            "is_terminal": state.is_terminal,
            "goals": None if position.goals is None else goals,
            "legal": None if position.legal is None else legal,
        }
    )
