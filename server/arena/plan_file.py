"""The plan of a tournament from a file: its keys, the games and players that it names, and what may be added later."""

import difflib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gdl.games.library import GameFile, find_game
from gdl.violations import first_violation, is_unknown_key, violation_text
from players.specs import player_file
from server.errors import ConfigurationError, GameNameClashError, TournamentFolderError
from server.links.player_spec import is_command
from server.sanitization import without_passwords
from server.terminal.command_line import read_toml
from server.tournament.plan import SprtPlan, TournamentPlan
from server.tournament.timetable import Timetable


def read_plan(path: Path, changes: Mapping[str, Any] | None = None) -> TournamentPlan:
    """Return the plan that the TOML file at *path* holds, with *changes* in the place of what it says.

    Raises:
        ConfigurationError: it cannot be read, is no TOML, or holds no plan; the error names the key.
    """
    return plan_of({**read_toml(path), **(changes or {})}, path)


def plan_of(fields: Mapping[str, Any], path: Path) -> TournamentPlan:
    """Return the plan of *fields*, which came from *path*; keys that only a server uses are left out.

    Raises:
        ConfigurationError: they are no plan; an unknown key comes before one that is missing.
    """
    own = {key: value for key, value in fields.items() if key not in _KEYS_OF_SERVERS}
    if isinstance(own.get("players"), list):
        own["players"] = _by_name(own["players"], path)
    try:
        return TournamentPlan.model_validate(own)
    except ValidationError as error:
        first = first_violation(error)
        raise ConfigurationError(path, violation_text(first), _meant(first)) from error


_KEYS_OF_SERVERS: Final = frozenset(("name", "entry", *Timetable.model_fields))
"""What only a server uses of the file of a tournament: what it is called, who may enter, and when it is played."""


def _by_name(players: list[object], path: Path) -> dict[str, str]:
    """Return the players of a list, in which each is called as it is named, without passwords.

    Raises:
        ConfigurationError: one is no text, or there twice.
    """
    found: dict[str, str] = {}
    for number, player in enumerate(players):
        if not isinstance(player, str):
            raise ConfigurationError(path, f'players.{number}: write its name, or a table [players] with NAME = "SPEC"')
        name = without_passwords(player)
        if name in found:
            raise ConfigurationError(
                path, f'players: {name} is there twice; write a table [players] with NAME = "SPEC"'
            )
        found[name] = player
    return found


def _meant(first: ErrorDetails) -> list[str]:
    """Return the keys that may have been meant, where *first* is about an unknown one."""
    if not is_unknown_key(first):
        return []
    known = SprtPlan.model_fields if first["loc"][0] == "sprt" else TournamentPlan.model_fields
    return difflib.get_close_matches(str(first["loc"][-1]), list(known), n=1)


def found_games(plan: TournamentPlan) -> dict[str, GameFile]:
    """Return the rule files of the games of *plan*, by the names that they have in the tournament.

    Raises:
        UnknownNameError: a game is neither in the library nor a file.
        GameNameClashError: two of them have one name.
    """
    found: dict[str, GameFile] = {}
    for file in map(find_game, plan.games):
        if file.name in found:
            raise GameNameClashError(file.name, found[file.name].path, file.path)
        found[file.name] = file
    return found


def extended(kept: TournamentPlan, wanted: TournamentPlan, path: Path) -> TournamentPlan:
    """Return *wanted*, if it is the plan *kept* of the folder *path*, or has more rounds.

    Raises:
        TournamentFolderError: it is another plan, and the error tells what differs; or it has more rounds, and is a
            knockout, in which what is decided stays decided.
    """
    old, new = kept.model_dump(mode="json"), wanted.model_dump(mode="json")
    differing = _differences(old, new)
    has_more_rounds = list(differing) == ["rounds"] and wanted.n_rounds > kept.n_rounds
    if has_more_rounds and kept.format.is_knockout:
        reason = f"no rounds are added to a {kept.format}, whose meetings keep their number of sets ({kept.n_rounds})"
        raise TournamentFolderError(path, f"{reason}; begin another tournament with --out")
    if differing and not has_more_rounds:
        told = "; ".join(differing.values())
        reason = f"another tournament is in this folder ({told}); choose another one with --out"
        raise TournamentFolderError(path, reason)
    return wanted


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Return what differs between two plans, by its key; the order of players is part of a plan, as starting ranks."""
    found = {name: f"{name} is {_shown(old[name])}, not {_shown(new[name])}" for name in old if old[name] != new[name]}
    if "players" not in found and list(old["players"]) != list(new["players"]):
        found["players"] = "players are in another order"
    return found


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
