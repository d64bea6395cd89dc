"""The past of a match from its journal's entries, so that it can go on after a crash."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gdl.game import JointMove
from gdl.kif import read_term
from gdl.terms import Constant
from server.errors import MatchRecordError
from server.match.events import Aborted, Answered, Completed, Failed, Message
from server.match.past import Past
from server.records.entries import Entry

_FAREWELLS: Final = {"completed": Message.STOP, "aborted": Message.ABORT, "failed": Message.ABORT}


def past_of(entries: Iterable[Entry]) -> Past:
    """Return what *entries* tell of a match that broke off.

    Raises:
        MatchRecordError: an entry lacks something.
    """
    teller = _Teller()
    for entry in entries:
        try:
            teller.take(entry)
        except (KeyError, TypeError, ValueError) as error:
            raise MatchRecordError(f"an entry that cannot be understood: {error!r}") from error
    return teller.past()


class _Teller:
    """Takes the entries in, one after the other."""

    def __init__(self) -> None:
        self._moves: list[JointMove] = []
        self._n_states = 0
        self._message: Message | None = None
        self._answers: dict[str, Answered] = {}
        self._outcome: Completed | Aborted | Failed | None = None
        self._was_anybody_told = False

    def take(self, entry: Entry) -> None:
        kind = entry["event"]
        if kind == "state":
            self._n_states += 1
        elif kind == "sent":
            self._was_anybody_told = True
            self._turn_to(Message(entry["message"]))
        elif kind == "answered":
            self._answers[entry["role"]] = _answered(entry)
        elif kind == "step":
            self._take_step(entry)
        elif kind in _FAREWELLS:
            self._outcome = _outcome(entry)
            self._turn_to(_FAREWELLS[kind])

    def _turn_to(self, message: Message | None) -> None:
        """Begin to wait for the answers to *message*; who is only asked it again keeps what was answered."""
        if message is not self._message:
            self._message, self._answers = message, {}

    def _take_step(self, entry: Entry) -> None:
        if entry["moves"] is not None:
            self._moves.append(tuple(map(read_term, entry["moves"])))
        self._turn_to(None)

    def past(self) -> Past:
        return Past(
            tuple(self._moves), self._n_states, self._message, self._answers, self._outcome, self._was_anybody_told
        )


def _answered(entry: Entry) -> Answered:
    move = entry["move"]
    return Answered(
        entry["at"], entry["step"], Constant(entry["role"]), Message(entry["message"]), entry["text"],
        entry["elapsedMs"], entry["error"], entry["detail"], None if move is None else read_term(move),
    )  # fmt: skip


def _outcome(entry: Entry) -> Completed | Aborted | Failed:
    if entry["event"] == "completed":
        return Completed(entry["at"], entry["step"], tuple(entry["goals"]))
    if entry["event"] == "aborted":
        return Aborted(entry["at"], entry["step"], entry["reason"])
    error, _, message = entry["reason"].partition(": ")
    return Failed(entry["at"], entry["step"], error, message)
