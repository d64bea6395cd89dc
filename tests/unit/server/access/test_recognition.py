"""Sessions and tokens open something for as long as they last, and not a moment longer."""

from __future__ import annotations

import pytest

from server.access.recognition import REMEMBERED_S, Recognition, new_token, secret_hash
from server.storage.accounts import SessionRow, TokenStore
from server.storage.rows import TokenRow
from server.visibility import Principal, Role

LIFE_S = 60
LIFE_MS = 1000 * LIFE_S
TOKEN = new_token("abcdefghij")
ADA = Principal("Ada", Role.HOST, TOKEN.id)


class Clock:
    def __init__(self) -> None:
        self.at_ms = 1_000_000

    def __call__(self) -> int:
        return self.at_ms


class Rows(TokenStore):
    """One token, and the sessions that are opened with it, in memory."""

    def __init__(self, token: TokenRow) -> None:
        self.token: TokenRow | None = token
        self.sessions: dict[str, SessionRow] = {}

    async def get(self, token_id: str) -> TokenRow | None:
        return self.token if self.token is not None and self.token.id == token_id else None

    async def session(self, named: str) -> SessionRow | None:
        return self.sessions.get(named)

    async def open_session(self, row: SessionRow) -> None:
        self.sessions[row.hash] = row

    async def close_session(self, named: str) -> None:
        del self.sessions[named]


def token_row(expires_ms: int | None = None) -> TokenRow:
    return TokenRow(TOKEN.id, ADA.name, ADA.role.word, secret_hash(TOKEN.secret), 0, expires_ms)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rows() -> Rows:
    return Rows(token_row())


@pytest.fixture
def recognition(rows: Rows, clock: Clock) -> Recognition:
    return Recognition(rows, clock)


async def test_a_session_ends_when_its_life_is_over(recognition: Recognition, clock: Clock) -> None:
    secret = await recognition.begin_session(TOKEN.id, LIFE_S)
    assert await recognition.by_session(secret) == ADA
    clock.at_ms += LIFE_MS - 1
    assert await recognition.by_session(secret) == ADA
    clock.at_ms += 1
    assert await recognition.by_session(secret) is None
    clock.at_ms += LIFE_MS
    assert await recognition.by_session(secret) is None


async def test_a_session_that_is_remembered_ends_as_well(recognition: Recognition, clock: Clock) -> None:
    secret = await recognition.begin_session(TOKEN.id, 1)
    assert await recognition.by_session(secret) == ADA
    clock.at_ms += 1000
    assert REMEMBERED_S > 1
    assert await recognition.by_session(secret) is None


async def test_a_session_opens_no_more_than_its_token(rows: Rows, clock: Clock) -> None:
    rows.token = token_row(expires_ms=clock.at_ms + 10)
    recognition = Recognition(rows, clock)
    secret = await recognition.begin_session(TOKEN.id, LIFE_S)
    assert [await recognition.by_session(secret), await recognition.by_token(str(TOKEN))] == [ADA, ADA]
    clock.at_ms += 10
    assert [await recognition.by_session(secret), await recognition.by_token(str(TOKEN))] == [None, None]


async def test_a_token_that_is_gone_opens_nothing_once_it_is_forgotten(
    recognition: Recognition, rows: Rows, clock: Clock
) -> None:
    secret = await recognition.begin_session(TOKEN.id, LIFE_S)
    assert await recognition.by_session(secret) == ADA
    rows.token = None
    clock.at_ms += round(1000 * REMEMBERED_S)
    assert [await recognition.by_session(secret), await recognition.by_token(str(TOKEN))] == [None, None]


async def test_a_session_that_was_ended_opens_nothing_at_once(recognition: Recognition) -> None:
    secret = await recognition.begin_session(TOKEN.id, LIFE_S)
    assert await recognition.by_session(secret) == ADA
    await recognition.end_session(secret)
    assert await recognition.by_session(secret) is None


async def test_another_secret_opens_nothing(recognition: Recognition) -> None:
    await recognition.begin_session(TOKEN.id, LIFE_S)
    assert await recognition.by_session("a" * 52) is None
    assert await recognition.by_token(str(new_token(TOKEN.id))) is None
