"""The entries of a match that broke off, read back as the state from which it goes on."""

from collections.abc import Iterable
from typing import Final

from gdl.game import JointMove
from gdl.language.kif import read_term
from gdl.language.terms import Constant
from server.match.exchange import Aborted, Answered, Completed, Failed, Message, ResumeState
from server.match.verdicts import BUSY
from server.records import entries
from server.records.errors import MatchRecordError

_FAREWELLS: Final = {
    entries.CompletedEntry: Message.STOP,
    entries.AbortedEntry: Message.ABORT,
    entries.FailedEntry: Message.ABORT,
}


def resume_state_of(journal: Iterable[entries.Entry]) -> ResumeState:
    """Return what *journal* tells of a match that broke off.

    Raises:
        MatchRecordError: a move of an entry is no term.
    """
    reader = _EntryReader()
    for entry in journal:
        try:
            reader.take(entry)
        except ValueError as error:
            raise MatchRecordError(f"an entry that cannot be understood: {error!r}") from error
    return reader.resume_state()


class _EntryReader:
    """Takes the entries in, one after the other."""

    def __init__(self) -> None:
        self._moves: list[JointMove] = []
        self._n_states = 0
        self._message: Message | None = None
        self._answers: dict[str, Answered] = {}
        self._outcome: Completed | Aborted | Failed | None = None
        self._was_anything_sent = False
        self._busy: set[str] = set()

    def take(self, entry: entries.Entry) -> None:
        """Take the next entry in."""
        match entry:
            case entries.StateEntry():
                self._n_states += 1
            case entries.SentEntry():
                self._was_anything_sent = True
                self._turn_to(entry.message)
            case entries.AnsweredEntry():
                self._answers[entry.role] = _answer(entry)
                if entry.message is Message.START and entry.error == BUSY:
                    self._busy.add(entry.role)
            case entries.StepEntry():
                self._take_step(entry)
            case entries.CompletedEntry() | entries.AbortedEntry() | entries.FailedEntry():
                self._outcome = _outcome(entry)
                self._turn_to(_FAREWELLS[type(entry)])

    def _turn_to(self, message: Message | None) -> None:
        """Begin to wait for the answers to *message*; where it is only sent again, the answers before are kept."""
        if message is not self._message:
            self._message, self._answers = message, {}

    def _take_step(self, entry: entries.StepEntry) -> None:
        if entry.moves is not None:
            self._moves.append(tuple(map(read_term, entry.moves)))
        self._turn_to(None)

    def resume_state(self) -> ResumeState:
        return ResumeState(
            tuple(self._moves), self._n_states, self._message, self._answers, self._outcome, self._was_anything_sent,
            frozenset(self._busy),
        )  # fmt: skip


def _answer(entry: entries.AnsweredEntry) -> Answered:
    return Answered(
        at_ms=entry.at_ms,
        step=entry.step,
        role=Constant(entry.role),
        message=entry.message,
        text=entry.text,
        elapsed_ms=entry.elapsed_ms,
        error=entry.error,
        detail=entry.detail,
        move=None if entry.move is None else read_term(entry.move),
        failure=entry.failure,
        insight=entry.insight,
    )


def _outcome(entry: entries.EndEntry) -> Completed | Aborted | Failed:
    match entry:
        case entries.CompletedEntry():
            return Completed(entry.at_ms, entry.step, entry.goals)
        case entries.AbortedEntry():
            return Aborted(entry.at_ms, entry.step, entry.reason)
        case entries.FailedEntry():
            error, _, message = entry.reason.partition(": ")
            return Failed(entry.at_ms, entry.step, error, message)
