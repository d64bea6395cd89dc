"""The rules of a tournament in words, as its page tells them: format, games, seats, errors, entry and times."""

from collections.abc import Iterator, Sequence
from typing import Final

from gdl.quantities import quantity
from server.storage.tournament_rows import EntryRule, TournamentRow
from server.tournament.knockout import Knockout
from server.tournament.plan import TournamentFormat, TournamentTerms
from server.tournament.scoring import Measure
from server.tournament.standings import TIE_BREAKS
from server.tournament.timetable import AT_ONCE, Every, Timetable, Weekly
from server.web.template_filters import date

_MEASURES: Final[dict[Measure, str]] = {
    Measure.GOALS: "The mean goal of all matches counts, from 0 to 100.",
    Measure.POINTS: "Each match gives 1 point for a better goal than another's, ½ for an equal one, 0 for a worse one.",
    Measure.MEETINGS: "Each meeting gives 1 point for the better mean goal of its matches, ½ for an equal one, 0 for a"
    " worse one.",
}
_EVEN_MEETINGS: Final = (
    f"After equal points there are up to {Knockout().extra_meetings} more, then the one that entered earlier goes on."
)


def _meetings(terms: TournamentTerms) -> str:
    """Return who meets whom."""
    n = terms.n_rounds
    match terms.format:
        case TournamentFormat.ROUND_ROBIN:
            return f"Each entrant meets each other one in each game{_times(n)}."
        case TournamentFormat.GAUNTLET:
            return f"The first entrant meets each of the others in each game{_times(n)}."
        case TournamentFormat.SWISS:
            met = f"{quantity(n, 'round')}; in each, entrants with like scores meet who have not met before."
            return f"{met} A bye counts as a won meeting."
        case TournamentFormat.KNOCKOUT:
            return f"Who loses a meeting is out. A meeting has {quantity(n, 'set')} of matches. {_EVEN_MEETINGS}"
        case TournamentFormat.DOUBLE_KNOCKOUT:
            return f"Who has lost two meetings is out. A meeting has {quantity(n, 'set')} of matches. {_EVEN_MEETINGS}"
        case TournamentFormat.LADDER:
            return f"Those meet whose match tells most about the ratings, up to {quantity(n, 'time')}."
        case TournamentFormat.SCORE_TABLE:
            return f"Each entrant plays each game alone, in {quantity(n, 'attempt')}, and the goals are compared."


def _times(n: int) -> str:
    return "" if n == 1 else f", {n:,} times"


def _games(games: Sequence[str], terms: TournamentTerms) -> str:
    """Return which games are played, and in which order."""
    listed = ", ".join(games) if games else f"{quantity(len(terms.games), 'game')}, whose names appear at the end"
    if len(terms.games) < 2 or not terms.format.plays_games_in_turn:
        return f"{listed}."
    return f"{listed}; {'each meeting plays all of them' if terms.all_games else 'they take turns by round'}."


def _seats(row: TournamentRow) -> str:
    """Return what is done so that chance favours no entrant."""
    if row.is_played_alone:
        return "Everyone plays with the same chance as the others."
    return "In a set of matches the seats rotate, with the same chance, so that everyone plays each role as often."


def _places(terms: TournamentTerms) -> str:
    """Return what decides on the places."""
    if terms.format.is_knockout:
        return "Places go by the round in which entrants are put out; those of one round share a place."
    return f"Places go by scores; equal ones are parted by {', then '.join(TIE_BREAKS)}."


def _errors(terms: TournamentTerms) -> str:
    replaced = (
        "A move that is illegal, late or missing is replaced by a random legal one, and counts as an error; "
        "so does a failure of its own code that a player tells."
    )
    if terms.forfeit_errors is None:
        return f"{replaced} Errors alone lose no match."
    return f"{replaced} {quantity(terms.forfeit_errors, 'error').capitalize()} in a match lose it."


def rules_in_words(row: TournamentRow, games: Sequence[str], at_ms: int) -> Iterator[tuple[str, str]]:
    """Yield the rules of a tournament as of *at_ms*, each with its title.

    *games* are what its games are called, and none while they are secret.
    """
    terms = row.terms
    yield "Format", f"{terms.format.words}. {_meetings(terms)}"
    yield "Games", _games(games, terms)
    yield "Seats", _seats(row)
    clocks = f"{terms.start_clock:,} s to prepare, {terms.play_clock:,} s for each move"
    yield "Clocks", f"{clocks}; a reply may be {terms.grace:g} s late on its way."
    yield "What counts", _MEASURES[terms.measure]
    yield "Places", _places(terms)
    yield "Errors", _errors(terms)
    yield "Forfeits", "Who withdraws, or does not come, has lost its open matches; ratings leave these out."
    if terms.scramble:
        yield "Names", "Names in the rules are scrambled, so that no player can know a game by its words."
    if terms.sprt is not None:
        yield (
            "Test",
            (
                f"A sequential test ends it once it is sure whether the first is better by {terms.sprt.elo0:g} or by"
                f" {terms.sprt.elo1:g} points of normalised Elo."
            ),
        )
    timetable = row.timetable or AT_ONCE
    yield "Entry", _entry(row, timetable, at_ms)
    yield from _times_in_words(timetable)


def _entry(row: TournamentRow, timetable: Timetable, at_ms: int) -> str:
    """Return who enters, and until when."""
    if not row.may_admit:
        return "Entry is closed."
    if row.entry != EntryRule.OPEN:
        return "The host enters players."
    if not row.admits(at_ms):
        return "Entry is closed; a host may let players in late."
    closes = timetable.entry_closes_ms
    until = "" if closes is None else f" until {date(closes)} UTC"
    return f"Everybody with a registered player may enter{until}."


def _times_in_words(timetable: Timetable) -> Iterator[tuple[str, str]]:
    """Yield what a tournament does by the clock, each with its title."""
    if timetable.starts_ms is not None:
        yield "Start", f"{date(timetable.starts_ms)} UTC, by itself."
    match timetable.rounds_begin:
        case Weekly() as weekly:
            when = f"each {weekly.weekday.capitalize()} at {weekly.time:%H:%M}, by the clocks of {weekly.zone}"
            yield "Rounds", f"A round begins {when}."
        case Every() as every:
            yield "Rounds", f"A round begins {every.every_seconds:g} s after the one before."
    if timetable.absence_limit is not None:
        yield "Absence", f"Who is not there for {timetable.absence_limit:g} s when its match could begin has lost it."
