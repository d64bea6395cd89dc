"""Logging in and out, and the tokens page, as a browser sees them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from server.access.authentication import read_token
from server.access.control import AccessControl, principal
from server.access.guard import add_guard
from server.access.settings import AccessSettings, Limits
from server.principal import Role
from server.storage.accounts import TokenStore
from server.web import account_pages
from server.web.error_page import showing_errors
from tests.kit.server.access.guarded_app import Client, database

TOKEN = re.compile(r"ggp_[a-z0-9]{10}_[a-z2-7]{52}")
FIELD = re.compile(r'name="csrf_token" value="([0-9a-f]{128})"')


async def _who(request: web.Request) -> web.Response:
    return web.Response(text=f"{principal(request).name} {principal(request).role.word}")


class Browser:
    """A browser without scripts: it keeps cookies, and sends the forms that it was shown."""

    def __init__(self, client: Client, access: AccessControl) -> None:
        self.client, self.access, self.text = client, access, ""
        self.headers: dict[str, str] = {}

    async def get(self, path: str) -> ClientResponse:
        return await self._shown(await self.client.get(path, headers=self.headers | {"Accept": "text/html"}))

    async def send(self, path: str, **fields: str) -> ClientResponse:
        """Send a form of the page that is shown."""
        found = FIELD.search(self.text)
        assert found, self.text
        sent = {"csrf_token": found[1]} | fields
        answer = await self.client.post(path, data=sent, headers=self.headers, allow_redirects=False)
        return await self._shown(answer)

    async def _shown(self, answer: ClientResponse) -> ClientResponse:
        self.text = unescape(await answer.text())
        return answer

    async def log_in(self, token: object, wanted: str = "") -> ClientResponse:
        await self.get("/login")
        return await self.send("/login", token=str(token), next=wanted)

    async def who(self) -> str:
        async with self.client.get("/who") as answer:
            return await answer.text() if answer.status == 200 else str(answer.status)


def application(access: AccessControl) -> web.Application:
    app = web.Application(middlewares=[showing_errors])
    app.router.add_get("/who", _who)
    account_pages.add_routes(app)
    add_guard(app, access)
    return app


@pytest.fixture
def settings() -> AccessSettings:
    return AccessSettings()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (AccessSettings(), "This server is for people with a token."),
        (AccessSettings(is_public=True), "Everybody may watch here; to do more takes a token."),
    ],
)
async def test_the_page_to_log_in_says_what_a_token_is_for(browser: Browser, told: str) -> None:
    await browser.access.issuing.issue("root", Role.ADMIN)
    await browser.get("/login")
    assert told in browser.text


@pytest.fixture
async def browser(tmp_path: Path, settings: AccessSettings) -> AsyncIterator[Browser]:
    async with database(tmp_path) as found:
        access = AccessControl(settings, TokenStore(found))
        async with TestClient(TestServer(application(access))) as client:
            yield Browser(client, access)


async def test_who_logs_in_stays_logged_in_until_they_log_out(browser: Browser) -> None:
    issued = await browser.access.issuing.issue("Ada", Role.ADMIN)
    before = await browser.who()
    answer = await browser.log_in(f" {issued.text}\n", "/who?a=b")
    during = await browser.who()
    await browser.get("/admin")
    out = await browser.send("/logout")
    assert out.headers["Set-Cookie"] == "ggp_session=; Max-Age=0; SameSite=Lax; Path=/; HttpOnly"
    assert (answer.status, answer.headers["Location"]) == (303, "/who?a=b")
    assert (before, during, await browser.who()) == ("401", "Ada admin", "401")


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(browser: Browser) -> None:
    issued = await browser.access.issuing.issue("Ada", Role.ADMIN)
    answer = await browser.log_in(issued.text)
    assert re.sub(r"=[a-z2-7]{52}", "=SECRET", answer.headers["Set-Cookie"]) == (
        "ggp_session=SECRET; Max-Age=604800; SameSite=Lax; Path=/; HttpOnly"
    )
    assert issued.text.secret not in answer.headers["Set-Cookie"]


@pytest.mark.parametrize(
    "wanted", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\nb", "javascript:alert(1)", ""]
)
async def test_logging_in_leads_nowhere_else(browser: Browser, wanted: str) -> None:
    issued = await browser.access.issuing.issue("Ada", Role.ADMIN)
    assert (await browser.log_in(issued.text, wanted)).headers["Location"] == "/"


async def test_what_is_no_token_opens_no_session(browser: Browser) -> None:
    await browser.access.issuing.issue("Ada", Role.ADMIN)
    answer = await browser.log_in("hunter2")
    assert (answer.status, "This is no valid token." in browser.text, await browser.who()) == (401, True, "401")


@pytest.mark.parametrize("settings", [AccessSettings(limits=Limits(logins="2/minute"))])
async def test_guessing_at_the_log_in_is_slowed_down(browser: Browser) -> None:
    await browser.access.issuing.issue("Ada", Role.ADMIN)
    assert [(await browser.log_in("hunter2")).status for _ in range(3)] == [401, 401, 429]


@pytest.mark.parametrize(
    "settings", [AccessSettings(proxies=(ip_network("127.0.0.0/8"),), limits=Limits(logins="1/minute"))]
)
async def test_guesses_at_the_log_in_count_for_the_address_that_they_come_from(browser: Browser) -> None:
    found = []
    for address in ("203.0.113.5", "203.0.113.5", "203.0.113.6"):
        browser.headers = {"X-Forwarded-For": address}
        found.append((await browser.log_in("hunter2")).status)
    assert found == [401, 429, 401]


async def test_logging_in_needs_our_own_form(browser: Browser) -> None:
    issued = await browser.access.issuing.issue("Ada", Role.ADMIN)
    answer = await browser.client.post("/login", data={"token": str(issued.text)})
    assert (answer.status, await browser.who()) == (403, "401")


async def test_a_session_ends_with_its_token(browser: Browser) -> None:
    issued = await browser.access.issuing.issue("Ada", Role.ADMIN)
    await browser.log_in(issued.text)
    await browser.access.issuing.rotate(issued.row.id)
    assert await browser.who() == "401"


async def test_the_browser_that_issues_the_first_token_is_logged_in_with_it(browser: Browser) -> None:
    await browser.get("/admin")
    assert "Everybody on this machine may do everything now." in browser.text
    await browser.send("/admin/tokens", name="Ada", role="admin", days="", note="")
    token = TOKEN.search(browser.text)
    assert token is not None
    assert await browser.who() == "Ada admin"
    await browser.send("/admin/class", names="Bob\nGrace\n", role="player", days="30")
    assert len(TOKEN.findall(browser.text)) == 2
    await browser.get("/admin")
    assert TOKEN.findall(browser.text) == []


async def test_the_first_token_is_an_admin_s_and_what_was_typed_stays(browser: Browser) -> None:
    await browser.get("/admin")
    answer = await browser.send("/admin/tokens", name="Bob", role="player", days="", note="<b>")
    assert (answer.status, 'value="Bob"' in browser.text, "issue one with the role admin first" in browser.text) == (
        400,
        True,
        True,
    )


async def test_a_class_cannot_close_the_door(browser: Browser) -> None:
    await browser.get("/admin")
    answer = await browser.send("/admin/class", names="name,role\nAda,admin\n", role="player", days="")
    assert (answer.status, "Issue a token to yourself first" in browser.text) == (400, True)


@pytest.mark.parametrize("fields", [{"role": "king"}, {"days": "x"}, {"days": "-1"}, {"days": "9" * 9}, {"name": ""}])
async def test_the_page_names_wrong_fields(browser: Browser, fields: dict[str, str]) -> None:
    await browser.get("/admin")
    sent = {"name": "Ada", "role": "admin", "days": "", "note": ""} | fields
    assert (await browser.send("/admin/tokens", **sent)).status == 400


async def test_tokens_are_replaced_and_revoked(browser: Browser) -> None:
    ada = await browser.access.issuing.issue("Ada", Role.ADMIN)
    bob = await browser.access.issuing.issue("Bob", Role.HOST)
    await browser.log_in(ada.text)
    await browser.get(f"/admin/tokens/{bob.row.id}/rotate")
    assert "Replace the token of Bob?" in browser.text
    assert await browser.access.authentication.by_token(str(bob.text)) is not None
    await browser.send(f"/admin/tokens/{bob.row.id}/rotate")
    shown = TOKEN.search(browser.text)
    assert shown is not None
    new = read_token(shown[0])
    assert new is not None
    assert new.id == bob.row.id
    assert new != bob.text
    await browser.get(f"/admin/tokens/{bob.row.id}/revoke")
    assert "Revoke the token of Bob?" in browser.text
    assert await browser.access.authentication.by_token(str(new)) is not None
    answer = await browser.send(f"/admin/tokens/{bob.row.id}/revoke")
    assert answer.headers["Location"] == "/admin"
    assert await browser.access.authentication.by_token(str(new)) is None


async def test_an_admin_who_replaces_their_own_token_stays_logged_in(browser: Browser) -> None:
    ada = await browser.access.issuing.issue("Ada", Role.ADMIN)
    await browser.log_in(ada.text)
    await browser.get("/admin")
    await browser.send(f"/admin/tokens/{ada.row.id}/rotate")
    await browser.send("/admin/tokens", name="Grace", role="admin", days="", note="")
    assert (await browser.who(), len(TOKEN.findall(browser.text))) == ("Ada admin", 1)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"])
async def test_names_are_no_html(browser: Browser, name: str) -> None:
    ada = await browser.access.issuing.issue(name, Role.ADMIN, note=name)
    await browser.log_in(ada.text)
    async with browser.client.get("/admin") as answer:
        page = await answer.text()
    assert (name in page, name in unescape(page)) == (name == "{{ 7 * 7 }}", True)


async def test_only_admins_see_tokens(browser: Browser) -> None:
    await browser.access.issuing.issue("Ada", Role.ADMIN)
    issued = await browser.access.issuing.issue("Bob", Role.HOST)
    await browser.log_in(issued.text)
    assert (await browser.get("/admin")).status == 403
