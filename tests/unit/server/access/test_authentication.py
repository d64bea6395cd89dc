"""Sessions and tokens open something for as long as they last, and not a moment longer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from server.access.authentication import (
    COOKIES,
    REMEMBERED_S,
    SESSION_SECRET,
    TOUCHED_MS,
    Authentication,
    check_form_token,
    drop_session,
    form_token,
    is_secret_of,
    keep_session,
    new_token,
    secret_hash,
)
from server.access.remote import Remote
from server.principal import Principal, Role
from server.refusals import ForeignRequestError
from server.storage.accounts import SessionRow, TokenStore
from server.storage.rows import TokenRow

LIFE_S = 60
LIFE_MS = 1000 * LIFE_S
TOKEN = new_token("abcdefghij")
ADA = Principal("Ada", Role.HOST, TOKEN.id)


class Clock:
    """The time of day, and a monotonic clock that goes with it until it is set."""

    def __init__(self) -> None:
        self.at_ms, self.offset_ms = 1_000_000, 0

    def __call__(self) -> int:
        return self.at_ms

    def monotonic_s(self) -> float:
        return (self.at_ms - self.offset_ms) / 1000

    def set_back(self, by_ms: int) -> None:
        self.at_ms -= by_ms
        self.offset_ms -= by_ms


class Rows(TokenStore):
    """One token, *others*, and the sessions that are opened with them, in memory; what is touched is not kept."""

    def __init__(self, token: TokenRow, *others: TokenRow) -> None:
        self.token: TokenRow | None = token
        self.others = {other.id: other for other in others}
        self.sessions: dict[str, SessionRow] = {}
        self.touched: list[dict[str, int]] = []
        self.n_asked = 0

    async def get(self, token_id: str) -> TokenRow | None:
        return self.token if self.token is not None and self.token.id == token_id else self.others.get(token_id)

    async def has_any(self) -> bool:
        self.n_asked += 1
        return self.token is not None

    async def touch(self, used_ms: Mapping[str, int]) -> None:
        self.touched.append(dict(used_ms))

    async def session(self, named: str) -> SessionRow | None:
        return self.sessions.get(named)

    async def open_session(self, row: SessionRow) -> None:
        self.sessions[row.hash] = row

    async def close_session(self, named: str) -> None:
        del self.sessions[named]


OTHER = new_token("klmnopqrst")
BOB = Principal("Bob", Role.PLAYER, OTHER.id)


def token_row(expires_ms: int | None = None) -> TokenRow:
    return TokenRow(TOKEN.id, ADA.name, ADA.role.word, secret_hash(TOKEN.secret), 0, expires_ms)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rows() -> Rows:
    return Rows(token_row())


@pytest.fixture
def authentication(rows: Rows, clock: Clock) -> Authentication:
    return Authentication(rows, clock, clock.monotonic_s)


async def test_a_session_ends_when_its_life_is_over(authentication: Authentication, clock: Clock) -> None:
    secret = await authentication.begin_session(TOKEN.id, LIFE_S)
    assert await authentication.by_session(secret) == ADA
    clock.at_ms += LIFE_MS - 1
    assert await authentication.by_session(secret) == ADA
    clock.at_ms += 1
    assert await authentication.by_session(secret) is None
    clock.at_ms += LIFE_MS
    assert await authentication.by_session(secret) is None


async def test_a_session_that_is_remembered_ends_as_well(authentication: Authentication, clock: Clock) -> None:
    secret = await authentication.begin_session(TOKEN.id, 1)
    assert await authentication.by_session(secret) == ADA
    clock.at_ms += 1000
    assert REMEMBERED_S > 1
    assert await authentication.by_session(secret) is None


async def test_a_session_opens_no_more_than_its_token(rows: Rows, clock: Clock) -> None:
    rows.token = token_row(expires_ms=clock.at_ms + 10)
    authentication = Authentication(rows, clock, clock.monotonic_s)
    secret = await authentication.begin_session(TOKEN.id, LIFE_S)
    assert [await authentication.by_session(secret), await authentication.by_token(str(TOKEN))] == [ADA, ADA]
    clock.at_ms += 10
    assert [await authentication.by_session(secret), await authentication.by_token(str(TOKEN))] == [None, None]


async def test_a_token_that_is_gone_opens_nothing_once_it_is_forgotten(
    authentication: Authentication, rows: Rows, clock: Clock
) -> None:
    secret = await authentication.begin_session(TOKEN.id, LIFE_S)
    assert await authentication.by_session(secret) == ADA
    rows.token = None
    clock.at_ms += round(1000 * REMEMBERED_S)
    assert [await authentication.by_session(secret), await authentication.by_token(str(TOKEN))] == [None, None]


async def test_a_token_that_is_gone_opens_nothing_for_longer_where_the_clock_is_set_back(
    authentication: Authentication, rows: Rows, clock: Clock
) -> None:
    assert await authentication.by_token(str(TOKEN)) == ADA
    rows.token = None
    clock.set_back(600_000)
    clock.at_ms += round(1000 * REMEMBERED_S)
    assert await authentication.by_token(str(TOKEN)) is None


async def test_what_was_looked_up_while_a_token_was_revoked_is_not_remembered(clock: Clock) -> None:
    class Revoking(Rows):
        async def get(self, token_id: str) -> TokenRow | None:
            found, self.token = await super().get(token_id), None  # revoked after it was read
            remembering.forget()
            return found

    remembering = Authentication(Revoking(token_row()), clock, clock.monotonic_s)
    assert [await remembering.by_token(str(TOKEN)), await remembering.by_token(str(TOKEN))] == [ADA, None]


async def test_a_session_that_was_ended_opens_nothing_at_once(authentication: Authentication) -> None:
    secret = await authentication.begin_session(TOKEN.id, LIFE_S)
    assert await authentication.by_session(secret) == ADA
    await authentication.end_session(secret)
    assert await authentication.by_session(secret) is None


async def test_another_secret_opens_nothing(authentication: Authentication) -> None:
    await authentication.begin_session(TOKEN.id, LIFE_S)
    assert await authentication.by_session("a" * 52) is None
    assert await authentication.by_token(str(new_token(TOKEN.id))) is None


@pytest.fixture
def two(clock: Clock) -> tuple[Authentication, Rows]:
    """Return the authentication where Ada and Bob have a token each, and its rows."""
    rows = Rows(token_row(), TokenRow(OTHER.id, BOB.name, BOB.role.word, secret_hash(OTHER.secret), 0, None))
    return Authentication(rows, clock, clock.monotonic_s), rows


async def test_two_sessions_at_once_stay_distinct(two: tuple[Authentication, Rows]) -> None:
    authentication, _ = two
    secrets = [await authentication.begin_session(token.id, LIFE_S) for token in (TOKEN, OTHER)]
    assert [await authentication.by_session(secret) for secret in secrets] == [ADA, BOB]


async def test_a_use_is_written_down_once_a_minute_for_each_token(
    two: tuple[Authentication, Rows], clock: Clock
) -> None:
    authentication, rows = two
    begun_ms = clock.at_ms
    for token in (TOKEN, OTHER, TOKEN):
        await authentication.by_token(str(token))
    await authentication.write_uses()
    clock.at_ms += TOUCHED_MS - 1
    await authentication.by_token(str(TOKEN))
    await authentication.write_uses()
    clock.at_ms += 1
    await authentication.by_token(str(TOKEN))
    await authentication.write_uses()
    assert rows.touched == [{TOKEN.id: begun_ms, OTHER.id: begun_ms}, {}, {TOKEN.id: begun_ms + TOUCHED_MS}]


async def test_that_there_is_a_token_is_remembered(authentication: Authentication, rows: Rows) -> None:
    assert [await authentication.has_any_token(), await authentication.has_any_token()] == [True, True]
    assert rows.n_asked == 1


def test_a_hash_that_is_none_is_of_no_secret() -> None:
    assert not is_secret_of(TOKEN.secret, "\udcff")


HERE = Remote("127.0.0.1", "http", "ours")
ENCRYPTED = Remote("203.0.113.9", "https", "ours")
A_SECRET = "a" * 52


def asked(cookie: str = "") -> web.Request:
    """Return a request with a cookie."""
    return make_mocked_request("POST", "/", {"Cookie": cookie} if cookie else {})


@pytest.mark.parametrize(
    ("remote", "name", "end"),
    [(HERE, "ggp_session", ""), (ENCRYPTED, "__Host-ggp_session", "; Secure")],
    ids=["HTTP", "HTTPS"],
)
def test_a_cookie_is_of_this_host_and_not_for_scripts(remote: Remote, name: str, end: str) -> None:
    request = asked()
    keep_session(request, remote, A_SECRET, 60)
    drop_session(request, remote)
    assert request[COOKIES] == [
        f"{name}={A_SECRET}; Max-Age=60; SameSite=Lax; Path=/; HttpOnly{end}",
        f"{name}=; Max-Age=0; SameSite=Lax; Path=/; HttpOnly{end}",
    ]


def test_a_form_is_taken_from_the_browser_that_has_its_cookie() -> None:
    first = asked()
    token = form_token(first, HERE)
    (cookie,) = first[COOKIES]
    check_form_token(asked(cookie.partition(";")[0]), HERE, token)


def test_the_cookie_of_forms_comes_along_with_links_from_other_sites() -> None:
    request = asked()
    form_token(request, HERE)
    (cookie,) = request[COOKIES]
    assert cookie.partition("; ")[2] == "SameSite=Lax; Path=/; HttpOnly"


@pytest.mark.parametrize("sent", ["", "0" * 127, "0" * 128, "g" * 128])
def test_another_form_is_refused(sent: str) -> None:
    with pytest.raises(ForeignRequestError) as raised:
        check_form_token(asked(f"ggp_forms={A_SECRET}"), HERE, sent)
    told = (raised.value.message, raised.value.hint)
    assert told == ("this form is too old, or not from here", "load the page again, and then send the form")


def test_the_forms_of_a_session_are_of_no_other_cookie() -> None:
    request = asked()
    request[SESSION_SECRET] = A_SECRET
    token = form_token(request, HERE)
    assert COOKIES not in request
    check_form_token(request, HERE, token)
    with pytest.raises(ForeignRequestError):
        check_form_token(asked(f"ggp_forms={'b' * 52}"), HERE, token)


def test_all_forms_of_a_page_go_with_one_cookie() -> None:
    request = asked()
    tokens = [form_token(request, HERE) for _ in range(2)]
    (cookie,) = request[COOKIES]
    for token in tokens:
        check_form_token(asked(cookie.partition(";")[0]), HERE, token)
