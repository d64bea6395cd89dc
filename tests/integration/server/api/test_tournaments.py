"""Tournaments over HTTP: ordered, entered, played to their end, paused, annulled and cancelled."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from tests.kit import polling
from tests.kit.server.api.whole_server import Client, manager_of, refused, told, whole_server

URL = "/api/v1/tournaments"
TRIO = Path(__file__).resolve().parents[3] / "kit/server/course/trio.kif"
SWISS = {
    "name": "cup", "format": "swiss", "games": ["tictactoe"], "rounds": 3, "startClock": 1, "playClock": 1, "seed": 5,
    "players": ["legal", {"player": "random", "name": "chance"}, {"player": "legal", "name": "law"}, "random"],
}  # fmt: skip


async def order(client: Client, **changes: Any) -> Any:
    return await told(await client.post(URL, json=SWISS | changes), 201)


async def act(client: Client, what: str, name: str = "cup", **body: Any) -> Any:
    path = f"{URL}/{name}/{what}"
    return await told(await (client.post(path, json=body) if body else client.post(path)))


async def until(client: Client, is_so: Callable[[Any], bool], name: str = "cup") -> Any:
    """Return the tournament once *is_so*."""

    async def looked_at() -> Any:
        found = await told(await client.get(f"{URL}/{name}"))
        return found if is_so(found) else None

    return await polling.until(looked_at, 120, pause_s=0.1)


def is_over(found: Any) -> bool:
    return bool(found["status"] == "over")


def is_waiting(found: Any, n_matches: int) -> bool:
    """Return whether so many matches are scheduled, and the last two of them wait."""
    statuses = [one["status"] for one in found["matches"]]
    return len(statuses) == n_matches and statuses[-2:] == ["queued", "queued"]


async def test_tournaments_are_listed_page_by_page(client: Client) -> None:
    for name in ("first", "second", "third"):
        await order(client, name=name)
    newer = await told(await client.get(URL, params={"limit": "2"}))
    older = await told(await client.get(URL, params={"limit": "2", "before": newer["next"]}))
    names = [[one["name"] for one in page["tournaments"]] for page in (newer, older)]
    assert (names, newer["next"], "next" in older) == ([["third", "second"], ["first"]], "second", False)
    refused = await told(await client.get(URL, params={"before": "none"}), 404)
    assert refused["error"]["code"] == "unknown_tournament"


async def test_a_tournament_is_played_to_its_end(client: Client) -> None:
    line = await order(client)
    assert (line["status"], line["url"], line["format"]) == ("open", f"{URL}/cup", "swiss")
    assert (await told(await client.get(f"{URL}/cup")))["standings"] == []
    await act(client, "start")
    found = await until(client, is_over)
    assert [one["round"] for one in found["matches"]] == [1] * 4 + [2] * 4 + [3] * 4
    assert {one["status"] for one in found["matches"]} == {"completed"}
    assert {row["player"] for row in found["standings"]} == {"legal", "chance", "law", "random"}
    assert [row["matches"] for row in found["standings"]] == [6] * 4
    assert sum(row["score"] for row in found["standings"]) == 12
    assert found["terms"]["playClock"] == 1
    [listed] = (await told(await client.get(URL)))["tournaments"]
    assert (listed["name"], listed["status"]) == ("cup", "over")
    page = await told(await client.get("/api/v1/matches?tournament=cup&limit=200"))
    assert {one["id"] for one in page["matches"]} == {one["match"] for one in found["matches"]}


@pytest.mark.exhaustive
async def test_a_match_is_annulled_and_played_again(client: Client) -> None:
    await order(client, format="round-robin", rounds=1, players=["legal", "random"])
    await act(client, "start")
    first, second = (await until(client, is_over))["matches"]
    await act(client, f"matches/{first['match']}/annul", reason="the network was down", replay=True)
    found = await until(client, is_over)
    assert [one["match"] for one in found["matches"]] == [first["match"], second["match"], f"{first['match']}-2"]
    assert (found["matches"][0]["annulled"], found["matches"][0]["replayed"]) == ("the network was down", True)
    assert [row["matches"] for row in found["standings"]] == [2, 2]
    again = await client.post(f"{URL}/cup/matches/{first['match']}/annul", json={"reason": "again"})
    assert (await refused(again))[1]["code"] == "already_annulled"
    await act(client, f"matches/{second['match']}/annul", reason="its rules were wrong")
    assert [row["matches"] for row in (await until(client, is_over))["standings"]] == [1, 1]


async def test_who_withdraws_forfeits_and_a_pause_ends(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)  # it never dials in
    await order(client, format="round-robin", rounds=1, players=["legal", "random", "absent"])
    await act(client, "start")
    await until(client, lambda found: sum("goals" in one for one in found["matches"]) == 2)
    paused = await act(client, "pause", reason="lunch")
    assert (paused["status"], paused["reason"]) == ("paused", "lunch")
    found = await told(await client.delete(f"{URL}/cup/entries/absent"))
    lost = [one for one in found["matches"] if "absent" in one["players"]]
    assert [(one["forfeited"], sorted(one["goals"])) for one in lost] == [(["absent"], [0, 100])] * 4
    assert "reason" not in await act(client, "resume")
    found = await until(client, is_over)
    assert found["standings"][-1]["player"] == "absent"
    assert {one["status"] for one in found["matches"] if "absent" in one["players"]} == {"aborted"}


async def paused_with_a_replay(client: Client) -> tuple[str, str]:
    """Return the ids of the matches of a tournament that is paused; the first is to be played again."""
    await order(client, players=["legal", "random"], roundsBegin={"everySeconds": 1000})
    await act(client, "start")
    found = await until(client, lambda found: all("goals" in one for one in found["matches"]) and found["matches"])
    first, second = (one["match"] for one in found["matches"])
    await act(client, "pause", reason="lunch")
    await act(client, f"matches/{first}/annul", reason="a mistake", replay=True)
    return first, second


async def over_without_random(client: Client, query: str = "") -> tuple[dict[str, Any], list[tuple[Any, Any, Any]]]:
    """Withdraw an entrant of a tournament that is paused; return its end, and what became of each match."""
    await told(await client.delete(f"{URL}/cup/entries/random{query}"))
    await act(client, "resume")
    found = await until(client, is_over)
    return found, [(one["match"], one.get("annulled"), one.get("forfeited")) for one in found["matches"]]


@pytest.mark.exhaustive
async def test_what_is_played_again_after_a_withdrawal_is_forfeited(client: Client) -> None:
    first, second = await paused_with_a_replay(client)
    found, fates = await over_without_random(client)
    assert fates == [(first, "a mistake", None), (second, None, None), (f"{first}-2", None, ["random"])]
    assert [one.get("withdrawnAfter") for one in found["entrants"]] == [None, 1]  # it took part in the first round


async def test_what_is_to_be_played_again_is_annulled_with_the_other_matches(client: Client) -> None:
    first, second = await paused_with_a_replay(client)
    found, fates = await over_without_random(client, "?annul=true")
    void = "random has withdrawn"
    assert fates == [(first, "a mistake", None), (second, void, None), (f"{first}-2", void, None)]
    assert [row["matches"] for row in found["standings"]] == [0, 0]


@pytest.mark.exhaustive
async def test_a_host_who_withdraws_an_entrant_may_annul_what_it_has_played(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)  # it never dials in
    await order(client, format="round-robin", rounds=1, players=["legal", "random", "absent"])
    await act(client, "start")
    await until(client, lambda found: sum("goals" in one for one in found["matches"]) == 2)
    await told(await client.delete(f"{URL}/cup/entries/random?annul=true&reason=it%20cheats"))
    await told(await client.delete(f"{URL}/cup/entries/absent"))
    found = await until(client, is_over)
    void = [one.get("annulled") for one in found["matches"] if "random" in one["players"]]
    assert void == ["random has withdrawn: it cheats"] * len(void)
    n_counted = {row["player"]: row["matches"] for row in found["standings"]}
    assert n_counted == {"legal": 2, "absent": 2, "random": 0}


async def test_a_tournament_is_cancelled_with_its_matches(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)
    await order(client, format="round-robin", rounds=1, players=["legal", "absent"])
    await act(client, "start")
    await until(client, lambda found: bool(found["matches"]) and found["matches"][0]["status"] == "queued")
    found = await act(client, "cancel", reason="rain")
    assert (found["status"], found["reason"], {one["status"] for one in found["matches"]}) == (
        "cancelled", "rain", {"aborted"},
    )  # fmt: skip
    answer = await client.post(f"{URL}/cup/resume")
    assert (await refused(answer))[1]["code"] == "wrong_status"


async def test_a_match_that_breaks_off_is_played_again_and_the_third_time_pauses(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)
    await order(client, format="round-robin", rounds=1, players=["legal", "absent"])
    await act(client, "start")
    manager = manager_of(client)
    for attempt in (1, 2, 3):
        found = await until(client, partial(is_waiting, n_matches=2 * attempt))
        for one in found["matches"]:
            await manager.matches.request_abort(one["match"], "the hall burned")
    found = await until(client, lambda found: found["status"] == "paused")
    advice = "(annul it or have it played again, then resume)"
    assert found["reason"].endswith(f"broke off 3 times {advice}: the hall burned")
    assert [one.get("annulled") for one in found["matches"]] == ["the match broke off: the hall burned"] * 4 + [
        None
    ] * 2


@pytest.mark.exhaustive
async def test_matches_that_a_host_has_played_again_are_none_that_broke_off(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)
    await order(client, format="round-robin", rounds=1, players=["legal", "absent"])
    await act(client, "start")
    for attempt in (1, 2):
        found = await until(client, partial(is_waiting, n_matches=2 * attempt))
        for one in found["matches"][-2:]:
            await act(client, f"matches/{one['match']}/annul", reason="the rules were unclear", replay=True)
    found = await until(client, partial(is_waiting, n_matches=6))
    for one in found["matches"]:
        await manager_of(client).matches.request_abort(one["match"], "the hall burned")
    found = await until(client, partial(is_waiting, n_matches=8))
    annulled = 4 * ["the rules were unclear"] + 2 * ["the match broke off: the hall burned"] + 2 * [None]
    assert (found["status"], [one.get("annulled") for one in found["matches"]]) == ("running", annulled)


@pytest.mark.exhaustive
async def test_a_tournament_starts_by_itself_and_its_rounds_begin_by_the_clock(client: Client) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1)
    line = await order(client, starts=soon.isoformat(), roundsBegin={"everySeconds": 1}, rounds=2)
    assert (line["status"], line["starts"], line["entryCloses"]) == ("open", *[round(soon.timestamp() * 1000)] * 2)
    found = await until(client, is_over)
    assert found["timetable"] == {
        "starts": soon.isoformat().replace("+00:00", "Z"), "roundsBegin": {"everySeconds": 1.0},
    }  # fmt: skip
    assert found["interventions"] == []
    assert "nextRound" not in found


async def test_one_that_could_not_start_is_resumed_when_enough_have_entered(client: Client) -> None:
    await order(client, starts="2026-01-01T08:00:00+01:00", players=["legal"])
    found = await until(client, lambda found: found["status"] == "paused")
    assert found["reason"] == "it could not start: its games need 2 or more entrants, not 1"
    assert (await refused(await client.post(f"{URL}/cup/resume")))[1]["code"] == "wrong_entrants"
    await told(await client.post(f"{URL}/cup/entries", json={"player": "random"}), 201)
    await act(client, "resume")
    found = await until(client, is_over)
    assert [(one["kind"], one["by"]) for one in found["interventions"]] == [("resume", "local")]


async def test_a_player_is_substituted_and_all_that_a_host_did_is_listed(client: Client) -> None:
    for name in ("absent", "other"):
        await told(await client.post("/api/v1/players", json={"name": name}), 201)
    await order(client, format="round-robin", rounds=1, players=["legal", "absent"])
    await act(client, "start")
    await until(client, partial(is_waiting, n_matches=2))
    found = await act(client, "entries/absent/substitute", player="random", reason="its laptop burned")
    assert [(one["name"], one["player"]) for one in found["entrants"]] == [("legal", "legal"), ("absent", "random")]
    found = await until(client, is_over)
    assert [one.get("annulled") for one in found["matches"]] == ["random plays for absent: its laptop burned"] * 2 + [
        None
    ] * 2
    assert {row["player"]: row["matches"] for row in found["standings"]} == {"legal": 2, "absent": 2}
    match_id = found["matches"][-1]["match"]
    await act(client, f"matches/{match_id}/annul", reason="a storm")
    told_of = [{key: one[key] for key in one if key != "at"} for one in (await until(client, is_over))["interventions"]]
    assert told_of == [
        {"kind": "start", "by": "local"},
        {
            "kind": "substitute", "by": "local", "reason": "its laptop burned", "entrant": "absent",
            "player": "random",
        },
        {"kind": "annul", "by": "local", "reason": "a storm", "match": match_id},
    ]  # fmt: skip
    substitute = f"{URL}/cup/entries/absent/substitute"
    answer = await client.post(substitute, json={"player": "random", "reason": "again"})
    assert (await refused(answer))[1]["code"] == "wrong_status"


async def test_absent_players_forfeit_after_the_limit(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)
    await order(client, format="round-robin", rounds=1, players=["legal", "absent"], absenceLimit=1)
    await act(client, "start")
    found = await until(client, is_over)
    assert [(one["forfeited"], one["status"]) for one in found["matches"]] == [(["absent"], "aborted")] * 2
    assert [row["player"] for row in found["standings"]] == ["legal", "absent"]
    page = await told(await client.get(f"/api/v1/matches/{found['matches'][0]['match']}"))
    assert page["isAborted"]


async def test_a_tournament_and_its_matches_say_which_players_they_wait_for(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "away"}), 201)
    await told(await client.post("/api/v1/players/away/pause", json={}))
    await order(client, format="round-robin", rounds=1, players=["legal", "away"])
    await act(client, "start")
    found = await until(client, lambda cup: "waitsFor" in cup)
    reason = {"waitsFor": "players", "unavailable": {"away": "paused"}}
    said = [{key: one.get(key) for key in ("status", *reason)} for one in (found, *found["matches"])]
    assert said == [{"status": "running"} | reason, *[{"status": "queued"} | reason] * 2]
    substituted = await act(client, "entries/away/substitute", player="random", reason="on holiday")
    assert "waitsFor" not in substituted
    over = await until(client, is_over)
    assert {"waitsFor", "unavailable"} & (over.keys() | over["matches"][0].keys()) == set()


PLAN = """
name = "cup"                # all others are keys of `ggp tournament run`, and of the timetable
format = "swiss"
games = ["tictactoe"]
rounds = 2
start_clock = 1
play_clock = 1
forfeit_errors = 3
entry_closes = 2036-11-23T17:00:00+01:00
starts = 2036-11-23T18:00:00+01:00
rounds_begin = { weekday = "monday", time = 18:00:00, zone = "Europe/Berlin" }

[players]
mine = "random"
theirs = "legal"
"""


async def ordered_by_toml(client: Client, text: str) -> aiohttp.ClientResponse:
    return await client.post(URL, data=text.encode(), headers={"Content-Type": "application/toml"})


async def test_a_tournament_is_ordered_by_a_plan_file(client: Client) -> None:
    line = await told(await ordered_by_toml(client, PLAN), 201)
    assert (line["name"], line["starts"]) == ("cup", 2111072400000)
    found = await told(await client.get(f"{URL}/cup"))
    assert [(one["name"], one["player"]) for one in found["entrants"]] == [("mine", "random"), ("theirs", "legal")]
    assert (found["terms"]["rounds"], found["terms"]["forfeitErrors"]) == (2, 3)
    assert found["timetable"]["roundsBegin"] == {"weekday": "monday", "time": "18:00:00", "zone": "Europe/Berlin"}


CLOSED = PLAN.replace("entry_closes = 2036", "entry_closes = 2026")


async def test_a_tournament_whose_entry_is_over_before_it_is_ordered_is_refused(client: Client) -> None:
    status, error = await refused(await ordered_by_toml(client, CLOSED))
    assert (status, error["code"]) == (400, "invalid_tournament")
    assert error["message"] == "entry closes at 2026-11-23 17:00+01:00, which is over: no player could enter"
    assert error["hint"] == (
        "let entry close later, or leave that out: then it closes at the start; "
        'with entry = "invitation" the host enters players'
    )


@pytest.mark.parametrize(
    "text",
    [
        CLOSED.replace("[players]", 'entry = "invitation"\n[players]'),
        PLAN.replace("entry_closes = 2036-11-23T17:00:00+01:00\n", "").replace("starts = 2036", "starts = 2026"),
    ],
)
async def test_where_players_do_not_enter_until_a_time_a_tournament_is_ordered_whatever_the_time(
    client: Client, text: str
) -> None:
    await told(await ordered_by_toml(client, text), 201)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "code", "message", "place"),
    [
        ('name = "cup"\ngames = [', "invalid_toml", "the body is no TOML: Invalid value (at end of document)", None),
        ('name = "cup"\ngames 5\n', "invalid_toml", None, (2, 7)),
        ("x = " + "[" * 10_000, "invalid_toml", "the body is no TOML: tables or lists nest too deep", None),
        (".".join("a" * 8000) + " = 1", "invalid_toml", None, (1, 1)),
        ('name = "b"\ngames = ["nim"]\nrouds = 5\n', "invalid_tournament", None, None),
        ('name = "b"\ngames = ["nim"]\nplayClock = 5\n', "invalid_tournament", None, None),
        ('name = "b"\ngames = ["nim"]\nstarts = 2026-11-23T18:00:00\n', "invalid_tournament", None, None),
        ('name = "b"\ngames = ["nim"]\nplayers = 5\n', "invalid_tournament", None, None),
        ('name = "b"\ngames = ["nim"]\n[players]\nmine = "my_player.py"\n', "invalid_player", None, None),
    ],
)
async def test_garbage_in_toml_is_refused_with_its_place(
    client: Client, text: str, code: str, message: str | None, place: tuple[int, int] | None
) -> None:
    status, error = await refused(await ordered_by_toml(client, text))
    assert (status, error["code"]) == (400, code)
    assert message is None or error["message"] == message
    assert place is None or (error["line"], error["column"]) == place


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"format": "score-table"}, "tictactoe has 2 roles; score tables are for games of one role"),
        (
            {"format": "knockout", "games": ["tictactoe", "trio"]},
            "games of a knockout have as many roles, and of a double knockout two at most",
        ),
        (
            {"games": ["lightsout"], "sprt": {}, "players": ["legal", "random"]},
            "a sequential test is of matches of two roles, which none of its games has",
        ),
        (
            {"format": "swiss", "games": ["tictactoe", "trio"], "allGames": True},
            "a meeting cannot have games for different numbers of players; let the games take turns",
        ),
        (
            {"games": ["tictactoe", "trio"], "sprt": {}, "players": ["legal", "random"]},
            "a sequential test is between two players, too few for trio, which has 3 roles",
        ),
    ],
)
async def test_a_tournament_whose_format_has_no_schedule_for_its_games_is_not_ordered(
    client: Client, terms: dict[str, Any], reason: str
) -> None:
    if "trio" in terms.get("games", ()):
        await told(await client.put("/api/v1/games/trio", json={"rules": TRIO.read_text("utf-8")}), 201)
    words = SWISS | {"players": ["legal", "random", "greedy"]} | terms
    status, found = await refused(await client.post(URL, json=words))
    assert (status, found["code"], found["message"]) == (400, "invalid_tournament", f"games: {reason}")


TOO_MANY: Final = "its schedule has more than 200,000 matches; let it have fewer rounds"


async def test_a_tournament_of_too_many_matches_does_not_start(client: Client) -> None:
    await order(client, format="round-robin", rounds=100_000, players=["legal", "random", "greedy"])
    status, found = await refused(await client.post(f"{URL}/cup/start"))
    assert (status, found["code"]) == (409, "no_schedule")
    assert found["message"] == f"the tournament cannot be played: {TOO_MANY}"
    assert (await told(await client.get(f"{URL}/cup")))["status"] == "open"


@pytest.mark.exhaustive
async def test_one_without_a_schedule_is_paused_at_its_time(client: Client) -> None:
    terms = {"format": "round-robin", "rounds": 100_000, "players": ["legal", "random", "greedy"]}
    await order(client, starts="2026-01-01T08:00:00+01:00", **terms)
    found = await until(client, lambda found: found["status"] == "paused")
    assert found["reason"] == f"it could not start: the tournament cannot be played: {TOO_MANY}"


async def test_what_is_no_text_is_refused(client: Client) -> None:
    answer = await client.post(URL, data=b"\xff\xfe", headers={"Content-Type": "application/toml"})
    assert (await refused(answer))[1]["code"] == "invalid_toml"


@pytest.mark.parametrize(
    ("path", "media", "taken"),
    [
        (URL, "text/plain", "application/json or application/toml"),
        (f"{URL}/cup/cancel", "application/toml", "application/json"),
    ],
)
async def test_the_refusal_of_a_body_names_the_types_that_are_taken(
    client: Client, path: str, media: str, taken: str
) -> None:
    status, error = await refused(await client.post(path, data=b"", headers={"Content-Type": media}))
    wanted = (415, f"the body must be {taken}", f"send Content-Type: {taken}")
    assert (status, error["message"], error["hint"]) == wanted


async def test_what_breaks_off_or_is_annulled_to_be_played_again_is_scheduled_again_in_the_same_change(
    tmp_path: Path,
) -> None:
    async with whole_server(tmp_path, plays=False) as (client, _):
        await order(client, format="round-robin", rounds=1, players=["legal", "random"])
        await act(client, "start")
        manager = manager_of(client)
        for _ in range(2):  # they are scheduled, then ordered
            await manager.tournaments.drive()
        first, second = (one["match"] for one in (await told(await client.get(f"{URL}/cup")))["matches"])
        await manager.abort(first, "enough")
        await manager.tournaments.drive()
        after = [one["match"] for one in (await told(await client.get(f"{URL}/cup")))["matches"]]
        annulled = await act(client, f"matches/{second}/annul", reason="a storm", replay=True)
    assert after == [first, second, f"{first}-2"]
    assert [one["match"] for one in annulled["matches"]] == [first, second, f"{first}-2", f"{second}-2"]


async def test_it_is_said_what_to_do_about_a_player_that_cannot_be_entered(client: Client) -> None:
    orders: list[tuple[list[str], str, str]] = [
        (["legal", "legal"], "legal has entered already", "a line NAME = PLAYER"),
        (["http://127.0.0.1:1"], "http://127.0.0.1:1 cannot be entered", "POST /api/v1/players registers"),
        (["my_player.py"], "no player at 'my_player.py'", "ggp player SPEC --connect URL"),
    ]
    found = [
        (await refused(await client.post(URL, json=SWISS | {"name": "b", "players": players})))[1]
        for players, _, _ in orders
    ]
    assert [
        (says in error["message"], advice in error["hint"])
        for error, (_, says, advice) in zip(found, orders, strict=True)
    ] == [(True, True)] * 3


async def test_what_cannot_be_is_refused(client: Client) -> None:
    await order(client, players=[])
    wrong = [
        (client.post(URL, json=SWISS), "tournament_taken"),
        (client.post(URL, json=SWISS | {"name": "No"}), "invalid_tournament"),
        (client.post(URL, json=SWISS | {"name": "b", "games": ["nim", "nim"]}), "invalid_tournament"),
        (client.post(URL, json=SWISS | {"name": "b", "games": ["nosuch"]}), "unknown_game"),
        (client.post(URL, json=SWISS | {"name": "b", "games": [" "]}), "unknown_game"),
        (client.post(URL, json=SWISS | {"name": "b", "players": ["legal", "legal"]}), "already_entered"),
        (client.post(URL, json=SWISS | {"name": "b", "players": ["human"]}), "invalid_player"),
        (client.get(f"{URL}/nosuch"), "unknown_tournament"),
        (client.post(URL, json=SWISS | {"name": "b", "starts": "2026-11-23T18:00:00"}), "invalid_tournament"),
        (client.post(URL, json=SWISS | {"name": "b", "starts": "9999-12-31T23:59:59-23:59"}), "invalid_tournament"),
        (
            client.post(URL, json=SWISS | {"name": "b", "entryCloses": "0001-01-01T00:00+01:00"}),
            "invalid_tournament",
        ),
        (client.post(URL, json=SWISS | {"name": "b", "roundsBegin": {"weekday": "monday"}}), "invalid_tournament"),
        (client.post(f"{URL}/cup/entries/ann/substitute", json={"player": "legal", "reason": "a"}), "not_entered"),
        (client.post(f"{URL}/cup/start"), "wrong_entrants"),
        (client.post(f"{URL}/cup/resume"), "wrong_status"),
        (client.delete(f"{URL}/cup/entries/ann"), "not_entered"),
        (client.post(f"{URL}/cup/pause", json={}), "invalid_body"),
    ]
    assert [(await refused(await answer))[1]["code"] for answer, _ in wrong] == [code for _, code in wrong]
