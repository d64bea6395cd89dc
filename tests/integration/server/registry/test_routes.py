"""The API of registered players, over real sockets: what their owners may do, and no other caller."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from server.principal import Role
from server.storage.database import Database
from tests.kit.server.peers import listening, replying
from tests.kit.server.registry.host import Caller, Host, hosting

PLAYERS = "/api/v1/players"


@pytest.fixture
async def host(sqlite: Database) -> AsyncIterator[Host]:
    """Return a server with accounts: ada and grace may have players, hugo could order matches."""
    roles = {"ada": Role.PLAYER, "grace": Role.PLAYER, "hugo": Role.HOST, "sam": Role.SPECTATOR, "alice": Role.ADMIN}
    async with hosting(sqlite, roles, plays=False) as found:
        yield found


@pytest.fixture
def ada(host: Host) -> Caller:
    return host.caller("ada")


async def test_a_player_is_registered_and_everybody_sees_it(host: Host, ada: Caller) -> None:
    made = await ada.ask("POST", PLAYERS, {"name": "deep", "url": "http://127.0.0.1:1", "maxMatches": 2})
    seen = await host.caller("grace").ask("GET", f"{PLAYERS}/deep")
    told = {
        "name": "deep", "kind": "http", "owner": "ada", "status": "ok", "pauseReason": "", "maxMatches": 2,
        "createdMs": made[1]["createdMs"], "seenMs": None, "canPlay": True, "allowsChallenges": False,
        "joinsLadder": True,
    }  # fmt: skip
    assert (made, seen) == ((201, told | {"url": "http://127.0.0.1:1"}), (200, told | {"results": []}))
    assert await host.caller().ask("GET", PLAYERS) == (200, {"players": [told]})


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"name": "mcts"}, (400, "invalid_name")),
        ({"name": "<script>"}, (400, "invalid_name")),
        ({"name": "deep"}, (409, "name_taken")),
        ({"name": "blue", "url": "cmd:ls"}, (400, "invalid_player")),
        ({"name": "blue", "maxMatches": 0}, (400, "invalid_body")),
        ({"name": "blue", "maxMatch": 1}, (400, "invalid_body")),
        ({}, (400, "invalid_body")),
    ],
)
async def test_what_cannot_be_registered(ada: Caller, body: object, refusal: object) -> None:
    await ada.ask("POST", PLAYERS, {"name": "deep"})
    assert await ada.ask("POST", PLAYERS, body) == refusal


@pytest.mark.parametrize("name", ["sam", ""])
async def test_spectators_register_no_player(host: Host, name: str) -> None:
    status, _ = await host.caller(name).ask("POST", PLAYERS, {"name": "deep"})
    assert status in (401, 403)


OWNERS_ONLY = [
    ("PATCH", "", {"maxMatches": 3}),
    ("DELETE", "", None),
    ("POST", "/pause", {}),
    ("POST", "/resume", None),
    ("GET", "/requests", None),
    ("GET", "/letters", None),
    ("POST", "/replies", {"request": "m:0:PLAY", "text": "noop"}),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("method", "path", "body"), OWNERS_ONLY)
async def test_a_player_is_its_owners_alone(host: Host, ada: Caller, method: str, path: str, body: object) -> None:
    await ada.ask("POST", PLAYERS, {"name": "deep"})
    refused = [await host.caller(name).ask(method, f"{PLAYERS}/deep{path}", body) for name in ("grace", "hugo", "sam")]
    assert refused == [(403, "forbidden")] * 3
    assert (await host.caller().ask(method, f"{PLAYERS}/deep{path}", body))[0] == 401


@pytest.mark.parametrize(("method", "path", "body"), OWNERS_ONLY)
async def test_who_is_not_registered(ada: Caller, method: str, path: str, body: object) -> None:
    assert await ada.ask(method, f"{PLAYERS}/deep{path}", body) == (404, "not_registered")


async def test_administrators_command_every_player(host: Host, ada: Caller) -> None:
    await ada.ask("POST", PLAYERS, {"name": "deep"})
    alice = host.caller("alice")
    said = [
        (await alice.ask("POST", f"{PLAYERS}/deep/pause", {"reason": "too loud"}))[1]["pauseReason"],
        (await alice.ask("POST", f"{PLAYERS}/deep/resume"))[1]["status"],
        (await alice.ask("PATCH", f"{PLAYERS}/deep", {"maxMatches": 5}))[1]["maxMatches"],
        await alice.ask("DELETE", f"{PLAYERS}/deep"),
        await alice.ask("GET", f"{PLAYERS}/deep"),
    ]
    assert said == ["too loud", "ok", 5, (204, None), (404, "not_registered")]


async def test_a_player_is_asked_who_it_is(host: Host, ada: Caller) -> None:
    async with listening(replying(lambda _: "((name Deep) (status available))")) as url:
        await ada.ask("POST", PLAYERS, {"name": "deep", "url": url})
        status, health = await ada.ask("GET", f"{PLAYERS}/deep/info")
    assert (status, health["isThere"], health["trouble"]) == (200, True, [])
    assert health["player"]["info"] == {"name": "Deep", "status": "available", "answered": "INFO"}
    status, health = await host.caller("grace").ask("GET", f"{PLAYERS}/deep/info")
    assert (status, health["isThere"], health["trouble"]) == (200, False, [])
