"""Verdicts on match records: whether each agrees with its rules, and whether its signature is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from cachetools import LRUCache

from gdl.engines import make_game
from gdl.errors import GdlError
from gdl.game import Game
from server.records.errors import MatchRecordError, RecordDiffersError, SignatureFormatError
from server.records.replay import ReplayedStep, replay
from server.records.signature import has_valid_signature, is_signed
from server.records.stored_record import StoredRecord, json_object, stored

Signature: TypeAlias = Literal["none", "valid", "wrong"]
_N_GAMES: Final = 8
"""Of how many games, those that came last, the compiled rules are kept."""
NO_RULES: Final = "the record carries no rules: name them with --rules GAME"


@dataclass(frozen=True, slots=True)
class RecordVerdict:
    """What a record is worth: how many of its steps agree with the rules, the first difference, and its signature."""

    n_steps: int
    signature: Signature
    difference: RecordDiffersError | None = None

    @property
    def is_good(self) -> bool:
        """Whether it agrees with the rules, and has no wrong signature."""
        return self.difference is None and self.signature != "wrong"

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        found = None if self.difference is None else _difference(self.difference)
        return {"agrees": found is None, "steps": self.n_steps, "signature": self.signature, "difference": found}


def verdict_of(
    game: Game, record: StoredRecord, on_step: Callable[[ReplayedStep], object] = lambda _: None
) -> RecordVerdict:
    """Return the verdict on *record* by the rules of *game*; *on_step* is called with each step that agrees.

    Raises:
        MatchRecordError: a state or move of the record is no KIF.
        LimitExceeded: as the questions to a state.
    """
    n_steps, signature = 0, _signature(record)
    try:
        for at in replay(game, record):
            n_steps = at.step
            on_step(at)
    except RecordDiffersError as error:
        return RecordVerdict(n_steps, signature, error)
    return RecordVerdict(n_steps, signature)


class Verifier:
    """Gives verdicts on many records, each by the rules that it carries, or all by those of *game*."""

    def __init__(self, game: Game | None = None) -> None:
        self._game = game
        self._games: LRUCache[tuple[str, bool | None], Game] = LRUCache(_N_GAMES)

    def verdict(self, text: bytes) -> RecordVerdict | str:
        """Return the verdict on the record, or the journal, that *text* is; where there is none, why."""
        try:
            record = stored(json_object(text.decode("utf-8-sig", "replace")))
            return verdict_of(self._game_of(record), record)
        except GdlError as error:  # whatever it is, the other records are looked at
            return str(error).split("\n")[0]

    def _game_of(self, record: StoredRecord) -> Game:
        if self._game is not None:
            return self._game
        key = record.rules or "", record.is_gdl2
        if key not in self._games:
            description = record.description()
            if description is None:
                raise MatchRecordError(NO_RULES)
            self._games[key] = make_game(description)
        return self._games[key]


def _difference(error: RecordDiffersError) -> dict[str, object]:
    """Return the difference as JSON."""
    return {
        "step": error.step,
        "role": error.role or None,
        "kind": error.kind,
        "recorded": error.recorded,
        "expected": error.expected,
        "message": str(error),
    }


def _signature(record: StoredRecord) -> Signature:
    if not is_signed(record.raw):
        return "none"
    try:
        return "valid" if has_valid_signature(record.raw) else "wrong"
    except SignatureFormatError:
        return "wrong"
