"""Health checks: who is asked, who is paused, and who plays again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import pytest

from gdl.wire.info import InfoReply, Status
from server.errors import UnknownPlayerError
from server.links.addresses import player_url
from server.links.player_info import PlayerInfo
from server.registry.health import ALWAYS_BUSY, SILENT, AskInfo, HealthChecks, HealthSettings
from server.registry.registry import PlayerWishes, Registry
from server.storage.rows import PlayerRow, SeatKind
from tests.kit.server.clocks import HandClock

URL = "http://127.0.0.1:1"
pytestmark = pytest.mark.sampled(2)  # what the kind of database may change is tried with both by tests of storage

SILENCE = PlayerInfo(URL, InfoReply(), None, ("INFO: refused", "PING: refused"), is_there=False)
ANSWER = PlayerInfo(URL, InfoReply("Deep", Status.AVAILABLE, (("author", "ada"),)), "INFO")
KEPT = {"name": "Deep", "status": "available", "answered": "INFO", "trouble": [], "others": {"author": "ada"}}


class Asked:
    """Answers for all players; `silent` is whether they do not."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.silent = False

    async def __call__(self, url: str) -> PlayerInfo:
        self.urls.append(url)
        return SILENCE if self.silent else ANSWER


@pytest.fixture
def asked() -> Asked:
    return Asked()


def checks(registry: Registry, asked: AskInfo, playing: Mapping[str, int] | None = None) -> HealthChecks:
    async def count_matches() -> Mapping[str, int]:
        return playing or {}

    return HealthChecks(registry, count_matches, asked)


async def test_what_a_player_says_is_kept(registry: Registry, asked: Asked, clock: HandClock) -> None:
    await registry.register("deep", "ada", URL)
    clock.ms = 5_000
    await checks(registry, asked).check_all()
    row = await registry.get("deep")
    assert (row.info, row.seen_ms, asked.urls) == (KEPT, 5_000, [URL])


async def test_players_in_a_match_are_left_alone(registry: Registry, asked: Asked) -> None:
    await registry.register("deep", "ada", URL)
    asked.silent = True
    await checks(registry, asked, {"deep": 1}).check_all()
    assert asked.urls == []


async def test_a_player_that_cannot_be_asked_keeps_no_other_from_being_asked(registry: Registry, asked: Asked) -> None:
    for name, url in (("broken", "http://["), ("deep", URL)):
        await registry.store.put(PlayerRow(name, SeatKind.HTTP, "ada", 1, url=url))

    async def ask(url: str) -> PlayerInfo:
        player_url(url)
        return await asked(url)

    await checks(registry, ask).check_all()
    assert asked.urls == [URL]


async def test_a_player_that_stays_silent_is_paused_and_plays_again_when_it_answers(
    registry: Registry, asked: Asked
) -> None:
    await registry.register("deep", "ada", URL)
    asked.silent = True
    health, states = checks(registry, asked), []
    for silent in (True, True, False, True, True, True, True, False):
        asked.silent = silent
        await health.check_all()
        row = await registry.get("deep")
        states.append((row.status, row.pause_reason))
    fine, paused = ("ok", ""), ("paused", "it does not answer INFO")
    assert states == [fine, fine, fine, fine, fine, paused, paused, fine]


async def test_callers_who_ask_again_and_again_do_not_pause_a_silent_player(registry: Registry, asked: Asked) -> None:
    await registry.register("deep", "ada", URL)
    asked.silent = True
    health = checks(registry, asked)
    found = [await health.check(await registry.get("deep")) for _ in range(5)]
    row = await registry.get("deep")
    assert ([each.is_there for each in found], row.status, row.pause_reason) == ([False] * 5, "ok", "")


async def test_a_player_that_plays_is_asked_and_may_begin_what_it_might_before(
    registry: Registry, asked: Asked
) -> None:
    await registry.register("deep", "ada", URL, wishes=PlayerWishes(max_matches=2))
    await checks(registry, asked).check_all()

    async def ask(_url: str) -> PlayerInfo:
        return PlayerInfo(URL, InfoReply("Deep", Status.BUSY), "INFO")

    health = await checks(registry, ask, {"deep": 1}).check(await registry.get("deep"))
    assert health.player.info == {"name": "Deep", "status": "busy", "answered": "INFO", "trouble": [], "others": {}}
    assert ((await registry.get("deep")).info, await registry.is_free("deep", 1)) == (KEPT, True)


async def test_a_player_that_knows_no_info_but_replies_is_there(registry: Registry, clock: HandClock) -> None:
    trouble = ("(INFO): HTTP status 400", "(PING): HTTP status 400")

    async def ask(_url: str) -> PlayerInfo:
        return PlayerInfo(URL, InfoReply(), None, trouble)

    await registry.register("deep", "ada", URL)
    clock.ms = 5_000
    health = await HealthChecks(registry, no_matches, ask, HealthSettings(max_silences=1)).check(
        await registry.get("deep")
    )
    row = health.player
    assert (health.is_there, health.trouble, row.status, row.seen_ms) == (True, trouble, "ok", 5_000)


async def remove_and_register(registry: Registry) -> None:
    await registry.remove("deep")
    await registry.register("deep", "bob", URL)


@pytest.mark.parametrize(
    ("n_before", "begin_anew"),
    [
        (3, lambda registry: registry.resume("deep")),
        (2, lambda registry: registry.change("deep", url="http://127.0.0.1:2")),
        (2, remove_and_register),
    ],
    ids=["resumed", "changed", "registered anew"],
)
async def test_silences_are_counted_from_when_a_player_was_resumed_changed_or_registered(
    registry: Registry,
    asked: Asked,
    clock: HandClock,
    n_before: int,
    begin_anew: Callable[[Registry], Awaitable[object]],
) -> None:
    await registry.register("deep", "ada", URL)
    asked.silent, clock.ms = True, 5_000
    health, states = checks(registry, asked), []
    for _ in range(n_before):
        await health.check_all()
    await begin_anew(registry)
    for _ in range(3):
        await health.check_all()
        states.append((await registry.get("deep")).status)
    assert states == ["ok", "ok", "paused"]


@pytest.mark.parametrize("reason", ["by ada", "it answered nothing in 3 matches in a row"])
async def test_a_pause_for_another_reason_goes_on(registry: Registry, asked: Asked, reason: str) -> None:
    await registry.register("deep", "ada", URL)
    await registry.pause("deep", reason)
    await checks(registry, asked).check_all()
    assert ((await registry.get("deep")).status, asked.urls) == ("paused", [URL])


async def test_a_player_that_dials_in_is_seen_while_it_plays(
    registry: Registry, asked: Asked, clock: HandClock
) -> None:
    await registry.register("deep", "ada")
    health = checks(registry, asked, {"deep": 1})
    with registry.request_queues.of_player("deep").reading():
        await health.check_all()
    clock.ms = 9_000
    await health.check_all()
    assert ((await registry.get("deep")).seen_ms, asked.urls) == (1_000, [])


async def test_a_player_that_dials_in_is_there_while_it_is_connected(
    registry: Registry, asked: Asked, clock: HandClock
) -> None:
    await registry.register("deep", "ada")
    health = checks(registry, asked)
    with registry.request_queues.of_player("deep").reading():
        there = await health.check(await registry.get("deep"))
    clock.ms = 9_000
    for _ in range(5):
        gone = await health.check(await registry.get("deep"))
    assert (there.is_there, there.player.seen_ms) == (True, 1_000)
    assert (gone.is_there, gone.player.seen_ms, gone.player.status) == (False, 1_000, "ok")
    assert asked.urls == []


async def test_a_player_that_may_be_free_is_announced(registry: Registry, asked: Asked, changes: list[str]) -> None:
    await registry.register("deep", "ada", URL)
    await registry.store.set_info(await registry.get("deep"), {"status": "busy"}, 1)
    changes.clear()
    health = checks(registry, asked)
    await health.check_all()
    await health.check_all()
    assert (changes, await registry.is_free("deep", 0)) == (["change"], True)


async def test_a_player_that_was_removed_meanwhile_does_no_harm(registry: Registry, asked: Asked) -> None:
    row = await registry.register("deep", "ada", URL)

    class Removing(Asked):
        async def __call__(self, url: str) -> PlayerInfo:
            await registry.store.delete("deep")
            return ANSWER

    await checks(registry, Removing()).check_all()
    with pytest.raises(UnknownPlayerError):
        await checks(registry, asked).check(row)


async def test_a_pause_by_the_owner_while_the_player_is_asked_goes_on(registry: Registry, asked: Asked) -> None:
    await registry.register("deep", "ada", URL)
    await registry.pause("deep", SILENT)

    async def ask(url: str) -> PlayerInfo:
        await registry.pause("deep", "by ada")
        return await asked(url)

    await checks(registry, ask).check_all()
    row = await registry.get("deep")
    assert (row.status, row.pause_reason, row.info) == ("paused", "by ada", KEPT)


async def test_a_pause_by_the_owner_while_the_player_is_silent_keeps_its_reason(registry: Registry) -> None:
    await registry.register("deep", "ada", URL)

    async def ask(_url: str) -> PlayerInfo:
        await registry.pause("deep", "by ada")
        return SILENCE

    await HealthChecks(registry, no_matches, ask, HealthSettings(max_silences=1)).check_all()
    assert (await registry.get("deep")).pause_reason == "by ada"


async def test_what_an_address_says_that_the_player_has_left_is_not_kept(registry: Registry) -> None:
    await registry.register("deep", "ada", URL)

    async def ask(_url: str) -> PlayerInfo:
        await registry.change("deep", "http://127.0.0.1:2", wishes=PlayerWishes(version="2.0"))
        return PlayerInfo(URL, InfoReply("Deep", None, (("version", "1.0"),)), "INFO")

    await checks(registry, ask).check_all()
    row = await registry.get("deep")
    assert (row.url, row.version, row.info, row.seen_ms) == ("http://127.0.0.1:2", "2.0", None, None)


async def test_who_only_says_busy_is_paused_and_plays_again_when_it_would(registry: Registry) -> None:
    said = [Status.BUSY] * 4 + [Status.AVAILABLE]
    await registry.register("deep", "ada", URL)

    async def ask(_url: str) -> PlayerInfo:
        return PlayerInfo(URL, InfoReply("Deep", said.pop(0)), "INFO")

    checking = HealthChecks(registry, no_matches, ask)
    states = []
    for _ in range(5):
        await checking.check_all()
        row = await registry.get("deep")
        states.append((row.status, row.pause_reason))
    assert states == [("ok", "")] * 2 + [("paused", ALWAYS_BUSY)] * 2 + [("ok", "")]


async def no_matches() -> Mapping[str, int]:
    return {}


async def test_a_version_that_a_player_tells_begins_a_new_one(registry: Registry) -> None:
    async def told(_url: str) -> PlayerInfo:
        return PlayerInfo(URL, InfoReply("Deep", None, (("version", "2.1" + "x" * 100),)), "INFO")

    async def count_matches() -> Mapping[str, int]:
        return {}

    await registry.register("deep", "ada", URL, wishes=PlayerWishes(version="1.0"))
    assert (await registry.get("deep")).version == "1.0"
    await HealthChecks(registry, count_matches, told).check_all()
    assert (await registry.get("deep")).version == "2.1" + "x" * 57
