"""Players of a notebook, in a real Jupyter kernel, against a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from players.kit.notebook import PackedPlayer, packed
from server.records.entries import StepEntry
from tests.kit.players import odd_players
from tests.kit.players.notebooks import kernel
from tests.kit.server.web.live_site import LiveSite, live_site

CELL = '''
import random
import players

FAVOURITES = ["(mark 2 2)"]

def favourite(moves):
    return next((move for move in moves if str(move) in FAVOURITES), moves[0])

class Helper:
    def choose(self, moves):
        return favourite(moves)

class Mine(players.Player):
    """Likes the middle."""

    def __init__(self):
        self.helper = Helper()

    def move(self, state, role, deadline):
        return self.helper.choose(state.legal_moves(role))
'''


@pytest.fixture
def site(tmp_path: Path) -> Any:
    with live_site(tmp_path) as found:
        yield found


@pytest.mark.exhaustive
async def test_a_class_of_a_notebook_plays_by_dialling_in(site: LiveSite, tmp_path: Path) -> None:
    async with kernel(tmp_path) as notebook:
        assert await notebook.run(CELL) == "ok"
        dialling = asyncio.create_task(notebook.run(f"players.dial_in(Mine, {site.url!r}, 'mine')"))
        await notebook.until_printed("connected to")
        players = {"x": "mine", "o": "random"}
        match_id = await asyncio.to_thread(site.order, game="tictactoe", players=players, playClock=20)
        row = await asyncio.to_thread(site.over, match_id)
        entries = await asyncio.to_thread(site.ask, lambda: site.manager.journals.entries(match_id))
        await notebook.manager.interrupt_kernel()
        assert await dialling == "ok"
        assert await notebook.run("1 + 1") == "ok"
    assert (row.status, row.n_errors) == ("completed", 0)
    steps = [entry for entry in entries if isinstance(entry, StepEntry) and entry.moves is not None]
    assert next(iter(steps[0].moves or [])) == "( mark 2 2 )"
    assert not [entry for entry in entries if isinstance(entry, StepEntry) and entry.failures]


@pytest.mark.exhaustive
async def test_what_the_game_manager_refuses_is_an_error_of_the_cell(tmp_path: Path) -> None:
    async with kernel(tmp_path) as notebook:
        assert await notebook.run(CELL) == "ok"
        ended = await notebook.run("players.dial_in(Mine, 'http://127.0.0.1:1', 'mine')")
    assert ended.startswith("GameManagerUnreachableError: ")


async def test_a_class_of_a_notebook_is_served_over_http(tmp_path: Path) -> None:
    async with kernel(tmp_path) as notebook:
        assert await notebook.run(CELL) == "ok"
        serving = asyncio.create_task(notebook.run("players.run(Mine, port=0)"))
        await notebook.until_printed("listening on http://127.0.0.1:")
        await notebook.manager.interrupt_kernel()
        assert await serving == "ok"


def test_a_player_that_can_be_imported_is_not_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("players.kit.notebook.is_main_importable", lambda: True)
    assert packed(odd_players.First) is odd_players.First


def test_a_packed_player_is_made_of_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("players.kit.notebook.is_main_importable", lambda: False)
    maker = packed(odd_players.First)
    assert isinstance(maker, PackedPlayer)
    assert type(maker()).__name__ == "First"
