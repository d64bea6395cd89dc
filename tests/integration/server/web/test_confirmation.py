"""What cannot be undone is asked once more: a match that is ended, a player that is forgotten, a token replaced."""

from __future__ import annotations

import re

from tests.kit.server.api.whole_server import Client, manager_of, ordered, record
from tests.kit.server.web.fetching import page_at, words_of


async def confirm(client: Client, path: str) -> str:
    """Push the button of the page at *path*, which asks; return where that leads."""
    async with client.get(path) as answer:
        text = await answer.text()
    form = re.search(r'<form method="post" action="([^"]+)" class="sheet">(.*?)</form>', text, re.DOTALL)
    assert form is not None
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form[2]))
    async with client.post(form[1], data=fields, allow_redirects=False) as answer:
        assert answer.status == 303
        return answer.headers["Location"]


async def match_page(client: Client, **order: object) -> tuple[str, str]:
    """Return the addresses of a match that waits for a person: in the API, and its page."""
    url = await ordered(client, **({"game": "tictactoe", "players": {"x": "human", "o": "legal"}} | order))
    return url, url.removeprefix("/api/v1")


async def test_a_match_that_is_asked_about_goes_on(client: Client) -> None:
    url, page = await match_page(client)
    words = words_of(await page_at(client, f"{page}/abort"))
    assert f"Cancel this match?{page.rpartition('/')[2]} ends for all who play in it" in words
    async with client.get(url) as answer:
        assert (await answer.json())["x-status"] == "lobby"


async def test_a_match_ends_where_that_is_confirmed(client: Client) -> None:
    url, page = await match_page(client)
    assert await confirm(client, f"{page}/abort") == page
    assert (await record(client, url, "aborted"))["x-end"]["reason"] == "aborted by local"


async def test_a_match_that_is_played_is_aborted(client: Client) -> None:
    _, page = await match_page(client)
    await manager_of(client).note_arrival(page.rpartition("/")[2], "x")
    assert "Abort this match?" in words_of(await page_at(client, f"{page}/abort"))


async def test_a_match_that_is_over_is_shown_instead(client: Client) -> None:
    _, page = await match_page(client)
    await confirm(client, f"{page}/abort")
    async with client.get(f"{page}/abort", allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, page)


async def test_who_asks_from_a_seat_can_go_back_to_it(client: Client) -> None:
    _, page = await match_page(client)
    found = await page_at(client, f"{page}/abort?role=x")
    assert f"{page}/play/x" in found.links


async def test_a_seat_leads_nowhere_else(client: Client) -> None:
    _, page = await match_page(client)
    found = await page_at(client, f"{page}/abort?role=/../../x")
    assert f"{page}/play/%2F..%2F..%2Fx" in found.links


async def test_a_player_is_forgotten_where_that_is_confirmed(client: Client) -> None:
    manager = manager_of(client)
    await manager.registry.register("mine", "local")
    assert "/players/mine" in (await page_at(client, "/players/mine/forget")).links
    assert await manager.players.get("mine") is not None
    assert await confirm(client, "/players/mine/forget") == "/players"
    assert await manager.players.get("mine") is None


async def test_a_player_that_is_not_there_is_not_asked_about(client: Client) -> None:
    assert "no player" in words_of(await page_at(client, "/players/mine/forget", 404))
