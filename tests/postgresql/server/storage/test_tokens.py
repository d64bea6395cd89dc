"""Tokens and sessions, kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from server.access.issuing import Issuing, Listed
from server.principal import Role
from server.refusals import UnknownTokenError
from server.storage.accounts import SessionRow, TokenStore
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.rows import TokenRow

ADA = TokenRow("ada0000000", "Ada", "admin", "a" * 64, 1_000, note="her laptop")
BOB = TokenRow("bob0000000", "Bob", "player", "b" * 64, 2_000, expires_ms=9_000)
SESSION = SessionRow("c" * 64, "ada0000000", 3_000, 8_000)


@pytest.fixture
async def tokens(database: Database) -> TokenStore:
    store = TokenStore(database)
    await store.put(BOB)
    await store.put(ADA)
    return store


async def test_what_was_put_is_listed_by_name(tokens: TokenStore) -> None:
    assert (await tokens.listed(), await tokens.get("nobody")) == ([ADA, BOB], None)


async def test_a_database_knows_whether_it_ever_had_a_token(database: Database) -> None:
    store = TokenStore(database)
    before = await store.has_any()
    await store.put_missing([ADA, BOB], 0)
    assert (before, await store.has_any()) == (False, True)


async def test_none_is_put_where_one_cannot_be(tokens: TokenStore) -> None:
    with pytest.raises(StorageError):
        await tokens.put_missing(
            [replace(ADA, id="new0000000", name="Eve", hash="d" * 64), replace(BOB, name="Mallory")], 0
        )
    assert await tokens.listed() == [ADA, BOB]


async def test_another_secret_ends_the_sessions(tokens: TokenStore) -> None:
    await tokens.open_session(SESSION)
    renewed = replace(ADA, hash="e" * 64, created_ms=6_000, expires_ms=7_000)
    assert await tokens.renew(renewed)
    assert await tokens.get(ADA.id) == renewed
    assert await tokens.session(SESSION.hash) is None


async def test_the_end_of_a_token_ends_the_sessions(tokens: TokenStore) -> None:
    await tokens.open_session(SESSION)
    await tokens.revoke(ADA.id, 5_000)
    await tokens.touch({ADA.id: 4_000})
    assert await tokens.get(ADA.id) == replace(ADA, revoked_ms=5_000, used_ms=4_000)
    assert await tokens.session(SESSION.hash) is None


async def test_of_two_servers_that_revoke_the_last_two_admins_at_once_one_is_refused(database: Database) -> None:
    servers = [Issuing(TokenStore(database)) for _ in range(2)]
    ids = [(await servers[0].issue(name, Role.ADMIN)).row.id for name in ("Ada", "Grace")]
    revoking = (server.revoke(token_id) for server, token_id in zip(servers, ids, strict=True))
    found = await asyncio.gather(*revoking, return_exceptions=True)
    assert sorted(type(each).__name__ for each in found) == ["NoneType", "TokenRuleError"]
    assert await servers[0].has_admin()


async def test_of_two_admins_who_issue_tokens_to_a_class_at_once_one_issues_them(database: Database) -> None:
    admins = [Issuing(TokenStore(database)) for _ in range(2)]
    await admins[0].issue("root", Role.ADMIN)
    issuing = (admin.issue_all([Listed("Ada", 1), Listed("Grace", 2)], Role.PLAYER) for admin in admins)
    found = [[each.row.name for each in issued] for issued in await asyncio.gather(*issuing)]
    assert sorted(found) == [[], ["Ada", "Grace"]]
    assert [row.name for row in await admins[0].listed()] == ["Ada", "Grace", "root"]


async def test_a_token_that_is_revoked_while_it_is_rotated_is_unknown(
    tokens: TokenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuing, get = Issuing(tokens), tokens.get

    async def revoked_after(token_id: str) -> TokenRow | None:
        row = await get(token_id)
        await tokens.revoke(token_id, 5_000)
        return row

    monkeypatch.setattr(tokens, "get", revoked_after)
    with pytest.raises(UnknownTokenError):
        await issuing.rotate(BOB.id)
    assert await get(BOB.id) == replace(BOB, revoked_ms=5_000)


async def test_a_session_is_there_until_it_is_closed(tokens: TokenStore) -> None:
    await tokens.open_session(SESSION)
    found = await tokens.session(SESSION.hash)
    await tokens.close_session(SESSION.hash)
    assert (found, await tokens.session(SESSION.hash)) == (SESSION, None)


async def test_sessions_that_are_over_are_forgotten_when_another_begins(tokens: TokenStore) -> None:
    await tokens.open_session(SESSION)
    await tokens.open_session(replace(SESSION, hash="f" * 64, created_ms=8_001, expires_ms=9_000))
    assert await tokens.session(SESSION.hash) is None
