"""What axe finds on the pages, in each size and colour scheme: no barrier on any.

Pages of the same kind are represented by one; all are looked at with GGP_EXHAUSTIVE=all (`make exhaustive`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from aiohttp import ClientSession
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import FilePayload, Page, expect

from server.storage.rows import MatchRow
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.polling import until
from tests.kit.server.api.tournaments import TOURNAMENTS
from tests.kit.server.web.fixtures import PHONE, OpenPage
from tests.kit.server.web.live_site import LiveSite

WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def finished(site: LiveSite) -> MatchRow:
    """Return a match that is over."""
    return site.over(site.order(game="breakthrough", players={"white": "legal", "black": "legal"}, seed=1))


@pytest.fixture(scope="module")
def dealt(site: LiveSite) -> MatchRow:
    """Return a match with hidden information that is over."""
    return site.over(site.order(game="kuhnpoker", players={"alice": "legal", "bob": "legal"}, seed=1))


@pytest.fixture(scope="module")
def thought(site: LiveSite) -> MatchRow:
    """Return a match that is over, whose players told what they thought."""
    players = {"x": "mcts:playouts=20", "o": "mcts:playouts=10"}
    return site.over(site.order(game="tictactoe", players=players, seed=1))


@pytest.fixture(scope="module")
def cup(site: LiveSite) -> None:
    """Have one tournament over and one waiting for its start, and the ratings worked out."""
    site.ask(partial(_played, site.url))


async def _played(url: str) -> None:
    async with ClientSession(url) as session:
        for name in ("cup", "waiting"):
            terms = {"name": name, "format": "swiss", "games": ["tictactoe"], "rounds": 2}
            async with session.post(TOURNAMENTS, json=terms | {"players": ["legal", "random", "greedy"]}) as answer:
                assert answer.status == 201
        async with session.post(f"{TOURNAMENTS}/cup/start") as answer:
            assert answer.status == 200
        for path, told in (
            (f"{TOURNAMENTS}/cup", '"over"'), ("/leaderboards", "board-title"),
            ("/leaderboards/tictactoe", "board-title"), ("/games/tictactoe", "balance-title"),
        ):  # fmt: skip
            await _until_told(session, path, told)


async def _until_told(session: ClientSession, path: str, told: str) -> None:
    async def is_told() -> bool:
        async with session.get(path) as answer:
            return told in await answer.text()

    await until(is_told)


def barriers(page: Page) -> list[str]:
    """Return what axe finds on a page: on a wide screen by day, and on a phone by night."""
    page.evaluate(AXE_SCRIPT)
    found = []
    for size, is_dark in ((WIDE, False), (NARROW, True)):
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        page.emulate_media(color_scheme="dark" if is_dark else "light")
        for violation in page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]:
            places = [" ".join(map(str, node["target"])) for node in violation["nodes"][:3]]
            found.append(f"{size['width']}: {violation['id']}: {violation['help']}: {places}")
    return found


PAGES = ["/", "/matches", "/matches/{id}/embed", "/matches/{id}", "/matches/{id}?step=3",
         "/matches/{dealt}?step=1&as=alice", "/queue", "/games", "/games?roles=1&sort=new",
         "/games/breakthrough", "/games/zion", "/games/kuhnpoker", "/players", "/players/legal", "/start",
         "/tournaments", "/tournaments/cup", "/tournaments/cup/entrants/legal", "/tournaments/cup/wall",
         "/tournaments/cup/withdraw?entrant=legal", "/tournaments/waiting", "/tournaments/waiting/wall",
         "/start/tournament", "/leaderboards", "/leaderboards/tictactoe", "/players/legal/against/random",
         "/validate", "/login", "/admin", "/matches?status=lobby"]  # fmt: skip
LIKE_OTHERS = {"/games?roles=1&sort=new", "/games/breakthrough", "/games/zion", "/matches/{id}?step=3",
               "/tournaments/waiting", "/tournaments/waiting/wall", "/leaderboards/tictactoe"}  # fmt: skip
"""Pages that differ from others of these in what they tell alone; the long rules of two take axe the longest."""


@pytest.mark.sampled(11)
@pytest.mark.parametrize("path", [path for path in PAGES if IS_EXHAUSTIVE or path not in LIKE_OTHERS])
def test_axe_finds_no_barrier(open_page: OpenPage, finished: MatchRow, dealt: MatchRow, cup: None, path: str) -> None:
    assert barriers(open_page(path.format(id=finished.id, dealt=dealt.id))) == []


@pytest.mark.exhaustive
def test_axe_finds_no_barrier_where_thoughts_are_shown(open_page: OpenPage, thought: MatchRow) -> None:
    page = open_page(f"/matches/{thought.id}?step=1")
    expect(page.locator("#thoughts tbody tr")).to_have_count(1)
    assert barriers(page) == []


@pytest.mark.exhaustive
def test_axe_finds_no_barrier_where_there_is_nothing(open_page: OpenPage) -> None:
    assert barriers(open_page("/matches/nothing", "404 (Not Found)")) == []


def test_axe_finds_no_barrier_on_checked_rules(open_page: OpenPage) -> None:
    page = open_page("/validate")
    page.get_by_role("textbox", name="Rules").fill("(role x)\n(<= (legal x (mark ?z)) (true (cell ?x 1)))\n")
    page.get_by_role("button", name="Check these rules").click()
    expect(page.locator(".said.error").first).to_be_visible()
    assert barriers(page) == []


@pytest.mark.exhaustive
def test_axe_finds_no_barrier_where_links_to_seats_are_shown(open_page: OpenPage) -> None:
    page = open_page("/start?game=tictactoe")
    for role in ("x", "o"):
        page.get_by_label(f"Who plays {role}?").fill("human")
    page.get_by_role("button", name="Start this match").click()
    expect(page.get_by_role("heading", name="The match is ordered")).to_be_visible()
    assert barriers(page) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("game", "players"),
    [
        ("tictactoe", {"x": "human", "o": "human"}),
        ("tictactoe", {"x": "human"}),
        ("breakthrough", {"white": "human"}),
        ("nim", {"left": "human"}),
        ("kuhnpoker", {"alice": "human"}),
        ("zionsmall", {"player": "human"}),
    ],
)
def test_axe_finds_no_barrier_at_a_seat(
    open_page: OpenPage, site: LiveSite, game: str, players: dict[str, str]
) -> None:
    match_id = site.order(game=game, players=players)
    page = open_page(f"/matches/{match_id}/play/{next(iter(players))}", **PHONE)
    expect(page.locator("#turn[data-asked=yes], .lobby .there")).to_be_visible()
    assert barriers(page) == []
    if len(players) == 1:
        page.locator("[data-choices] button").first.click()
        page.wait_for_selector("#turn:not([data-step='0']), #turn[data-asked=no]")
        assert barriers(page) == []


@pytest.mark.exhaustive
def test_axe_finds_no_barrier_on_a_match_that_is_played(open_page: OpenPage, site: LiveSite) -> None:
    match_id = site.order(game="breakthrough", players={"white": "human", "black": "human"})
    page = open_page(f"/matches/{match_id}")
    expect(page.locator(".lobby .missing").first).to_be_visible()
    assert barriers(page) == []
    for role in ("white", "black"):
        site.ask(lambda role=role: site.manager.note_arrival(match_id, role))  # type: ignore[misc]  # called at once
    expect(page.locator("#seats .clock.runs").first).to_be_visible()
    assert barriers(page) == []


@pytest.mark.exhaustive
def test_axe_finds_no_barrier_on_an_import_and_on_what_versions_change(open_page: OpenPage, site: LiveSite) -> None:
    rules = "(role a) (init (p)) (legal a go) (<= (next (q)) (does a go)) (<= terminal (true (q))) (goal a 100)"
    page = open_page("/games")
    file: FilePayload = {"name": "Going.kif", "mimeType": "text/plain", "buffer": rules.encode()}
    page.set_input_files("#archive", files=[file])
    page.get_by_role("button", name="Bring them in").click()
    expect(page.get_by_text("1 game came in")).to_be_visible(timeout=120_000)
    assert barriers(page) == []
    first = site.ask(lambda: site.manager.games.find("going"))
    assert first is not None
    other = replace(first, sha256="0" * 64, rules=rules.replace("100", "90"), created_ms=first.created_ms + 1)
    site.ask(lambda: site.manager.games.put(other))
    page.goto("/games/going")
    page.get_by_role("link", name="since the version before").click()
    expect(page.get_by_role("heading", name="What differs")).to_be_visible()
    assert barriers(page) == []
