"""The folder of a tournament, with its plan, its matches and its results, which outlives a crash."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from gdl.files import naming, open_locked, replacing
from server.arena.plan_file import plan_of
from server.errors import ConfigurationError, TournamentFolderError
from server.tournament.fixtures import ScheduledMatch
from server.tournament.plan import TournamentPlan, within_bounds
from server.tournament.progress import PlayedMatch, played_match

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
            TournamentFolderError: another process holds it, it cannot be made, or its file system has no locks.
        """
        try:
            (self.path / RECORDS).mkdir(parents=True, exist_ok=True)
            handle = open_locked(self.path / _LOCK, 0o644)
        except BlockingIOError as error:
            raise TournamentFolderError(self.path, "another process plays this tournament") from error
        except OSError as error:
            raise TournamentFolderError(self.path, error.strerror or "cannot be made") from error
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
        plan, rules, _players = self._kept_plan()
        return plan, rules

    def player_hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the files of players, by the players' names, as `keep_plan` was given them.

        Raises:
            TournamentFolderError: there is no plan, or it cannot be read.
        """
        _plan, _rules, players = self._kept_plan()
        return players

    def _kept_plan(self) -> tuple[TournamentPlan, dict[str, str], dict[str, str]]:
        """Return the plan, and the hashes of rules and of players' files; raises as `plan`."""
        path = self.path / PLAN
        try:
            fields = json.loads(path.read_text("utf-8"))
            plan = plan_of(within_bounds(fields["plan"]), path)
            return plan, dict(fields["rules"]), dict(fields.get("players", {}))
        except OSError as error:
            raise TournamentFolderError(self.path, "there is no tournament in this folder") from error
        except (LookupError, TypeError, ValueError, ConfigurationError) as error:
            raise TournamentFolderError(self.path, f"{PLAN} cannot be read ({error})") from error

    def keep_plan(self, plan: TournamentPlan, rules: Mapping[str, str], players: Mapping[str, str]) -> None:
        """Write the plan; *rules* has the SHA-256 of each game's rules, *players* of the players' files, by name."""
        hashes = {"rules": dict(rules), "players": dict(players)}
        fields = {"format": _FORMAT, "plan": plan.model_dump(mode="json"), **hashes}
        with replacing(self.path / PLAN) as temporary:
            temporary.write_text(json.dumps(fields, indent=2, ensure_ascii=False), "utf-8")

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
        path = self.path / name
        with naming(path), path.open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


def _scheduled(fields: Mapping[str, Any]) -> ScheduledMatch:
    return ScheduledMatch(**{**fields, "players": tuple(fields["players"])})
