"""Scripted plays as data: a TOML file with joint moves, and what must hold before and after each."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from gdl.engines import make_game
from gdl.game import Game, Role, State
from gdl.games.library import find_game
from gdl.language.kif import read_term


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Step(_Table):
    """A joint move by role, and what each role perceives of it; `legal` lists all legal moves before it."""

    moves: dict[str, str]
    percepts: dict[str, list[str]] | None = None
    legal: dict[str, list[str]] | None = None


class Script(_Table):
    """A play: `rules` is a file beside the script or a game of the library; `goals` are those of a terminal end."""

    about: str
    rules: str
    steps: tuple[Step, ...]
    goals: dict[str, int] | None = None


def read_script(path: Path) -> Script:
    """Return the script that the TOML file at *path* holds."""
    return Script.model_validate(tomllib.loads(path.read_text()))


def game_of(script: Script, folder: Path) -> Game:
    """Return the game that *script* plays, its rules beside it in *folder* or in the library."""
    path = folder / script.rules
    return make_game(find_game(str(path) if path.is_file() else script.rules).read())


def replay(script: Script, game: Game) -> Script:
    """Return the script that says what really happens when its moves are played, in as much detail as *script*."""
    state, steps = game.initial_state, []
    for step in script.steps:
        moves = [read_term(step.moves[role.name]) for role in game.roles]
        percepts = {role.name: [str(percept) for percept in state.percepts(role, moves)] for role in game.roles}
        steps.append(
            Step(
                moves={role.name: str(move) for role, move in zip(game.roles, moves, strict=True)},
                percepts=None if step.percepts is None else percepts,
                legal=None if step.legal is None else _legal(state, step.legal, game.roles),
            )
        )
        state = state.next_state(moves)
    goals = {role.name: goal for role in game.roles if (goal := state.goal(role)) is not None}
    return Script(
        about=script.about,
        rules=script.rules,
        steps=tuple(steps),
        goals=goals if state.is_terminal else None,
    )


def _legal(state: State, asked: dict[str, list[str]], roles: tuple[Role, ...]) -> dict[str, list[str]]:
    return {role.name: [str(move) for move in state.legal_moves(role)] for role in roles if role.name in asked}
