"""Tournaments ordered, entered and led by forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from server.access.control import AccessControl
from server.access.settings import AccessSettings
from server.api import tournaments
from server.principal import Role
from tests.kit.server.access.guarded_app import bearer
from tests.kit.server.api.tournaments import TOURNAMENTS, until_cup
from tests.kit.server.api.whole_server import Client, told, whole_server
from tests.kit.server.web.fetching import page_at, words_of
from tests.kit.server.web.markup import Page

FORM: dict[str, Any] = {
    "name": "cup", "format": "round-robin", "games": "tictactoe", "rounds": "", "startClock": "10", "playClock": "10",
    "measure": "points", "forfeitErrors": "", "entry": "open", "players": "legal\nchance = random\n",
}  # fmt: skip


async def send(client: Client, path: str, status: int, headers: dict[str, str] | None = None, **form: str) -> str:
    """Send a form, and return where the answer leads, else what its page says."""
    if headers is None:  # a browser, which sends the token of the page
        async with client.get("/start/tournament") as answer:
            token = re.search(r'name="csrf_token" value="([^"]+)"', await answer.text())
        assert token is not None
        form["csrf_token"] = token[1]
    async with client.post(path, data=form, headers=headers or {}, allow_redirects=False) as answer:
        text = await answer.text()
        assert answer.status == status, text
        return answer.headers.get("Location", words_of(Page(text)))


@pytest.mark.exhaustive
async def test_a_tournament_is_ordered_and_led_by_forms(client: Client) -> None:
    assert "/start/tournament" in (await page_at(client, "/tournaments")).links
    await page_at(client, "/start/tournament?game=tictactoe")
    assert await send(client, "/start/tournament", 303, **FORM) == "/tournaments/cup"
    assert await send(client, "/tournaments/cup", 303, do="enter", player="third = legal") == "/tournaments/cup"
    await send(client, "/tournaments/cup", 303, do="withdraw", entrant="third")
    await page_at(client, "/tournaments/cup")
    await send(client, "/tournaments/cup", 303, do="start")
    found = await until_cup(client, lambda cup: bool(cup["status"] == "over"))
    assert [one["name"] for one in found["entrants"]] == ["legal", "chance"]
    match_id = found["matches"][0]["match"]
    await send(client, "/tournaments/cup", 303, do="annul", match=match_id, reason="a draught", replay="yes")
    found = await until_cup(client, lambda cup: bool(cup["status"] == "over"))
    assert [one.get("annulled") for one in found["matches"]] == ["a draught", None, None]


@pytest.mark.exhaustive
async def test_a_tournament_is_paused_resumed_and_cancelled_by_forms(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)  # it never dials in
    await send(client, "/start/tournament", 303, **FORM | {"players": "legal\nabsent"})
    for do, reason, status in (("start", "", "running"), ("pause", "lunch", "paused"), ("resume", "", "running")):
        await send(client, "/tournaments/cup", 303, do=do, reason=reason)
        assert (await told(await client.get(f"{TOURNAMENTS}/cup")))["status"] == status
        await page_at(client, "/tournaments/cup")
    assert "reason" in await send(client, "/tournaments/cup", 400, do="cancel", reason="")
    await send(client, "/tournaments/cup", 303, do="cancel", reason="rain")
    assert "Cancelled: rain" in words_of(await page_at(client, "/tournaments/cup"))


async def test_what_cannot_be_done_with_a_tournament_is_said_on_its_page(client: Client) -> None:
    await send(client, "/start/tournament", 303, **FORM | {"players": "legal"})
    started = await send(client, "/tournaments/cup", 409, do="start")
    entered = await send(client, "/tournaments/cup", 400, do="enter", player="mctz")
    for problem, words in (
        ("its games need 2 or more entrants, not 1.", started),
        ("no player 'mctz'; did you mean mcts?", entered),
    ):
        assert f"ordered by local. {problem} open for entries Entrants1 entrant legal" in words


async def test_a_host_gives_a_reason_for_a_withdrawal_as_for_all_else(client: Client) -> None:
    await send(client, "/start/tournament", 303, **FORM)
    async with client.get("/tournaments/cup") as answer:
        fields = re.findall(r'<input id="([a-z]+)-reason" name="reason" (required)?', await answer.text())
    assert fields == [("withdraw", "required"), ("substitute", "required"), ("cancel", "required")]


async def test_a_withdrawal_is_asked_for_once_more(client: Client) -> None:
    await send(client, "/start/tournament", 303, **FORM)
    address = "/tournaments/cup"
    async with client.get(f"{address}/withdraw?entrant=legal&reason=ill&annul=yes") as answer:
        text = await answer.text()
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w*)">', text))
    del fields["csrf_token"]
    assert fields == {"do": "withdraw", "entrant": "legal", "reason": "ill", "annul": "yes"}
    assert f'action="{address}"' in text
    async with client.get(address) as answer:
        assert re.findall(r'<(?:form|button)[^>]*value="withdraw"', await answer.text()) == []
    async with client.get(f"{address}/withdraw?entrant=eve") as answer:
        assert (answer.status, "eve is no entrant who could withdraw" in await answer.text()) == (404, True)
    found = await told(await client.get(f"{TOURNAMENTS}/cup"))
    assert [one["name"] for one in found["entrants"]] == ["legal", "chance"]


async def test_a_withdrawal_is_asked_for_with_what_it_leads_to(client: Client) -> None:
    await send(client, "/start/tournament", 303, **FORM)
    path = "/tournaments/cup/withdraw?entrant=legal"
    words = [words_of(await page_at(client, path))]
    await send(client, "/tournaments/cup", 303, do="start")
    words += [words_of(await page_at(client, address)) for address in (path, f"{path}&annul=yes")]
    assert [re.findall(r"from cup\?([A-Z].*?\.)", each) for each in words] == [
        ["It does not take part, unless it enters again before the start."],
        ["It forfeits its open matches, and it does not come back."],
        ["None of its matches counts any more, and it does not come back."],
    ]


async def test_a_knockout_that_has_begun_offers_no_late_entry(client: Client) -> None:
    await told(await client.post("/api/v1/players", json={"name": "absent"}), 201)  # it never dials in
    await send(client, "/start/tournament", 303, **FORM | {"format": "knockout", "players": "legal\nabsent"})
    shown = ["Player to enter" in words_of(await page_at(client, "/tournaments/cup"))]
    await send(client, "/tournaments/cup", 303, do="start")
    shown.append("Player to enter" in words_of(await page_at(client, "/tournaments/cup")))
    assert shown == [True, False]


async def test_a_form_shows_what_is_wrong_with_it_and_keeps_the_rest(client: Client) -> None:
    path = "/start/tournament"
    assert "Play clock: " in await send(client, path, 400, **FORM | {"playClock": "0"})
    assert "no player 'mctz'" in await send(client, path, 400, **FORM | {"players": "mctz"})
    without_games = {name: value for name, value in FORM.items() if name != "games"}
    assert "Games: needs 1 or more, not 0" in await send(client, path, 400, **without_games)
    assert "up to 60 small letters, digits" in await send(client, path, 400, **FORM | {"name": "my cup"})
    await send(client, path, 303, **FORM)
    assert "there is a tournament 'cup' already" in await send(client, path, 400, **FORM)
    assert "that cannot be done" in await send(client, "/tournaments/cup", 400, do="dance")


async def test_owners_enter_and_withdraw_their_own_players_alone(tmp_path: Path) -> None:
    async with whole_server(tmp_path, access=AccessSettings(is_loopback=False)) as (client, access):
        host, ann, bob = [bearer(await issued(access, name, role)) for name, role in PEOPLE]
        for name, headers in (("anns", ann), ("bobs", bob)):
            await told(await client.post("/api/v1/players", json={"name": name}, headers=headers), 201)
        await send(client, "/start/tournament", 303, host, **FORM | {"players": "legal"})
        async with client.get("/tournaments/cup", headers=ann) as answer:
            words = words_of(Page(await answer.text()))
        assert "Your players anns Enter" in words
        async with client.get("/tournaments/cup", headers=bearer(await issued(access, "eve", Role.PLAYER))) as answer:
            page = Page(await answer.text())
        assert "You have none yet. Register a player, then enter it here." in words_of(page)
        assert "/players#register-title" in page.links
        assert "bobs" not in words
        async with client.get("/tournaments/cup", headers=host) as answer:
            words = words_of(Page(await answer.text()))
        assert ("Players anns Enter bobs Enter" in words, "Your players" in words) == (True, False)
        await send(client, "/tournaments/cup", 303, ann, do="enter", player="anns")
        assert "belongs to another owner" in await send(client, "/tournaments/cup", 403, ann, do="enter", player="bobs")
        assert "another owner" in await send(client, "/tournaments/cup", 403, bob, do="withdraw", entrant="anns")
        assert "needs the role host" in await send(client, "/tournaments/cup", 403, ann, do="start")
        await send(client, "/tournaments/cup", 303, ann, do="withdraw", entrant="anns")
        found = await told(await client.get(f"{TOURNAMENTS}/cup", headers=ann))
        assert [one["name"] for one in found["entrants"]] == ["legal"]


async def test_owners_withdraw_players_that_are_called_otherwise_in_the_tournament(tmp_path: Path) -> None:
    async with whole_server(tmp_path, access=AccessSettings(is_loopback=False)) as (client, access):
        host, ann, _ = [bearer(await issued(access, name, role)) for name, role in PEOPLE]
        await told(await client.post("/api/v1/players", json={"name": "anns"}, headers=ann), 201)
        await send(client, "/start/tournament", 303, host, **FORM | {"players": "legal\nAnn = anns\nToo = anns"})
        for entrant, words in (
            ("Ann", "Your players anns as Ann Withdraw anns as Too Withdraw"),
            ("Too", "anns as Too"),
        ):
            async with client.get("/tournaments/cup", headers=ann) as answer:
                text = await answer.text()
            assert words in words_of(Page(text))
            assert f'name="entrant" value="{entrant}"' in text
            await send(client, "/tournaments/cup", 303, ann, do="withdraw", entrant=entrant)
        found = await told(await client.get(f"{TOURNAMENTS}/cup", headers=ann))
        assert [one["name"] for one in found["entrants"]] == ["legal"]


async def test_a_page_offers_no_entry_after_the_time_for_it_but_withdrawal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with whole_server(tmp_path, access=AccessSettings(is_loopback=False)) as (client, access):
        host, ann, bob = [bearer(await issued(access, name, role)) for name, role in PEOPLE]
        for name, headers in (("anns", ann), ("bobs", bob)):
            await told(await client.post("/api/v1/players", json={"name": name}, headers=headers), 201)
        order = {"name": "cup", "format": "swiss", "games": ["tictactoe"], "rounds": 2}
        order |= {"entryCloses": "2026-01-01T08:00:00Z"}
        with monkeypatch.context() as before:
            before.setattr(tournaments, "now_ms", lambda: 0)
            await told(await client.post(TOURNAMENTS, json=order, headers=host), 201)
        await told(await client.post(f"{TOURNAMENTS}/cup/entries", json={"player": "anns"}, headers=host), 201)
        pages = []
        for headers in (host, ann, bob):
            async with client.get("/tournaments/cup", headers=headers) as answer:
                pages.append(words_of(Page(await answer.text())))
    closed = "cup entry closed"
    assert [(closed in words, "Player to enter" in words, "Your players" in words) for words in pages] == [
        (True, True, False), (True, False, True), (True, False, False),
    ]  # fmt: skip
    assert "Your players anns Withdraw" in pages[1]


PEOPLE = (("host", Role.ADMIN), ("ann", Role.PLAYER), ("bob", Role.PLAYER))


async def issued(access: AccessControl, name: str, role: Role) -> str:
    return str((await access.issuing.issue(name, role)).text)
