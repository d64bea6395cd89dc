"""`ggp demo`: a game manager and two players, and a match of Amazons between them over HTTP, drawn move by move."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import aiohttp
import click
import structlog

from gdl.games.library import find_game
from gdl.language.kif import read_term
from gdl.language.terms import Constant
from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.app import Watch, listening, make_app, managing
from server.errors import DemoError
from server.hosting.runner import opened
from server.hosting.settings import GameManagerSettings
from server.links.own_player import OwnPlayer
from server.links.player_spec import player_spec
from server.records.journal import write_record
from server.records.stored_record import facts_of
from server.storage.accounts import TokenStore
from server.storage.database import Database
from server.terminal.commentary import Draw, drawer, moves_text, result_line, screen_paint

GAME: Final = "amazons"
PLAYERS: Final = {"white": "mcts:playouts=80", "black": "greedy"}
START_CLOCK_S: Final = 10
PLAY_CLOCK_S: Final = 1
LIMIT_S: Final = 110
"""When the match is aborted, so that the demonstration takes no longer than two minutes."""
POLL_S: Final = 0.1


@click.command()
@click.option("--records", type=click.Path(path_type=Path, file_okay=False), default=Path("records"), show_default=True,
              help="The folder for the match record; it is made.")  # fmt: skip
def command(records: Path) -> None:
    """Start a game manager and two players on loopback ports, and have them play Amazons over HTTP.

    Takes about a minute and leaves no process behind. The last lines tell the result and where the record is.
    """
    records.mkdir(parents=True, exist_ok=True)
    with _quiet():
        asyncio.run(_demonstrate(records))


@contextmanager
def _quiet() -> Iterator[None]:
    """Log nothing but what is wrong: the boards are what is looked at."""
    before = structlog.get_config()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        yield
    finally:
        structlog.configure(**before)


async def _demonstrate(records: Path) -> None:
    """Play the match between two players over HTTP, print it, and write its record."""
    click.echo("starting a game manager and two players")
    draw = drawer(find_game(GAME).read(), find_game(GAME), screen_paint())
    async with _players() as players, _manager() as url, aiohttp.ClientSession(url) as session:
        click.echo(f"game manager: {url}")
        click.echo("\n".join(f"{role}: {PLAYERS[role]} at {address}" for role, address in players.items()))
        record = await _watched(session, players, draw)
    click.echo(result_line(zip(record["x-roles"], record["x-goals"], strict=True)))
    path = records / f"{record['matchId']}.json"
    write_record(record, path)
    click.echo(f"record: {path}")


@asynccontextmanager
async def _manager() -> AsyncIterator[str]:
    """Run a game manager whose database is gone afterwards, and yield its address."""
    with TemporaryDirectory() as folder:
        database = await Database.open(f"{folder}/demo.sqlite")
        try:
            watch, access = Watch(), AccessControl(AccessSettings(is_loopback=True), TokenStore(database))
            async with (
                managing(database, GameManagerSettings(), watch) as manager,
                listening(make_app(manager, access, watch), begin=manager.play) as url,
            ):
                yield url
        finally:
            await database.close()


@asynccontextmanager
async def _players() -> AsyncIterator[dict[str, str]]:
    """Run the two players, and yield their addresses by role; of one that needs no process the name."""
    async with opened({Constant(role): player_spec(spec) for role, spec in PLAYERS.items()}) as links:
        yield {
            str(role): link.url if isinstance(link, OwnPlayer) else PLAYERS[str(role)] for role, link in links.items()
        }


async def _watched(session: aiohttp.ClientSession, players: dict[str, str], draw: Draw) -> dict[str, Any]:
    """Order the match, tell its steps as they come, and return its record.

    Raises:
        DemoError: the match was not played to its end.
    """
    order = {"game": GAME, "players": players, "startClock": START_CLOCK_S, "playClock": PLAY_CLOCK_S}
    async with session.post("/api/v1/matches", json=order) as answer:
        started = await answer.json()
    click.echo(f"watch it in a browser: {answer.url.origin()}/matches/{started['id']}")
    n_shown = 0
    for _ in range(round(LIMIT_S / POLL_S)):
        async with session.get(started["url"]) as answer:
            record: dict[str, Any] = await answer.json()
        states = record.get("states", [])
        for step in range(n_shown, len(states)):
            _tell(record, step, draw)
        n_shown = len(states)
        if record.get("isCompleted"):
            return record
        if record.get("isAborted"):
            break
        await asyncio.sleep(POLL_S)
    raise DemoError(f"the match was not played to its end within {LIMIT_S} s: is this machine very busy?")


def _tell(record: dict[str, Any], step: int, draw: Draw) -> None:
    if step > 0:
        moves = [read_term(text) for text in record["moves"][step - 1]]
        click.echo(f"\nstep {step}  {moves_text(record['x-roles'], moves)}")
    click.echo(f"\n{draw(facts_of(record['states'][step]))}")
