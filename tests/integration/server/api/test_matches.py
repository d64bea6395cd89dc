"""Matches over HTTP: what is ordered, listed, shown, aborted and refused."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from yarl import URL

from gdl.worker import ChildLimits
from server.hosting import referees
from server.hosting.settings import GameManagerSettings
from tests.kit.server.api.whole_server import MATCHES, Client, manager_of, ordered, record, refused, told, whole_server
from tests.kit.server.peers import listening, replying


async def test_a_match_is_played_and_listed(client: Client, noop: str) -> None:
    url = await ordered(client, game="tictactoe", players={"x": noop, "o": noop}, seed=5)
    found = await record(client, url)
    [listed] = (await told(await client.get(MATCHES)))["matches"]
    assert (found["isCompleted"], found["x-seed"]) == (True, 5)
    host = noop.removeprefix("http://").rstrip("/")
    times = {name: listed[name] for name in ("created", "started", "ended")}
    n_errors = sum(error != "" for step in found["errors"] for error in step)
    assert listed == times | {
        "id": found["matchId"],
        "status": "completed",
        "steps": len(found["moves"]),
        "errors": n_errors,
        "startClock": 20,
        "playClock": 20,
        "isHidden": False,
        "game": "tictactoe",
        "players": {"x": host, "o": host},
        "result": dict(zip(("x", "o"), found["goalValues"], strict=True)),
    }


async def test_rules_may_be_sent_along(client: Client, noop: str) -> None:
    rules = "(role a) (init (p)) (legal a go) (<= terminal (not (true (p)))) (goal a 100)"
    found = await record(client, await ordered(client, rules=rules, players={"a": noop}))
    assert (found["isCompleted"], found["goalValues"], found["x-rules"]) == (True, [100], rules)


async def test_a_player_may_be_spoken_to_in_a_way_of_its_own(client: Client) -> None:
    players = {"x": {"player": "legal", "case": "upper", "grace": 2, "scramble": True}, "o": "legal"}
    found = await record(client, await ordered(client, game="tictactoe", players=players, grace=3))
    ways = [(seat["case"], seat["graceMs"], seat["isScrambled"]) for seat in found["x-seats"]]
    assert ways == [("upper", 2000, True), ("as is", 3000, False)]
    assert {error for step in found["errors"] for error in step} == {""}


async def test_a_running_match_is_public_as_far_as_it_helps_no_player(client: Client, thinker: str) -> None:
    players = {key: {"player": thinker, "maxMatches": 2} for key in ("x", "o")}
    plain = await ordered(client, game="tictactoe", players=players)
    scrambled = await ordered(client, game="tictactoe", players=players, scramble=True)
    shown = [await record(client, url, "running") for url in (plain, scrambled)]
    assert [("x-rules" in found, "x-seed" in found, "x-wire" in found) for found in shown] == [
        (True, False, False),
        (False, False, False),
    ]
    listed = (await told(await client.get(MATCHES)))["matches"]
    assert [entry.get("game") for entry in listed] == [None, "tictactoe"]
    of_game = await told(await client.get(MATCHES, params={"game": "tictactoe"}))
    assert [f"{MATCHES}/{entry['id']}" for entry in of_game["matches"]] == [plain]


async def test_what_is_too_much_at_once_waits(client: Client, thinker: str) -> None:
    order = {"game": "tictactoe", "players": {key: {"player": thinker, "maxMatches": 9} for key in ("x", "o")}}
    urls = [await ordered(client, **order) for _ in range(3)]
    await record(client, urls[1], "running")
    listed = (await told(await client.get(MATCHES, params={"status": "queued"})))["matches"]
    assert [f"{MATCHES}/{entry['id']}" for entry in listed] == [urls[2]]
    assert (await record(client, urls[2], "queued")) == {
        "matchId": listed[0]["id"], "isCompleted": False, "isAborted": False, "x-status": "queued"
    }  # fmt: skip


async def test_an_address_plays_one_match_at_a_time_unless_the_order_says_otherwise(
    client: Client, thinker: str
) -> None:
    def seats(n: int) -> dict[str, dict[str, object]]:
        return {key: {"player": thinker, "maxMatches": n} for key in ("x", "o")}

    plain = {"x": thinker, "o": thinker}
    urls = [await ordered(client, game="tictactoe", players=players) for players in (plain, plain, seats(2), seats(2))]
    await record(client, urls[0], "running")
    await record(client, urls[2], "running")
    listed = (await told(await client.get(MATCHES, params={"status": "queued"})))["matches"]
    assert [f"{MATCHES}/{entry['id']}" for entry in listed] == [urls[3], urls[1]]


async def test_a_queue_that_is_full_takes_no_more(tmp_path: Path, thinker: str) -> None:
    order = {"game": "tictactoe", "players": {"x": thinker, "o": thinker}}
    async with whole_server(tmp_path, GameManagerSettings(max_running=1, max_queued=1)) as (client, _):
        await record(client, await ordered(client, **order), "running")
        await ordered(client, **order)
        status, error = await refused(await client.post(MATCHES, json=order))
    assert (status, error["code"]) == (503, "too_many_matches")


async def test_a_server_that_shuts_down_takes_no_more_orders_and_says_so(tmp_path: Path) -> None:
    order = {"game": "tictactoe", "players": {"x": "random", "o": "random"}}
    async with whole_server(tmp_path) as (client, _):
        manager_of(client).stop_starting()
        refusal = await refused(await client.post(MATCHES, json=order))
    message = "the server shuts down, and takes no more orders"
    assert refusal == (503, {"code": "shutting_down", "message": message, "hint": "order it when the server is back"})


async def test_lists_come_in_pages(client: Client, thinker: str) -> None:
    order = {"game": "nim", "players": {"left": thinker, "right": thinker}}
    urls = [await ordered(client, **order, tournament=name) for name in ("spring", "autumn", "spring")]
    first = await told(await client.get(MATCHES, params={"limit": "2"}))
    second = await told(await client.get(MATCHES, params={"limit": "2", "before": first["next"]}))
    ids = [f"{MATCHES}/{entry['id']}" for entry in first["matches"] + second["matches"]]
    assert (ids, "next" in second) == (urls[::-1], False)
    assert "next" not in await told(await client.get(MATCHES, params={"limit": str(len(urls))}))
    spring = await told(await client.get(MATCHES, params={"tournament": "spring"}))
    assert [entry["tournament"] for entry in spring["matches"]] == ["spring", "spring"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("status", ["running", "queued"])
async def test_abort(client: Client, thinker: str, status: str) -> None:
    order = {"game": "tictactoe", "players": {"x": thinker, "o": thinker}}
    urls = [await ordered(client, **order) for _ in range(3 if status == "queued" else 1)]
    await record(client, urls[-1], status)
    answer = await told(await client.post(f"{urls[-1]}/abort"), 202)
    assert answer["aborted"]
    found = await record(client, urls[-1], "over" if status == "running" else "aborted")
    assert found["isAborted"]
    assert (await refused(await client.post(f"{urls[-1]}/abort")))[1]["code"] == "match_is_over"


async def test_a_state_of_a_match(client: Client, noop: str) -> None:
    url = await ordered(client, game="tictactoe", players={"x": noop, "o": noop}, seed=5)
    whole = await record(client, url)
    found = await told(await client.get(f"{url}/states/1"))
    facts = sorted(fact for fact in found["facts"] if fact.startswith("(control"))
    errors = dict(zip(("x", "o"), whole["errors"][2], strict=True))
    assert (found["step"], facts, found["errors"]) == (1, ["(control o)"], errors)
    assert found["moves"] == {"x": "noop", "o": whole["moves"][1][1]}
    status, error = await refused(await client.get(f"{url}/states/99"))
    assert (status, error["code"]) == (404, "unknown_step")


@pytest.mark.exhaustive
async def test_a_match_begins_at_a_step_of_another(client: Client, noop: str) -> None:
    players = {"x": noop, "o": noop}
    before = await record(client, await ordered(client, game="tictactoe", players=players, seed=5))
    url = await ordered(client, **{"from": {"match": before["matchId"], "step": 3}}, players=players, seed=6)
    after = await record(client, url)
    assert (after["isCompleted"], after["states"][0]) == (True, before["states"][3])
    [listed] = (await told(await client.get(MATCHES, params={"limit": "1"})))["matches"]
    assert listed["from"] == {"match": before["matchId"], "step": 3}


async def test_a_match_begins_at_a_step_of_a_record(client: Client, noop: str) -> None:
    players = {"x": noop, "o": noop}
    before = await record(client, await ordered(client, game="tictactoe", players=players, seed=5))
    kept = {name: before[name] for name in ("matchId", "states", "moves", "x-rules")}
    after = await record(client, await ordered(client, **{"from": {"record": kept, "step": 2}}, players=players))
    assert (after["isCompleted"], after["states"][0]) == (True, before["states"][2])


async def test_the_rules_of_a_record_cost_the_server_itself_nothing(
    client: Client, noop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = "(role a) (init (p)) (legal a go) (<= terminal (not (true (p)))) (goal a 100)"
    begin = {"record": {"matchId": "m", "states": ["( ( p ) )"], "x-rules": rules}, "step": 0}
    await ordered(client, **{"from": begin}, players={"a": noop})  # from now on the rules are known
    monkeypatch.setattr(referees, "_OUTLINE_LIMITS", ChildLimits(max_seconds=0.0))
    found = await refused(await client.post(MATCHES, json={"from": begin, "players": {"a": noop}}))
    assert (found[0], found[1]["code"]) == (400, "rules_too_costly")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("called", "kept"), [(" \t", "record"), ("a\u202eb", "ab"), (101 * "a", 100 * "a")])
async def test_a_record_may_be_called_anything(client: Client, noop: str, called: str, kept: str) -> None:
    rules = "(role a) (init (p)) (legal a go) (<= terminal (not (true (p)))) (goal a 100)"
    begin = {"record": {"matchId": called, "states": ["( ( p ) )"], "x-rules": rules}, "step": 0}
    await ordered(client, **{"from": begin}, players={"a": noop})
    [listed] = (await told(await client.get(MATCHES)))["matches"]
    assert listed["from"] == {"match": kept, "step": 0}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("role", ["e\u0301", "\u200e", 150 * "a"], ids=["decomposed", "invisible", "long"])
async def test_a_role_is_called_as_the_rules_write_it(client: Client, noop: str, role: str) -> None:
    rules = f"(role {role}) (init (p)) (legal {role} go) (<= terminal (not (true (p)))) (goal {role} 100)"
    url = await ordered(client, rules=rules, players={role: noop})
    whole = await record(client, url)
    state = await told(await client.get(f"{url}/states/0", params={"role": role}))
    lines = (await told(await client.get(f"{url}/seats/{role}/transcript")))["lines"]
    assert (whole["playerNamesFromHost"], whole["x-roles"], state["roles"]) == ([URL(noop).authority], [role], [role])
    assert {line["role"] for line in lines} == {role}


BEGINNINGS: list[tuple[object, int, str, str]] = [
    ({"from": {"match": "none", "step": 1}}, 404, "unknown_match", "no match"),
    ({"from": {"step": 1}}, 400, "invalid_order", "from: either `match`"),
    ({"from": {"match": "a", "record": {}, "step": 1}}, 400, "invalid_order", "from: either `match`"),
    ({"game": "nim", "from": {"match": "a", "step": 1}}, 400, "invalid_order", "what begins at a step"),
    ({"from": {"record": {}, "step": 0}}, 400, "invalid_order", "from.record: no match record"),
    ({"from": {"record": {"states": []}, "step": 0}}, 400, "invalid_order", "from.record: there are no rules"),
    (
        {"from": {"record": {"states": ["("], "x-rules": "(role a)"}, "step": 0}},
        400,
        "invalid_order",
        "from.record",
    ),
    ({"from": {"record": {"states": ["()"], "x-rules": "(role a"}, "step": 0}}, 400, "rules_refused", "this paren"),
]


@pytest.mark.exhaustive
async def test_a_beginning_that_is_none_is_refused(client: Client) -> None:
    found = []
    for order, _, _, says in BEGINNINGS:
        status, error = await refused(await client.post(MATCHES, json=order))
        found.append((order, status, error["code"], error["message"][: len(says)]))
    assert found == BEGINNINGS


async def test_the_transcript_of_a_seat(client: Client, noop: str) -> None:
    url = await ordered(client, game="tictactoe", players={"x": noop, "o": noop}, seed=5)
    whole = await record(client, url)
    lines = (await told(await client.get(f"{url}/seats/x/transcript")))["lines"]
    assert lines == [line for line in whole["x-wire"] if line["role"] == "x"]
    assert (await refused(await client.get(f"{url}/seats/z/transcript")))[0] == 404


async def test_a_player_is_asked_who_it_is(client: Client) -> None:
    async with listening(replying(lambda body: "busy" if body == "(PING)" else "(((")) as url:
        found = await told(await client.get("/api/v1/info", params={"player": url}))
    assert (found["name"], found["status"], found["answered"], len(found["trouble"])) == (None, "busy", "PING", 1)


async def test_only_an_address_can_be_asked(client: Client) -> None:
    status, error = await refused(await client.get("/api/v1/info", params={"player": "cmd:true"}))
    assert (status, error["code"]) == (400, "invalid_player")


REFUSED: list[tuple[object, str, str]] = [
    ([], "invalid_order", "must have keys and values"),
    ({}, "invalid_order", "either `game`"),
    ({"game": "nim", "rules": "(role a)"}, "invalid_order", "either `game`"),
    ({"game": "nim", "clock": 1}, "invalid_order", "clock: unknown key"),
    ({"game": "nim", "startclock": 1}, "invalid_order", "startclock: unknown key"),
    ({"game": "nim", "playClock": 0}, "invalid_order", "playClock:"),
    ({"game": "nim", "playClock": 10**30}, "invalid_order", "playClock:"),
    ({"game": "nim", "grace": float("nan")}, "invalid_order", "grace:"),
    ({"game": "nim", "seed": -1}, "invalid_order", "seed:"),
    ({"game": "nim", "players": {"left": 1}}, "invalid_order", "players.left"),
    ({"game": "nim", "players": {"": "legal"}}, "invalid_order", 'players."": the key must have 1 or more characters'),
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
    (
        {"game": "nim", "players": {"left": "mcts:playouts=print(1)"}},
        "invalid_player",
        "over HTTP its option playouts takes",
    ),
    ({"game": "nim", "players": {"left": "mcts:playouts=0"}}, "invalid_player", "playouts are at least 1"),
    ({"game": "nim", "players": {"left": "llm"}}, "invalid_player", "set GGP_LLM_URL"),
    ({"game": "nim", "players": {"left": "http://"}}, "invalid_player", "http://host:port"),
    ({"game": "nim", "players": {"left": "file:///etc/passwd"}}, "invalid_player", "over HTTP a player is"),
    ({"rules": "(role a"}, "rules_refused", "this parenthesis is never closed"),
    ({"rules": "(<= (p ?x) (not (q ?x)))"}, "rules_refused", "?x"),
]


async def test_what_cannot_be_played_is_refused_in_one_shape(client: Client) -> None:
    found = []
    for order, _, says in REFUSED:
        body = json.dumps(order)
        answer = await client.post(MATCHES, data=body, headers={"Content-Type": "application/json"})
        status, error = await refused(answer)
        found.append((body, status, error["code"], says in error["message"]))
    assert found == [(json.dumps(order), 400, code, True) for order, code, _ in REFUSED]
    assert await manager_of(client).matches.listed() == []


NOT_THERE = [
    ("GET", "/api/v1", 404, "not_found"),
    ("GET", "/api/v1/matches/none", 404, "unknown_match"),
    ("GET", "/api/v1/matches/..%2fsecret", 404, "unknown_match"),
    ("GET", "/api/v1/matches/%00", 404, "unknown_match"),
    ("GET", "/api/v1/matches/%ff", 404, "unknown_match"),
    ("GET", "/api/v1/matches/none/states/0", 404, "unknown_match"),
    ("GET", "/api/v1/matches/none/seats/x/transcript", 404, "unknown_match"),
    ("GET", "/api/v1/matches/none/events", 404, "unknown_match"),
    ("GET", "/api/v1/matches/none/journal", 404, "unknown_match"),
    ("GET", "/api/v1/matches?before=none", 404, "unknown_match"),
    ("POST", "/api/v1/matches/none/abort", 404, "unknown_match"),
    ("DELETE", "/api/v1/matches", 405, "method_not_allowed"),
]


@pytest.mark.parametrize(
    ("player", "meant"), [("deep_blue", "deep-blue"), ("mctss", "mcts or mctss-ann"), ("Deep-Blue.2", "deep-blue")]
)
async def test_a_misspelt_player_may_be_one_that_is_registered(client: Client, player: str, meant: str) -> None:
    for name in ("deep-blue", "mctss-ann"):
        await told(await client.post("/api/v1/players", json={"name": name}), 201)
    answer = await client.post(MATCHES, json={"game": "nim", "players": {"left": player}})
    status, error = await refused(answer)
    assert (status, error["code"], error["message"]) == (
        400, "unknown_player", f"no player {player!r}; did you mean {meant}?",
    )  # fmt: skip


async def test_what_is_not_there(client: Client) -> None:
    found = []
    for method, path, _, _ in NOT_THERE:
        status, error = await refused(await client.request(method, URL(path, encoded=True)))
        found.append((method, path, status, error["code"]))
    assert found == NOT_THERE


BODIES = [
    (b"{", "application/json", 400, "invalid_json"),
    (b"[" * 100_000, "application/json", 400, "invalid_json"),
    (b"\xff", "application/json", 400, "invalid_json"),
    (b'{"game": "nim"}', "text/plain", 415, "unsupported_media_type"),
    (b" " * 2_000_001, "application/json", 413, "too_large"),
]


async def test_bodies_that_are_no_order(client: Client) -> None:
    found = []
    for body, content_type, _, _ in BODIES:
        answer = await client.post(MATCHES, data=io.BytesIO(body), headers={"Content-Type": content_type})
        status, error = await refused(answer)
        found.append((body, content_type, status, error["code"]))
    assert found == BODIES
