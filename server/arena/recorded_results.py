"""Results of matches by their records, those of other hosts too."""

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final

from server.arena.record_files import RecordFiles
from server.records.record import n_errors, played_places
from server.tournament.fixtures import MatchResult

_NO_OBJECT: Final = "a match record is a JSON object"


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
        for name, text in RecordFiles(paths, lambda name, reason: self.unreadable.append((name, reason))):
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
