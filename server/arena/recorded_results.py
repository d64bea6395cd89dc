"""Results of matches by their records, those of other hosts too: of files, folders, archives and exports."""

import json
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from server.arena.folder import PLAN, RECORDS
from server.records.record import n_errors, played_places
from server.tournament.fixtures import MatchResult

MAX_RECORD_BYTES: Final = 200_000_000
"""Larger files are no records."""
_TOO_LARGE: Final = f"no match record (more than {MAX_RECORD_BYTES:,} bytes)"
_NO_OBJECT: Final = "a match record is a JSON object"
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError)
"""What reading an archive raises that is none, cut off, encrypted, or packed in a way of its own."""


class RecordedResults:
    """The results of the matches whose records were read, each match once.

    Attributes:
        unreadable: files, and parts of files, that are no records, each with the reason.
        n_repeated: how many records were of matches that came before.
    """

    def __init__(self) -> None:
        self.unreadable: list[tuple[str, str]] = []
        self.n_repeated = 0
        self._results: dict[str, MatchResult | None] = {}

    def read(self, paths: Sequence[Path], advance: Callable[[], object]) -> None:
        """Read the records in *paths*, and call *advance* with each."""
        for name, text in self._texts(paths):
            advance()
            self._take(name, text)

    def of_games(self, games: Collection[str]) -> list[MatchResult]:
        """Return the results of completed matches, of any game where *games* are none."""
        return [each for each in self._results.values() if each is not None and (not games or each.game in games)]

    def _take(self, name: str, text: bytes) -> None:
        try:
            record = json.loads(text)
            if not isinstance(record, dict):
                raise TypeError(_NO_OBJECT)
            result, match_id = result_of(record), str(record["matchId"])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            self.unreadable.append((name, f"no match record ({reason})"))
        else:
            self.n_repeated += match_id in self._results
            self._results[match_id] = result

    def _texts(self, paths: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
        """Yield each record in *paths* with what its file is called."""
        for path in paths:
            try:
                if path.is_dir():
                    records = path / RECORDS if (path / PLAN).is_file() else path
                    yield from self._texts(sorted(one for one in records.rglob("*.json") if not one.is_dir()))
                elif path.suffix == ".zip":
                    yield from self._members(path)
                elif path.suffix == ".jsonl":
                    with path.open("rb") as lines:
                        yield from ((f"{path}:{number}", line) for number, line in enumerate(lines, 1))
                elif path.stat().st_size > MAX_RECORD_BYTES:
                    self.unreadable.append((str(path), _TOO_LARGE))
                else:
                    yield str(path), path.read_bytes()
            except OSError as error:
                self.unreadable.append((str(path), error.strerror or str(error)))

    def _members(self, path: Path) -> Iterator[tuple[str, bytes]]:
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    name = f"{path}:{member.filename}"
                    if member.file_size > MAX_RECORD_BYTES:
                        self.unreadable.append((name, _TOO_LARGE))
                    elif not member.is_dir():
                        yield name, archive.read(member)
        except _BROKEN as error:
            self.unreadable.append((str(path), f"no ZIP archive that can be read ({error})"))


def result_of(record: dict[str, Any]) -> MatchResult | None:
    """Return the result that a match record tells; None of a match that was not completed.

    In records of other hosts the game is called as its address, and players may have no names: they are empty.

    Raises:
        LookupError: something is missing.
        TypeError: it is no match record.
        OverflowError: a goal is infinite.
    """
    match_id, goals = str(record["matchId"]), record.get("x-goals") or record.get("goalValues")
    if not record["isCompleted"] or not goals:
        return None
    places = played_places(record, len(goals))
    names = record.get("playerNamesFromHost") or record.get("x-players") or [None] * len(goals)
    errors = [n_errors(record, place) for place in places]
    return MatchResult(
        str(record.get("x-game") or record.get("gameMetaURL") or "unknown"),
        tuple("" if names[place] is None else str(names[place]) for place in places),
        tuple(int(goals[place] or 0) for place in places),
        tuple(errors),
        match_id,
    )
