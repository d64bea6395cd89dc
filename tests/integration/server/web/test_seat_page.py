"""The seat of a person: who may sit down, what is seen from there, and moves that do not count."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from server.access.settings import AccessSettings
from server.hosting.order import MatchRequest
from server.links.queued_player import turn_of
from server.principal import Role
from tests.kit.polling import until
from tests.kit.server.api.whole_server import MATCHES, Client, manager_of, record, told, whole_server
from tests.kit.server.web.fetching import words_of
from tests.kit.server.web.markup import Page


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    """Yield a browser without a token, on a server where others have one."""
    async with whole_server(tmp_path, access=AccessSettings(is_loopback=False)) as (found, access):
        await access.issuing.issue("admin", Role.ADMIN)
        yield found


async def seat(client: Client, game: str = "tictactoe", role: str = "x") -> tuple[str, str]:
    """Return the address of a seat where a move is asked for, and the claim to it."""
    manager = manager_of(client)
    text = MatchRequest.model_validate({"game": game, "players": {role: "human"}, "startClock": 20, "playClock": 60})
    ordered = await manager.order(text, "ann")
    await manager.note_arrival(ordered.row.id, role)
    queues = manager.request_queues
    await until(lambda: queues.has_seat(ordered.row.id, role) and turn_of(queues.seat(ordered.row.id, role)))
    return f"/matches/{ordered.row.id}/play/{role}", ordered.seat_secrets[role]


async def test_a_claim_goes_into_a_cookie_for_the_seat_alone_and_out_of_the_address(client: Client) -> None:
    address, claim = await seat(client)
    async with client.get(f"{address}?claim={claim}", allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, address)
        cookie = answer.headers["Set-Cookie"]
    assert f"Path={address}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    async with client.get(address) as answer:
        assert answer.status == 200
        assert claim not in await answer.text()


async def test_without_the_claim_there_is_a_place_to_put_it_and_nothing_else(client: Client) -> None:
    address, _ = await seat(client)
    async with client.get(address) as answer:
        found = Page(await answer.text())
    assert answer.status == 401
    assert "Secret of the seat" in found.text
    assert "(mark" not in found.text
    for wrong in (f"{address}?claim=wrong", f"{address}/parts"):
        async with client.get(wrong, allow_redirects=False) as answer:
            assert answer.status in (401, 403)
            assert "(mark" not in await answer.text()


async def test_the_claim_to_one_seat_opens_no_other(client: Client) -> None:
    (_, claim), (other, _) = await seat(client), await seat(client)
    async with client.get(f"{other}?claim={claim}", allow_redirects=False) as answer:
        assert answer.status == 403


async def test_a_role_that_no_person_plays_has_no_seat(client: Client) -> None:
    address, _ = await seat(client)
    async with client.get(address[:-1] + "o") as answer:
        assert answer.status == 404
        assert "no person plays" in await answer.text()


async def test_moves_that_do_not_count_are_reported_and_the_next_one_may(client: Client) -> None:
    address, claim = await seat(client)
    async with client.get(f"{address}?claim={claim}") as answer:
        token = re.search(r'name="csrf_token" value="([^"]+)"', await answer.text())
    assert token is not None
    form = {"csrf_token": token[1], "step": "0"}
    for data, words in (
        (form | {"move": "(mark 9 9)"}, "(mark 9 9)"),
        (form | {"move": "((("}, "((("),
        (form | {"step": "x", "move": "(mark 1 1)"}, "No move is asked for now"),
        (form | {"step": "7", "move": "(mark 1 1)"}, "alert"),
    ):
        async with client.post(address, data=data) as answer:
            assert answer.status == 409
            text = Page(await answer.text()).text if words != "alert" else await answer.text()
            assert words in text
    async with client.post(address, data=form | {"move": "(mark 1 1)"}, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, address)


async def test_a_seat_with_hidden_information_tells_what_its_role_perceives(client: Client) -> None:
    address, claim = await seat(client, "kuhnpoker", "alice")
    async with client.get(f"{address}?claim={claim}") as answer:
        text = Page(await answer.text()).text
    assert re.search(r"\(your_card (jack|queen|king)\)", text)
    assert "bob holds" not in text


async def test_what_a_person_did_has_the_step_of_the_state_that_it_led_to(client: Client) -> None:
    address, claim = await seat(client, "kuhnpoker", "alice")  # who waits while the cards are dealt
    async with client.get(f"{address}?claim={claim}") as answer:
        text = await answer.text()
    assert '<strong class="number">Step 1</strong>' in text
    assert re.findall(r'<tr><td>(\d+)</td><td class="move">(.*?)</td>', text) == [("1", "noop")]


async def test_a_person_of_a_scrambled_match_is_not_shown_as_its_own_opponent(client: Client) -> None:
    words = {"game": "tictactoe", "players": {"x": "human", "o": "human"}, "scramble": True}
    ordered = await manager_of(client).order(MatchRequest.model_validate(words), "ann")
    async with client.get(f"/matches/{ordered.row.id}/play/x?claim={ordered.seat_secrets['x']}") as answer:
        found = Page(await answer.text())
    assert ("against human" in found.text, "human, human" in found.text) == (True, False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("role", ["a/b", "{x}", "50%?#"])
async def test_a_seat_is_found_whatever_its_role_is_called(tmp_path: Path, role: str) -> None:
    rules = f"""
    (role {role}) (init (at 1)) (legal {role} go) (legal {role} rest) (<= (next (at 2)) (does {role} go))
    (<= terminal (true (at 2))) (goal {role} 100)
    """
    order = {"rules": rules, "players": {role: "human"}, "startClock": 20, "playClock": 60}
    async with whole_server(tmp_path) as (client, _):
        ordered = await told(await client.post(MATCHES, json=order), 201)
        (link,) = re.findall(r'href="([^"]*/play/[^"]*)"', await (await client.get(f"/matches/{ordered['id']}")).text())
        async with client.get(f"{link}?claim={ordered['seats'][role]}") as answer:
            found = await answer.text()
        (parts,) = re.findall(r'data-parts="([^"]*)"', found)
        statuses = [answer.status, (await client.get(parts)).status, (await client.get(f"{link}/events")).status]
        seat, secret = f"{ordered['url']}/seats/{quote(role, safe='')}", {"GGP-Seat-Secret": ordered["seats"][role]}

        async def is_asked() -> bool:
            return bool((await told(await client.get(seat, headers=secret)))["isAsked"])

        await until(is_asked)
        moved = await told(await client.post(f"{seat}/move", json={"step": 0, "move": "go"}, headers=secret))
        await record(client, ordered["url"])
        lines = (await told(await client.get(f"{seat}/transcript")))["lines"]
    assert (statuses, moved) == ([200, 200, 200], {"step": 0, "move": "go"})
    assert {line["role"] for line in lines} == {role}


async def test_a_person_reads_what_the_match_waits_for(client: Client) -> None:
    manager = manager_of(client)
    await manager.registry.register("ann-1", "ann")
    text = MatchRequest.model_validate({"game": "tictactoe", "players": {"x": "human", "o": "ann-1"}})
    ordered = await manager.order(text, "ann")
    await manager.note_arrival(ordered.row.id, "x")
    await until(lambda: ordered.row.id in manager.wait_reasons)
    async with client.get(f"/matches/{ordered.row.id}/play/x?claim={ordered.seat_secrets['x']}") as answer:
        assert "The match waits for ann-1 (not connected)." in words_of(Page(await answer.text()))
