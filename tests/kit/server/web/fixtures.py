"""A server, and Debian's Chromium to look at it with; without a Chromium the tests that need one are skipped.

The one without windows (`chromium-headless-shell`) is preferred: it draws the same pages with half the work.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.kit.server.web.live_site import LiveSite, live_site

OpenPage: TypeAlias = Callable[..., Page]
_ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
_LIMIT_MS = 60_000
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


def no_wider_than_the_screen(page: Page) -> bool:
    """Return whether no part of *page* lies beside the screen."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.fixture(scope="package")  # an event loop seems to run here until it ends: no coroutine test may come meanwhile
def chromium() -> Iterator[Browser]:
    """Return the browser, which all files of `tests/browser` share that a process runs one after another."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        package = "chromium-headless-shell"
        pytest.skip(f"no chromium: the pages are not tried in a browser (on Debian: apt-get install {package})")
    expect.set_options(timeout=_LIMIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    """Return a server that is up, without accounts."""
    with live_site(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture
def open_page(chromium: Browser, site: LiveSite) -> Iterator[OpenPage]:
    """Return what opens a page in a browser of its own; in the end no page may have complained of anything."""
    complaints: list[str] = []
    allowed = ["/events", "net::ERR_ABORTED"]  # what is under way when a page is left
    contexts = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(f"{message.type}: {message.text}")

    def opened(path: str, expected: str = "/events", **how: Any) -> Page:
        allowed.append(expected)
        # A mark that pulses is drawn sixty times a second for as long as a page is open.
        context = chromium.new_context(base_url=site.url, reduced_motion="reduce", **how)
        contexts.append(context)
        context.set_default_timeout(_LIMIT_MS)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url} {request.failure}"))
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [each for each in complaints if not any(part in each for part in allowed)] == []


def see(page: Page, *, is_hidden: bool) -> None:
    """Hide *page*, or show it again, as a browser does with a tab."""
    page.evaluate(
        """(hidden) => {
            Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )
