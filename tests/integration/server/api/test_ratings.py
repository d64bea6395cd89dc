"""Ratings over HTTP: leaderboards and two players head to head, as a script reads them."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.server.api.tournaments import played_cup
from tests.kit.server.api.whole_server import Client, refused, told, whole_server
from tests.kit.server.peers import listening, replying

LEADERBOARD = "/api/v1/leaderboard"
ENCOUNTERS = "/api/v1/encounters"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with whole_server(tmp_path) as (found, _):
        yield found


def tally(matches: list[dict[str, Any]], one: str, other: str) -> dict[str, int]:
    """Return what *one* made against *other* by the matches of a tournament."""
    goals = [dict(zip(each["players"], each["goals"], strict=True)) for each in matches]
    met = [each for each in goals if set(each) == {one, other}]
    n_won, n_lost = (sum(each[a] > each[b] for each in met) for a, b in ((one, other), (other, one)))
    return {"matches": len(met), "wins": n_won, "draws": len(met) - n_won - n_lost, "losses": n_lost}


async def test_without_matches_the_leaderboard_is_empty(client: Client) -> None:
    empty: dict[str, Any] = {"game": None, "matches": 0, "players": 0, "entries": [], "roles": []}
    assert await told(await client.get(LEADERBOARD)) == empty


async def test_players_are_listed_with_what_they_made(client: Client) -> None:
    matches = (await played_cup(client, players=["greedy", "random"], rounds=2))["matches"]
    found = await told(await client.get(LEADERBOARD, params={"game": "tictactoe"}))
    assert (found["game"], found["matches"], found["players"]) == ("tictactoe", len(matches), 2)
    assert [each["rank"] for each in found["entries"]] == [1, 2]
    assert [role["role"] for role in found["roles"]] == ["x", "o"]
    other = {"greedy": "random", "random": "greedy"}
    for entry in found["entries"]:
        made = {key: entry[key] for key in ("wins", "draws", "losses")}
        expected = tally(matches, entry["player"], other[entry["player"]])
        assert {"matches": entry["rating"]["matches"]} | made == expected
        assert entry["rating"]["eloLow"] < entry["rating"]["elo"] < entry["rating"]["eloHigh"]


@pytest.mark.exhaustive
async def test_as_many_players_are_listed_as_are_asked_for(client: Client) -> None:
    await played_cup(client, players=["greedy", "random"], rounds=1)
    found = await told(await client.get(LEADERBOARD, params={"limit": "1"}))
    assert (found["players"], len(found["entries"]), found["roles"]) == (2, 1, [])


async def test_a_game_that_is_not_there_has_no_leaderboard(client: Client) -> None:
    status, error = await refused(await client.get(LEADERBOARD, params={"game": "nothing"}))
    assert (status, error["code"]) == (404, "unknown_game_name")


async def test_the_leaderboard_is_sent_as_csv(client: Client) -> None:
    await played_cup(client, players=["greedy", "random"], rounds=1)
    entries = (await told(await client.get(LEADERBOARD, params={"game": "tictactoe"})))["entries"]
    async with client.get("/leaderboards.csv", params={"game": "tictactoe"}) as answer:
        assert answer.headers["Content-Disposition"] == 'attachment; filename="tictactoe-ratings.csv"'
        lines = list(csv.DictReader(io.StringIO(await answer.text(encoding="utf-8-sig"), newline="")))
    assert [(line["rank"], line["player"], line["elo"]) for line in lines] == [
        (str(entry["rank"]), entry["player"], f"{entry['rating']['elo']:.0f}") for entry in entries
    ]


@pytest.mark.exhaustive
async def test_the_file_of_a_leaderboard_says_whose_each_registered_player_is(client: Client) -> None:
    async with listening(replying(lambda _: "(mark nowhere)")) as url:
        await told(await client.post("/api/v1/players", json={"name": "mine", "url": url}), 201)
        await played_cup(client, players=["mine", "random"], rounds=1)
    async with client.get("/leaderboards.csv") as answer:
        lines = list(csv.DictReader(io.StringIO(await answer.text(encoding="utf-8-sig"), newline="")))
    assert {line["player"]: line["owner"] for line in lines} == {"mine": "local", "random": ""}


async def test_a_file_of_a_game_that_is_not_there_is_refused(client: Client) -> None:
    async with client.get("/leaderboards.csv", params={"game": 'no"\r\nX: y'}) as answer:
        assert (answer.status, answer.content_type) == (404, "text/html")


async def test_two_players_are_compared_by_their_matches(client: Client) -> None:
    matches = (await played_cup(client, players=["greedy", "random", "legal"], rounds=1))["matches"]
    found = await told(await client.get(ENCOUNTERS, params={"player": "greedy", "opponent": "random"}))
    assert {key: found["total"][key] for key in ("matches", "wins", "draws", "losses")} == tally(
        matches, "greedy", "random"
    )
    assert [(seat["game"], seat["role"]) for seat in found["seats"]] == [("tictactoe", "x"), ("tictactoe", "o")]
    own = {each["match"] for each in matches if set(each["players"]) == {"greedy", "random"}}
    assert set(found["latest"]) == own
    assert 0 < found["superiority"] < 1


async def test_players_that_have_not_met_have_no_lead(client: Client) -> None:
    found = await told(await client.get(ENCOUNTERS, params={"player": "greedy", "opponent": "nobody"}))
    made = {"matches": 0, "wins": 0, "draws": 0, "losses": 0, "meanGoal": 0.0, "opponentMeanGoal": 0.0}
    assert found == {"player": "greedy", "opponent": "nobody", "total": made, "seats": [], "latest": []}
