"""The whole application: whatever bytes come, no route fails by itself."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from server.principal import Role
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.server.access.sites import Route, Site, filled, whole_site

N_REQUESTS = 600 if IS_EXHAUSTIVE else 300
LASTS = ("/events", "/requests", "/letters")
VALUES = [
    b"\xff\xfe", b"%00", b"a" * 7_000, b"ggp_session=\xff; x", b"Bearer \xff", b"text/html", b"multipart/form-data",
    b"multipart/form-data; boundary=x", b"application/x-www-form-urlencoded; charset=klingon", b"application/json",
    b"application/x-www-form-urlencoded", b"[", b"[::1", b"a b", b"1:2:3", b":99999", b"null", b"gzip", b"-1",
]  # fmt: skip
NAMES = [
    b"Authorization", b"Cookie", b"Host", b"Origin", b"Sec-Fetch-Site", b"X-Forwarded-For", b"X-Forwarded-Proto",
    b"X-Forwarded-Host", b"Content-Type", b"Accept", b"X-CSRF-Token", b"Last-Event-ID", b"Content-Encoding", b"Range",
    b"GGP-Seat-Secret", b"If-Modified-Since",
]  # fmt: skip
PLACES = ["%ff", "%00", "..", "%2e%2e%2f", "a" * 300, "%F0%9F%92%A9", "99999999999999999999"]
QUERIES = ["a=%ff", "limit=-1", "before=%00", "step=99999999999999999999", "version=%00&game=%ff", "next=%ff%0d%0a"]
BODIES = [
    b"", b"{}", b"a=b&csrf_token=\xff", b"\xff" * 100, b"[" * 50_000,
    b'--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: a/b; charset=klingon\r\n\r\n\xff\r\n--x--',
]  # fmt: skip


def garbage(chance: random.Random, route: Route, token: bytes) -> bytes:
    """Return a request to *route* with much in it that is wrong."""
    method, path = route
    path = filled(path)
    if chance.random() < 0.3:
        path = path.replace("x", chance.choice(PLACES))
    if chance.random() < 0.3:
        path += f"?{chance.choice(QUERIES)}"
    head = {b"Host": b"localhost", b"Authorization": b"Bearer " + token}
    head |= {name: chance.choice(VALUES) for name in chance.sample(NAMES, chance.randrange(4))}
    body = chance.choice(BODIES)
    head[b"Content-Length"] = str(len(body)).encode()
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in head.items())
    return f"{method} {path} HTTP/1.1\r\n".encode() + lines + b"\r\n" + body


async def answer(site: Site, request: bytes) -> bytes:
    """Return the first line of the answer."""
    reader, writer = await asyncio.open_connection(site.client.host, site.client.port)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    return line


async def test_no_route_fails_by_itself(tmp_path: Path) -> None:
    chance = random.Random(1)
    failed: list[bytes] = []
    async with whole_site(tmp_path) as site:
        routes = [route for route in site.routes if not route[1].endswith(LASTS)]
        for _ in range(N_REQUESTS):
            request = garbage(chance, chance.choice(routes), site.tokens[Role.ADMIN].encode())
            if not (await answer(site, request)).startswith((b"HTTP/1.1 2", b"HTTP/1.1 3", b"HTTP/1.1 4")):
                failed.append(request[:500])
    assert failed == []
