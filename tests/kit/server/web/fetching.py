"""Pages as a browser without scripts gets them."""

from __future__ import annotations

from tests.kit.server.api.whole_server import Client
from tests.kit.server.web.markup import Page


async def page_at(client: Client, path: str, status: int = 200) -> Page:
    """Return the page at *path*, which is whole and without inline code."""
    async with client.get(path, headers={"Accept": "text/html"}) as answer:
        assert (answer.status, answer.content_type) == (status, "text/html"), path
        found = Page(await answer.text())
    assert found.problems == [], path
    return found


def words_of(page: Page) -> str:
    """Return the text of a page with single blanks."""
    return " ".join(page.text.split())
