"""Tournaments in the database: each change is made as a whole, and once."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from typing import Any

import pytest
import sqlalchemy as sa

from server.refusals import RequestError
from server.storage.database import Database
from server.storage.errors import DamagedRowError, StorageError
from server.storage.match_queries import MatchFilter
from server.storage.matches import MatchStore
from server.storage.rows import MatchStatus
from server.storage.schema import fixtures, tournaments
from server.storage.tournament_rows import AnnulmentRow, FixtureRow, InterventionKind, InterventionRow, TournamentStatus
from server.storage.tournaments import TournamentChange, TournamentStore
from server.tournament.fixtures import ScheduledMatch
from server.tournament.plan import MAX_FORFEIT_ERRORS
from server.tournament.timetable import Timetable
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.storage.samples import begun, match, seats

FIRST = ScheduledMatch("t1.1", "tictactoe", ("p0", "p1"), 2**62, 4, 1, "pair", "t1")
SECOND = replace(FIRST, match_id="t1.2", players=("p1", "p0"))
ROW = tournament()
PINNED = {"sha256": "0" * 64, "n_roles": 2}


@pytest.fixture
async def store(database: Database) -> TournamentStore:
    await begun(database)
    found = TournamentStore(database)
    assert await found.add(ROW, entrants("legal", "random"))
    return found


async def test_a_tournament_is_found_as_it_was_added(store: TournamentStore) -> None:
    found = await store.read("cup")
    assert found is not None
    assert (found.row, found.entrants, found.fixtures) == (ROW, tuple(entrants("legal", "random")), ())
    assert not await store.add(replace(ROW, owner="bob"))
    assert await store.page() == ([ROW], None)
    assert await store.read("other") is None


async def test_tournaments_are_listed_page_by_page_the_newest_first(store: TournamentStore) -> None:
    older, same, newer = replace(ROW, name="old", created_ms=9), replace(ROW, name="dup"), replace(ROW, name="new")
    newer = replace(newer, created_ms=11, status=TournamentStatus.OVER, ended_ms=12)
    for row in (older, same, newer):
        assert await store.add(row)
    assert await store.page(limit=2) == ([newer, same], "dup")
    assert await store.page("dup", limit=2) == ([ROW, older], None)
    assert [await store.page(limit=1, is_over=is_over) for is_over in (True, False)] == [
        ([newer], None),
        ([same], "dup"),
    ]
    with pytest.raises(RequestError, match="no tournament 'none'"):
        await store.page("none")


async def test_a_damaged_tournament_does_not_end_the_list(store: TournamentStore, database: Database) -> None:
    older = replace(ROW, name="old", created_ms=9)
    assert await store.add(older)
    async with database.begin() as connection:
        await connection.execute(sa.update(tournaments).where(tournaments.c.name == "cup").values(terms={}))
    assert [await store.page(limit=1), await store.page("cup")] == [([], "cup"), ([older], None)]


async def test_a_change_is_made_once_by_those_who_begin_from_the_same_state(store: TournamentStore) -> None:
    change = TournamentChange(scheduled=[FIRST, SECOND])
    made = await asyncio.gather(*(store.apply(ROW, change) for _ in range(5)))
    assert sorted(made) == [False] * 4 + [True]
    found = await store.read("cup")
    assert found is not None
    assert found.row.revision == 1
    assert found.fixtures == (FixtureRow(FIRST), FixtureRow(SECOND))


async def test_a_batch_is_ordered_as_a_whole_or_not_at_all(store: TournamentStore) -> None:
    assert await store.apply(ROW, TournamentChange(scheduled=[FIRST, SECOND]))
    row = replace(ROW, revision=1)
    orders = [(match(name, tournament="cup"), seats(name, "legal", "random")) for name in ("t1.1", "t1.2")]
    with pytest.raises(StorageError):
        await store.apply(row, TournamentChange(ordered=[*orders, orders[0]]))
    assert await store.changes() == {"cup": (1, 0)}
    assert await store.apply(row, TournamentChange(ordered=orders))
    found = await store.read("cup")
    assert found is not None
    assert [one.status for one in found.fixtures] == [MatchStatus.QUEUED] * 2


async def test_matches_are_annulled_forfeited_and_aborted(store: TournamentStore) -> None:
    orders = [(match(name, tournament="cup"), seats(name, "legal", "random")) for name in ("t1.1", "t1.2")]
    assert await store.apply(ROW, TournamentChange(scheduled=[FIRST, SECOND], ordered=orders))
    annulment = AnnulmentRow("t1.1", True, "a storm", "ann", 5)
    change = TournamentChange(
        {"status": TournamentStatus.PAUSED, "reason": "a storm"}, annulled=[annulment], forfeits={"t1.2": ("p1",)},
        aborted={"t1.2": "gone"},
    )  # fmt: skip
    assert await store.apply(replace(ROW, revision=1), change)
    found = await store.read("cup")
    assert found is not None
    assert (found.row.status, found.row.reason, found.annulments) == ("paused", "a storm", {"t1.1": annulment})
    told = [(one.status, one.forfeited, one.abort_reason) for one in found.fixtures]
    assert told == [("queued", (), None), ("aborted", ("p1",), "gone")]
    assert await store.changes() == {}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("is_hidden", "change", "is_open"),
    [
        pytest.param(True, TournamentChange(), True, id="the other one is still to be ordered"),
        pytest.param(False, TournamentChange(), False, id="nothing is hidden"),
        pytest.param(True, TournamentChange(forfeits={"t1.2": ("p1",)}), False, id="the other one is forfeited"),
        pytest.param(
            True, TournamentChange(annulled=[AnnulmentRow("t1.2", False, "", "ann", 5)]), False, id="it is annulled"
        ),
        pytest.param(True, TournamentChange({"status": TournamentStatus.CANCELLED}), False, id="all is cancelled"),
        pytest.param(
            True,
            TournamentChange(ordered=[(match("t1.2", tournament="cup"), seats("t1.2", "legal", "random"))]),
            True,
            id="the other one waits",
        ),
    ],
)
async def test_a_hidden_match_is_kept_back_while_another_one_of_its_set_is_to_be_played(
    database: Database, store: TournamentStore, change: TournamentChange, *, is_hidden: bool, is_open: bool
) -> None:
    ordered = match("t1.1", tournament="cup", is_hidden=is_hidden, status=MatchStatus.COMPLETED)
    first = TournamentChange(scheduled=[FIRST, SECOND], ordered=[(ordered, seats("t1.1", "legal", "random"))])
    assert await store.apply(ROW, first)
    assert await store.apply(replace(ROW, revision=1), change)
    found = await MatchStore(database).find("t1.1")
    assert found == replace(ordered, is_set_open=is_open)
    wanted = MatchFilter(game=ordered.game, is_public=True, tournament="cup")
    shown = await MatchStore(database).listed(wanted)
    assert ("t1.1" in [row.id for row in shown]) == (not is_open)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("status", [MatchStatus.ABORTED, MatchStatus.FAILED])
@pytest.mark.parametrize(
    ("change", "is_open"),
    [
        pytest.param(TournamentChange(), True, id="nothing was done about it yet"),
        pytest.param(
            TournamentChange(scheduled=[FIRST.again()], annulled=[AnnulmentRow("t1.1", True, "", "", 5)]),
            True,
            id="it is played again",
        ),
        pytest.param(
            TournamentChange(annulled=[AnnulmentRow("t1.1", False, "", "ann", 5)]), False, id="it does not count"
        ),
        pytest.param(TournamentChange(forfeits={"t1.1": ("p1",)}), False, id="it is lost to an entrant"),
        pytest.param(TournamentChange({"status": TournamentStatus.OVER}), False, id="all is over"),
    ],
)
async def test_a_hidden_match_that_broke_off_is_kept_back_while_it_may_be_played_again(
    database: Database, store: TournamentStore, status: MatchStatus, change: TournamentChange, *, is_open: bool
) -> None:
    broken = match("t1.1", tournament="cup", is_hidden=True, status=status)
    assert await store.apply(
        ROW, TournamentChange(scheduled=[FIRST], ordered=[(broken, seats("t1.1", "legal", "random"))])
    )
    assert await store.apply(replace(ROW, revision=1), change)
    assert await MatchStore(database).find("t1.1") == replace(broken, is_set_open=is_open)


async def test_entrants_change_and_leave(store: TournamentStore) -> None:
    first, second = entrants("legal", "random")
    gone = replace(first, withdrawn_after=2)
    assert await store.apply(ROW, TournamentChange(entrants=[gone], left=["p1"]))
    found = await store.read("cup")
    assert found is not None
    assert found.entrants == (gone,)
    assert second not in found.entrants


async def test_a_damaged_tournament_is_named_and_costs_no_other(database: Database, store: TournamentStore) -> None:
    assert await store.add(replace(ROW, name="league"))
    async with database.begin() as connection:
        damaging = sa.update(tournaments).where(tournaments.c.name == "cup")
        await connection.execute(damaging.values(terms={"format": "melee"}))
    assert [row.name for row in (await store.page())[0]] == ["league"]
    with pytest.raises(DamagedRowError, match="cup"):
        await store.read("cup")


@pytest.mark.parametrize("games", [{}, {"nim": PINNED}, {"tictactoe": PINNED | {"n_roles": 0.5}}, {"tictactoe": 5}])
async def test_a_tournament_with_damaged_games_is_named(
    database: Database, store: TournamentStore, games: dict[str, Any]
) -> None:
    async with database.begin() as connection:
        await connection.execute(sa.update(tournaments).where(tournaments.c.name == "cup").values(games=games))
    assert await store.page() == ([], None)
    with pytest.raises(DamagedRowError, match="cup"):
        await store.read("cup")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "damage", [{"round": 1.5}, {"pairing_id": []}, {"game": {}}, {"match_id": None}, {"players": ["p0", ["p1"]]}]
)
async def test_a_damaged_fixture_is_named(database: Database, store: TournamentStore, damage: dict[str, Any]) -> None:
    assert await store.apply(ROW, TournamentChange(scheduled=[FIRST]))
    async with database.begin() as connection:
        await connection.execute(sa.update(fixtures).values(body=asdict(FIRST) | damage))
    with pytest.raises(DamagedRowError, match="body"):
        await store.read("cup")


async def test_terms_of_a_version_that_bound_no_errors_are_read(database: Database, store: TournamentStore) -> None:
    terms = ROW.terms.model_dump(mode="json") | {"forfeit_errors": 10**12}
    async with database.begin() as connection:
        await connection.execute(sa.update(tournaments).where(tournaments.c.name == "cup").values(terms=terms))
    bounded = ROW.terms.model_copy(update={"forfeit_errors": MAX_FORFEIT_ERRORS})
    assert await store.page() == ([replace(ROW, terms=bounded)], None)


async def test_what_hosts_did_is_kept_in_order(store: TournamentStore) -> None:
    first = InterventionRow(InterventionKind.PAUSE, "ann", 5, "lunch")
    second = InterventionRow(InterventionKind.SUBSTITUTE, "bob", 6, "it broke", entrant="p0", player="deep")
    assert await store.apply(ROW, TournamentChange(interventions=[first]))
    assert await store.apply(replace(ROW, revision=1), TournamentChange(interventions=[second, first]))
    found = await store.read("cup")
    assert found is not None
    assert found.interventions == (first, second, first)


async def test_a_tournament_that_is_open_is_looked_at_if_it_has_a_timetable(store: TournamentStore) -> None:
    timetable = Timetable(absence_limit=5)
    opened = replace(ROW, name="league", status=TournamentStatus.OPEN, timetable=timetable)
    assert await store.add(opened)
    assert await store.add(replace(opened, name="other", timetable=None))
    assert await store.changes() == {"cup": (0, 0), "league": (0, 0)}
    found = await store.read("league")
    assert found is not None
    assert found.row == opened
