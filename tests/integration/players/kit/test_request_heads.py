"""The end of a server: no connection is left open, however late it came."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings

import pytest
from aiohttp import web

from players.kit.addresses import listen
from players.kit.request_heads import StrictRunner


@pytest.mark.parametrize("n_turns", range(6))
async def test_a_connection_that_comes_as_the_server_ends_is_closed(n_turns: int) -> None:
    """It is accepted in one turn of the event loop, and made in later ones."""
    runner = StrictRunner(web.Application(), shutdown_timeout=0.01)
    await runner.setup()
    await listen(runner, "127.0.0.1", 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with socket.create_connection(runner.addresses[0]):
            for _ in range(n_turns):
                await asyncio.sleep(0)
            await runner.cleanup()
            for _ in range(n_turns):
                await asyncio.sleep(0)
        gc.collect()
    assert [str(warning.message) for warning in caught] == []
