"""The guard: who is let in to what, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from yarl import URL

from server.access.control import AccessControl
from server.access.guard import HEADERS
from server.access.settings import AccessSettings, Limits
from server.principal import Role
from tests.kit.server.access.guarded_app import FORM, Client, bearer, guarded_app

ORIGIN = "Origin"
SITE = "Sec-Fetch-Site"
ELSEWHERE = "http://evil.example"


@pytest.fixture
async def tokens(closed: tuple[Client, AccessControl]) -> dict[str, str]:
    """Issue a token of every role."""
    _, access = closed
    issued = [await access.issuing.issue(role.word, role) for role in reversed(Role)]
    return {each.row.role: str(each.text) for each in issued}


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Client]:
    async with guarded_app(tmp_path) as (client, _):
        yield client


@pytest.fixture
async def closed(tmp_path: Path) -> AsyncIterator[tuple[Client, AccessControl]]:
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False)) as found:
        yield found


async def status(client: Client, method: str, path: str, headers: dict[str, str] | None = None, data: str = "") -> int:
    async with client.request(method, path, headers=headers, data=data or None, allow_redirects=False) as answer:
        return answer.status


async def test_on_loopback_without_tokens_everybody_is_admin(opened: Client) -> None:
    assert await (await opened.get("/who")).json() == ["local", "admin"]


async def test_with_the_first_token_the_door_closes_on_loopback_too(tmp_path: Path) -> None:
    async with guarded_app(tmp_path) as (client, access):
        await access.issuing.issue("Ada", Role.ADMIN)
        assert await status(client, "GET", "/who") == 401


async def test_the_door_stays_closed_when_every_token_was_revoked_or_is_over(tmp_path: Path) -> None:
    async with guarded_app(tmp_path) as (client, access):
        issued = await access.issuing.issue("Ada", Role.ADMIN)
        await access.issuing._tokens.revoke(issued.row.id, 1)
        access.authentication.forget()
        assert await status(client, "GET", "/who") == 401


@pytest.mark.parametrize(
    "settings", [AccessSettings(is_loopback=False), AccessSettings(proxies=(ip_network("10.0.0.0/8"),))]
)
async def test_a_server_that_others_can_reach_demands_a_token(tmp_path: Path, settings: AccessSettings) -> None:
    async with guarded_app(tmp_path, settings) as (client, _):
        assert await status(client, "GET", "/who") == 401


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
async def test_an_unnamed_proxy_opens_nothing(opened: Client, header: str) -> None:
    assert await status(opened, "GET", "/who", {header: "203.0.113.5"}) == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9148", "127.0.0.1.evil.example", "localhost.evil", "["])
async def test_names_of_others_that_lead_here_are_refused(opened: Client, host: str) -> None:
    assert await status(opened, "GET", "/who", {"Host": host}) == 421


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:9148", "[::1]:9148", "ggp.localhost", "127.8.8.8"]
)
async def test_every_name_of_this_machine_is_ours(opened: Client, host: str) -> None:
    assert await status(opened, "GET", "/who", {"Host": host}) == 200


async def test_everybody_may_watch_a_public_server_and_no_more(tmp_path: Path) -> None:
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False, is_public=True)) as (client, _):
        seen = await (await client.get("/who")).json()
        assert (seen, await status(client, "POST", "/api/v1/matches")) == (["anonymous", "spectator"], 401)


async def test_every_role_gets_what_is_its_own(closed: tuple[Client, AccessControl], tokens: dict[str, str]) -> None:
    client, _ = closed
    asked = (("GET", "/who"), ("POST", "/order"), ("POST", "/undeclared"))
    found = {role: [await status(client, *each, bearer(token)) for each in asked] for role, token in tokens.items()}
    assert found == {
        "spectator": [200, 403, 403],
        "player": [200, 403, 403],
        "host": [200, 200, 403],
        "admin": [200, 200, 200],
    }


@pytest.mark.parametrize("header", ["Bearer x", "Bearer ggp_aaaaaaaaaa_" + "a" * 52, "Basic YTpi", "", "Bearer \xff"])
async def test_what_is_no_token_opens_nothing_not_even_what_is_public(tmp_path: Path, header: str) -> None:
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False, is_public=True)) as (client, _):
        answer = await client.get("/who", headers={"Authorization": header})
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="ggp"')


async def test_a_token_with_the_secret_of_another_opens_nothing(
    closed: tuple[Client, AccessControl], tokens: dict[str, str]
) -> None:
    secret = tokens["admin"].rpartition("_")[2]
    forged = f"{tokens['host'].rpartition('_')[0]}_{secret}"
    assert await status(closed[0], "GET", "/who", bearer(forged)) == 401


async def test_a_token_is_shown_as_a_bearer_token_and_in_no_other_way(
    closed: tuple[Client, AccessControl], tokens: dict[str, str]
) -> None:
    shown = [f"{scheme}{tokens['host']}" for scheme in ("bearer ", "BEARER  ", "Basic ", "Token ", "")]
    found = [await status(closed[0], "GET", "/who", {"Authorization": header}) for header in shown]
    assert found == [200, 200, 401, 401, 401]


async def test_people_without_a_token_are_led_to_the_login_page(closed: tuple[Client, AccessControl]) -> None:
    async with closed[0].get("/who?a=b", headers={"Accept": "text/html"}, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/login?next=/who?a%3Db")


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/api/v1/matches", {"Accept": "text/html"}),
        ("POST", "/order", {"Accept": "text/html"}),
        ("GET", "/who", {"Accept": "application/json"}),
        ("GET", "/who", {}),
    ],
)
async def test_programs_without_a_token_are_refused(
    closed: tuple[Client, AccessControl], method: str, path: str, headers: dict[str, str]
) -> None:
    client, _ = closed
    asked = client.session.request(
        method, client.make_url(path), headers=headers, skip_auto_headers=["Accept"], allow_redirects=False
    )
    async with asked as answer:
        assert answer.status == 401


async def test_static_files_are_for_everybody(closed: tuple[Client, AccessControl]) -> None:
    assert await status(closed[0], "GET", "/static/guarded_app.py") == 200


@pytest.mark.parametrize(
    "headers",
    [{ORIGIN: ELSEWHERE}, {ORIGIN: "null"}, {SITE: "cross-site"}, {SITE: "same-site"}, {ORIGIN: "https://127.0.0.1"}],
)
async def test_pages_of_other_sites_change_nothing(opened: Client, headers: dict[str, str]) -> None:
    assert await status(opened, "POST", "/api/v1/matches", headers) == 403


async def test_our_own_pages_and_programs_do(opened: Client) -> None:
    ours = {ORIGIN: str(opened.make_url("/").origin()), SITE: "same-origin"}
    assert [await status(opened, "POST", "/api/v1/matches", each) for each in (ours, {})] == [200, 200]


async def test_a_form_needs_the_token_that_its_browser_was_given(opened: Client) -> None:
    token = await (await opened.get("/form")).text()
    sent = [await status(opened, "POST", "/order", FORM, f"csrf_token={each}") for each in (token, token[:-1], "é", "")]
    assert sent == [200, 403, 403, 403]


@pytest.mark.parametrize("headers", [{}, FORM])
async def test_a_script_sends_the_token_as_a_header(opened: Client, headers: dict[str, str]) -> None:
    token = await (await opened.get("/form")).text()
    assert await status(opened, "POST", "/order", headers | {"X-CSRF-Token": token}, "{}") == 200


async def test_the_cookie_of_a_session_that_is_over_counts_as_none(closed: tuple[Client, AccessControl]) -> None:
    cookie = {"Cookie": f"ggp_session={'a' * 52}"}
    assert await status(closed[0], "POST", "/api/take", cookie, "x") == 200


async def test_the_token_of_another_browser_is_refused(opened: Client) -> None:
    token = await (await opened.get("/form")).text()
    opened.session.cookie_jar.clear()
    assert await status(opened, "POST", "/order", FORM, f"csrf_token={token}") == 403


async def test_a_token_in_the_header_needs_no_form(
    closed: tuple[Client, AccessControl], tokens: dict[str, str]
) -> None:
    assert await status(closed[0], "POST", "/order", FORM | bearer(tokens["host"]), "a=b") == 200


async def test_no_cache_keeps_what_a_caller_is_told_without_a_token(closed: tuple[Client, AccessControl]) -> None:
    async with closed[0].get("/form") as answer:
        assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")


@pytest.mark.parametrize("path", ["/who", "/nowhere", "/static/guarded_app.py", "/form"])
async def test_every_answer_has_the_headers(closed: tuple[Client, AccessControl], path: str) -> None:
    async with closed[0].get(path) as answer:
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


async def test_who_shows_no_token_may_have_what_other_sites_embed_and_nothing_else(tmp_path: Path) -> None:
    public = AccessSettings(is_loopback=False, is_public=True)
    async with guarded_app(tmp_path, public) as (client, access):
        ada = bearer((await access.issuing.issue("Ada", Role.ADMIN)).text)
        asked = [("/embedded", {}), ("/embedded", ada), ("/who", {}), ("/nowhere", {})]
        told = [(await client.get(path, headers=shown)).headers for path, shown in asked]
    embedded, *others = ({name: each[name] for name in HEADERS if name in each} for each in told)
    policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'"
    framed = {name: text for name, text in HEADERS.items() if name != "X-Frame-Options"}
    assert embedded == framed | {"Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "cross-origin"}
    assert others == [HEADERS] * 3


async def test_what_comes_too_often_is_refused_until_later(tmp_path: Path) -> None:
    limits = Limits(requests="3/minute")
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False, is_public=True, limits=limits)) as (client, _):
        found = [await status(client, "GET", "/who") for _ in range(4)]
        async with client.get("/who") as answer:
            assert (found, 1 <= int(answer.headers["Retry-After"]) <= 60) == ([200, 200, 200, 429], True)


async def test_the_admin_of_a_server_for_this_machine_alone_may_ask_as_often_as_it_likes(tmp_path: Path) -> None:
    limits = Limits(requests="1/minute", n_at_once=0)
    async with guarded_app(tmp_path, AccessSettings(limits=limits)) as (client, _):
        assert [await status(client, "GET", "/who") for _ in range(3)] == [200] * 3


async def test_replies_of_players_count_only_where_they_are_refused(tmp_path: Path) -> None:
    limits = Limits(requests="2/minute")
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False, limits=limits)) as (client, access):
        token = bearer((await access.issuing.issue("Ada", Role.ADMIN)).text)
        replies = [*["known"] * 4, "unknown", "known", "unknown", "known"]
        found = [await status(client, "POST", "/api/v1/players/deep/replies", token, text) for text in replies]
        others = [await status(client, "GET", "/who", token) for _ in range(3)]
    assert (found, others) == ([200, 200, 200, 200, 404, 200, 404, 429], [200, 200, 429])


async def test_tokens_count_apart_from_their_address(tmp_path: Path) -> None:
    limits = Limits(orders="1/minute")
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False, limits=limits)) as (client, access):
        issued = [(await access.issuing.issue(name, Role.ADMIN)).text for name in ("Ada", "Grace")]
        found = [await status(client, "POST", "/api/v1/matches", bearer(issued[i])) for i in (0, 1, 0)]
    assert found == [200, 200, 429]


async def test_guesses_at_tokens_are_counted_and_right_ones_still_let_in(tmp_path: Path) -> None:
    limits = Limits(logins="2/minute")
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False, limits=limits)) as (client, access):
        token = (await access.issuing.issue("Ada", Role.ADMIN)).text
        found = [await status(client, "GET", "/who", bearer(each)) for each in ("a", "b", "c", token)]
    assert found == [401, 401, 429, 200]


async def test_guesses_count_for_the_address_that_they_come_from(tmp_path: Path) -> None:
    settings = AccessSettings(proxies=(ip_network("127.0.0.0/8"),), limits=Limits(logins="1/minute"))
    async with guarded_app(tmp_path, settings) as (client, _):
        found = [
            await status(client, "GET", "/who", bearer("a guess") | {"X-Forwarded-For": address})
            for address in ("203.0.113.5", "203.0.113.5", "203.0.113.6")
        ]
    assert found == [401, 429, 401]


async def test_too_large_a_body_is_refused(opened: Client) -> None:
    assert await status(opened, "POST", "/api/v1/matches", None, "x" * 100_001) == 413


async def test_strangers_send_little(closed: tuple[Client, AccessControl]) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a body of unknown length"

    client, _ = closed
    found = [await status(client, "POST", "/api/take", None, "x" * n) for n in (65_536, 65_537)]
    async with client.post("/api/take", data=pieces()) as answer:
        assert [*found, answer.status] == [200, 413, 413]


async def test_who_has_a_token_sends_more(closed: tuple[Client, AccessControl], tokens: dict[str, str]) -> None:
    assert await status(closed[0], "POST", "/api/take", bearer(tokens["spectator"]), "x" * 65_537) == 200


async def test_visitors_of_a_public_server_send_no_more_than_strangers(tmp_path: Path) -> None:
    async with guarded_app(tmp_path, AccessSettings(is_loopback=False, is_public=True)) as (client, _):
        found = [await status(client, "POST", "/api/take", None, "x" * n) for n in (65_536, 65_537)]
    assert found == [200, 413]


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "multipart/form-data"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": "0"},
        {"Content-Encoding": "gzip"},
    ],
)
async def test_a_body_that_is_not_what_it_says_is_refused(opened: Client, headers: dict[str, str]) -> None:
    head = {"Host": "localhost", "Content-Length": "20"} | headers
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    reader, writer = await asyncio.open_connection(opened.host, opened.port)
    writer.write(f"POST /api/v1/matches HTTP/1.1\r\n{lines}\r\n".encode() + b"\xff" * int(head["Content-Length"]))
    line = await reader.readline()
    writer.close()
    assert line.startswith(b"HTTP/1.1 400 ")


CHARSET = ["unsupported_media_type", "a form must be in UTF-8", "send it without a charset"]
TOO_LARGE = ["too_large", "this is too large for a request without a token", ""]
UNTYPED = ["bad_request", "the header Content-Type has more than 256 characters", ""]
UNSTORABLE = ["bad_request", "there are characters in it that are in no text", ""]
INVALID = ["unauthorized", "the token is not valid", "send Authorization: Bearer TOKEN, or log in at /login"]
UNPACKED = [
    "bad_request",
    "the body is not what its head says: 400, message:\n  Can not decode content-encoding: gzip",
    "",
]


@pytest.mark.parametrize(
    ("headers", "query", "text", "told"),
    [
        ({"Content-Type": f"{FORM['Content-Type']}; charset=utf-16"}, "", "a=b", CHARSET),
        ({}, "", "x" * 65_537, TOO_LARGE),
        ({"Content-Type": "x" * 257}, "", "", UNTYPED),
        ({}, "?a=%00", "", UNSTORABLE),
        ({}, "?%00=a", "", UNSTORABLE),
        (FORM, "", "a=%00", UNSTORABLE),
        (FORM, "", "%00=a", UNSTORABLE),
        (bearer("x"), "", "", INVALID),
        ({"Content-Encoding": "gzip"}, "", "no gzip", UNPACKED),
    ],
)
async def test_what_is_refused_is_told(
    closed: tuple[Client, AccessControl], headers: dict[str, str], query: str, text: str, told: list[str]
) -> None:
    path = URL(f"/api/take{query}", encoded=True)
    async with closed[0].post(path, headers=headers, data=text or None) as answer:
        assert await answer.json() == told


@pytest.mark.parametrize(
    ("sent", "name"), [("a%0A%07b", "a\n\x07b"), ("%00" + "a" * 99 + "%07b", "\ufffd" + "a" * 99 + "\ufffdb")]
)
async def test_a_name_in_the_path_is_cleaned_where_no_database_takes_it(opened: Client, sent: str, name: str) -> None:
    async with opened.get(URL(f"/named/{sent}", encoded=True)) as answer:
        assert await answer.text() == name


PARTS = "multipart/form-data; boundary=x"
PART = '--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset={}\r\n\r\nb\r\n--x--\r\n'


@pytest.mark.parametrize(
    ("charset", "expected"),
    [("UTF-8", 200), ("us-ascii", 200), ("punycode", 415), ("klingon", 415), ("idna", 415), ("utf-16", 415)],
)
async def test_a_form_and_its_parts_are_in_utf_8(
    closed: tuple[Client, AccessControl], charset: str, expected: int
) -> None:
    sent = ((f"{FORM['Content-Type']}; charset={charset}", "a=b"), (PARTS, PART.format(charset)))
    found = [await status(closed[0], "POST", "/api/take", {"Content-Type": kind}, text) for kind, text in sent]
    assert found == [expected, expected]


async def test_a_part_of_a_form_need_not_say_its_charset(closed: tuple[Client, AccessControl]) -> None:
    part = PART.replace("; charset={}", "")
    assert await status(closed[0], "POST", "/api/take", {"Content-Type": PARTS}, part) == 200


async def test_what_is_wrong_with_a_body_is_told_in_ascii(closed: tuple[Client, AccessControl]) -> None:
    part = PART.replace("; charset={}", "\r\nContent-Transfer-Encoding: é")
    async with closed[0].post("/api/take", headers={"Content-Type": PARTS}, data=part) as answer:
        told = "the body is not what its head says: unknown content transfer encoding: \\xe9"
        assert (answer.status, await answer.json()) == (400, ["bad_request", told, ""])


@pytest.mark.parametrize(("length", "expected"), [(256, 200), (257, 400)])
async def test_a_content_type_that_is_too_long_to_parse_is_refused(
    closed: tuple[Client, AccessControl], length: int, expected: int
) -> None:
    named = {"Content-Type": 'a/b; x="'.ljust(length, ";")}
    assert await status(closed[0], "POST", "/api/take", named, "a") == expected


async def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    settings = AccessSettings(limits=Limits(body_s=0.05))
    async with guarded_app(tmp_path, settings) as (client, _):
        reader, writer = await asyncio.open_connection(client.host, client.port)
        writer.write(b"POST /api/v1/matches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab")
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    assert head.startswith(b"HTTP/1.1 408 ")


async def test_many_requests_at_once_are_refused(tmp_path: Path) -> None:
    settings = AccessSettings(is_loopback=False, is_public=True, limits=Limits(n_at_once=1))
    async with guarded_app(tmp_path, settings) as (client, access):
        with access.rate_limiter.at_once("127.0.0.1"):
            assert await status(client, "GET", "/who") == 429
        assert await status(client, "GET", "/who") == 200


BEHIND_PROXY = AccessSettings(proxies=(ip_network("127.0.0.0/8"),), is_public=True)


async def test_a_browser_that_came_by_https_stays_with_https(tmp_path: Path) -> None:
    async with guarded_app(tmp_path, BEHIND_PROXY) as (client, _):
        found = []
        for scheme, host in (("https", "ggp.example"), ("https", "localhost:9148"), ("http", "ggp.example")):
            answer = await client.get("/form", headers={"X-Forwarded-Proto": scheme, "X-Forwarded-Host": host})
            found.append((answer.headers.get("Strict-Transport-Security"), "; Secure" in answer.headers["Set-Cookie"]))
    assert found == [("max-age=31536000", True), (None, True), (None, False)]


async def test_the_origin_of_our_pages_is_the_one_that_the_proxy_tells(tmp_path: Path) -> None:
    asked = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "ggp.example"}
    async with guarded_app(tmp_path, BEHIND_PROXY) as (client, access):
        token = bearer((await access.issuing.issue("Ada", Role.ADMIN)).text)
        found = [
            await status(client, "POST", "/order", asked | token | {ORIGIN: origin})
            for origin in ("https://ggp.example", "http://ggp.example", "https://127.0.0.1")
        ]
    assert found == [200, 403, 403]


async def test_each_address_behind_a_proxy_counts_apart(tmp_path: Path) -> None:
    settings = AccessSettings(proxies=(ip_network("127.0.0.0/8"),), is_public=True, limits=Limits(requests="1/minute"))
    async with guarded_app(tmp_path, settings) as (client, _):
        found = [
            await status(client, "GET", "/who", {"X-Forwarded-For": address})
            for address in ("203.0.113.5", "203.0.113.6", "6.6.6.6, 203.0.113.5")
        ]
    assert found == [200, 200, 429]
