"""The first page is kept up to date by a stream, which is rendered once for all who see the same."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from server.web import home_page, match_lists
from server.web.game_versions import FirstPositions, GameVersions
from tests.kit.server.api.whole_server import manager_of, whole_server
from tests.kit.server.peers import hanging, listening
from tests.kit.server.registry.host import order
from tests.kit.server.scripted import library
from tests.kit.server.spectating.written_match import MATCH, written_match

EVENTS = "/parts/live/events"


async def next_event(stream: aiohttp.ClientResponse) -> dict[str, Any]:
    """Return the data of the next event called `live`."""
    async with asyncio.timeout(30):
        while not (line := await stream.content.readline()).startswith(b"data: "):
            assert line, "the stream has ended"
    found: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
    return found


async def test_viewers_get_the_part_that_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_page, "PAUSE_S", 0.05)
    async with whole_server(tmp_path) as (client, _), listening(hanging) as slow:
        manager = manager_of(client)
        async with client.get(EVENTS) as one, client.get(EVENTS) as other:
            empty = [await next_event(stream) for stream in (one, other)]
            match_id = (await manager.order(order({"x": slow, "o": slow}))).row.id
            while match_id not in (found := await next_event(one))["html"]:
                pass
            while (seen := await next_event(other)) != found:
                assert seen["at"] <= found["at"]
            async with client.get(EVENTS) as late:
                assert match_id in (await next_event(late))["html"]
            page = await (await client.get("/parts/live")).text()
            await manager.abort(match_id, "enough")
            while match_id in (await next_event(one))["html"]:
                pass
        assert "No match is played just now" in empty[0]["html"]
        assert empty[0] == empty[1]
        assert match_id in page


async def test_a_board_is_drawn_once_the_first_state_is_there(tmp_path: Path) -> None:
    async with written_match(tmp_path, library("tictactoe"), [("(mark 1 1)", "noop")]) as played:
        cards = match_lists.Cards(played, GameVersions(played.games), FirstPositions())
        shown = []
        for kind in ("started", "state"):
            await played.write(kind)
            row = await played.matches.get(MATCH)
            assert row is not None
            (card,) = await cards.of([row], with_boards=True)
            shown.append((row.n_steps, card.picture is not None))
    assert shown == [(0, False), (0, True)]
