"""What Firefox and WebKit do and Chromium does not: pages meet their limits and their events."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, Route, expect

from server.access.settings import AccessSettings
from server.principal import Role
from server.storage.rows import MatchRow
from tests.kit.server.web.fixtures import OpenPage, see
from tests.kit.server.web.live_site import LiveSite, live_site

KEEP_STREAMS: Final = """
    window.streams = [];
    window.EventSource = class extends EventSource {
        constructor(...of) { super(...of); streams.push(this); }
    };
"""
TAKE_FEW_ADDRESSES: Final = """
    const replace = history.replaceState;
    let left = 10;
    history.replaceState = function (...of) {
        if (left-- <= 0) throw new DOMException("more than 10 times", "SecurityError");
        replace.apply(history, of);
    };
"""


@pytest.fixture(scope="module")
def finished(site: LiveSite) -> MatchRow:
    """Return a match that is over, in which a role sees less than all."""
    return site.over(site.order(game="kuhnpoker", players={"alice": "legal", "bob": "legal"}, seed=2))


def expect_streams(page: Page, *, n_open: int) -> None:
    """Wait until so many streams of events are open."""
    script = "(n) => streams.filter((one) => one.readyState === EventSource.OPEN).length === n"
    page.wait_for_function(script, arg=n_open)


def tell(page: Page, event: str) -> None:
    """Send *page* the event of a browser that puts it aside, or takes it out again, when a visitor goes back."""
    page.evaluate("(event) => dispatchEvent(new PageTransitionEvent(event, { persisted: true }))", event)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", ["/matches/{}", "/matches/{}/play/x"])
def test_a_page_that_a_browser_puts_aside_has_no_stream_and_one_when_it_is_back(
    path: str, open_page: OpenPage, site: LiveSite
) -> None:
    match_id = site.order(game="tictactoe", players={"x": "human", "o": "legal"})
    page = open_page("/")
    page.add_init_script(KEEP_STREAMS)
    page.goto(path.format(match_id))
    expect_streams(page, n_open=1)
    tell(page, "pagehide")
    expect_streams(page, n_open=0)
    see(page, is_hidden=True)
    expect_streams(page, n_open=0)
    see(page, is_hidden=False)
    tell(page, "pageshow")
    expect_streams(page, n_open=1)
    page.evaluate("streams[0].dispatchEvent(new Event('error'))")  # WebKit tries to open it again
    assert page.locator("#connection").is_hidden()


@pytest.mark.exhaustive
def test_a_page_names_the_step_where_a_browser_takes_few_addresses(open_page: OpenPage, finished: MatchRow) -> None:
    page = open_page("/")
    page.add_init_script(TAKE_FEW_ADDRESSES)
    page.goto(f"/matches/{finished.id}?step=0")
    for step in [*(1, 0) * 10, 2]:
        page.locator("#slider").fill(str(step))
        expect(page.locator("#position")).to_have_attribute("data-step", str(step))
    page.wait_for_url("**?step=2")
    views = page.locator(".views a").evaluate_all("(all) => all.map((one) => one.search)")
    assert views == ["?step=2", "?step=2&as=alice", "?step=2&as=bob"]


@pytest.mark.exhaustive
def test_the_focus_that_a_key_moves_after_a_click_is_seen_without_the_help_of_the_browser(
    open_page: OpenPage, site: LiveSite
) -> None:
    match_id = site.order(game="breakthrough", players={"white": "human", "black": "legal"})
    page = open_page("/")
    page.route("**/style.css*", without_focus_visible)
    page.goto(f"/matches/{match_id}/play/white")
    page.locator("#seat [data-cell='1,6'].can-choose").click()
    expect(page.locator("#seat .focus")).to_be_hidden()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#seat [data-cell='1,5'] > .focus")).to_be_visible()


def without_focus_visible(route: Route) -> None:
    """Answer with a style sheet in which no focus counts as one to be seen, as in WebKit after a click."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("[data-cell]:focus-visible", "[data-cell]:not(*)"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("preferred", "theme", "sheet"), [
    ("light", None, "rgb(255, 255, 255)"), ("dark", None, "rgb(27, 31, 36)"),
    ("dark", "light", "rgb(255, 255, 255)"), ("light", "dark", "rgb(27, 31, 36)"),
])  # fmt: skip
def test_a_board_is_light_or_dark_as_the_visitor_or_the_page_wants_it(
    preferred: str, theme: str | None, sheet: str, open_page: OpenPage, finished: MatchRow
) -> None:
    page = open_page(f"/matches/{finished.id}", color_scheme=preferred)
    page.evaluate("(theme) => theme && (document.body.dataset.theme = theme)", theme)
    script = """(board) => {
        const drawn = board.appendChild(document.createElementNS(board.namespaceURI, "rect"));
        drawn.setAttribute("class", "sheet");
        return getComputedStyle(drawn).fill;
    }"""
    assert page.locator("svg.board").first.evaluate(script) == sheet


def test_a_page_that_was_kept_is_not_shown_to_whom_comes_after_its_visitor(open_page: OpenPage, tmp_path: Path) -> None:
    with live_site(tmp_path, AccessSettings(is_loopback=False)) as site:
        token = site.ask(lambda: site.access.issuing.issue("root", Role.ADMIN)).text
        page = open_page("/", "401 (Unauthorized)")
        page.goto(f"{site.url}/login")
        page.get_by_label("Token").fill(str(token))
        page.get_by_role("button", name="Log in").click()
        page.goto(f"{site.url}/admin")
        tell(page, "pageshow")
        expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
        page.context.clear_cookies()
        tell(page, "pageshow")
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
