"""The plan of a tournament from a TOML file or the flags of a command, and the rule files of its games."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gdl.errors import validation_message
from gdl.games.library import GameFile, find_game
from players.registry import player_file
from server.errors import ConfigurationError, TournamentFolderError
from server.links.seating import is_command
from server.tournament.plan import TournamentPlan


def read_plan(path: Path, changes: Mapping[str, Any] | None = None) -> TournamentPlan:
    """Return the plan that the TOML file at *path* holds, with *changes* in the place of what it says.

    Raises:
        ConfigurationError: it cannot be read, is no TOML, or holds no plan; the error names the key.
    """
    return plan_of({**read_toml(path), **(changes or {})}, path)


def read_toml(path: Path) -> dict[str, Any]:
    """Return what the TOML file at *path* says.

    Raises:
        ConfigurationError: it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(path, error.strerror or "cannot be read") from error
    except ValueError as error:
        raise ConfigurationError(path, f"no TOML: {error}") from error


def plan_of(fields: Mapping[str, Any], path: Path) -> TournamentPlan:
    """Return the plan of *fields*, which came from *path*.

    Raises:
        ConfigurationError: they are no plan.
    """
    try:
        return TournamentPlan.model_validate(fields)
    except ValidationError as error:
        raise ConfigurationError(path, _first_reason(error)) from error


def _first_reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    reason = validation_message(first)
    return f"{where}: {reason}" if where else reason


def found_games(plan: TournamentPlan) -> dict[str, GameFile]:
    """Return the rule files of the games of *plan*, by the names that they have in the tournament.

    Raises:
        UnknownNameError: a game is neither in the library nor a file.
    """
    found = [find_game(text) for text in plan.games]
    return {file.name: file for file in found}


def extended(kept: TournamentPlan, wanted: TournamentPlan, path: Path) -> TournamentPlan:
    """Return *wanted*, if it is the plan *kept* of the folder *path*, or has more rounds.

    Raises:
        TournamentFolderError: it is another plan; the error tells what differs.
    """
    old, new = kept.model_dump(mode="json"), wanted.model_dump(mode="json")
    differing = [name for name in old if old[name] != new[name]]
    if differing and not (differing == ["rounds"] and wanted.n_rounds > kept.n_rounds):
        told = "; ".join(f"{name} is {_shown(old[name])}, not {_shown(new[name])}" for name in differing)
        reason = f"another tournament is in this folder ({told}); choose another one with --out"
        raise TournamentFolderError(path, reason)
    return wanted


def _shown(value: object) -> str:
    return "not given" if value is None else str(value)[:100]


def player_hashes(plan: TournamentPlan) -> dict[str, str]:
    """Return the SHA-256 of the file or network of each player that has one, by the players' names."""
    files = {name: player_file(spec) for name, spec in plan.players.items() if not is_command(spec)}
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in files.items()
        if file is not None and file.is_file()
    }
