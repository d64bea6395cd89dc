"""What a tournament waits for: the clock, by which its rounds begin, and players, of whom some come too late."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from server.registry.queueing import WaitReason, joint_reason
from server.storage.rows import MatchStatus
from server.storage.tournament_rows import ONGOING_STATUSES, FixtureRow, InterventionKind, TournamentStatus
from server.storage.tournaments import StoredTournament
from server.tournament.fixtures import ScheduledMatch
from server.tournament.plan import TournamentFormat
from server.tournament.timetable import AT_ONCE, Timetable

NEVER: Final = 2**62
"""When to look at a tournament again that waits for nothing but changes. *Units*: milliseconds since 1970."""
ABSENCE_LOOK_MS: Final = 1_000
"""How often the server looks whether players are still absent."""
MAX_GAP_MS: Final = 30_000
"""How far apart two looks are at most that say of the time between them, too, that a player was absent."""


def timetable_of(found: StoredTournament) -> Timetable:
    """Return what a tournament does by the clock."""
    return AT_ONCE if found.row.timetable is None else found.row.timetable


@dataclass(frozen=True, slots=True)
class OpenRounds:
    """Which rounds of a tournament may be played.

    Attributes:
        last: the number of the last round that has begun.
        next_ms: from when on the next one may begin.
        may_begin_next: whether it may now.
        is_timed: whether rounds begin by the clock at all.
    """

    last: int
    next_ms: int
    may_begin_next: bool
    is_timed: bool

    def admitted(self, matches: Iterable[ScheduledMatch]) -> frozenset[str]:
        """Return the ids of those of *matches* that may be ordered; where rounds are timed, of one new one."""
        found = tuple(matches)
        if not self.is_timed:
            return frozenset(match.match_id for match in found)
        new = min((match.round for match in found if match.round > self.last), default=self.last)
        newest = new if self.may_begin_next else self.last
        return frozenset(match.match_id for match in found if match.round <= newest)

    def may_be_drawn(self, match: ScheduledMatch) -> bool:
        """Return whether a match may be scheduled now: who plays in a round is drawn when it begins."""
        return self.may_begin_next or match.round <= self.last


def open_rounds(found: StoredTournament, at_ms: int) -> OpenRounds:
    """Return which rounds of a tournament may be played at *at_ms*.

    A round begins with the order of its first match, so that a tournament that stood still does not hurry afterwards.
    """
    began: dict[int, int] = {}
    for one in found.fixtures:
        if one.ordered_ms is not None:
            began[one.match.round] = min(one.ordered_ms, began.get(one.match.round, one.ordered_ms))
    last = max(began, default=0)
    timetable = timetable_of(found)
    next_ms = timetable.round_begins_ms(began.get(last))
    return OpenRounds(last, next_ms, at_ms >= next_ms, timetable.rounds_begin is not None)


def next_round_ms(found: StoredTournament, at_ms: int) -> int | None:
    """Return when the next round of a tournament begins by the clock, None where that is not known, or none follows."""
    rounds, terms = open_rounds(found, at_ms), found.row.terms
    is_waited = found.row.status in ONGOING_STATUSES and not rounds.may_begin_next
    is_last = terms.format is TournamentFormat.SWISS and rounds.last >= terms.n_rounds
    return rounds.next_ms if is_waited and not is_last else None


def wakes_ms(found: StoredTournament, at_ms: int) -> int:
    """Return when to look at a tournament again in which nothing changes before."""
    timetable = timetable_of(found)
    if found.row.status == TournamentStatus.OPEN:
        return NEVER if timetable.starts_ms is None else timetable.starts_ms
    if found.row.status != TournamentStatus.RUNNING:
        return NEVER
    rounds = open_rounds(found, at_ms)
    next_ms = NEVER if rounds.may_begin_next else rounds.next_ms
    is_waited = timetable.absence_limit is not None and bool(waiting(found))
    return min(next_ms, at_ms + ABSENCE_LOOK_MS) if is_waited else next_ms


def waiting(found: StoredTournament) -> tuple[FixtureRow, ...]:
    """Return the matches of a tournament that are in the queue, and count."""
    queued = (one for one in found.fixtures if one.status == MatchStatus.QUEUED and not one.forfeited)
    return tuple(one for one in queued if one.match.match_id not in found.annulments)


def wait_reasons_of(found: StoredTournament, reasons: Mapping[str, WaitReason]) -> Mapping[str, WaitReason]:
    """Return those of *reasons*, by the ids of matches, that matches of a tournament wait for in the queue."""
    queued = [one.match.match_id for one in waiting(found)]
    return {match_id: reasons[match_id] for match_id in queued if match_id in reasons}


def standstill(found: StoredTournament, waits: Mapping[str, WaitReason]) -> WaitReason | None:
    """Return what a tournament waits for, by what its matches do, as `wait_reasons_of` returns it.

    None: a match of it is played, or only has to wait for its turn.
    """
    if any(one.status == MatchStatus.RUNNING for one in found.fixtures):
        return None
    return joint_reason(waits.values())


@dataclass(slots=True)
class Absences:
    """Since when players are absent, as far as this server has seen it: a server that begins anew waits anew."""

    _spans_ms: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Of each player that is absent, since when, and when that was last seen."""

    def note(self, asked: Collection[str], absent: Collection[str], at_ms: int) -> None:
        """Note that of the players *asked* for just those that are *absent* are not there at *at_ms*."""
        for name in asked:
            since_ms, seen_ms = self._spans_ms.pop(name, (at_ms, at_ms))
            if name in absent:
                is_the_same = at_ms - seen_ms <= MAX_GAP_MS
                self._spans_ms[name] = since_ms if is_the_same else at_ms, at_ms

    def lost(self, found: StoredTournament, at_ms: int) -> Mapping[str, tuple[str, ...]]:
        """Return by id the matches of a tournament that wait in vain, each with the entrants who have lost it.

        The patience begins when the match was ordered, or later, when its player was missed or the tournament resumed.
        """
        limit_s = timetable_of(found).absence_limit
        if limit_s is None:
            return {}
        oldest_ms = at_ms - round(1000 * limit_s)
        if any(one.kind == InterventionKind.RESUME and one.at_ms > oldest_ms for one in found.interventions):
            return {}
        missed = {player for player, (since_ms, _) in self._spans_ms.items() if since_ms <= oldest_ms}
        late = {one.name for one in found.entrants if one.player in missed}
        told = {
            one.match.match_id: tuple(name for name in dict.fromkeys(one.match.players) if name in late)
            for one in waiting(found)
            if one.ordered_ms is not None and one.ordered_ms <= oldest_ms
        }
        return {match_id: names for match_id, names in told.items() if names}
