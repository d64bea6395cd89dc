"""Registered players: who may be called what, who plays how many matches, and when the server stops asking a player."""

from __future__ import annotations

import asyncio

import pytest

from gdl.errors import UnknownNameError
from gdl.language.terms import Constant
from players.kit.worker import WorkerLimits
from server.errors import InvalidNameError, NameTakenError, TooManyPlayersError, UnknownPlayerError
from server.hosting.engine_process import read_outline
from server.links import addresses
from server.links.addresses import AllowedAddresses
from server.links.errors import PlayerSpecError
from server.links.http_player import HttpPlayer
from server.links.player_spec import PlayerSpec
from server.links.queued_player import HumanLink, QueueLink
from server.match.profiles import Case, Profile
from server.match.setup import Seat
from server.registry.player_references import Person, RegisteredPlayer, UnresolvedPlayer
from server.registry.queueing import Hindrance
from server.registry.registry import PlayerWishes, Registry, RegistrySettings
from server.storage.rows import CLOCK_SLACK_MS, PlayerRow, SeatKind
from tests.kit.polling import until
from tests.kit.server.plays import LEFT, RIGHT, TWO_STEPS

pytestmark = pytest.mark.sampled(2)  # what the kind of database may change is tried with both by tests of storage

X = Constant("x")


async def hindrances(registry: Registry) -> dict[str, Hindrance | None]:
    """Return what keeps each registered player from a match."""
    return {row.name: registry.hindrance(row) for row in await registry.store.listed()}


async def test_a_player_at_an_address(registry: Registry) -> None:
    row = await registry.register("deep", "ada", "http://127.0.0.1")
    assert row == PlayerRow("deep", SeatKind.HTTP, "ada", 1_000, url="http://127.0.0.1:9147")
    assert await registry.get("deep") == row


async def test_a_player_that_will_dial_in(registry: Registry) -> None:
    row = await registry.register("deep", "ada", wishes=PlayerWishes(max_matches=3))
    assert row == PlayerRow("deep", SeatKind.DIAL_IN, "ada", 1_000, max_matches=3)
    assert await registry.get("deep") == row


@pytest.mark.parametrize("name", ["deep", "DEEP"])
async def test_a_name_belongs_to_one_player(registry: Registry, name: str) -> None:
    await registry.register("deep", "ada")
    with pytest.raises(NameTakenError):
        await registry.register(name, "grace", "http://127.0.0.1")
    assert (await registry.get("deep")).owner == "ada"


@pytest.mark.parametrize("name", ["mcts", "human", "", "a b"])
async def test_names_that_mean_something_else_are_refused(registry: Registry, name: str) -> None:
    with pytest.raises(InvalidNameError):
        await registry.register(name, "ada")


@pytest.mark.parametrize("url", ["", "cmd:rm -rf", "mcts", "ftp://x", "http://"])
async def test_what_is_no_address_is_refused(registry: Registry, url: str) -> None:
    with pytest.raises(PlayerSpecError):
        await registry.register("deep", "ada", url)


async def test_what_may_not_be_called_is_refused(registry: Registry) -> None:
    strict = Registry(registry.store, RegistrySettings(targets=AllowedAddresses()))
    await strict.register("deep", "ada")
    for work in (strict.register("blue", "ada", "http://127.0.0.1:1"), strict.change("deep", "http://127.0.0.1:1")):
        with pytest.raises(PlayerSpecError):
            await work
    assert [row.url for row in await strict.store.listed()] == [None]


async def test_an_owner_has_a_limited_number_of_players(registry: Registry) -> None:
    few = Registry(registry.store, RegistrySettings(max_players=1))
    await few.register("deep", "ada")
    await few.register("blue", "grace")
    with pytest.raises(TooManyPlayersError):
        await few.register("other", "ada")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("names", "error"), [(("Bob", "bob"), NameTakenError), (("a", "b"), TooManyPlayersError)])
async def test_of_two_players_that_are_registered_at_once_and_may_not_both_be_one_is(
    registry: Registry, names: tuple[str, str], error: type[Exception]
) -> None:
    few = Registry(registry.store, RegistrySettings(max_players=1))
    found = await asyncio.gather(*(few.register(name, "ada") for name in names), return_exceptions=True)
    listed = [row.name for row in await few.store.listed()]
    assert (sorted(map(type, found), key=str), len(listed)) == (sorted([PlayerRow, error], key=str), 1)


async def test_a_player_moves_to_another_address(registry: Registry) -> None:
    await registry.register("deep", "ada")
    row = await registry.change("deep", "http://127.0.0.1:1", PlayerWishes(max_matches=4))
    assert (row, await registry.get("deep")) == (
        PlayerRow("deep", SeatKind.HTTP, "ada", 1_000, url="http://127.0.0.1:1", max_matches=4),
        row,
    )


async def test_what_is_not_registered_can_be_neither_changed_nor_removed(registry: Registry) -> None:
    for work in (
        registry.get("deep"),
        registry.change("deep", wishes=PlayerWishes(max_matches=2)),
        registry.change("deep"),
        registry.remove("deep"),
        registry.pause("deep", ""),
        registry.resume("deep"),
    ):
        with pytest.raises(UnknownPlayerError):
            await work


async def test_a_player_that_was_removed_is_unknown(registry: Registry) -> None:
    await registry.register("deep", "ada")
    await registry.remove("deep")
    with pytest.raises(UnknownNameError):
        await registry.resolve("deep")


async def test_a_removal_whose_caller_goes_away_closes_the_queue_of_the_player(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    await registry.register("deep", "ada")
    queue = registry.request_queues.of_player("deep")
    delete, is_deleted, may_go_on = registry.store.delete, asyncio.Event(), asyncio.Event()

    async def deleted_slowly(name: str, still: PlayerRow | None = None) -> bool:
        was_registered = await delete(name, still)
        is_deleted.set()
        await may_go_on.wait()
        return was_registered

    monkeypatch.setattr(registry.store, "delete", deleted_slowly)
    removing = asyncio.create_task(registry.remove("deep"))
    await is_deleted.wait()
    removing.cancel()
    await asyncio.gather(removing, return_exceptions=True)
    may_go_on.set()
    await until(lambda: queue.is_closed)


async def test_what_an_owner_changes_is_not_done_to_the_next_player_of_that_name(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await registry.register("deep", "ada")

    async def found_late(host: str, _port: int) -> tuple[str, ...]:
        await registry.remove("deep")
        await registry.register("deep", "bob")
        return (host,)

    monkeypatch.setattr(addresses, "look_up", found_late)
    with pytest.raises(UnknownPlayerError):
        await registry.change("deep", "http://127.0.0.1:2", still=mine)
    with pytest.raises(UnknownPlayerError):
        await registry.remove("deep", still=mine)
    assert await registry.get("deep") == PlayerRow("deep", SeatKind.DIAL_IN, "bob", 1_000)


async def test_who_is_meant(registry: Registry) -> None:
    row = await registry.register("deep", "ada")
    named = [await registry.resolve(text) for text in ("deep", "human", "mcts:playouts=3", "http://127.0.0.1:1")]
    assert named == [
        RegisteredPlayer(row, registry.request_queues),
        Person(registry.request_queues),
        PlayerSpec("mcts:playouts=3", is_own=True),
        PlayerSpec("http://127.0.0.1:1", is_own=False),
    ]
    assert [entrant.kind for entrant in named] == ["dial-in", "human", "own", "http"]


async def test_who_plays_when_a_match_is_ordered_and_when_it_begins(registry: Registry) -> None:
    """What was known at the order and is gone takes its seat all the same, and has no answers."""
    limits = WorkerLimits(64, 5)
    strict = Registry(registry.store, RegistrySettings(worker_limits=limits))
    game, named = read_outline(TWO_STEPS, "two steps"), {"right": "deep"}
    left = PlayerSpec("random", is_own=True)
    row = await strict.register("deep", "ada")
    known = {LEFT: left, RIGHT: RegisteredPlayer(row, strict.request_queues)}
    assert await strict.seated(game, named) == await strict.seated_again(game, named, row.created_ms) == known
    await strict.remove("deep")
    assert await strict.seated_again(game, named, row.created_ms) == {LEFT: left, RIGHT: UnresolvedPlayer("deep")}
    with pytest.raises(UnknownNameError):
        await strict.seated(game, named)
    mcts = PlayerSpec("mcts", is_own=True, worker_limits=limits)
    assert await strict.seated(game, {"left": "mcts", "right": "mcts"}) == {LEFT: mcts, RIGHT: mcts}


@pytest.mark.parametrize("text", ["cmd:ls", "player.py", "os:System", "nobody"])
async def test_what_may_not_be_started_is_refused(registry: Registry, text: str) -> None:
    with pytest.raises((PlayerSpecError, UnknownNameError)):
        await registry.resolve(text)


async def test_the_ways_to_them(registry: Registry) -> None:
    await registry.register("deep", "ada")
    await registry.register("blue", "ada", "http://127.0.0.1:1")
    links = [await (await registry.resolve(text)).open(X) for text in ("deep", "human", "blue")]
    assert [type(link) for link in links] == [QueueLink, HumanLink, HttpPlayer]


async def test_how_they_are_spoken_to(registry: Registry) -> None:
    await registry.register("deep", "ada")
    await registry.register("blue", "ada", "http://127.0.0.1:1")
    profile = Profile(case=Case.UPPER, is_scrambled=True)
    seats = [(await registry.resolve(text)).seat(X, profile) for text in ("deep", "human", "blue")]
    assert seats == [
        Seat(X, "deep", Profile(case=Case.UPPER, is_scrambled=True, gets_legal_moves=True)),
        Seat(X, "human", Profile(gets_legal_moves=True), is_human=True),
        Seat(X, "blue", profile),
    ]


async def test_a_player_that_dials_in_plays_while_it_is_connected(registry: Registry, changes: list[str]) -> None:
    await registry.register("deep", "ada", wishes=PlayerWishes(max_matches=2))
    changes.clear()
    before = await hindrances(registry)
    with registry.request_queues.of_player("deep").reading():
        during = await hindrances(registry), [await registry.is_free("deep", n) for n in (0, 1, 2)]
    after = await hindrances(registry), [await registry.is_free("deep", n) for n in (0, 1, 2)]
    assert (before, during) == ({"deep": Hindrance.NOT_CONNECTED}, ({"deep": None}, [True, True, False]))
    assert after == ({"deep": Hindrance.NOT_CONNECTED}, [False, False, False])
    assert changes == ["change", "change"]


async def test_a_player_that_is_not_registered_is_always_free(registry: Registry) -> None:
    assert await registry.is_free("mcts", 100)


async def test_a_player_that_is_paused_or_busy_elsewhere_plays_nothing(registry: Registry) -> None:
    for name in ("paused", "busy", "fine"):
        await registry.register(name, "ada", "http://127.0.0.1:1")
    await registry.pause("paused", "for repair")
    await registry.store.set_info(await registry.get("busy"), {"status": "busy"}, 1)
    await registry.store.set_info(await registry.get("fine"), {"status": "available"}, 1)
    before = await hindrances(registry)
    await registry.resume("paused")
    assert before == {"paused": Hindrance.PAUSED, "busy": Hindrance.BUSY, "fine": None}
    assert [await registry.is_free(name, 0) for name in ("paused", "busy", "fine")] == [True, False, True]


async def test_a_player_that_fails_match_after_match_is_paused(registry: Registry) -> None:
    await registry.register("deep", "ada", "http://127.0.0.1:1")
    states = []
    for has_failed in (True, True, False, True, True, True):
        await registry.note_match(1_000, {"deep": has_failed, "mcts": has_failed})
        row = await registry.get("deep")
        states.append((row.status, row.n_failures))
    assert states == [("ok", 1), ("ok", 2), ("ok", 0), ("ok", 1), ("ok", 2), ("paused", 3)]
    assert (await registry.get("deep")).pause_reason == "it answered nothing in 3 matches in a row"
    await registry.resume("deep")
    assert await registry.get("deep") == PlayerRow("deep", SeatKind.HTTP, "ada", 1_000, url="http://127.0.0.1:1")


async def test_a_player_that_took_the_name_of_another_one_plays_none_of_its_matches(registry: Registry) -> None:
    game, named = read_outline(TWO_STEPS, "two steps"), {"right": "deep"}
    row = await registry.register("deep", "bob")
    left, newcomer = PlayerSpec("random", is_own=True), RegisteredPlayer(row, registry.request_queues)
    ordered_ms = row.created_ms - CLOCK_SLACK_MS
    assert await registry.seated_again(game, named, ordered_ms) == {LEFT: left, RIGHT: newcomer}
    before = await registry.seated_again(game, named, ordered_ms - 1)
    assert before == {LEFT: left, RIGHT: UnresolvedPlayer("deep")}
