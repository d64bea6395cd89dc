"""The page of the games: hundreds of them in pages, with pictures of their own that browsers keep."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

from server.storage.rows import GameVersion
from tests.kit.server.api.house import house, manager_of
from tests.kit.server.web.fetching import page_at, words_of

RULES = "(role a{n}) (role b) (init (cell 1 1 x)) (init (cell 2 2 o)) (legal ?r go) (goal ?r 50) terminal"
MOST_BYTES = 60_000


async def test_three_hundred_games_take_few_bytes_and_are_found_by_their_addresses(tmp_path: Path) -> None:
    async with house(tmp_path) as (client, _):
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
    async with house(tmp_path) as (client, _):
        sha256 = (await manager_of(client).games.current_sha256("tictactoe")) or ""
        address = f"/games/tictactoe/picture.svg?v={sha256[:12]}"
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
    async with house(tmp_path) as (client, _):
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


async def test_games_of_the_library_are_measured_when_a_page_needs_it(tmp_path: Path) -> None:
    async with house(tmp_path) as (client, _), asyncio.timeout(120):
        while "Measured in random plays" not in words_of(await page_at(client, "/games/nim")):
            pass  # the answer takes its time, and the limit above counts
        version = await manager_of(client).games.find("nim")
        assert version is not None
        assert (version.verdict, version.report["simulation"]["board"]) == ("ok", "heaps")
