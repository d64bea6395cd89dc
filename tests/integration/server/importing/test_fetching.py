"""What is fetched by URL, whatever it answers."""

from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.errors import ImportSourceError
from server.importing.fetching import fetched
from server.links.addresses import AllowedAddresses


async def test_a_redirect_to_no_address_is_an_error_of_the_source() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://[::1]@/x"})

    app = web.Application()
    app.router.add_get("/a.zip", answer)
    server = TestServer(app)
    await server.start_server()
    url = str(server.make_url("/a.zip"))
    with pytest.raises(ImportSourceError) as refused:
        await fetched(url, AllowedAddresses(has_loopback=True), 10)
    assert refused.value.reason == "an address names a host"
    await server.close()
