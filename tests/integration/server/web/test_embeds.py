"""Boards on the pages of others: the picture of a step, alone or in a page for a frame; no more than is public."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from server.access.guard import HEADERS
from server.access.settings import AccessSettings
from server.principal import Role
from tests.kit.server.api.whole_server import Client, manager_of, whole_server
from tests.kit.server.web.markup import Page
from tests.kit.server.web.matches import ordered, over

PLAYERS = {"x": "legal", "o": "legal"}


async def finished(client: Client) -> str:
    match_id = (await ordered(manager_of(client), game="tictactoe", players=PLAYERS, seed=1)).row.id
    await over(manager_of(client), match_id)
    return match_id


async def test_the_board_of_a_step_is_an_image_of_its_own(client: Client) -> None:
    match_id = await finished(client)
    async with client.get(f"/matches/{match_id}/board.svg?step=1") as answer:
        svg = ElementTree.fromstring(await answer.text())
        assert (answer.status, answer.content_type) == (200, "image/svg+xml")
    assert svg.findtext("{http://www.w3.org/2000/svg}title") == "Tic-tac-toe, step 1"
    assert svg.find("{http://www.w3.org/2000/svg}style") is not None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", ["board.svg", "embed"])
async def test_a_state_without_a_board_is_shown_by_its_lines(client: Client, what: str) -> None:
    players = {"alice": "legal", "bob": "legal"}
    match_id = (await ordered(manager_of(client), game="pig", players=players, seed=1)).row.id
    await over(manager_of(client), match_id)
    async with client.get(f"/matches/{match_id}/{what}?step=0") as answer:
        text = await answer.text()
    assert ("alice has 0" in text, "bob has 0" in text, "no picture" in text) == (True, True, False)


async def test_the_page_for_a_frame_has_no_script_and_no_form_and_links_to_steps(client: Client) -> None:
    match_id = await finished(client)
    async with client.get(f"/matches/{match_id}/embed?step=1&as=x") as answer:
        text = await answer.text()
    assert Page(text).problems == []
    assert ("<script" in text, "<form" in text, 'href="?step=2"' in text, "<svg" in text) == (False, False, True, True)


async def test_what_is_hidden_is_said_and_not_drawn(client: Client) -> None:
    manager = manager_of(client)
    match_id = (await ordered(manager, game="kuhnpoker", players={"alice": "human", "bob": "legal"}, seed=1)).row.id
    async with client.get(f"/matches/{match_id}/board.svg") as answer:
        svg = await answer.text()
    assert ("when the match is over" in svg, "data-cell" in svg) == (True, False)


@pytest.mark.parametrize("what", ["board.svg", "embed"])
async def test_what_is_not_there_is_not_found(client: Client, what: str) -> None:
    assert (await client.get(f"/matches/nothing/{what}")).status == 404


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", ["board.svg", "embed"])
async def test_only_what_needs_no_token_may_stand_on_other_sites(tmp_path: Path, what: str) -> None:
    async with whole_server(tmp_path, access=AccessSettings(is_public=True)) as (client, access):
        match_id = await finished(client)
        async with client.get(f"/matches/{match_id}/{what}") as answer:
            at_home = {name: answer.headers[name] for name in HEADERS}
        issued = await access.issuing.issue("Ada", Role.ADMIN)
        async with client.get(f"/matches/{match_id}/{what}") as answer:
            assert answer.status == 200
            elsewhere = dict(answer.headers)
        async with client.get(
            f"/matches/{match_id}/{what}", headers={"Authorization": f"Bearer {issued.text}"}
        ) as answer:
            by_token = {name: answer.headers[name] for name in HEADERS}
        async with client.get(f"/matches/{match_id}") as answer:
            other = {name: answer.headers[name] for name in HEADERS}
    assert at_home == by_token == other == HEADERS
    assert "X-Frame-Options" not in elsewhere
    assert elsewhere["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "frame-ancestors" not in elsewhere["Content-Security-Policy"]
    assert "script-src" not in elsewhere["Content-Security-Policy"]
