"""Pages keep their text on the screen whatever players, games and tournaments are called."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page

from server.storage.rows import PlayerRow, SeatKind
from server.storage.tournament_rows import TournamentStatus
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.web.fixtures import PHONE, OpenPage
from tests.kit.server.web.live_site import LiveSite

PLAYER, GAME, TOURNAMENT = "N" * 64, "g" * 60, "t" * 60
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
ABOUT = f"""
title = {json.dumps("W" * 60)}
authors = ["{"a" * 60}"]
summary = "{"V" * 200}"
roles = ["x", "o"]
players = 2
"""


@pytest.fixture(scope="module")
def long_names(site: LiveSite) -> dict[str, str]:
    """Return the ids of what was made with the longest names without a blank that there can be."""
    found = site.ask(lambda: site.manager.games.find("tictactoe"))
    assert found is not None
    game = replace(found, name=GAME, about=ABOUT, is_library=False, uploaded_by="ann", sha256="0" * 64)
    site.ask(lambda: site.manager.games.put(game))
    site.ask(lambda: site.manager.players.put(PlayerRow(PLAYER, SeatKind.DIAL_IN, "o" * 60, 0)))
    row = tournament(TOURNAMENT, status=TournamentStatus.OPEN)
    site.ask(lambda: site.manager.tournaments.store.add(row, entrants(PLAYER, "legal")))
    return {"match": site.over(site.order(game=GAME, players={"x": "legal", "o": "legal"}, seed=1)).id}


def unread(page: Page) -> list[str]:
    """Return the texts that end behind the right edge of the screen, where nothing scrolls."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
            .filter((one) => one.checkVisibility() && !one.closest("svg, .listing, .table-frame, .moves-frame"))
            .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    return found


PAGES = ["/", "/matches", "/matches/{match}", "/matches/{match}/embed", "/games", "/games/" + GAME, "/players",
         "/players/" + PLAYER, "/tournaments", "/tournaments/" + TOURNAMENT, "/tournaments/" + TOURNAMENT + "/wall",
         "/start?game=" + GAME, "/start/tournament"]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", PAGES)
def test_long_names_stay_on_the_screen(open_page: OpenPage, long_names: dict[str, str], path: str) -> None:
    for how in (DESKTOP, PHONE):
        page = open_page(path.format(**long_names), **how)
        assert unread(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
