"""What ratings and live pages read of the database: results of programs, and how far a tournament is."""

from __future__ import annotations

from dataclasses import replace

from server.spectating.tournaments import LiveMatch, LiveTournaments
from server.storage.accounts import PlayerStore
from server.storage.database import Database
from server.storage.matches import MatchStore
from server.storage.results import ResultStore
from server.storage.rows import MatchPurpose, MatchStatus, PlayerRow, RatedResult, SeatKind
from server.storage.tournament_rows import AnnulmentRow
from server.storage.tournaments import TournamentChange, TournamentStore
from server.tournament.fixtures import MatchResult, ScheduledMatch
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.storage.samples import begun, keep, match, seats

FIRST = ScheduledMatch("t1.1", "tictactoe", ("p0", "p1"), 2**62, 4, 1, "pair", "t1")


async def add_over(
    store: MatchStore, match_id: str, ended_ms: int, *players: str, kind: SeatKind = SeatKind.HTTP, game: str = "tiny"
) -> None:
    """Keep a completed match that the first of *players* has won."""
    row = match(match_id, status=MatchStatus.COMPLETED, ended_ms=ended_ms, goals=(100, 0), game=game)
    seat_rows = [replace(seat, goal=100 - 100 * seat.position, n_errors=seat.position) for seat in seats("m", *players)]
    await keep(store, row, [replace(seat, match_id=match_id, kind=kind) for seat in seat_rows])


def result(match_id: str, ended_ms: int, *players: str, game: str = "tiny") -> RatedResult:
    return RatedResult(MatchResult(game, players, (100, 0), (0, 1), match_id), ended_ms)


async def test_the_latest_results_are_found_in_the_order_of_their_ends(database: Database) -> None:
    matches, results = await begun(database, "live"), ResultStore(database)
    await add_over(matches, "b", 20, "ann", "bob")
    await add_over(matches, "a", 30, "cyd", "ann", game="other")
    await add_over(matches, "c", 10, "bob", "cyd")
    found = [result("c", 10, "bob", "cyd"), result("b", 20, "ann", "bob"), result("a", 30, "cyd", "ann", game="other")]
    assert await results.latest() == found
    assert await results.latest(limit=2) == found[1:]
    assert await results.latest("tiny") == found[:2]
    assert await results.latest(players=("ann",)) == found[1:]
    assert await results.latest(players=("bob", "ann")) == found[1:2]
    assert await results.rated_games() == [("tiny", 2), ("other", 1)]


async def test_a_result_tells_the_versions_of_its_players_and_what_the_match_was_for(database: Database) -> None:
    store, results = await begun(database), ResultStore(database)
    row = match("m", status=MatchStatus.COMPLETED, ended_ms=20, goals=(100, 0), purpose=MatchPurpose.PRACTICE)
    ann, bob = seats("m", "ann", "bob")
    await keep(store, row, [replace(ann, goal=100, version="1.0"), replace(bob, goal=0, n_errors=1)])
    found = replace(result("m", 20, "ann", "bob"), versions=("1.0", None), purpose=MatchPurpose.PRACTICE)
    assert [await results.latest(since_ms=since_ms) for since_ms in (0, 20, 21)] == [[found], [found], []]


async def test_registered_players_have_the_versions_of_now(database: Database) -> None:
    registered = PlayerStore(database)
    await registered.put(PlayerRow("ann", SeatKind.HTTP, "me", 1, version="2.0"))
    await registered.put(PlayerRow("bob", SeatKind.HTTP, "me", 1))
    assert await ResultStore(database).versions() == {"ann": "2.0", "bob": None}


async def test_matches_of_people_and_annulled_ones_are_left_out(database: Database) -> None:
    matches, results = await begun(database), ResultStore(database)
    await add_over(matches, "by-hand", 20, "human", "human", kind=SeatKind.HUMAN)
    tournaments = TournamentStore(database)
    assert await tournaments.add(tournament(), entrants("legal", "random"))
    assert await tournaments.apply(tournament(), TournamentChange(scheduled=[FIRST]))
    await add_over(matches, "t1.1", 30, "legal", "random")
    assert await results.latest() == [result("t1.1", 30, "legal", "random")]
    annulment = AnnulmentRow("t1.1", False, "a storm", "ann", 5)
    assert await tournaments.apply(replace(tournament(), revision=1), TournamentChange(annulled=[annulment]))
    assert await results.latest() == []


async def test_a_result_tells_how_many_errors_lose_it_where_its_tournament_says_so(database: Database) -> None:
    matches, tournaments = await begun(database), TournamentStore(database)
    strict = tournament()
    strict = replace(strict, terms=strict.terms.model_copy(update={"forfeit_errors": 1}))
    assert await tournaments.add(strict, entrants("legal", "random"))
    assert await tournaments.apply(strict, TournamentChange(scheduled=[FIRST]))
    await add_over(matches, "t1.1", 30, "legal", "random")
    await add_over(matches, "b", 40, "legal", "random")
    found = await ResultStore(database).latest()
    assert [(each.forfeit_errors, each.lost) for each in found] == [(1, {"random"}), (None, frozenset())]


async def test_a_match_that_was_forfeited_before_it_was_over_is_left_out(database: Database) -> None:
    matches, tournaments = await begun(database), TournamentStore(database)
    assert await tournaments.add(tournament(), entrants("legal", "random"))
    assert await tournaments.apply(tournament(), TournamentChange(scheduled=[FIRST]))
    await add_over(matches, "t1.1", 30, "legal", "random")
    lost = TournamentChange(forfeits={"t1.1": ("legal",)})
    assert await tournaments.apply(replace(tournament(), revision=1), lost)
    assert await ResultStore(database).latest() == []


async def test_the_steps_of_a_match_of_a_tournament_are_told_as_late_as_the_match(database: Database) -> None:
    await begun(database)
    store = TournamentStore(database)
    assert await store.add(tournament(), entrants("legal", "random"))
    playing = match("t1.1", tournament="cup", status=MatchStatus.RUNNING, n_steps=7)
    late = replace(playing, order={**playing.order, "text": {**playing.order["text"], "broadcastDelay": "3 steps"}})
    change = TournamentChange(scheduled=[FIRST], ordered=[(late, seats("t1.1", "legal", "random"))])
    assert await store.apply(tournament(), change)
    found = await LiveTournaments(database).of("cup")
    assert found is not None
    assert found.steps == {"t1.1": 4}


async def test_what_has_changed_of_a_tournament_is_read_in_few_numbers(database: Database) -> None:
    await begun(database)
    store, live = TournamentStore(database), LiveTournaments(database)
    assert await live.of("cup") is None
    assert await store.add(tournament(), entrants("legal", "random"))
    empty = await live.of("cup")
    assert empty is not None
    order = match("t1.1", tournament="cup"), seats("t1.1", "legal", "random")
    assert await store.apply(tournament(), TournamentChange(scheduled=[FIRST], ordered=[order]))
    waiting = await live.of("cup")
    assert waiting is not None
    assert (waiting.revision, waiting.n_over, waiting.live) == (1, 0, (LiveMatch("t1.1", "queued", 0),))
    assert (waiting.steps, waiting.shape == empty.shape) == ({}, False)
    playing = replace(waiting, live=(LiveMatch("t1.1", "running", 3),))
    assert playing.steps == {"t1.1": 3}
    assert playing.shape == replace(playing, live=(LiveMatch("t1.1", "running", 4),)).shape
