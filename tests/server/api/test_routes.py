"""The HTTP API of the game manager: what it starts, lists, shows, aborts and refuses."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from server.api.routes import make_app
from server.hosting.matches import Matches
from server.records.journal import Recorder
from tests.server.peers import listening, replying
from tests.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, turns

Client: TypeAlias = TestClient[web.Request, web.Application]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with TestClient(TestServer(make_app(Matches(tmp_path, max_running=2)))) as found:
        yield found


@pytest.fixture
async def thinker() -> AsyncIterator[str]:
    """Yield the address of a player that thinks for as long as it may."""

    async def think(request: web.Request) -> web.Response:
        if (await request.text()).startswith("(PLAY"):
            await asyncio.sleep(60)
        return web.Response(text="ready")

    app = web.Application()
    app.router.add_post("/", think)
    server = TestServer(app)
    await server.start_server(shutdown_timeout=0.1)
    yield str(server.make_url("/"))
    await server.close()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def started(client: Client, **order: object) -> str:
    answer = await client.post("/api/v1/matches", json={"startClock": 20, "playClock": 20} | order)
    body = await answer.json()
    assert (answer.status, answer.headers["Location"]) == (201, body["url"])
    return str(body["url"])


async def record(client: Client, url: str, until: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            found: dict[str, Any] = await (await client.get(url)).json()
            if found.get("x-status", "over") == until:
                return found
            await asyncio.sleep(0.05)


async def error(answer: aiohttp.ClientResponse) -> tuple[int, dict[str, str]]:
    body = await answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) >= {"code", "message", "hint"}
    return answer.status, body["error"]


async def test_a_match_is_played_and_its_record_is_the_file_s(client: Client, tmp_path: Path) -> None:
    url = await started(client, game="tictactoe", players={"x": "legal", "o": "legal"}, seed=5)
    found = await record(client, url, "over")
    stored = json.loads((tmp_path / f"{found['matchId']}.json").read_text())
    assert (found, found["isCompleted"], found["x-seed"]) == (stored, True, 5)
    listed = (await (await client.get("/api/v1/matches")).json())["matches"]
    assert listed == [
        {
            "id": found["matchId"],
            "status": "completed",
            "steps": len(found["moves"]),
            "startClock": 20,
            "playClock": 20,
            "game": "tictactoe",
            "players": {"x": "legal", "o": "legal"},
            "result": dict(zip(("x", "o"), found["goalValues"], strict=True)),
        }
    ]


async def test_rules_may_be_sent_along(client: Client) -> None:
    rules = "(role a) (init (p)) (legal a go) (<= terminal (not (true p))) (goal a 100)"
    found = await record(client, await started(client, rules=rules, players={"a": "legal"}), "over")
    assert (found["isCompleted"], found["goalValues"], found["x-rules"]) == (True, [100], rules)


async def test_a_player_may_be_spoken_to_in_a_way_of_its_own(client: Client) -> None:
    players = {"x": {"player": "legal", "case": "upper", "grace": 2, "scramble": True}, "o": "legal"}
    found = await record(client, await started(client, game="tictactoe", players=players, grace=3), "over")
    ways = [(seat["case"], seat["graceMs"], seat["isScrambled"]) for seat in found["x-seats"]]
    assert ways == [("upper", 2000, True), ("as is", 3000, False)]
    assert {error for step in found["errors"] for error in step} == {""}


async def test_the_games_of_the_library(client: Client) -> None:
    assert "tictactoe" in (await (await client.get("/api/v1/games")).json())["games"]


async def test_a_player_is_asked_who_it_is(client: Client) -> None:
    async with listening(replying(lambda body: "busy" if body == "(PING)" else "(((")) as url:
        told = await (await client.get("/api/v1/info", params={"player": url})).json()
    assert (told["name"], told["status"], told["answered"], len(told["trouble"])) == (None, "busy", "PING", 1)


async def test_only_an_address_can_be_asked(client: Client) -> None:
    status, told = await error(await client.get("/api/v1/info", params={"player": "cmd:true"}))
    assert (status, told["code"]) == (400, "invalid_player")


async def test_a_running_match_is_public_as_far_as_it_helps_nobody(client: Client, thinker: str) -> None:
    players = {"x": thinker, "o": thinker}
    plain = await started(client, game="tictactoe", players=players)
    scrambled = await started(client, game="tictactoe", players=players, scramble=True)
    shown = [await record(client, url, "running") for url in (plain, scrambled)]
    assert [("x-rules" in found, "x-seed" in found, "x-wire" in found) for found in shown] == [
        (True, False, False),
        (False, False, False),
    ]
    listed = (await (await client.get("/api/v1/matches")).json())["matches"]
    assert [entry.get("game") for entry in listed] == [None, "tictactoe"]


async def test_abort(client: Client, thinker: str) -> None:
    url = await started(client, game="tictactoe", players={"x": thinker, "o": thinker})
    await record(client, url, "running")
    answer = await client.post(f"{url}/abort")
    assert (answer.status, (await answer.json())["aborted"]) == (202, True)
    found = await record(client, url, "over")
    assert (found["isAborted"], found["x-end"]["reason"]) == (True, "aborted through the API")
    assert (await error(await client.post(f"{url}/abort")))[1]["code"] == "match_is_over"


async def test_many_matches_at_once(tmp_path: Path) -> None:
    n_waiting, all_are_waiting = 0, asyncio.Event()

    async def wait_for_all(request: web.Request) -> web.Response:
        nonlocal n_waiting
        if (await request.text()).startswith("(PLAY"):
            n_waiting += 1
            if n_waiting == 60:
                all_are_waiting.set()
            await all_are_waiting.wait()
        return web.Response(text="noop")

    app = web.Application()
    app.router.add_post("/", wait_for_all)
    player = TestServer(app)
    await player.start_server()
    async with TestClient(TestServer(make_app(Matches(tmp_path, max_running=30)))) as client:
        players = {role: str(player.make_url("/")) for role in ("x", "o")}
        urls = [await started(client, game="tictactoe", players=players) for _ in range(30)]
        records = [await record(client, url, "over") for url in urls]
    await player.close()
    assert [found["isCompleted"] for found in records] == [True] * 30
    assert not [
        error for found in records for step in found["errors"] for error in step if error.startswith(("T", "C"))
    ]


async def test_no_more_matches_than_may_be_played_at_once(client: Client, thinker: str) -> None:
    order = {"game": "tictactoe", "players": {"x": thinker, "o": thinker}}
    for _ in range(2):
        await started(client, **order)
    status, told = await error(await client.post("/api/v1/matches", json=order))
    assert (status, told["code"]) == (503, "too_many_matches")


async def test_shutting_down_aborts_and_records_what_is_played(tmp_path: Path, thinker: str) -> None:
    async with TestClient(TestServer(make_app(Matches(tmp_path)))) as client:
        url = await started(client, game="tictactoe", players={"x": thinker, "o": thinker})
        match_id = (await record(client, url, "running"))["matchId"]
    stored = json.loads((tmp_path / f"{match_id}.json").read_text())
    assert (stored["isAborted"], stored["x-end"]["reason"]) == (True, "the game manager shuts down")
    assert files(tmp_path) == [f"{match_id}.json"]


async def test_records_of_an_earlier_process_are_there(client: Client, tmp_path: Path) -> None:
    (tmp_path / "m.1.json").write_text('{"matchId": "m.1"}')
    listed = (await (await client.get("/api/v1/matches")).json())["matches"]
    assert listed == [{"id": "m.1", "status": "recorded"}]
    assert await (await client.get("/api/v1/matches/m.1")).json() == {"matchId": "m.1"}


async def test_a_match_that_a_crash_interrupted_is_there_without_what_helps_a_player(
    client: Client, tmp_path: Path
) -> None:
    recorder = Recorder(CIRCUMSTANCES, tmp_path / "match.m1.json")
    for event in list(events(turns(), TURNS_MOVES))[:12]:
        recorder.take(event)
    recorder.close()
    listed = (await (await client.get("/api/v1/matches")).json())["matches"]
    found = await (await client.get("/api/v1/matches/match.m1")).json()
    assert listed == [{"id": "match.m1", "status": "interrupted"}]
    assert found == recorder.record.public_view() | {"x-status": "interrupted"}
    assert "x-seed" not in found


REFUSED: list[tuple[object, str, str]] = [
    ([], "invalid_order", "Input should be"),
    ({}, "invalid_order", "either `game`"),
    ({"game": "nim", "rules": "(role a)"}, "invalid_order", "either `game`"),
    ({"game": "nim", "clock": 1}, "invalid_order", "clock: unknown key"),
    ({"game": "nim", "startclock": 1}, "invalid_order", "startclock: unknown key"),
    ({"game": "nim", "playClock": 0}, "invalid_order", "playClock:"),
    ({"game": "nim", "playClock": 10**30}, "invalid_order", "playClock:"),
    ({"game": "nim", "grace": float("nan")}, "invalid_order", "grace:"),
    ({"game": "nim", "seed": -1}, "invalid_order", "seed:"),
    ({"game": "nim", "players": {"left": 1}}, "invalid_order", "players.left"),
    ({"game": "nim", "players": {"left": {"case": "upper"}}}, "invalid_order", "players.left"),
    ({"game": "nim", "players": {"left": {"player": "cmd:true"}}}, "invalid_player", "over HTTP a player is"),
    ({"game": "nimm"}, "unknown_game", "did you mean nim?"),
    ({"game": "rules/nim/nim.kif"}, "unknown_game", "no game"),
    ({"game": "nim", "players": {"centre": "legal"}}, "unknown_role", "no role"),
    ({"game": "nim", "players": {"left": "legl"}}, "unknown_player", "did you mean legal?"),
    ({"game": "nim", "players": {"left": "cmd:true"}}, "invalid_player", "over HTTP a player is"),
    ({"game": "nim", "players": {"left": "cmd+legal:true"}}, "invalid_player", "over HTTP a player is"),
    ({"game": "nim", "players": {"left": "player.py"}}, "invalid_player", "over HTTP a player is"),
    ({"game": "nim", "players": {"left": "os:system"}}, "invalid_player", "over HTTP a player is"),
    ({"game": "nim", "players": {"left": "mcts:playouts=print(1)"}}, "invalid_player", "over HTTP a player is"),
    ({"game": "nim", "players": {"left": "human"}}, "invalid_player", "a person plays"),
    ({"game": "nim", "players": {"left": "http://"}}, "invalid_player", "http://host:port"),
    ({"game": "nim", "players": {"left": "file:///etc/passwd"}}, "invalid_player", "over HTTP a player is"),
    ({"rules": "(role a"}, "rules_refused", "this parenthesis is never closed"),
    ({"rules": "(<= (p ?x) (not (q ?x)))"}, "rules_refused", "?x"),
]


@pytest.mark.parametrize(("order", "code", "says"), REFUSED)
async def test_what_cannot_be_played_is_refused_in_one_shape(
    client: Client, tmp_path: Path, order: object, code: str, says: str
) -> None:
    answer = await client.post("/api/v1/matches", data=json.dumps(order), headers={"Content-Type": "application/json"})
    status, told = await error(answer)
    assert (status, told["code"], says in told["message"]) == (400, code, True)
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "not_found"),
        ("GET", "/api/v1/matches/none", 404, "unknown_match"),
        ("GET", "/api/v1/matches/..%2fsecret", 404, "unknown_match"),
        ("GET", "/api/v1/matches/%00", 404, "unknown_match"),
        ("POST", "/api/v1/matches/none/abort", 404, "unknown_match"),
        ("DELETE", "/api/v1/matches", 405, "method_not_allowed"),
    ],
)
async def test_what_is_not_there(client: Client, method: str, path: str, status: int, code: str) -> None:
    found = await error(await client.request(method, URL(path, encoded=True)))
    assert (found[0], found[1]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"{", "application/json", 400, "invalid_json"),
        (b"[" * 100_000, "application/json", 400, "invalid_json"),
        (b"\xff", "application/json", 400, "invalid_json"),
        (b'{"game": "nim"}', "text/plain", 415, "unsupported_media_type"),
        (b" " * 2_000_001, "application/json", 413, "too_large"),
    ],
)
async def test_bodies_that_are_no_order(client: Client, body: bytes, content_type: str, status: int, code: str) -> None:
    answer = await client.post("/api/v1/matches", data=io.BytesIO(body), headers={"Content-Type": content_type})
    found = await error(answer)
    assert (found[0], found[1]["code"]) == (status, code)
