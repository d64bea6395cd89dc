"""Streams end when what entitled them does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from server.access.settings import AccessSettings
from server.principal import Role
from server.storage.errors import StorageError
from tests.kit.polling import until
from tests.kit.server.access.guarded_app import STREAMED_ON, Client, bearer, guarded_app

CLOSED = AccessSettings(is_loopback=False)


async def rest(client: Client, stream: aiohttp.ClientResponse) -> bytes:
    """Return what comes when a stream that has begun goes on to its end."""
    client.app[STREAMED_ON].set()
    return await stream.content.read()


async def test_a_stream_ends_when_its_token_is_revoked_and_others_go_on(tmp_path: Path) -> None:
    async with guarded_app(tmp_path, CLOSED) as (client, access):
        ada = await access.issuing.issue("Ada", Role.ADMIN)
        bob = await access.issuing.issue("Bob", Role.PLAYER)
        async with (
            client.get("/stream", headers=bearer(ada.text)) as hers,
            client.get("/stream", headers=bearer(bob.text)) as his,
        ):
            assert [await each.content.readexactly(5) for each in (hers, his)] == [b"begun", b"begun"]
            await access.open_requests.sweep()
            await access.issuing.revoke(bob.row.id)
            await access.open_requests.sweep()
            with pytest.raises(aiohttp.ClientPayloadError):
                await his.content.read()
            assert await rest(client, hers) == b"ended"


async def test_streams_are_checked_every_now_and_then_also_after_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.access.control.CHECKED_S", 0.001)
    async with guarded_app(tmp_path, CLOSED) as (client, access):
        await access.issuing.issue("Ada", Role.ADMIN)
        bob = await access.issuing.issue("Bob", Role.PLAYER)
        outages = [StorageError("ggp.sqlite", "it does not answer")]

        async def still_admits(request: web.Request) -> bool:
            if outages:
                raise outages.pop()
            return await access.still_admits(request)

        monkeypatch.setattr(access.open_requests, "_still_admits", still_admits)
        async with client.get("/stream", headers=bearer(bob.text)) as answer:
            await answer.content.readexactly(5)
            await until(lambda: not outages)
            await access.issuing.revoke(bob.row.id)
            with pytest.raises(aiohttp.ClientPayloadError):
                await asyncio.wait_for(answer.content.read(), 20)


async def test_a_stream_ends_when_its_session_does(tmp_path: Path) -> None:
    async with guarded_app(tmp_path, CLOSED) as (client, access):
        ada = await access.issuing.issue("Ada", Role.ADMIN)
        secret = await access.authentication.begin_session(ada.row.id, 100)
        async with client.get("/stream", headers={"Cookie": f"ggp_session={secret}"}) as answer:
            await answer.content.readexactly(5)
            await access.authentication.end_session(secret)
            await access.open_requests.sweep()
            with pytest.raises(aiohttp.ClientPayloadError):
                await answer.content.read()


async def test_a_stream_goes_on_while_its_session_does(tmp_path: Path) -> None:
    async with guarded_app(tmp_path, CLOSED) as (client, access):
        ada = await access.issuing.issue("Ada", Role.ADMIN)
        secret = await access.authentication.begin_session(ada.row.id, 100)
        async with client.get("/stream", headers={"Cookie": f"ggp_session={secret}"}) as answer:
            await answer.content.readexactly(5)
            await access.open_requests.sweep()
            assert await rest(client, answer) == b"ended"


async def test_what_was_open_ends_with_the_first_token(tmp_path: Path) -> None:
    async with guarded_app(tmp_path) as (client, access), client.get("/stream") as answer:
        await answer.content.readexactly(5)
        await access.open_requests.sweep()
        await access.issuing.issue("Ada", Role.ADMIN)
        await access.open_requests.sweep()
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.content.read()


async def test_a_viewer_that_needs_no_token_goes_on(tmp_path: Path) -> None:
    public = AccessSettings(is_loopback=False, is_public=True)
    async with guarded_app(tmp_path, public) as (client, access), client.get("/stream") as answer:
        await answer.content.readexactly(5)
        await access.open_requests.sweep()
        assert await rest(client, answer) == b"ended"


async def test_a_stream_for_anybody_goes_on_where_others_take_a_token(tmp_path: Path) -> None:
    async with guarded_app(tmp_path, CLOSED) as (client, access), client.get("/seat") as answer:
        await answer.content.readexactly(5)
        await access.open_requests.sweep()
        assert await rest(client, answer) == b"ended"
