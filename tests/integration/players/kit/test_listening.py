"""Where players and servers listen, whatever the system calls localhost."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from players.kit.addresses import listen
from players.player import ListenError


@pytest.fixture
async def runner() -> AsyncIterator[web.AppRunner]:
    made = web.AppRunner(web.Application())
    await made.setup()
    yield made
    await made.cleanup()


async def test_localhost_is_ipv4_where_it_is_an_address_that_the_system_lacks(
    runner: web.AppRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = socket.getaddrinfo

    def resolve(host: str, *options: int) -> object:
        return found("2001:db8::1" if host == "localhost" else host, *options)  # an address for documentation

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    url = await listen(runner, "localhost", 0)
    assert url == f"http://127.0.0.1:{runner.addresses[0][1]}"


async def test_a_port_that_another_program_has_gets_what_to_do(runner: web.AppRunner) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ListenError) as refused:
            await listen(runner, "127.0.0.1", port)
    said = f"cannot listen on 127.0.0.1:{port}: another program listens there; end it, or choose another port"
    assert str(refused.value) == said


async def test_an_address_that_the_system_lacks_is_an_error_with_brackets(runner: web.AppRunner) -> None:
    with pytest.raises(ListenError, match=r"cannot listen on \[2001:db8::1\]:0: "):
        await listen(runner, "2001:db8::1", 0)


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="the machine has no IPv6")
async def test_an_address_of_ipv6_has_brackets_in_the_url(runner: web.AppRunner) -> None:
    url = await listen(runner, "::1", 0)
    assert url == f"http://[::1]:{runner.addresses[0][1]}"


@pytest.mark.parametrize("port", [-1, 65_536])
async def test_a_port_that_is_none_is_an_error(runner: web.AppRunner, port: int) -> None:
    with pytest.raises(ListenError, match=f"cannot listen on 127.0.0.1:{port}: ports are from 0 to 65535"):
        await listen(runner, "127.0.0.1", port)
