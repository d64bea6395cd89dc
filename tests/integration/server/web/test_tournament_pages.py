"""The pages of tournaments as the server sends them."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import pytest

from server.clock import now_ms
from server.storage.tournament_rows import TournamentStatus
from server.web import match_lists
from server.web.template_filters import date, points
from tests.kit.polling import until
from tests.kit.server.api.tournaments import command_cup, order_cup, played_cup, until_cup
from tests.kit.server.api.whole_server import Client, manager_of, told
from tests.kit.server.hosting.tournaments import tournament
from tests.kit.server.peers import OK, listening, sending
from tests.kit.server.web.fetching import page_at, words_of


async def test_there_is_a_list_of_tournaments(client: Client) -> None:
    assert "There is no tournament yet." in words_of(await page_at(client, "/tournaments"))
    await order_cup(client)
    page = await page_at(client, "/tournaments")
    assert "/tournaments/cup" in page.links
    assert "/tournaments/cup" in (await page_at(client, "/")).links
    assert "Round robin Tic-tac-toe open for entries" in words_of(page)


async def test_older_tournaments_are_on_further_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_lists, "N_ON_PAGE", 1)
    for name in ("first", "second"):
        await order_cup(client, name=name)
    newer, older = [await page_at(client, f"/tournaments{query}") for query in ("", "?before=second")]
    found = [[each in page.links for each in ("/tournaments/first", "/tournaments/second")] for page in (newer, older)]
    assert found == [[False, True], [True, False]]
    assert ("/tournaments?before=second" in newer.links, 'rel="next"' in older.text) == (True, False)


async def test_an_open_tournament_is_on_the_first_page_however_many_are_over_since(client: Client) -> None:
    await order_cup(client)
    store = manager_of(client).tournaments.store
    for number in range(60):
        over = tournament(f"over{number}", status=TournamentStatus.CANCELLED)
        assert await store.add(replace(over, created_ms=now_ms() + 1, ended_ms=now_ms()))
    links = (await page_at(client, "/")).links
    assert [link for link in links if link.startswith("/tournaments/")] == ["/tournaments/cup"]


async def test_a_page_says_that_a_tournament_is_not_there(client: Client) -> None:
    for path in ("", "/parts", "/boards", "/events"):
        assert "no tournament 'nothing'" in (await page_at(client, f"/tournaments/nothing{path}", 404)).text


async def test_an_open_tournament_shows_its_rules_and_who_has_entered(client: Client) -> None:
    await order_cup(client, forfeitErrors=3, format="swiss", rounds=4)
    page = await page_at(client, "/tournaments/cup")
    words = words_of(page)
    assert "2 entrants" in words
    assert "/players/legal" in page.links
    assert "Swiss. 4 rounds; in each, entrants with like scores meet who have not met before." in words
    assert "10 s to prepare, 10 s for each move" in words
    assert "3 errors in a match lose it." in words
    assert "parted by direct comparison, then Buchholz, then Sonneborn-Berger, then fewer errors." in words


async def test_a_tournament_that_is_over_shows_standings_pairings_and_rounds(client: Client) -> None:
    found = await played_cup(client, format="swiss", rounds=2, players=["legal", "random", "greedy"])
    page = await page_at(client, "/tournaments/cup?open=1&open=2&open=x")
    words = words_of(page)
    assert {"standings-title", "cross-title", "round-title", "schedule-title"} <= page.ids
    assert {f"/matches/{one['match']}" for one in found["matches"]} <= set(page.links)
    assert "/tournaments/cup/entrants/greedy" in page.links
    assert "/tournaments/cup" in (await page_at(client, f"/matches/{found['matches'][0]['match']}")).links
    assert "Round 2 of 2 4 of 4 matches have a result" in words
    assert "has a bye" in words
    for row in found["standings"]:
        assert f"{row['rank']}{row['player']}{points(row['score'])}" in words


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("games", "shown"),
    [(["lightsout"], "{} · {}"), (["lightsout", "eightpuzzle"], "lightsout {} · {} · eightpuzzle {} · {}")],
)
async def test_results_of_a_pairing_name_their_games_where_there_are_several(
    client: Client, games: list[str], shown: str
) -> None:
    found = await played_cup(client, games=games)
    goals = [goal for one in found["matches"] for goal in one["goals"]]
    assert f" {shown.format(*goals)} " in words_of(await page_at(client, "/tournaments/cup"))


@pytest.mark.exhaustive
async def test_a_score_table_shows_the_goals_that_its_scores_compare(client: Client) -> None:
    found = await played_cup(client, format="score-table", games=["lightsout"])
    words = words_of(await page_at(client, "/tournaments/cup"))
    assert "#EntrantScoreMean goalErrors" in words
    for one in found["standings"]:
        assert f"{one['player']}{points(one['score'])} {one['meanGoal']:.1f} {one['errors']} " in words


@pytest.mark.exhaustive
async def test_a_league_says_on_its_page_and_its_wall_when_the_next_round_begins(client: Client) -> None:
    await order_cup(client, format="swiss", rounds=2, roundsBegin={"everySeconds": 3600})
    await command_cup(client, "start")
    found = await until_cup(client, lambda cup: "nextRound" in cup)
    told_of = f"Next round: {date(found['nextRound'])} UTC"
    pages = [words_of(await page_at(client, f"/tournaments/cup{path}")) for path in ("", "/parts", "/wall")]
    assert [told_of in words for words in pages] == [True, True, True]


async def test_the_host_sees_wherever_a_match_is_shown_which_player_it_waits_for(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "ada-1"}), 201)  # it never dials in
    await order_cup(client, format="swiss", players=["legal", "ada-1"])
    await command_cup(client, "start")
    await until(lambda: len(manager_of(client).wait_reasons) == 2)
    lines = (await told(await client.get("/api/v1/matches")))["matches"]
    assert [(line["waitsFor"], line["unavailable"]) for line in lines] == [("players", {"ada-1": "not-connected"})] * 2
    shown = [words_of(await page_at(client, f"/matches/{line['id']}")) for line in lines]
    shown += [words_of(await page_at(client, path)) for path in ("/queue", "/tournaments/cup")]
    assert [page.count("waits for ada-1 (not connected)") for page in shown] == [1, 1, 2, 2]
    assert "No match is played: the tournament waits for ada-1 (not connected)." in shown[-1]


async def test_of_a_scrambled_match_the_player_is_told_that_it_waits_for_as_its_page_names_who_plays(
    client: Client,
) -> None:
    await told(await client.post("/api/v1/players", json={"name": "ada-1"}), 201)  # it never dials in
    players = {"x": {"player": "ada-1"}, "o": {"player": "mcts"}}
    order = {"game": "tictactoe", "players": players, "scramble": True}
    match_id = (await told(await client.post("/api/v1/matches", json=order), 201))["id"]
    await until(lambda: match_id in manager_of(client).wait_reasons)
    (line,) = (await told(await client.get("/api/v1/matches")))["matches"]
    assert (line["waitsFor"], line["unavailable"]) == ("players", {"ada-1": "not-connected"})
    assert {"game", "players"} & line.keys() == set()
    for path in ("/queue", f"/matches/{match_id}"):
        words = words_of(await page_at(client, path))
        assert re.search("role 1 ?ada-1", words), path
        assert "waits for ada-1 (not connected)" in words, path


@pytest.mark.exhaustive
async def test_reasons_are_shown_of_pauses_and_annulments_and_who_forfeits(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)  # it never dials in
    await order_cup(client, players=["legal", "random", "absent"])
    await command_cup(client, "start")
    found = await until_cup(client, lambda cup: sum("goals" in one for one in cup["matches"]) == 2)
    await command_cup(client, "pause", reason="lunch")
    assert "Paused: lunch" in words_of(await page_at(client, "/tournaments/cup"))
    over = next(one["match"] for one in found["matches"] if "goals" in one)
    await command_cup(client, f"matches/{over}/annul", reason="a draught", replay=True)
    await told(await client.delete("/api/v1/tournaments/cup/entries/absent"))
    words = words_of(await page_at(client, "/tournaments/cup?open=1&open=2&open=3"))
    assert "annulled by local, and played again: a draught" in words
    over_of = next(one for one in found["matches"] if one["match"] == over)
    named = " \N{EN DASH} ".join(over_of["players"])
    assert f"local: replay {named} of round {over_of['round']}: a draught" in words
    assert "forfeited by absent" in words
    found = await told(await client.get("/api/v1/tournaments/cup"))
    lost = next(one["match"] for one in found["matches"] if one["status"] == "aborted")
    reason = "absent has withdrawn from the tournament, and has lost the match"
    assert reason in words_of(await page_at(client, f"/matches/{lost}"))


async def test_one_that_could_not_start_shows_no_boards_and_is_started_by_its_host(client: Client) -> None:
    await order_cup(client, players=["legal"], starts="2026-01-01T08:00:00Z")
    await until_cup(client, lambda cup: bool(cup["status"] == "paused"))
    words = words_of(await page_at(client, "/tournaments/cup"))
    found = [each in words for each in ("it could not start", "Start this tournament", "Go on", "Played now")]
    assert found == [True, True, False, False]


async def test_scrambled_games_are_not_named_before_the_end(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)
    await order_cup(client, scramble=True, players=["legal", "absent"])
    await command_cup(client, "start")
    await until_cup(client, lambda cup: bool(cup["matches"]) and cup["matches"][0]["status"] == "queued")
    for path in ("/tournaments", "/tournaments/cup", "/tournaments/cup/parts"):
        words = words_of(await page_at(client, path))
        assert [name in words for name in ("tictactoe", "Tic-tac-toe")] == [False, False]
    assert "1 game, whose names appear at the end" in words_of(await page_at(client, "/tournaments/cup"))
    await command_cup(client, "cancel", reason="rain")
    assert "Tic-tac-toe" in words_of(await page_at(client, "/tournaments/cup"))


async def test_a_tournament_calls_its_games_by_their_titles(client: Client) -> None:
    n_matches = len((await played_cup(client, rounds=1))["matches"])
    pages = [words_of(await page_at(client, f"/tournaments/cup{at}")) for at in ("?open=1", "/entrants/legal")]
    assert [words.count("tictactoe") for words in pages] == [0, 0]
    assert [words.count("Tic-tac-toe") for words in pages] == [2 + n_matches, n_matches]


@pytest.mark.exhaustive
async def test_boards_of_matches_of_another_tournament_are_not_shown(client: Client) -> None:
    found = await played_cup(client)
    own = found["matches"][0]["match"]
    async with client.get(f"/tournaments/cup/boards?match={own}&match=other") as answer:
        text = await answer.text()
    assert text.count("data-board=") == 1
    assert f'data-board="{own}"' in text


async def test_a_stream_tells_when_something_has_changed(client: Client) -> None:
    await order_cup(client)
    async with client.get("/tournaments/cup/events", headers={"Accept": "application/x-ndjson"}) as stream:
        async with asyncio.timeout(60):
            before = json.loads(await stream.content.readline())
            await command_cup(client, "start")
            after = json.loads(await stream.content.readline())
    assert before["event"] == after["event"] == "tournament"
    assert before["data"]["shape"] != after["data"]["shape"]


async def test_matches_that_errors_lost_are_forfeits_wherever_results_are_told(client: Client) -> None:
    async with listening(sending(OK + b"Content-Length: 14\r\n\r\n(mark nowhere)")) as url:
        await told(await client.post("/api/v1/players", json={"name": "wrong", "url": url}), 201)
        found = await played_cup(client, players=["legal", "wrong"], forfeitErrors=1)
    first, second = (one["match"] for one in found["matches"])
    board = await told(await client.get("/api/v1/leaderboard"))
    assert [(one["player"], one["losses"], one["forfeits"]) for one in board["entries"]] == [
        ("legal", 0, 0), ("wrong", 2, 2),
    ]  # fmt: skip
    assert "2 forfeits" in words_of(await page_at(client, "/leaderboards"))
    assert "2 forfeits" in words_of(await page_at(client, "/tournaments/cup"))
    assert "2matches of tournaments lost by errors" in words_of(await page_at(client, "/players/wrong"))
    lines = (await (await client.get("/leaderboards.csv")).text()).splitlines()
    assert [line.rpartition(",")[2] for line in lines] == ["forfeits", "0", "2"]
    await command_cup(client, f"matches/{second}/annul", reason="a draught")
    lost, annulled = [words_of(await page_at(client, f"/matches/{each}")) for each in (first, second)]
    assert "In cup it is lost by the errors of wrong. The goals that count there: legal 100, wrong 0." in lost
    assert "In cup it is annulled by local: a draught." in annulled


@pytest.mark.exhaustive
async def test_an_entrant_has_a_page_with_its_results_rating_and_errors(client: Client) -> None:
    wrong = sending(OK + b"GGP-Player-Failure: no idea\r\nContent-Length: 14\r\n\r\n(mark nowhere)")
    async with listening(wrong) as url:
        await told(await client.post("/api/v1/players", json={"name": "wrong", "url": url}), 201)
        found = await played_cup(client, players=["legal", "wrong"], rounds=2)
    page = await page_at(client, "/tournaments/cup/entrants/wrong")
    words = words_of(page)
    assert {"rating-title", "results-title", "errors-title"} <= page.ids
    assert {f"/matches/{one['match']}" for one in found["matches"]} <= set(page.links)
    assert "Start against legal: the player failed: no idea" in words
    illegal = "illegal move: (mark nowhere); the player failed: no idea; a move was made in its place"
    counts = re.findall(rf"Step \d+(?: and (\d+) more)? against legal: {re.escape(illegal)}", words)
    first = found["matches"][0]
    assert any(link.startswith(f"/matches/{first['match']}?step=") for link in page.links)
    n_errors = next(row["errors"] for row in found["standings"] if row["player"] == "wrong")
    assert sum(1 + int(more or 0) for more in counts) + words.count("Start against legal") == n_errors
    assert "no entrant" in words_of(await page_at(client, "/tournaments/cup/entrants/nobody", 404))
    await page_at(client, "/tournaments/cup/entrants/legal")


@pytest.mark.exhaustive
async def test_byes_and_withdrawals_are_on_the_pages_that_show_what_came_of_them(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)  # it never dials in
    await order_cup(client, format="swiss", rounds=1, players=["legal", "absent", "random"])
    await command_cup(client, "start")
    await until_cup(client, lambda cup: bool(cup["matches"]))
    await told(await client.delete("/api/v1/tournaments/cup/entries/absent"))
    await until_cup(client, lambda cup: bool(cup["status"] == "over"))
    assert "absentwithdrawn" in words_of(await page_at(client, "/tournaments/cup")).replace(" ", "")
    absent, free = [words_of(await page_at(client, f"/tournaments/cup/entrants/{one}")) for one in ("absent", "random")]
    assert "entered by local; it has withdrawn." in absent
    assert "Matchesa bye in round 1 It has played no match." in free


async def test_the_wall_has_no_navigation_and_shows_standings_when_nothing_is_played(client: Client) -> None:
    await order_cup(client)
    before = await page_at(client, "/tournaments/cup/wall")
    assert "legal" in before.text
    assert not {"nav", "header", "footer", "a"} & set(before.counts)
    await command_cup(client, "start")
    await until_cup(client, lambda cup: bool(cup["status"] == "over"))
    words = words_of(await page_at(client, "/tournaments/cup/wall"))
    assert "2 of 2 matches" in words
    assert "over" in words
