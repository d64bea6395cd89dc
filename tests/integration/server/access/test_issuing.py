"""Tokens issued, rotated and revoked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.access.authentication import Authentication, secret_hash
from server.access.control import ANONYMOUS
from server.access.issuing import Issuing, Listed, read_class_list
from server.principal import Principal, Role, owns
from server.refusals import TokenFieldError, TokenRuleError, UnknownTokenError
from server.storage.accounts import TokenStore
from server.storage.database import Database
from server.storage.rows import TokenRow
from tests.kit.server.access.guarded_app import database
from tests.kit.server.hosting.outages import locked_file

DAY_MS = 86_400_000
START_MS = 1_000 * DAY_MS


class Desk:
    """Where tokens are issued and recognised, at a time of the test's own."""

    def __init__(self, store: TokenStore) -> None:
        self.at_ms, self.store = START_MS, store
        self.authentication = Authentication(store, lambda: self.at_ms, lambda: self.at_ms / 1000)
        self.issuing = Issuing(store, self.authentication.forget, lambda: self.at_ms)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with database(tmp_path) as found:
        yield Desk(TokenStore(found))


async def test_a_token_opens_what_it_was_issued_for(desk: Desk) -> None:
    issued = await desk.issuing.issue(" Ada  Lovelace ", Role.ADMIN, note="her laptop")
    found = await desk.authentication.by_token(str(issued.text))
    assert found == Principal("Ada Lovelace", Role.ADMIN, issued.row.id)


async def test_nothing_in_the_database_is_a_token(desk: Desk) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN)
    assert await desk.store.listed() == [
        TokenRow(issued.text.id, "Ada", "admin", secret_hash(issued.text.secret), START_MS)
    ]
    assert issued.text.secret not in repr(issued)


async def test_the_first_token_is_an_admin_s(desk: Desk) -> None:
    told = "^with its first token a server demands one of everybody: issue one with the role admin first$"
    with pytest.raises(TokenRuleError, match=told):
        await desk.issuing.issue("Bob", Role.HOST)
    with pytest.raises(TokenRuleError, match=told):
        await desk.issuing.issue_all([Listed("Bob", 1)], Role.PLAYER)
    assert await desk.store.listed() == []


async def test_a_token_is_valid_until_its_time_is_over(desk: Desk) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN, days=2)
    found = []
    for days in (0, 1.999, 2):
        desk.at_ms = START_MS + round(days * DAY_MS)
        found.append(await desk.authentication.by_token(str(issued.text)) is not None)
    assert found == [True, True, False]


async def test_a_token_that_is_rotated_opens_nothing_and_the_new_one_as_long_as_it_did(desk: Desk) -> None:
    old = await desk.issuing.issue("Ada", Role.ADMIN, days=2)
    desk.at_ms += DAY_MS
    new = await desk.issuing.rotate(old.row.id)
    found = [await desk.authentication.by_token(str(each.text)) is not None for each in (old, new)]
    assert (found, new.row.id, new.row.expires_ms) == ([False, True], old.row.id, START_MS + 3 * DAY_MS)


async def test_a_token_is_valid_for_its_days_from_each_rotation(desk: Desk) -> None:
    token = await desk.issuing.issue("Ada", Role.ADMIN, days=30)
    valid_ms = []
    for _ in range(3):
        desk.at_ms += 20 * DAY_MS
        token = await desk.issuing.rotate(token.row.id)
        assert token.row.expires_ms is not None
        valid_ms.append(token.row.expires_ms - desk.at_ms)
    assert valid_ms == [30 * DAY_MS] * 3
    assert await desk.store.listed() == [token.row]


async def test_a_token_that_is_revoked_opens_nothing(desk: Desk) -> None:
    await desk.issuing.issue("Ada", Role.ADMIN)
    issued = await desk.issuing.issue("Bob", Role.PLAYER)
    before = await desk.authentication.by_token(str(issued.text))
    await desk.issuing.revoke(issued.row.id)
    assert (before is not None, await desk.authentication.by_token(str(issued.text))) == (True, None)
    for change in (desk.issuing.revoke, desk.issuing.rotate):
        with pytest.raises(UnknownTokenError):
            await change(issued.row.id)


async def test_a_token_that_is_revoked_just_when_it_is_rotated_stays_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN)
    renew = desk.store.renew

    async def renew_late(row: TokenRow) -> bool:
        await desk.store.revoke(row.id, START_MS)
        return await renew(row)

    monkeypatch.setattr(desk.store, "renew", renew_late)
    with pytest.raises(UnknownTokenError, match=issued.row.id):
        await desk.issuing.rotate(issued.row.id)
    (kept,) = await desk.store.listed()
    assert (kept.hash, kept.revoked_ms) == (issued.row.hash, START_MS)


async def test_a_token_that_another_process_revoked_opens_nothing_after_two_seconds(desk: Desk) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN)
    await desk.authentication.by_token(str(issued.text))
    await desk.store.revoke(issued.row.id, START_MS)
    desk.at_ms += 2_000
    assert await desk.authentication.by_token(str(issued.text)) is None


async def test_a_session_is_valid_until_its_time_is_over(desk: Desk) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN)
    secret = await desk.authentication.begin_session(issued.row.id, 3_600)
    desk.at_ms += 3_599_999
    assert await desk.authentication.by_session(secret) == Principal("Ada", Role.ADMIN, issued.row.id)
    desk.at_ms += 1
    assert await desk.authentication.by_session(secret) is None
    assert await desk.authentication.by_token(str(issued.text)) is not None


@pytest.mark.parametrize("name", ["anonymous", "local", " Anonymous "])
async def test_no_token_has_the_name_of_callers_without_one(desk: Desk, name: str) -> None:
    with pytest.raises(TokenFieldError):
        await desk.issuing.issue(name, Role.ADMIN)


async def test_passers_by_own_nothing_of_a_token_that_is_called_as_they_are() -> None:
    token = Principal(ANONYMOUS.name, Role.PLAYER, "of-an-earlier-version")
    assert [owns(who, ANONYMOUS.name) for who in (token, ANONYMOUS, None)] == [True, False, False]


async def test_an_admin_whose_token_is_over_is_none(desk: Desk) -> None:
    await desk.issuing.issue("Ada", Role.ADMIN, days=1)
    before = await desk.issuing.has_admin()
    desk.at_ms += DAY_MS
    assert (before, await desk.issuing.has_admin()) == (True, False)
    with pytest.raises(TokenRuleError):
        await desk.issuing.issue("Bob", Role.HOST)


async def test_the_last_admin_stays(desk: Desk) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN)
    with pytest.raises(TokenRuleError, match=r"^this is the last token of an admin: issue another one"):
        await desk.issuing.revoke(issued.row.id)
    await desk.issuing.issue("Grace", Role.ADMIN)
    await desk.issuing.revoke(issued.row.id)
    assert await desk.issuing.has_admin()


async def test_one_admin_stays_where_two_revoke_each_other_at_once(desk: Desk) -> None:
    ids = [(await desk.issuing.issue(name, Role.ADMIN)).row.id for name in ("Ada", "Grace")]
    found = await asyncio.gather(*map(desk.issuing.revoke, ids), return_exceptions=True)
    assert sorted(type(each).__name__ for each in found) == ["NoneType", "TokenRuleError"]
    assert await desk.issuing.has_admin()


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\0b", "a\x1b[31m", "\u202eevil"])
async def test_names_can_be_printed_on_a_line(desk: Desk, name: str) -> None:
    with pytest.raises(TokenFieldError) as caught:
        await desk.issuing.issue(name, Role.ADMIN)
    assert caught.value.message == "a name has 1 to 60 characters that can be printed, on one line"


async def test_a_token_may_be_valid_for_ten_years(desk: Desk) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN, 3_660)
    assert issued.row.expires_ms == START_MS + 3_660 * DAY_MS


@pytest.mark.parametrize("days", [0, -1, 3_661, 10**30])
async def test_times_are_some_days(desk: Desk, days: int) -> None:
    told = f"^a token is valid for 1 to 3,660 days, not {days}$"
    with pytest.raises(TokenFieldError, match=told):
        await desk.issuing.issue("Ada", Role.ADMIN, days)
    with pytest.raises(TokenFieldError, match=told):
        await desk.issuing.issue_all([Listed("Ada", 1, Role.ADMIN)], Role.PLAYER, days)


async def test_a_class_gets_a_token_each_and_again_none(desk: Desk) -> None:
    listed = read_class_list("name,role,note\nAda,admin,\nBob,,group 1\nBob,,\n")
    issued = await desk.issuing.issue_all(listed, Role.PLAYER)
    again = await desk.issuing.issue_all(listed, Role.PLAYER)
    assert ([(each.row.name, each.row.role, each.row.note) for each in issued], again) == (
        [("Ada", "admin", ""), ("Bob", "player", "group 1")],
        [],
    )


async def test_the_tokens_of_a_class_are_valid_for_its_days(desk: Desk) -> None:
    issued = await desk.issuing.issue_all([Listed("Ada", 1, Role.ADMIN), Listed("Bob", 2)], Role.PLAYER, days=3)
    assert [each.row.expires_ms for each in issued] == [START_MS + 3 * DAY_MS] * 2


async def test_tokens_that_are_withdrawn_open_nothing_and_their_names_get_others(desk: Desk) -> None:
    kept = await desk.issuing.issue("root", Role.ADMIN)
    issued = await desk.issuing.issue_all([Listed("Ada", 1), Listed("Bob", 2)], Role.PLAYER)
    await desk.authentication.by_token(str(issued[0].text))
    await desk.issuing.withdraw(issued)
    assert await desk.store.listed() == [kept.row]
    assert [await desk.authentication.by_token(str(each.text)) for each in issued] == [None, None]


async def test_a_name_is_the_same_however_its_accent_is_written(desk: Desk) -> None:
    await desk.issuing.issue("root", Role.ADMIN)
    first = await desk.issuing.issue_all([Listed("Jose\N{COMBINING ACUTE ACCENT}", 1)], Role.PLAYER)
    again = await desk.issuing.issue_all([Listed("Jos\N{LATIN SMALL LETTER E WITH ACUTE}", 1)], Role.PLAYER)
    assert ([each.row.name for each in first], again) == (["Jos\N{LATIN SMALL LETTER E WITH ACUTE}"], [])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (Listed("\0", 2), "line 2: a name has 1 to 60 characters that can be printed, on one line"),
        (Listed("", 3), "line 3: a name has 1 to 60 characters that can be printed, on one line"),
        (Listed("Local", 4), "line 4: Local is what those are called who have no token"),
        (
            Listed("Bob", 5, note="x" * 201),
            "line 5: a note has 0 to 200 characters that can be printed, on one line",
        ),
    ],
)
async def test_a_class_list_with_a_wrong_line_issues_no_token(desk: Desk, wrong: Listed, told: str) -> None:
    with pytest.raises(TokenFieldError) as caught:
        await desk.issuing.issue_all([Listed("Ada", 1, Role.ADMIN), wrong], Role.PLAYER)
    assert (caught.value.message, await desk.store.listed()) == (told, [])


async def test_names_and_notes_may_be_as_short_and_as_long_as_is_said(desk: Desk) -> None:
    listed = [Listed("A", 1, Role.ADMIN), Listed("B" * 60, 2, note="n" * 200)]
    issued = await desk.issuing.issue_all(listed, Role.PLAYER)
    assert [(each.row.name, each.row.note) for each in issued] == [("A", ""), ("B" * 60, "n" * 200)]


async def test_when_a_token_was_used_is_written_down_once_a_minute(desk: Desk) -> None:
    issued = await desk.issuing.issue("Ada", Role.ADMIN)
    used = []
    for passed_ms in (0, 59_999, 60_000):
        desk.at_ms = START_MS + passed_ms
        desk.authentication.forget()
        await desk.authentication.by_token(str(issued.text))
        await desk.authentication.write_uses()
        used.append((await desk.store.listed())[0].used_ms)
    assert used == [START_MS, START_MS, START_MS + 60_000]


async def test_a_token_is_recognised_while_nothing_can_be_written(tmp_path: Path) -> None:
    """When it was used is written down when that can be done."""
    path = tmp_path / "ggp.sqlite"
    found = await Database.open(str(path), wait_s=0.05)
    desk = Desk(TokenStore(found))
    issued = await desk.issuing.issue("Ada", Role.ADMIN)
    secret = await desk.authentication.begin_session(issued.row.id, 60)
    async with locked_file(path):
        who = [await desk.authentication.by_token(str(issued.text)), await desk.authentication.by_session(secret)]
        await desk.authentication.write_uses()
        before = (await desk.store.listed())[0].used_ms
    await desk.authentication.write_uses()
    after = (await desk.store.listed())[0].used_ms
    await found.close()
    assert who == [Principal("Ada", Role.ADMIN, issued.row.id)] * 2
    assert (before, after) == (None, START_MS)
