"""The page of the games: hundreds of them in pages, with pictures of their own that browsers keep."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.storage.rows import GameVersion
from server.web.game_pictures import picture_key
from server.web.game_versions import GameVersions, shown_rules
from tests.kit.polling import until
from tests.kit.server.api.whole_server import Client, manager_of, whole_server
from tests.kit.server.web.fetching import page_at, words_of

RULES = "(role a{n}) (role b) (init (cell 1 1 x)) (init (cell 2 2 o)) (legal ?r go) (goal ?r 50) terminal"
MOST_BYTES = 60_000
ABOUT = """title = "{title}"
summary = "Three in a row."
authors = ["me"]
roles = ["x", "o"]
players = 2
source = "traditional"
"""


@pytest.mark.exhaustive
async def test_three_hundred_games_take_few_bytes_and_are_found_by_their_addresses(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        games = manager_of(client).games
        for n in range(300):
            rules = RULES.format(n=n)
            report = {"simulation": {"board": "grid", "jointMoves": {"mean": n}, "steps": {"mean": 3}}}
            version = GameVersion(f"game{n:03}", f"{n:064}", rules, (f"a{n}", "b"), False, n, report=report)
            await games.put(version)
        async with client.get("/games") as answer:
            assert len(gzip.compress(await answer.read())) < MOST_BYTES
        first, last = await page_at(client, "/games?q=game"), await page_at(client, "/games?q=game&page=5")
        assert ("300 games found" in words_of(first), "/games/game059" in first.links) == (True, True)
        assert ("/games/game299" in last.links, "/games/game059" in last.links) == (True, False)
        few = await page_at(client, "/games?branching=low&roles=2&sort=branching&q=game")
        assert "5 games found" in words_of(few)
        assert "There is no such game." in words_of(await page_at(client, "/games?kind=chance&q=game"))


async def test_a_picture_is_kept_and_sent_once(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        (version,) = await manager_of(client).games.versions("tictactoe")
        address = f"/games/tictactoe/picture.svg?v={picture_key(version)}"
        while True:
            async with client.get(address) as answer:
                etag, kept = answer.headers["ETag"], answer.headers["Cache-Control"]
                text = await answer.text()
            if "immutable" in kept:
                break
        assert (answer.status, answer.content_type, text[:4], "<style>" in text) == (200, "image/svg+xml", "<svg", True)
        async with client.get(address, headers={"If-None-Match": etag}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")
        async with client.get("/games/tictactoe/picture.svg?v=0") as answer:
            assert answer.headers["Cache-Control"] == "no-cache"
        async with client.get("/games/none/picture.svg") as answer:
            assert answer.status == 404


async def test_the_page_of_a_game_tells_what_was_measured_and_what_versions_change(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        games = manager_of(client).games
        figures = {
            "jointMoves": {"min": 1, "mean": 2.5, "max": 4}, "steps": {"min": 3, "mean": 3.0, "max": 3},
            "exhaustive": {"states": 1_234}, "playsPerSecond": 321.5,
        }  # fmt: skip
        for n, rules in enumerate((RULES.format(n=1), RULES.format(n=2) + " (p)")):
            report = {"simulation": figures}
            await games.put(GameVersion("odd", f"{n:064}", rules, ("a", "b"), False, n, report=report))
        page = await page_at(client, "/games/odd")
        words = words_of(page)
        at = words.index("Measured in random plays")
        assert (
            words[at : at + 150]
            .replace(" ", "")
            .startswith(
                "MeasuredinrandomplaysJointmovesinastate2.5(1to4)Stepsofaplay3Statesinall1,234Playsasecond,interpreted322"
            )
        )
        (address,) = [link for link in page.links if "/diff?" in link]
        told = words_of(await page_at(client, address.replace("&amp;", "&")))
        assert "2 added, 1 removed, 0 changed, 6 rules the same" in told
        await page_at(client, "/games/odd/diff?old=1", 404)


DAMAGED: list[Any] = [
    [],
    {"simulation": 3},
    {"simulation": {"steps": 3, "jointMoves": None}},
    {"limit": 5, "diagnostics": 5},
    {"diagnostics": [{"line": 1}]},
    {"simulation": {"steps": {"min": "a", "mean": 2.5, "max": "b"}}},
    {"simulation": {"jointMoves": {"min": 1, "mean": 10**400, "max": 2}}},
    {"simulation": {"exhaustive": {"states": "many"}}},
    {"simulation": {"playsPerSecond": 10**400}},
    {"simulation": {"board": ["grid"]}},
]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("report", DAMAGED)
async def test_a_damaged_report_of_the_validator_is_as_none(report: Any, tmp_path: Path) -> None:
    addresses = "/api/v1/games/odd", "/games?sort=branching", "/games/odd"
    async with whole_server(tmp_path) as (client, _):
        await manager_of(client).games.put(GameVersion("odd", "0" * 64, RULES, ("a", "b"), False, 5, report=report))
        answers = [await client.get(address) for address in addresses]
        assert [answer.status for answer in answers] == [200, 200, 200]
        assert "report" not in await answers[0].json()


async def test_a_report_in_the_place_of_another_is_in_the_list_at_once(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        games = manager_of(client).games
        version = GameVersion("new", "0" * 64, RULES, ("a", "b"), False, 5, verdict="ok", report={"simulation": None})
        await games.put(version)
        await client.get("/games")
        await games.judge(version.sha256, "ok", {"simulation": {"jointMoves": {"mean": 2}, "steps": {"mean": 3}}})
        page = await page_at(client, "/games?q=new&branching=low")
        assert "2 moves a state, 3 steps" in words_of(page)


async def test_games_of_the_library_are_measured_when_a_page_needs_it(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _), asyncio.timeout(120):
        while "Measured in random plays" not in words_of(await page_at(client, "/games/nim")):
            pass  # the answer takes its time, and the limit above counts
        version = await manager_of(client).games.find("nim")
        assert version is not None
        assert version.report is not None
        assert (version.verdict, version.report["simulation"]["board"]) == ("ok", "heaps")


async def test_where_games_are_not_measured_yet_the_list_says_so(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _), asyncio.timeout(120):
        n_games = len(await manager_of(client).games.listed())
        words = words_of(await page_at(client, "/games?kind=simultaneous"))
        assert f"0 games found so far: {n_games} games of {n_games} are still to be played at random" in words
        assert "so far" not in words_of(await page_at(client, "/games?roles=2"))


async def test_a_game_without_a_board_is_shown_by_its_trays(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        version = await manager_of(client).games.find("goofspiel")
        assert version is not None
        assert "hand of alice" in await picture_at(client, version)


@pytest.mark.exhaustive
async def test_games_with_the_same_rules_keep_their_own_titles_and_pictures(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        games = manager_of(client).games
        theirs = await games.find("tictactoe")
        assert theirs is not None
        mine = replace(theirs, name="amine", about=ABOUT.format(title="Mine"), is_library=False)
        await games.put(mine)
        words = [words_of(await page_at(client, f"/games/{name}")) for name in ("amine", "tictactoe")]
        assert ["Mine" in text for text in words] == [True, False]
        played = GameVersions(games)
        assert [await played.version(one.name, one.sha256) for one in (mine, theirs)] == [mine, theirs]
        pictures = [await picture_at(client, version) for version in (mine, theirs)]
        assert ["Mine, first position" in text for text in pictures] == [True, False]


async def test_a_new_description_of_the_same_rules_has_a_picture_of_another_address(tmp_path: Path) -> None:
    async with whole_server(tmp_path) as (client, _):
        games = manager_of(client).games
        theirs = await games.find("tictactoe")
        assert theirs is not None
        first = replace(theirs, name="mine", about=ABOUT.format(title="First"), is_library=False)
        second = replace(first, about=ABOUT.format(title="Second"))
        await games.put(first)
        assert "First, first position" in await picture_at(client, first)
        await games.put(second)
        assert picture_key(first) != picture_key(second)
        assert "Second, first position" in await picture_at(client, second)


async def picture_at(client: Client, version: GameVersion) -> str:
    """Return the picture of *version* once it is one that browsers keep."""

    async def kept() -> str | None:
        async with client.get(f"/games/{version.name}/picture.svg?v={picture_key(version)}") as answer:
            return await answer.text() if "immutable" in answer.headers["Cache-Control"] else None

    return await until(kept, limit_s=120.0, pause_s=0.2)


async def test_rules_are_read_once_for_all_who_ask_and_not_on_the_event_loop() -> None:
    version = GameVersion("slow", "51", f"{RULES.format(n='slow')} (not_kept_yet)", ("aslow", "b"), False, 0)
    first, second = (asyncio.create_task(shown_rules(version)) for _ in range(2))
    await asyncio.sleep(0)
    assert (first.done(), second.done()) == (False, False)
    assert await first is await second
