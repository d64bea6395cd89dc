"""What Firefox and WebKit do and Chromium does not: pages meet their limits and their events."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.kit.server.web.fixtures import OpenPage, see
from tests.kit.server.web.live_site import LiveSite

KEEP_STREAMS: Final = """
    window.streams = [];
    window.EventSource = class extends EventSource {
        constructor(...of) { super(...of); streams.push(this); }
    };
"""


def expect_streams(page: Page, *, n_open: int) -> None:
    """Wait until so many streams of events are open."""
    script = "(n) => streams.filter((one) => one.readyState === EventSource.OPEN).length === n"
    page.wait_for_function(script, arg=n_open)


def tell(page: Page, event: str) -> None:
    """Send *page* the event of a browser that puts it aside, or takes it out again, when a visitor goes back."""
    page.evaluate("(event) => dispatchEvent(new PageTransitionEvent(event, { persisted: true }))", event)


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
