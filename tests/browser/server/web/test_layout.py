"""Pages keep their text on screen and paper whatever names are like, and need no colours to be understood."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from server.storage.rows import PlayerRow, SeatKind
from server.storage.tournament_rows import TournamentStatus
from server.web.static_files import static_address
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.web.fixtures import PHONE, OpenPage, no_wider_than_the_screen
from tests.kit.server.web.live_site import LiveSite

PLAYER, GAME, TOURNAMENT = "N" * 64, "g" * 60, "t" * 60
NARROW: Final = {"width": 390, "height": 844}
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
    order = {"game": GAME, "players": {"x": PLAYER, "o": "legal"}}
    site.order(**order)  # its player is not connected
    return {"match": site.over(site.order(game=GAME, players={"x": "legal", "o": "legal"}, seed=1)).id}


def unread(page: Page) -> list[str]:
    """Return the texts that end behind the right edge of the screen, where nothing scrolls or is shortened."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
            .filter((one) => !one.closest("svg, .listing, .table-frame, .moves-frame, .player"))
            .filter((one) => one.checkVisibility())
            .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    return found


PAGES = ["/", "/queue", "/matches", "/matches/{match}", "/matches/{match}/embed", "/games", "/games/" + GAME,
         "/players", "/players/" + PLAYER, "/tournaments", "/tournaments/" + TOURNAMENT,
         "/tournaments/" + TOURNAMENT + "/wall", "/start?game=" + GAME, "/start/tournament"]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", PAGES)
def test_long_names_stay_on_the_screen(open_page: OpenPage, long_names: dict[str, str], path: str) -> None:
    for how in (DESKTOP, PHONE):
        page = open_page(path.format(**long_names), **how)
        assert unread(page) == []
        assert no_wider_than_the_screen(page)


@pytest.mark.exhaustive
def test_a_table_is_no_wider_than_paper(open_page: OpenPage, long_names: dict[str, str]) -> None:
    page = open_page("/players/legal", viewport={"width": 718, "height": 1000})  # A4 without its margins
    while not page.locator("#statistics-title").count():  # what the table tells is worked out in the background
        page.reload()
    page.emulate_media(media="print")
    ends = page.evaluate("[...document.querySelectorAll('table')].map((one) => one.getBoundingClientRect().right)")
    assert max(ends) <= 718


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("path", "current"), [("/games", "header nav a"), ("/matches?status=completed", ".tabs a")])
def test_where_one_is_can_be_seen_without_the_colours_of_the_page(open_page: OpenPage, path: str, current: str) -> None:
    page = open_page(path, forced_colors="active")
    marked = page.locator(f"{current}[aria-current]").first
    assert marked.evaluate("one => getComputedStyle(one).borderBottomWidth") == "3px"


def styled(page: Page, body: str) -> None:
    """Show *body* with the style of the pages, in the place of a page without scripts."""
    page.set_content(f"<link rel=stylesheet href='{static_address('style.css')}'>{body}")
    page.wait_for_function("document.styleSheets.length === 1")


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", [{"media": "print"}, {"forced_colors": "active"}])
def test_the_diagonal_of_a_cross_table_is_marked_without_colours(open_page: OpenPage, how: dict[str, Any]) -> None:
    page = open_page("/players")
    styled(page, "<table class=cross><td class=self>")
    page.emulate_media(**how)
    assert page.locator("td").evaluate("one => getComputedStyle(one, '::after').content") == '"\u00d7"'


@pytest.mark.exhaustive
def test_figures_in_a_large_font_stay_on_a_narrow_screen(open_page: OpenPage) -> None:
    page = open_page("/players", viewport={"width": 200, "height": 600})
    styled(page, "<dl class=figures><div><dd>7</dd><dt>steps</dt></div></dl>")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert no_wider_than_the_screen(page)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["standings", "cross"])
def test_names_that_begin_alike_are_read_to_their_end_on_a_phone(open_page: OpenPage, kind: str) -> None:
    page = open_page("/players", viewport=NARROW)
    row = "<tr><td>1</td><th scope=row><a href=#>{}</a></th><td>15</td></tr>"
    rows = "".join(row.format(name) for name in ("mcts:playouts=100", "mcts:playouts=1000", PLAYER))
    styled(page, f"<div class=table-frame><table class='table {kind}'><tbody>{rows}</tbody></table></div>")
    sizes = page.evaluate("[...document.querySelectorAll('th')].map((one) => [one.scrollWidth, one.clientWidth])")
    assert [shown < needed for needed, shown in sizes] == [False] * 3
    assert page.evaluate("document.querySelector('.table-frame').scrollWidth") <= NARROW["width"]
