"""Whatever text comes in by any way, every page and route can be asked for afterwards."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from gdl.boards.metadata import metadata_of
from gdl.errors import MetadataError
from gdl.games.library import find_game
from server.app_keys import MANAGER
from server.hosting.game_manager import GameManager
from server.links.player_info import ask_info
from server.match.exchange import Answer, ReplyEnding
from server.match.verdicts import LegalChoice, judge_move, text_of
from server.principal import Role
from server.registry.health import HealthChecks
from server.sanitization import clean_line, clean_text, is_storable
from server.storage.rows import GameVersion, MatchRow, MatchStatus, PlayerRow, SeatKind, SeatRow
from tests.kit.server.access.guarded_app import bearer
from tests.kit.server.access.sites import Site, whole_site
from tests.kit.server.peers import listening, replying
from tests.kit.server.plays import LEFT
from tests.kit.server.storage.samples import keep

HOSTILE = [
    "\ud800", "\udfff\ud800", "a\x00b", "\u202eevil", "\u2066\u2069", "\x1b[31m", "e\u0301" * 3, "x" * 3_000, "\u2028",
    "</script><b>", '"; DROP', "\uffff\U0010ffff", "\u0315\u0300" * 200,
]  # fmt: skip
ANY_TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), max_size=50))
TEXTS = st.lists(ANY_TEXT, min_size=3, max_size=5)
FEW = settings(
    max_examples=2, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
PLACES = {
    "name": "deep",
    "match_id": "m",
    "id": "m",
    "role": "x",
    "step": "0",
    "number": "0",
    "feed": "updatedFeed.json",
    "entrant": "deep",
    "other": "deep",
    "game": "nim",
    "import_id": "none",
}
LASTS = ("/events", "/requests", "/letters")


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with whole_site(tmp_path) as found:
        yield found


def manager_of(site: Site) -> GameManager:
    app = site.client.app
    assert app is not None
    return app[MANAGER]


async def failing(site: Site) -> list[tuple[str, int]]:
    """Return what cannot be read any more, of every page and route."""
    headers = bearer(site.tokens[Role.ADMIN])
    found = []
    for method, path in site.routes:
        if method == "GET" and not path.endswith((*LASTS, "/info")):
            async with site.client.get(path.format(**PLACES), headers=headers, allow_redirects=False) as answer:
                await answer.read()
                found += [(path, answer.status)] if answer.status >= 500 else []
    return found


async def sent(site: Site, method: str, path: str, **how: Any) -> int:
    """Return the status of a request of an administrator."""
    headers = bearer(site.tokens[Role.ADMIN]) | how.pop("headers", {})
    async with site.client.request(method, path, headers=headers, allow_redirects=False, **how) as answer:
        await answer.read()
        return answer.status


@given(ANY_TEXT)
def test_what_is_cleaned_can_be_stored_and_sent_and_moves_nothing(text: str) -> None:
    for found in (clean_line(text), clean_text(text, 100)):
        assert is_storable(found)
        assert found.encode().decode() == found
        assert not {"Cc", "Cs"} & {unicodedata.category(each) for each in found if each not in "\n\t\r"}
        assert len(found) <= 500
    assert unicodedata.is_normalized("NFC", clean_line(text))


@given(st.binary(max_size=200) | ANY_TEXT.map(lambda text: text.encode("utf-8", "replace")))
def test_replies_are_kept_clean(raw: bytes) -> None:
    answer = Answer(1, 1, LEFT, ReplyEnding.REPLIED, raw, 5, "")
    verdict = judge_move(answer, LegalChoice((), lambda term: term, lambda term: term))
    for kept in (text_of(answer), verdict.error, verdict.detail):
        assert is_storable(kept)
        assert clean_text(kept, len(kept)) == kept


def info_replies(text: str) -> Iterator[str]:
    """Yield answers to INFO that say *text*."""
    yield json.dumps({"name": text, "status": text, text: text})
    yield f"((name {text.encode('utf-8', 'replace').decode()}) (status available) (x y))"


@pytest.mark.exhaustive
@FEW
@given(texts=TEXTS)
async def test_by_the_answers_to_info(site: Site, texts: list[str]) -> None:
    manager = manager_of(site)
    checks = HealthChecks(manager.registry, manager.matches.busy, ask_info)
    replies = [reply for text in texts for reply in info_replies(text)]
    for n, reply in enumerate(replies):
        async with listening(replying(lambda _, reply=reply: reply)) as url:  # type: ignore[misc]  # bound at once
            row = PlayerRow(f"deep{n}", SeatKind.HTTP, "ada", 1, url=url)
            await manager.players.put(row)
            await checks.check(row)
    assert await failing(site) == []


@pytest.mark.exhaustive
@FEW
@given(texts=TEXTS)
async def test_by_answers_to_info_that_an_earlier_version_kept(site: Site, texts: list[str]) -> None:
    for n, text in enumerate(texts):
        info = {"name": text, "status": text, "answered": [text], "trouble": [text]}
        await manager_of(site).players.put(PlayerRow(f"deep{n}", SeatKind.HTTP, "ada", 1, url="http://x:1", info=info))
    assert await failing(site) == []


def bodies(text: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield requests whose bodies say *text* wherever they can say something."""
    yield "POST", "/api/v1/players", {"name": text}
    yield "POST", "/api/v1/players", {"name": "deep", "url": text}
    yield "PATCH", "/api/v1/players/deep", {"url": text}
    yield "POST", "/api/v1/players/deep/pause", {"reason": text}
    yield "POST", "/api/v1/players/deep/replies", {"request": text, "text": text}
    yield "POST", "/api/v1/matches", {"game": text, "tournament": text}
    yield "POST", "/api/v1/matches", {"game": "nim", "tournament": text, "players": {"left": "human", "right": "human"}}
    yield "POST", "/api/v1/matches", {"game": "nim", "players": {text: text}}
    yield "POST", "/api/v1/matches", {"rules": text}
    yield "POST", "/api/v1/tokens", {"name": text, "note": text}
    yield "POST", "/api/v1/tokens/class", {"names": text}
    yield "PUT", "/api/v1/games/deep", {"rules": "(role x)", "about": text}


@FEW
@given(texts=TEXTS)
async def test_by_names_in_bodies(site: Site, texts: list[str]) -> None:
    for text in texts:
        for method, path, body in bodies(text):
            assert await sent(site, method, path, json=body) < 500, (path, text)
    assert await failing(site) == []


@pytest.mark.exhaustive
@FEW
@given(texts=TEXTS)
async def test_by_fields_of_forms(site: Site, texts: list[str]) -> None:
    for text in texts:
        plain = text.encode("utf-8", "replace").decode()
        fields = {"name": plain, "url": plain, "game": "nim", "player.left": plain, "broadcastDelay": plain}
        for path in ("/players", "/start", "/admin/tokens", "/login", "/games", "/players/deep"):
            assert await sent(site, "POST", path, data=fields | {"rules": plain, "do": plain}) < 500
            raw = b"name=+2AA-&game=+2AA-&rules=+2AA-&next=+2AA-"
            head = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-7"}
            assert await sent(site, "POST", path, data=raw, headers=head) < 500
    assert await failing(site) == []


@pytest.mark.exhaustive
@FEW
@given(texts=TEXTS)
async def test_by_addresses(site: Site, texts: list[str]) -> None:
    for text in texts:
        plain = text.encode("utf-8", "replace").decode() or "x"
        for path in ("/players", "/games", "/matches", "/api/v1/players", "/api/v1/games", "/api/v1/matches"):
            assert await sent(site, "GET", str(URL(path) / plain.replace("/", "x"))) < 500
            for key in ("player", "game", "before", "version"):
                assert await sent(site, "GET", str(URL(path).with_query({key: plain}))) < 500
    assert await failing(site) == []


@pytest.mark.exhaustive
@FEW
@given(texts=TEXTS)
async def test_by_headers(site: Site, texts: list[str]) -> None:
    token = site.tokens[Role.ADMIN].encode()
    names = (b"GGP-Seat-Secret", b"Last-Event-ID", b"Accept", b"User-Agent", b"X-Forwarded-For", b"Cookie", b"Referer")
    for text in texts:
        value = text.encode("utf-8", "surrogatepass").translate(None, b"\r\n\0")[:1000]
        head = b"".join(name + b": " + value + b"\r\n" for name in names)
        for path in (b"/", b"/players", b"/matches/m0/play/x", b"/api/v1/matches/m0/seats/x", b"/metrics"):
            reader, writer = await asyncio.open_connection(site.client.host, site.client.port)
            start = b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + b"\r\n"
            # In one write: a server that refuses the first half closes the connection before it reads the second.
            writer.write(start + head + b"Connection: close\r\n\r\n")
            assert (await reader.readline()).split()[1] < b"500"
            writer.close()
    assert await failing(site) == []


@pytest.mark.exhaustive
@FEW
@given(texts=TEXTS)
async def test_by_descriptions_of_games(site: Site, texts: list[str]) -> None:
    rules = find_game("nim").read().source.text
    for n, text in enumerate(texts):
        said = json.dumps(text).replace("/", "\\u002f")
        about = f'title = {said}\nauthors = [{said}]\nroles = ["left", "right"]\nplayers = 2\nsummary = {said}\n'
        try:
            metadata_of(about.encode())
        except MetadataError:
            continue
        await manager_of(site).games.put(
            GameVersion(f"deep{n}", f"{n}" * 64, rules, ("left", "right"), False, 1, about)
        )
    assert await failing(site) == []


@pytest.mark.exhaustive
@FEW
@given(texts=TEXTS)
async def test_by_players_of_matches(site: Site, texts: list[str]) -> None:
    manager = manager_of(site)
    for n, text in enumerate(texts):
        terms = {"startClock": 1, "playClock": 1, "players": {}, "scramble": False}
        name, order = clean_line(text), {"text": terms, "seed": 1}
        await manager.matches.delete(f"m{n}")
        version = (await manager.games.listed())[0]
        row = MatchRow(
            f"m{n}",
            version.name,
            version.sha256,
            order,
            1,
            status=MatchStatus.ABORTED,
            tournament=name,
            ordered_by=name,
        )
        await keep(manager.matches, row, [SeatRow(f"m{n}", "x", 0, name, SeatKind.HTTP)])
    assert await failing(site) == []
