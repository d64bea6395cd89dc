"""How far a stored tournament is and what follows from that, without asking anything but its rows.

A large tournament has thousands of matches, so that these functions are called in threads.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Final

from pydantic import ValidationError

from gdl.violations import violation_message, violations
from server.clock import now_ms
from server.errors import ScheduleError
from server.hosting.rounds import OpenRounds, open_rounds, wakes_ms
from server.refusals import RequestError
from server.storage.rows import MatchStatus
from server.storage.tournament_rows import AnnulmentRow, EntrantRow, FixtureRow, TournamentRow, TournamentStatus
from server.storage.tournaments import StoredTournament, TournamentChange
from server.tournament import fixtures, plan
from server.tournament.competition import Competition, forfeits_of_withdrawn
from server.tournament.progress import PlayedMatch, Progress, is_decided

MAX_ATTEMPTS: Final = 3
"""How often a match breaks off before the tournament is paused; what a host has played again does not count."""
_MAX_REASON: Final = 300


def plan_of(found: StoredTournament) -> plan.TournamentPlan:
    """Return the plan of a tournament with the entrants that it has.

    Raises:
        RequestError: it has none, or not as many as its terms want.
    """
    try:
        players = {one.name: one.player for one in found.entrants}
        return plan.TournamentPlan.model_validate(found.row.terms.model_dump() | {"players": players})
    except ValidationError as error:
        reason = violation_message(violations(error)[0])
        raise RequestError("wrong_entrants", f"the tournament cannot be played: {reason}", status=409) from error


def started(found: StoredTournament, at_ms: int) -> TournamentChange:
    """Return the start of a tournament with those who have entered.

    Raises:
        RequestError: they are not as many as its terms or its games want.
    """
    needed, n_entered = max(game.n_roles for game in found.row.games.values()), len(found.entrants)
    if n_entered < needed:
        raise RequestError("wrong_entrants", f"its games need {needed} or more entrants, not {n_entered}", status=409)
    plan_of(found)
    return TournamentChange({"status": TournamentStatus.RUNNING, "started_ms": at_ms, "reason": ""})


def check_games(row: TournamentRow) -> None:
    """Check that the format of a tournament has a schedule for its games, whichever entrants it has.

    Raises:
        RequestError: it has none, or its sequential test is between fewer players than a game has roles.
    """
    largest, n_roles = max(((name, game.n_roles) for name, game in row.games.items()), key=itemgetter(1))
    if row.terms.sprt is not None and n_roles > 2:
        reason = f"a sequential test is between two players, too few for {largest}, which has {n_roles} roles"
        raise RequestError("invalid_tournament", f"games: {reason}")
    n_enough = max(2, n_roles)
    enough = tuple(EntrantRow(str(place), "legal", place, row.owner, row.created_ms) for place in range(n_enough))
    once = replace(row, terms=row.terms.model_copy(update={"rounds": 1}))
    try:
        progress_of(StoredTournament(once, enough)).next_matches()
    except ScheduleError as error:
        raise RequestError("invalid_tournament", f"games: {error}") from error


async def check_schedule(found: StoredTournament) -> None:
    """Check that the format of a tournament has a schedule for those who have entered.

    Raises:
        RequestError: it has none, or they are not as many as its terms or its games want.
    """
    started(found, 0)
    try:
        await asyncio.to_thread(lambda: progress_of(found).next_matches())
    except ScheduleError as error:
        raise RequestError("no_schedule", f"the tournament cannot be played: {error}", status=409) from error


def progress_of(found: StoredTournament) -> Progress:
    """Return a tournament as schedules and standings read it; it has an entrant.

    Raises:
        RequestError: it has not as many entrants as its terms want.
    """
    entered = tuple(fixtures.Entrant(one.name, one.since_round, one.withdrawn_after) for one in found.entrants)
    games = tuple(fixtures.TournamentGame(name, found.row.games[name].n_roles) for name in found.row.terms.games)
    in_time = sorted(found.fixtures, key=lambda one: (one.ended_ms or 0, one.match.match_id))
    progress = Progress(
        plan_of(found), games,
        tuple(one.match for one in found.fixtures),
        tuple(played for one in in_time if (played := played_of(one)) is not None),
        entered=entered,
        annulled=frozenset(key for key, one in found.annulments.items() if not one.is_replayed),
        replayed=frozenset(key for key, one in found.annulments.items() if one.is_replayed),
    )  # fmt: skip
    return replace(progress, is_decided=is_decided(progress))


def played_of(one: FixtureRow) -> PlayedMatch | None:
    """Return how a match ended; None where it has no result."""
    if one.forfeited:
        nothing = (0,) * len(one.match.players)
        return PlayedMatch(fixtures.forfeit(one.match, one.forfeited), nothing, nothing, ended_ms=one.ended_ms or 0)
    if one.status != MatchStatus.COMPLETED:
        return None
    goals, errors = (seat.goal or 0 for seat in one.seats), (seat.n_errors for seat in one.seats)
    result = fixtures.MatchResult(one.match.game, one.match.players, tuple(goals), tuple(errors), one.match.match_id)
    thinking, moves = (seat.thinking_ms for seat in one.seats), (seat.n_moves for seat in one.seats)
    return PlayedMatch(result, tuple(thinking), tuple(moves), one.n_steps, one.ended_ms or 0)


def live_matches(found: StoredTournament) -> tuple[str, ...]:
    """Return the ids of the matches of a tournament that wait or are played."""
    return tuple(one.match.match_id for one in found.fixtures if one.is_live)


@dataclass(frozen=True, slots=True)
class TournamentLook:
    """What a look at a tournament finds, which takes long where it has thousands of matches, and is made in a thread.

    Attributes:
        correction: what follows from withdrawals and from matches that broke off; None where nothing does.
        progress: how far it is.
        playing: the entrants with open matches.
        rounds: which rounds may begin now.
        due: the matches that are to be ordered now.
    """

    correction: TournamentChange | None
    progress: Progress
    playing: frozenset[str]
    rounds: OpenRounds
    due: list[FixtureRow]


def look_at(found: StoredTournament, at_ms: int) -> TournamentLook:
    """Return what there is to do in a tournament that runs."""
    progress = progress_of(found)
    playing = frozenset(name for match in progress.competition.open_matches for name in match.players)
    rounds = open_rounds(found, at_ms)
    return TournamentLook(_correction(found, progress.competition), progress, playing, rounds, _due(found, rounds))


def _due(found: StoredTournament, rounds: OpenRounds) -> list[FixtureRow]:
    """Return the matches of a tournament that runs which are to be ordered now."""
    unordered = _unordered(found)
    admitted = rounds.admitted(one.match for one in unordered)
    return [one for one in unordered if one.match.match_id in admitted]


def quiet_until_ms(found: StoredTournament, at_ms: int) -> int:
    """Return until when a tournament in which nothing changes need not be looked at again."""
    is_running = found.row.status == TournamentStatus.RUNNING
    return 0 if is_running and _due(found, open_rounds(found, at_ms)) else wakes_ms(found, at_ms)


def _unordered(found: StoredTournament) -> list[FixtureRow]:
    waiting = (one for one in found.fixtures if one.status is None and not one.forfeited)
    return [one for one in waiting if one.match.match_id not in found.annulments]


def _correction(found: StoredTournament, competition: Competition) -> TournamentChange | None:
    """Return the forfeits of entrants who have withdrawn, or else what follows from matches that broke off."""
    lost = forfeits(found, competition)
    if lost.forfeits:
        return lost
    ended = (one for one in found.fixtures if one.status in (MatchStatus.ABORTED, MatchStatus.FAILED))
    broken = [one for one in ended if not one.forfeited and one.match.match_id not in found.annulments]
    n_before = _n_broken_off(found)
    for one in broken:
        if n_before[one.match.original_id] + 1 >= MAX_ATTEMPTS:
            what = f"match {one.match.match_id} broke off {MAX_ATTEMPTS} times"
            return paused(f"{what} (annul it or have it played again, then resume): {one.abort_reason or one.status}")
    rows = [AnnulmentRow(one.match.match_id, True, _why(one), "", now_ms()) for one in broken]
    # At once: between two changes the set would seem to be over, and show what tells of the match that comes.
    return TournamentChange(scheduled=[one.match.again() for one in broken], annulled=rows) if rows else None


def _n_broken_off(found: StoredTournament) -> Counter[str]:
    """Return how often matches broke off and are played again for that, by their first ids."""
    annulled = (one.match for one in found.fixtures if one.match.match_id in found.annulments)
    return Counter(match.original_id for match in annulled if not found.annulments[match.match_id].annulled_by)


def _why(one: FixtureRow) -> str:
    return f"the match broke off: {one.abort_reason or one.status}"[:_MAX_REASON]


def forfeits(found: StoredTournament, competition: Competition) -> TournamentChange:
    """Return the forfeits of the open matches of entrants who have withdrawn; those that are live are ended."""
    lost = {result.match_id: result.forfeited for result in forfeits_of_withdrawn(competition)}
    aborted = [match_id for match_id in live_matches(found) if match_id in lost]
    withdrew = "withdrawn from the tournament"
    return forfeits_of(lost, aborted, (f"has {withdrew}", f"have {withdrew}"))


def forfeits_of(
    lost: Mapping[str, tuple[str, ...]], aborted: Collection[str], words: tuple[str, str]
) -> TournamentChange:
    """Return that matches are *lost*, by id the entrants, and that those *aborted* are ended for that.

    *words* say of one entrant, and of several, why.
    """
    reasons = {match_id: _lost_by(lost[match_id], words) for match_id in aborted}
    return TournamentChange(forfeits=lost, aborted=reasons)


def _lost_by(names: Sequence[str], words: tuple[str, str]) -> str:
    one, several = words
    if len(names) == 1:
        return f"{names[0]} {one}, and has lost the match"
    return f"{', '.join(names[:-1])} and {names[-1]} {several}, and have lost the match"


def paused(reason: str) -> TournamentChange:
    """Return that a tournament is paused for *reason*."""
    return TournamentChange({"status": TournamentStatus.PAUSED, "reason": reason[:_MAX_REASON]})


def ended(found: StoredTournament) -> TournamentChange:
    """Return the end of a tournament; matches of it that are live are ended."""
    values = {"status": TournamentStatus.OVER, "ended_ms": now_ms(), "reason": ""}
    return TournamentChange(values, aborted=dict.fromkeys(live_matches(found), "the tournament is decided"))
