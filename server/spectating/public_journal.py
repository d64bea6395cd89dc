"""What spectators may see of a match's journal: the public events of its entries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gdl.wire.messages import Dialect
from server.match.exchange import Message, MoveOrigin
from server.match.setup import MAX_FAREWELL_S
from server.records import entries
from server.records.errors import MatchRecordError
from server.records.record import error_words
from server.spectating import events
from server.visibility import Secrecy


class PublicJournal:
    """What spectators may see of the journal that begins with *first*; its entries are taken in order, each once."""

    def __init__(self, first: entries.Entry, secrecy: Secrecy) -> None:
        """Begin with nothing taken.

        Raises:
            MatchRecordError: *first* is not the entry that starts a match.
        """
        if not isinstance(first, entries.StartedEntry):
            raise MatchRecordError("there is no entry that starts a match")
        self._start, self._secrecy = first, secrecy
        self._is_common = True
        self._last_step: entries.StepEntry | None = None

    def renew(self, secrecy: Secrecy) -> None:
        """Withhold of what comes now what *secrecy* does, which the match has by now: its set may be open, or over."""
        self._secrecy = replace(secrecy, has_ended=secrecy.has_ended or self._secrecy.has_ended)

    def _end(self) -> None:
        self._secrecy = replace(self._secrecy, has_ended=True)

    def public(self, entry: entries.Entry) -> events.PublicContent:
        """Take in *entry*, and return what every viewer may know of it."""
        match entry:
            case entries.SentEntry():
                return self._question(entry)
            case entries.AnsweredEntry():
                seat, role = self._seat(entry)
                return events.PublicAnswer(entry.at_ms, entry.step, seat, entry.message, role, entry.elapsed_ms)
            case entries.StepEntry():
                return self._step(entry)
            case entries.StateEntry():
                return self._state(entry)
            case entries.StartedEntry():
                return self._started(entry)
            case entries.CompletedEntry():
                self._end()
                return events.PublicEnd(entry.kind, entry.at_ms, entry.step, goals=entry.goals)
            case entries.AbortedEntry() | entries.FailedEntry():
                self._end()
                reason = self._secrecy.told_reason(entry.reason, has_failed=isinstance(entry, entries.FailedEntry))
                return events.PublicEnd(entry.kind, entry.at_ms, entry.step, reason=reason)
            case entries.ClosedEntry():
                return events.PublicClose(entry.at_ms)

    def _started(self, entry: entries.StartedEntry) -> events.PublicStart:
        players = tuple(seat.player for seat in entry.seats)
        found = events.PublicStart(
            entry.at_ms, entry.match_id, entry.start_clock_s, entry.play_clock_s, players, self._secrecy.is_hidden
        )
        if self._secrecy.hides_game:
            return found
        return replace(found, game=entry.game, rules_sha256=entry.rules_sha256, roles=entry.roles)

    def _state(self, entry: entries.StateEntry) -> events.PublicState:
        """Return the state where every role knows it, also of a hidden match, else its step alone."""
        self._is_common = self._is_common and leaves_common(self._start.seats, self._last_step, entry)
        known = self._secrecy.where_known() if self._is_common else self._secrecy
        if known.is_hidden:
            return events.PublicState(entry.at_ms, entry.step)
        found = events.PublicState(entry.at_ms, entry.step, entry.state, percepts=entry.percepts)
        if self._secrecy.is_hidden and self._last_step is not None:  # the event of the step before has no moves
            return replace(found, moves=self._last_step.moves, origins=self._last_step.origins)
        return found

    def _question(self, entry: entries.SentEntry) -> events.PublicQuestion:
        seat, role = self._seat(entry)
        grace_ms = self._start.seats[seat].grace_ms or 0
        deadline_ms = entry.at_ms + 1000 * self._clock_s(entry.message) + grace_ms
        return events.PublicQuestion(entry.at_ms, entry.step, seat, entry.message, role, deadline_ms, grace_ms)

    def _seat(self, entry: entries.SentEntry | entries.AnsweredEntry) -> tuple[int, str | None]:
        """Return the number of the seat, and its role where the game is public."""
        return self._start.roles.index(entry.role), None if self._secrecy.hides_game else entry.role

    def _clock_s(self, message: Message) -> int:
        match message:
            case Message.START:
                return self._start.start_clock_s
            case Message.PLAY:
                return self._start.play_clock_s
            case Message.PREVIEW:
                return self._start.preview_clock_s or 0
            case Message.STOP | Message.ABORT:
                return min(self._start.play_clock_s, MAX_FAREWELL_S)

    def _step(self, entry: entries.StepEntry) -> events.PublicStep:
        self._last_step = entry
        errors = tuple(error_words(entry.errors)) if self._secrecy.is_hidden else entry.errors
        insights = None if self._secrecy.hides_insight or not entry.insights else entry.insights
        failures = (entry.failures or None) if self._secrecy.is_over else None  # they may tell how a player thinks
        is_start = entry.moves is None
        found = events.PublicStep(
            entry.at_ms, entry.step, is_start, entry.elapsed_ms, errors, insights=insights, failures=failures
        )
        return found if self._secrecy.is_hidden else replace(found, moves=entry.moves, origins=entry.origins)


def leaves_common(
    seats: Sequence[entries.JournalSeat], step: entries.StepEntry | None, state: entries.StateEntry
) -> bool:
    """Return whether every role knows the *state* that the joint move of *step* led to, if all knew the one before.

    A player whose move was replaced, and who gets percepts alone, does not know what it did.
    """
    replaced = zip(seats, () if step is None else step.origins, strict=False)
    is_unknown = any(
        origin is MoveOrigin.SUBSTITUTE and seat.dialect == Dialect.GDL2_PERCEPTS.value for seat, origin in replaced
    )
    return state.is_common and not is_unknown


def n_common(journal: Iterable[entries.Entry]) -> int:
    """Return how many of the first states of a whole journal every role knows, as far as the journal says so."""
    seats: Sequence[entries.JournalSeat] = ()
    step, found = None, 0
    for entry in journal:
        match entry:
            case entries.StartedEntry():
                seats = entry.seats
            case entries.StepEntry():
                step = entry
            case entries.StateEntry():
                if not leaves_common(seats, step, entry):
                    break
                found += 1
    return found


def public_events(journal: Iterable[entries.Entry], secrecy: Secrecy) -> Iterable[events.PublicEvent]:
    """Yield what spectators may know of the entries of *journal*, from the first one on.

    Raises:
        MatchRecordError: the first one does not start a match.
    """
    view: PublicJournal | None = None
    for number, entry in enumerate(journal):
        view = view or PublicJournal(entry, secrecy)
        yield events.PublicEvent(number, view.public(entry))
