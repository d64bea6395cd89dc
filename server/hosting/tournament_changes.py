"""What people do with a tournament, as changes of what is kept of it: entries, withdrawals, what its host decides."""

from dataclasses import replace
from typing import Final

from server.hosting.rounds import timetable_of, waiting
from server.hosting.tournament_progress import forfeits, live_matches, plan_of, played_of, progress_of, started
from server.refusals import RequestError
from server.storage.tournament_rows import (
    ONGOING_STATUSES,
    AnnulmentRow,
    EntrantRow,
    InterventionKind,
    InterventionRow,
    TournamentStatus,
)
from server.storage.tournaments import StoredTournament, TournamentChange

_OTHER_NAME: Final = "a host enters the same player by another name, too: as in a plan file by a line NAME = PLAYER"


def placed(found: StoredTournament, entrant: EntrantRow) -> EntrantRow:
    """Return *entrant* behind those who have entered.

    Raises:
        RequestError: one of them is called so.
    """
    before = next((one for one in found.entrants if one.name == entrant.name), None)
    if before is not None:
        told = f"{entrant.name} has entered already" + ("" if before.withdrawn_after is None else ", and has withdrawn")
        raise RequestError("already_entered", told, _OTHER_NAME, 409)
    return replace(entrant, position=1 + max((one.position for one in found.entrants), default=0))


def entered(found: StoredTournament, entrant: EntrantRow, at_ms: int, *, is_host: bool) -> TournamentChange:
    """Return the entry of *entrant*, in the next round where rounds have begun."""
    entrant = placed(found, entrant)
    if found.row.waits_to_start:
        if not (is_host or timetable_of(found).admits(at_ms)):
            raise RequestError("entry_closed", "the time to enter is over; ask the host", status=409)
        return TournamentChange(entrants=[entrant])
    if not (is_host and found.row.may_admit):
        who = "only its host enters players now; ask the host" if found.row.may_admit else "it admits no entrant"
        raise RequestError("entry_closed", f"this tournament is {found.row.status}: {who}", status=409)
    last_round = max((one.match.round for one in found.fixtures), default=0)
    late = replace(entrant, since_round=last_round + 1)
    plan_of(replace(found, entrants=(*found.entrants, late)))
    return TournamentChange(entrants=[late])


def entrant_to_withdraw(found: StoredTournament, name: str) -> EntrantRow:
    """Return the entrant of that name; raises RequestError where it has not entered, or has withdrawn before."""
    entrant = next((one for one in found.entrants if one.name == name and one.withdrawn_after is None), None)
    if entrant is None:
        raise not_entered(name)
    return entrant


def not_entered(entrant: str) -> RequestError:
    """Return the refusal for a withdrawal of *entrant*, who is none."""
    return RequestError("not_entered", f"{entrant} is no entrant who could withdraw", status=404)


def withdrawn(found: StoredTournament, done: InterventionRow, *, annuls: bool) -> TournamentChange:
    """Return the withdrawal of the entrant of *done*; where it *annuls*, none of its matches counts.

    Raises:
        RequestError: it is no entrant who could withdraw, or the tournament is over.
    """
    assert done.entrant is not None
    change = _withdrawn(found, done.entrant)
    annulling = _annulled_with(found, done) if annuls and change.entrants else change
    return replace(annulling, entrants=change.entrants)


def _withdrawn(found: StoredTournament, name: str) -> TournamentChange:
    """Return the withdrawal of an entrant: forgotten before the beginning, else a loser of its open matches."""
    entrant = entrant_to_withdraw(found, name)
    if found.row.waits_to_start:
        return TournamentChange(left=[name])
    _expect(found, *ONGOING_STATUSES)
    own = [one for one in found.fixtures if name in one.match.players and one.match.match_id not in found.annulments]
    # It took part in the round of a match that is played again: byes and heats of later rounds stay as they are.
    unplayed = [one.match.round for one in own if one.match.attempt == 1 and played_of(one) is None]
    last_round = max((one.match.round for one in found.fixtures), default=0)
    gone = replace(entrant, withdrawn_after=min(unplayed, default=last_round + 1) - 1)
    entrants = tuple(gone if one.name == name else one for one in found.entrants)
    without = replace(found, entrants=entrants)
    return replace(forfeits(without, progress_of(without).competition), entrants=[gone])


def _annulled_with(found: StoredTournament, done: InterventionRow) -> TournamentChange:
    """Return the change by which no match counts of the entrant whom *done* withdraws; those that go on are ended.

    What was to be played again is scheduled with it, to be annulled as well: later it would be forfeited, and count.
    """
    replays = [match for match in progress_of(found).competition.missing_replays if done.entrant in match.players]
    own = [one.match for one in found.fixtures if done.entrant in one.match.players]
    void = [match.match_id for match in (*own, *replays) if match.match_id not in found.annulments]
    reason = f"{done.entrant} has withdrawn" + (f": {done.reason}" if done.reason else "")
    annulments = [AnnulmentRow(match_id, False, reason, done.made_by, done.at_ms) for match_id in void]
    aborted = dict.fromkeys(void, f"annulled: {reason}")
    return TournamentChange(scheduled=replays, annulled=annulments, aborted=aborted)


def begun(found: StoredTournament, done: InterventionRow) -> TournamentChange:
    """Return the start of a tournament with those who have entered.

    Raises:
        RequestError: it has started before, or cannot start with these.
    """
    _expect(found, TournamentStatus.OPEN)
    return replace(started(found, done.at_ms), interventions=[done])


def suspended(found: StoredTournament, done: InterventionRow) -> TournamentChange:
    """Return the change by which a tournament orders no more matches for now.

    Raises:
        RequestError: it does not run.
    """
    _expect(found, TournamentStatus.RUNNING)
    return TournamentChange({"status": TournamentStatus.PAUSED, "reason": done.reason}, interventions=[done])


def resumed(found: StoredTournament, done: InterventionRow) -> TournamentChange:
    """Return the change by which a tournament that was paused goes on; one that could not start at its time starts.

    Raises:
        RequestError: it is not paused, or cannot start with those who have entered.
    """
    _expect(found, TournamentStatus.PAUSED)
    if found.row.waits_to_start and not found.fixtures:
        return replace(started(found, done.at_ms), interventions=[done])
    return TournamentChange({"status": TournamentStatus.RUNNING, "reason": ""}, interventions=[done])


def cancelled(found: StoredTournament, done: InterventionRow) -> TournamentChange:
    """Return the end of a tournament for good, which aborts its matches.

    Raises:
        RequestError: it is over, or was cancelled.
    """
    _expect(found, TournamentStatus.OPEN, *ONGOING_STATUSES)
    values = {"status": TournamentStatus.CANCELLED, "reason": done.reason, "ended_ms": done.at_ms}
    aborted = dict.fromkeys(live_matches(found), "the tournament is cancelled")
    return TournamentChange(values, aborted=aborted, interventions=[done])


def annulled(found: StoredTournament, done: InterventionRow) -> TournamentChange:
    """Return the change by which the match of *done* counts no more, and is played again if *done* says so.

    Raises:
        RequestError: there is no such match, or it does not count already.
    """
    _expect(found, *ONGOING_STATUSES, TournamentStatus.OVER)
    match = next((one.match for one in found.fixtures if one.match.match_id == done.match_id), None)
    if match is None:
        raise RequestError("unknown_match", f"the tournament has no match {(done.match_id or '')[:100]!r}", status=404)
    if match.match_id in found.annulments:
        raise RequestError("already_annulled", "this match does not count already", status=409)
    values = {"status": TournamentStatus.RUNNING, "ended_ms": None} if found.row.status == TournamentStatus.OVER else {}
    is_again = done.kind is InterventionKind.REPLAY
    row = AnnulmentRow(match.match_id, is_again, done.reason, done.made_by, done.at_ms)
    aborted = {match.match_id: f"annulled: {done.reason}"}
    again = [match.again()] if is_again else []
    return TournamentChange(values, scheduled=again, annulled=[row], aborted=aborted, interventions=[done])


def substituted(found: StoredTournament, done: InterventionRow) -> TournamentChange:
    """Return the change by which the player of *done* plays for its entrant."""
    if not found.row.waits_to_start:
        _expect(found, *ONGOING_STATUSES)
    old = next((one for one in found.entrants if one.name == done.entrant), None)
    if old is None or done.player is None:
        raise RequestError("not_entered", f"{done.entrant} does not play in this tournament", status=404)
    ordered = [one.match.match_id for one in waiting(found) if old.name in one.match.players]
    reason = f"{done.player} plays for {old.name}: {done.reason}"
    annulments = [AnnulmentRow(match_id, True, reason, done.made_by, done.at_ms) for match_id in ordered]
    entrant = replace(old, player=done.player, created_ms=done.at_ms)
    aborted = dict.fromkeys(ordered, reason)
    return TournamentChange(entrants=[entrant], annulled=annulments, aborted=aborted, interventions=[done])


def _expect(found: StoredTournament, *statuses: TournamentStatus) -> None:
    """Check that a tournament is in one of *statuses*.

    Raises:
        RequestError: it is not.
    """
    if found.row.status not in statuses:
        told = f"the tournament is {found.row.status}, and this is for one that is {' or '.join(statuses)}"
        raise RequestError("wrong_status", told, status=409)
