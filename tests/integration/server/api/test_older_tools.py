"""What older tools read: records, feeds, and rules, at the addresses where they look."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from gdl.games.library import find_game, game_names
from server.access.settings import AccessSettings
from server.api import older_tools
from server.principal import Role
from tests.kit.server.api.whole_server import Client, ordered, record, refused, told, whole_server

RULES = "(role a) (init (p)) (legal a go) (<= (next (q)) (does a go)) (<= terminal (true (q))) (goal a 100)\n"


async def test_a_record_is_read_without_the_api(client: Client, noop: str) -> None:
    url = await ordered(client, game="nim", players={"left": noop, "right": noop})
    whole = await record(client, url)
    page = url.removeprefix("/api/v1")
    assert await told(await client.get(f"{page}/")) == whole
    seen = await client.get(f"{page}/", headers={"Accept": "text/html"}, allow_redirects=False)
    assert (seen.status, seen.headers["Location"]) == (303, page)


async def test_feeds_have_the_latest_matches(client: Client, noop: str, thinker: str) -> None:
    done = await ordered(client, game="nim", players={"left": noop, "right": noop})
    await record(client, done)
    played = await ordered(client, game="nim", players={"left": thinker, "right": thinker})
    await record(client, played, "running")
    ids = [url.rpartition("/")[2] for url in (played, done)]
    assert await told(await client.get("/matches/feeds/updatedFeed.json")) == {"updatedFeed": ids}
    assert await told(await client.get("/matches/feeds/completedFeed.json")) == {"completedFeed": ids[1:]}
    feed = fromstring(await (await client.get("/matches/feeds/updatedFeed.atom")).text())
    atom = "{http://www.w3.org/2005/Atom}"
    links = [str(link.get("href")) for link in feed.iter(f"{atom}link")]
    assert [link.removeprefix(str(client.make_url(""))) for link in links] == [f"/matches/{name}/" for name in ids]
    assert (await client.get("/matches/feeds/other.json")).status == 404


async def test_a_feed_is_not_crowded_out_by_matches_that_wait(
    client: Client, noop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(older_tools, "N_ENTRIES", 1)
    done = await ordered(client, game="nim", players={"left": noop, "right": noop})
    await record(client, done)
    await ordered(client, game="nim", players={"left": "human", "right": noop})
    found = await told(await client.get("/matches/feeds/updatedFeed.json"))
    assert found == {"updatedFeed": [done.rpartition("/")[2]]}


async def test_a_feed_names_the_address_that_the_proxy_tells(tmp_path: Path) -> None:
    settings = AccessSettings(proxies=(ip_network("127.0.0.0/8"),), is_public=True)
    headers = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "ggp.example"}
    async with whole_server(tmp_path, access=settings) as (client, access):
        await access.issuing.issue("root", Role.ADMIN)
        answer = await client.get("/matches/feeds/updatedFeed.atom", headers=headers)
        feed = fromstring(await answer.text())
    found = feed.findtext("{http://www.w3.org/2005/Atom}id")
    assert found == "https://ggp.example/matches/feeds/updatedFeed.atom"


@pytest.mark.parametrize("host", ["", "x:abc"])
async def test_a_feed_is_there_whatever_the_host_header_says(client: Client, host: str) -> None:
    answer = await client.get("/matches/feeds/updatedFeed.atom", headers={"Host": host})
    assert answer.status < 500


@pytest.mark.exhaustive
async def test_games_are_read_with_their_versions(client: Client) -> None:
    assert await told(await client.get("/base/games/")) == list(game_names())
    nim = await told(await client.get("/base/games/nim/"))
    assert nim == {
        "gameName": "Nim", "version": 0, "rulesheet": "rulesheet.kif", "roleNames": ["left", "right"], "numRoles": 2
    }  # fmt: skip
    rules = await (await client.get("/base/games/nim/v0/rulesheet.kif")).text()
    assert rules == find_game("nim").path.read_text()
    for text in (RULES, RULES + "(p)\n"):
        await told(await client.put("/api/v1/games/going", json={"rules": text}), 201)
    assert [(await told(await client.get(f"/base/games/going/{n}")))["version"] for n in ("", "v0/", "v1/")] == [
        1,
        0,
        1,
    ]
    assert await (await client.get("/base/games/going/v0/rulesheet.kif")).text() == RULES
    assert [(await client.get(f"/base/games/{path}/")).status for path in ("nimm", "nim/v1")] == [404, 404]


async def test_pages_of_others_read_what_is_public_where_everybody_may(tmp_path: Path) -> None:
    name = "Access-Control-Allow-Origin"
    async with whole_server(tmp_path) as (client, _):
        assert name not in (await client.get("/base/games/")).headers
    async with whole_server(tmp_path, access=AccessSettings(is_public=True)) as (client, _):
        assert (await client.get("/base/games/")).headers[name] == "*"
        assert (await refused(await client.get("/api/v1/matches/none")))[0] == 404
