"""A tournament on disk: its plan, read from a file, and the folder with its matches, which outlives a crash."""

import difflib
import fcntl
import hashlib
import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gdl.errors import validation_message
from gdl.games.library import GameFile, find_game
from gdl.replacement import replacing
from players.registry import player_file
from server.errors import ConfigurationError, GameNameClashError, TournamentFolderError
from server.links.seating import is_command
from server.tournament.fixtures import ScheduledMatch
from server.tournament.plan import SprtPlan, Timetable, TournamentPlan
from server.tournament.progress import PlayedMatch, played_match


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
        errors = error.errors(include_url=False)
        first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
        raise ConfigurationError(path, _reason(first), _meant(first)) from error


_KEYS_OF_SERVERS: Final = frozenset(("name", "entry", *Timetable.model_fields))
"""What only a server uses of the file of a tournament: what it is called, who may enter, and when it is played."""


def _by_name(players: list[object], path: Path) -> dict[object, object]:
    """Return the players of a list, in which each is called as it is named.

    Raises:
        ConfigurationError: one is no text, or there twice.
    """
    for number, player in enumerate(players):
        if not isinstance(player, str):
            raise ConfigurationError(path, f'players.{number}: write its name, or a table [players] with NAME = "SPEC"')
        if player in players[:number]:
            raise ConfigurationError(
                path, f'players: {player} is there twice; write a table [players] with NAME = "SPEC"'
            )
    return {player: player for player in players}


def _reason(first: ErrorDetails) -> str:
    where = ".".join(map(str, first["loc"]))
    reason = validation_message(first)
    return f"{where}: {reason}" if where else reason


def _meant(first: ErrorDetails) -> list[str]:
    """Return the keys that may have been meant, where *first* is about an unknown one."""
    if first["type"] != "extra_forbidden":
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
    differing = [name for name in old if old[name] != new[name]]
    has_more_rounds = differing == ["rounds"] and wanted.n_rounds > kept.n_rounds
    if has_more_rounds and kept.format.is_knockout:
        reason = f"no rounds are added to a {kept.format}, whose meetings keep their number of sets ({kept.n_rounds})"
        raise TournamentFolderError(path, f"{reason}; begin another tournament with --out")
    if differing and not has_more_rounds:
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


PLAN: Final = "plan.json"
SCHEDULE: Final = "schedule.jsonl"
RESULTS: Final = "results.jsonl"
RECORDS: Final = "records"
_LOCK: Final = ".lock"
_FORMAT: Final = 1


class TournamentFolder:
    """The folder at *path*; `opened` makes it and holds it for one process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_held = False

    @property
    def has_plan(self) -> bool:
        """Whether a tournament is here already."""
        return (self.path / PLAN).is_file()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder while the block runs, so that no other process plays the tournament.

        Raises:
            TournamentFolderError: another process holds it, or it cannot be made.
        """
        try:
            (self.path / RECORDS).mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise TournamentFolderError(self.path, error.strerror or "cannot be made") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise TournamentFolderError(self.path, "another process plays this tournament") from error
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            os.close(handle)

    def plan(self) -> tuple[TournamentPlan, dict[str, str]]:
        """Return the plan, and the SHA-256 of each game's rules.

        Raises:
            TournamentFolderError: there is none, or it cannot be read.
        """
        path = self.path / PLAN
        try:
            fields = json.loads(path.read_text("utf-8"))
            return plan_of(fields["plan"], path), dict(fields["rules"])
        except OSError as error:
            raise TournamentFolderError(self.path, "there is no tournament in this folder") from error
        except (LookupError, TypeError, ValueError, ConfigurationError) as error:
            raise TournamentFolderError(self.path, f"{PLAN} cannot be read ({error})") from error

    def player_hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the files of players, by the players' names, as `keep_plan` was given them.

        Raises:
            TournamentFolderError: there is no plan, or it cannot be read.
        """
        self.plan()
        return dict(json.loads((self.path / PLAN).read_text("utf-8")).get("players", {}))

    def keep_plan(self, plan: TournamentPlan, rules: Mapping[str, str], players: Mapping[str, str]) -> None:
        """Write the plan; *rules* has the SHA-256 of each game's rules, *players* of the players' files, by name."""
        hashes = {"rules": dict(rules), "players": dict(players)}
        fields = {"format": _FORMAT, "plan": plan.model_dump(mode="json"), **hashes}
        with replacing(self.path / PLAN) as passing:
            passing.write_text(json.dumps(fields, indent=2, ensure_ascii=False), "utf-8")

    def schedule(self) -> tuple[ScheduledMatch, ...]:
        """Return all matches that were scheduled, in their order.

        Raises:
            TournamentFolderError: a line is no batch of matches.
        """
        batches = self._lines(SCHEDULE, lambda line: [_scheduled(match) for match in line["matches"]])
        return tuple(match for batch in batches for match in batch)

    def results(self) -> tuple[PlayedMatch, ...]:
        """Return the matches that are over, in the order of their ends.

        Raises:
            TournamentFolderError: a line is no result.
        """
        found = {played.result.match_id: played for played in self._lines(RESULTS, played_match)}
        return tuple(found.values())

    def add_matches(self, matches: Iterable[ScheduledMatch]) -> None:
        """Add a batch of matches to the schedule, as a whole or not at all; it outlives a crash of the machine."""
        self._add(SCHEDULE, {"matches": [asdict(match) for match in matches]})

    def add_result(self, played: PlayedMatch) -> None:
        """Add a match that is over; it outlives a crash of the machine."""
        self._add(RESULTS, played.as_json())

    def record_path(self, match_id: str) -> Path:
        """Return where the record of a match is, or will be."""
        return self.path / RECORDS / f"{match_id}.json"

    def _lines(self, name: str, read: Any) -> list[Any]:
        path = self.path / name
        if not path.exists():
            return []
        *lines, unfinished = path.read_bytes().split(b"\n")
        if unfinished and self._is_held:  # else the process that plays the tournament may just be writing it
            with path.open("r+b") as file:  # what a crash cut off is dropped, so that no line is glued to it
                file.truncate(sum(map(len, lines)) + len(lines))
        found = []
        for number, line in enumerate(lines, 1):
            try:
                found.append(read(json.loads(line.decode("utf-8", "replace"))))
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise TournamentFolderError(self.path, f"line {number} of {name} cannot be read ({error!r})") from error
        return found

    def _add(self, name: str, fields: Mapping[str, Any]) -> None:
        line = json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"
        with (self.path / name).open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


def _scheduled(fields: Mapping[str, Any]) -> ScheduledMatch:
    return ScheduledMatch(**{**fields, "players": tuple(fields["players"])})
