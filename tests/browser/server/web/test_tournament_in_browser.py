"""Tournaments in a browser: their page follows them, the wall turns its pages, and a host leads one by forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from server.access.settings import AccessSettings
from server.principal import Role
from server.storage.rows import PlayerRow, SeatKind
from server.storage.tournament_rows import TournamentStatus
from tests.kit.server.hosting.tournaments import entrants, tournament
from tests.kit.server.web.fixtures import PHONE, OpenPage, no_wider_than_the_screen, see
from tests.kit.server.web.live_site import live_site

pytestmark = pytest.mark.xdist_group("browser")

API = "/api/v1/tournaments"
CUP: dict[str, Any] = {
    "format": "round-robin", "games": ["tictactoe"], "rounds": 1, "startClock": 10, "playClock": 10,
    "players": ["legal", "random"],
}  # fmt: skip
SLOW: dict[str, Any] = {
    "players": ["mcts", "random"], "playClock": 2, "startClock": 2, "games": ["breakthrough"], "rounds": 10,
}  # fmt: skip
HAS_MOVED = re.compile("^[1-9]")


def order(page: Page, name: str, **changes: Any) -> None:
    answer = page.request.post(API, data=CUP | {"name": name} | changes)
    assert answer.status == 201, answer.text()


def command(page: Page, name: str, what: str, **body: Any) -> None:
    answer = page.request.post(f"{API}/{name}/{what}", data=body or None)
    assert answer.status == 200, answer.text()


@pytest.mark.exhaustive
def test_the_page_of_a_tournament_follows_it_to_its_end(open_page: OpenPage) -> None:
    page = open_page("/tournaments")
    order(page, "followed", rounds=2)
    page.goto("/tournaments/followed")
    page.evaluate("window.isTheSamePage = true")
    expect(page.locator("#state")).to_have_text("open for entries")
    command(page, "followed", "start")
    expect(page.locator("#state")).to_have_text("over")
    expect(page.locator(".standings tbody tr")).to_have_count(2)
    expect(page.locator(".progress-line")).to_contain_text("4 of 4 matches")
    expect(page.locator("#announcement")).to_have_text("The tournament is over.")
    assert page.evaluate("window.isTheSamePage")
    page.locator(".round summary").first.click()
    expect(page.locator(".round").first.locator("tbody tr").first).to_be_visible()


def test_scores_are_on_a_phones_screen_and_intervals_in_their_column_whatever_names_are_like(
    open_page: OpenPage,
) -> None:
    page = open_page("/tournaments", **PHONE)
    order(page, "long", players=["random", {"name": "n" * 64, "player": "legal"}])
    command(page, "long", "start")
    page.goto("/tournaments/long")
    expect(page.locator("#state")).to_have_text("over")
    expect(page.locator(".standings .interval")).to_have_count(2)
    expect(page.locator(".standings td.best").first).to_be_in_viewport(ratio=1)
    columns = page.evaluate(
        """() => [...document.querySelectorAll(".standings .interval")]
            .map((one) => one.parentElement.scrollWidth <= one.parentElement.clientWidth)"""
    )
    assert columns == [True, True]


@pytest.mark.exhaustive
def test_a_cross_table_shows_its_numbers_beside_long_names_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("/tournaments", **PHONE)
    order(page, "crossed", players=["random", {"name": "n" * 64, "player": "legal"}])
    command(page, "crossed", "start")
    page.goto("/tournaments/crossed")
    expect(page.locator("#state")).to_have_text("over")
    expect(page.locator(".cross td.number:not(.self)").last).to_have_text(re.compile("/2$"))
    assert page.evaluate("document.querySelector('#cross-part .table-frame').scrollWidth") <= 390


@pytest.mark.exhaustive
def test_all_columns_of_a_tournament_are_on_paper(open_page: OpenPage) -> None:
    page = open_page("/tournaments", viewport={"width": 718, "height": 1000})  # A4 without its margins
    order(page, "printed", players=[{"name": f"{n:02}" + "n" * 60, "player": "random"} for n in range(20)])
    command(page, "printed", "start")
    page.goto("/tournaments/printed")
    expect(page.locator(".cross tbody tr")).to_have_count(20)
    page.emulate_media(media="print")
    ends = page.evaluate(
        "[...document.querySelectorAll('table td:last-child')].map((one) => one.getBoundingClientRect().right)"
    )
    assert max(ends) <= 718


@pytest.mark.exhaustive
def test_what_an_owner_may_do_with_a_player_fits_on_a_phone(chromium: Browser, tmp_path: Path) -> None:
    with live_site(tmp_path, AccessSettings(is_loopback=False)) as site:
        site.ask(lambda: site.access.issuing.issue("root", Role.ADMIN))
        token = site.ask(lambda: site.access.issuing.issue("ann", Role.PLAYER)).text
        site.ask(lambda: site.manager.players.put(PlayerRow("n" * 64, SeatKind.DIAL_IN, "ann", 10)))
        row = tournament(status=TournamentStatus.PAUSED)
        site.ask(lambda: site.manager.tournaments.store.add(row, entrants("n" * 64, "legal")))
        how: dict[str, Any] = PHONE | {"extra_http_headers": {"Authorization": f"Bearer {token}"}}
        context = chromium.new_context(**how)
        page = context.new_page()
        page.goto(f"{site.url}/tournaments/cup")
        expect(page.get_by_role("button", name="Withdraw p0")).to_be_visible()
        assert page.evaluate("innerWidth") == 390
        context.close()


@pytest.mark.exhaustive
def test_boards_of_a_tournament_go_on_and_their_clocks_run(open_page: OpenPage) -> None:
    page = open_page("/tournaments", **PHONE)
    order(page, "boards", **SLOW)
    command(page, "boards", "start")
    page.goto("/tournaments/boards")
    board = page.locator("[data-board]").first
    expect(board.locator("svg.board")).to_be_visible()
    expect(board).to_have_attribute("data-steps", HAS_MOVED)
    expect(board.locator(".clock.runs").first).to_be_visible()
    assert no_wider_than_the_screen(page)
    command(page, "boards", "pause", reason="lunch")
    expect(page.locator("#status-part")).to_contain_text("Paused: lunch")
    command(page, "boards", "cancel", reason="rain")
    expect(page.locator("#status-part")).to_contain_text("Cancelled: rain")
    expect(page.locator("#boards-part")).to_have_count(0)


def test_the_wall_shows_live_boards_and_standings_in_turn(open_page: OpenPage) -> None:
    page = open_page("/tournaments", viewport={"width": 1920, "height": 1080})
    order(page, "wall", **SLOW)
    page.goto("/tournaments/wall/wall?seconds=2")
    expect(page.locator("#wall-standings")).to_contain_text("mcts")
    command(page, "wall", "start")
    board = page.locator("[data-board]").first
    expect(board.locator("svg.board")).to_be_visible()
    expect(page.locator("#wall-standings")).to_be_visible()
    expect(board.locator(".clock.runs").first).to_be_visible()
    expect(page.get_by_role("navigation")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollHeight <= window.innerHeight")
    assert no_wider_than_the_screen(page)
    command(page, "wall", "cancel", reason="rain")
    expect(page.locator("#wall-head")).to_contain_text("rain")


@pytest.mark.exhaustive
def test_a_wall_that_is_hidden_asks_the_server_for_nothing(open_page: OpenPage) -> None:
    page = open_page("/tournaments", viewport={"width": 1920, "height": 1080})
    order(page, "hidden-wall", **SLOW)
    command(page, "hidden-wall", "start")
    page.clock.install()
    with page.expect_request("**/boards?*"):
        page.goto("/tournaments/hidden-wall/wall?seconds=2")
    see(page, is_hidden=True)
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.run_for(60_000)
    assert asked == []
    command(page, "hidden-wall", "cancel", reason="rain")


@pytest.mark.exhaustive
def test_a_host_orders_and_starts_a_tournament_by_forms(open_page: OpenPage) -> None:
    page = open_page("/tournaments")
    page.get_by_role("link", name="Order a tournament").click()
    page.get_by_label("Name", exact=True).fill("formal")
    page.get_by_label("Format").select_option("round-robin")
    page.get_by_label("Tic-tac-toe", exact=True).check()
    page.get_by_label("Players that enter now, one a line").fill("legal\nother = legal")
    page.get_by_role("button", name="Order this tournament").click()
    page.wait_for_url("**/tournaments/formal")
    page.get_by_role("button", name="Start this tournament").click()
    expect(page.locator("#state")).to_have_text("over")
    page.get_by_role("link", name="other").first.click()
    expect(page.get_by_role("heading", name="other")).to_be_visible()


@pytest.mark.exhaustive
def test_what_a_host_writes_stays_when_the_tournament_goes_on(open_page: OpenPage) -> None:
    page = open_page("/tournaments")
    order(page, "kept", rounds=3)
    page.goto("/tournaments/kept")
    page.get_by_label("Why it is cancelled").fill("it rai")
    command(page, "kept", "start")
    expect(page.locator("#state")).to_have_text("over")
    expect(page.get_by_label("Why it is cancelled")).to_have_value("it rai")
