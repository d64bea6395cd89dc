"""Pictures of the main pages for docs/images: a made-up class plays, and a browser looks at it.

`python -m tools.screenshots docs/images` needs a Chromium (on Debian: apt-get install chromium).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
from aiohttp import ClientSession
from playwright.async_api import Browser, async_playwright

from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.app import Watch, listening, make_app
from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.storage.accounts import TokenStore
from server.storage.database import Database
from tools.demo_players import Habits, demo_process

_SURNAMES: Final = (
    "ada", "bertrand", "chiara", "dmitri", "emmy", "farid", "grete", "hypatia", "ivan", "jun", "kurt", "lise",
)  # fmt: skip
_QUICK: Final = {
    f"{name}-bot": Habits(skill=1 - number / 12, error_rate=0.05 if number == 7 else 0.0)
    for number, name in enumerate(_SURNAMES)
}
_SLOW: Final = {
    f"{name}-2": Habits(habits.skill, thinks_s=0.8) for name, habits in zip(_SURNAMES, _QUICK.values(), strict=True)
}
_CUP: Final = {
    "name": "autumn-cup", "format": "swiss", "games": ["tictactoe", "connectfour"], "rounds": 5,
    "dialect": "gdl1", "startClock": 5, "playClock": 5, "seed": 3, "forfeitErrors": 5,
}  # fmt: skip
_LEAGUE: Final = {
    "name": "class-league", "format": "swiss", "games": ["breakthrough", "connectfour"], "rounds": 6,
    "dialect": "gdl1", "startClock": 5, "playClock": 20, "seed": 5, "allGames": True,
}  # fmt: skip
_WARMING_S: Final = 75.0
"""How long the slow players have played when the pictures are taken."""
_LIMIT_S: Final = 300.0
_PHONE: Final = {"width": 390, "height": 844}
_WIDE: Final = {"width": 1280, "height": 900}
_TALL: Final = {"width": 1280, "height": 1500}
_WALL: Final = {"width": 1920, "height": 1080}


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture of a page: its file, its address, in which `{live}` is a match that is played, and the screen."""

    name: str
    path: str
    size: dict[str, int]
    is_dark: bool = False


SHOTS: Final = (
    Shot("tournament", "/tournaments/class-league", _TALL),
    Shot("tournament-phone", "/tournaments/class-league#boards-title", _PHONE, is_dark=True),
    Shot("wall", "/tournaments/class-league/wall", _WALL, is_dark=True),
    Shot("home", "/", _WIDE),
    Shot("games", "/games", _TALL),
    Shot("games-phone", "/games?q=chess", _PHONE, is_dark=True),
    Shot("game", "/games/chess", _TALL),
    Shot("match", "/matches/{live}", _WIDE),
    Shot("entrant", "/tournaments/autumn-cup/entrants/hypatia-bot", _TALL),
    Shot("leaderboard", "/leaderboards", _TALL),
    Shot("order-tournament", "/start/tournament?game=breakthrough", _TALL),
)


class _Server:
    """A server for the pictures, and a client that orders there."""

    def __init__(self, url: str, session: ClientSession) -> None:
        self.url, self._session = url, session

    async def post(self, path: str, **body: Any) -> Any:
        """Return the answer of the API to *body*."""
        async with self._session.post(self.url + "/api/v1" + path, json=body) as answer:
            found = await answer.json()
        assert answer.status < 300, found
        return found

    async def live_match(self) -> str:
        """Return the id of a match that is played."""
        async with self._session.get(f"{self.url}/api/v1/matches?status=running") as answer:
            return str((await answer.json())["matches"][-1]["id"])

    async def until_over(self, name: str) -> None:
        """Return once the tournament *name* is over."""
        async with asyncio.timeout(_LIMIT_S):
            while True:
                async with self._session.get(f"{self.url}/api/v1/tournaments/{name}") as answer:
                    if (await answer.json())["status"] == "over":
                        return
                await asyncio.sleep(0.5)


@asynccontextmanager
async def _serving(folder: Path) -> AsyncIterator[_Server]:
    database = await Database.open(str(folder / "ggp.sqlite"))
    manager = GameManager(database, GameManagerSettings())
    access = AccessControl(AccessSettings(), TokenStore(database))
    await manager.start()
    try:
        async with listening(make_app(manager, access, Watch())) as url, ClientSession() as session:
            yield _Server(url, session)
    finally:
        await manager.close()
        await database.close()


async def _played(server: _Server, players: str) -> None:
    """Have a cup played to its end, and begin a league."""
    for name in (*_QUICK, *_SLOW):
        await server.post("/players", name=name, url=f"{players}/{name}", maxMatches=8)
    await server.post("/tournaments", **_CUP, players=list(_QUICK))
    await server.post("/tournaments/autumn-cup/start")
    await server.until_over("autumn-cup")
    await server.post("/tournaments", **_LEAGUE, players=list(_SLOW))
    await server.post("/tournaments/class-league/start")
    await server.post("/tournaments", name="spring-open", format="knockout", games=["amazons"], entry="open")
    await asyncio.sleep(_WARMING_S)


async def take(folder: Path, names: Sequence[str] = ()) -> None:
    """Take the pictures called *names*, else all, into *folder*."""
    with tempfile.TemporaryDirectory() as place, demo_process(_QUICK | _SLOW) as players:
        async with _serving(Path(place)) as server:
            await _pictures(server, players, folder, names)


async def _pictures(server: _Server, players: str, folder: Path, names: Sequence[str]) -> None:
    await _played(server, players)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for shot in SHOTS:
            if not names or shot.name in names:
                await _taken(browser, server, shot, folder)
        await browser.close()


async def _taken(browser: Browser, server: _Server, shot: Shot, folder: Path) -> None:
    size: Any = shot.size
    url, path = server.url, shot.path.format(live=await server.live_match())
    context = await browser.new_context(viewport=size, color_scheme="dark" if shot.is_dark else "light")
    page = await context.new_page()
    page.on("console", lambda message: print(shot.name, message.text))  # noqa: T201 -- for who takes the pictures
    await page.goto(url + path)
    await page.locator("meta[http-equiv=refresh]").wait_for(state="detached")  # what is worked out is there
    await page.wait_for_timeout(2_000)  # boards that go on, and clocks that run, are drawn by scripts
    await page.screenshot(path=folder / f"{shot.name}.png")
    await context.close()


def main() -> None:
    """Take the pictures into the folder that the command names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="the pictures that are taken; all without a name")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    asyncio.run(take(arguments.folder, arguments.names))


if __name__ == "__main__":
    main()
