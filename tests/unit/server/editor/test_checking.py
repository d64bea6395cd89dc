"""Checks while typing: after a pause, of the latest version, one file at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from gdl.diagnostics import Diagnostic
from gdl.errors import LimitExceeded
from server.editor import document
from server.editor.document import MAX_DIAGNOSTICS, Checking, Document, diagnose
from server.validating.validation import SMALL_CHARACTERS

WRONG = "; three things are missing, and a parenthesis\n(role x) (p"


class Desk:
    """Takes what is published, and lets a pause end when the test says so."""

    def __init__(self) -> None:
        self.published: asyncio.Queue[tuple[int, list[str]]] = asyncio.Queue()
        self.told: asyncio.Queue[str] = asyncio.Queue()
        self.pauses: list[float] = []
        self.is_over = asyncio.Event()
        self.checking = Checking(self.publish, self.told.put_nowait, 0.5, self.pause)

    def publish(self, document: Document, found: Sequence[Diagnostic]) -> None:
        self.published.put_nowait(
            (document.version, [one.code.name for one in found if one.code.name.endswith("parenthesis")])
        )

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self.is_over.wait()

    async def next(self) -> tuple[int, list[str]]:
        return await asyncio.wait_for(self.published.get(), 30)


async def test_a_file_is_checked_at_once_when_it_is_opened() -> None:
    desk = Desk()
    desk.checking.changed(Document("file:///a.kif", WRONG, 1), is_opened=True)
    assert await desk.next() == (1, ["gdl/unclosed-parenthesis"])
    assert desk.pauses == []


async def test_while_the_user_types_only_the_last_version_is_checked_after_a_pause() -> None:
    desk = Desk()
    for version in range(1, 6):
        desk.checking.changed(Document("file:///a.kif", WRONG, version))
        await asyncio.sleep(0)
    desk.checking.changed(Document("file:///b.kif", WRONG, 9))
    await asyncio.sleep(0)
    desk.is_over.set()
    assert sorted([(await desk.next())[0], (await desk.next())[0]]) == [5, 9]
    assert (desk.published.empty(), desk.pauses) == (True, [0.5] * 6)


async def test_of_a_file_that_is_closed_nothing_is_published() -> None:
    desk = Desk()
    desk.checking.changed(Document("file:///a.kif", WRONG, 1), is_opened=True)
    desk.checking.forget("file:///a.kif")
    desk.checking.forget("file:///never_opened.kif")
    desk.checking.changed(Document("file:///b.kif", WRONG, 2), is_opened=True)
    assert (await desk.next())[0] == 2


async def test_a_check_that_comes_to_a_limit_is_reported_and_publishes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(document: Document) -> list[Diagnostic]:
        raise LimitExceeded("seconds", 10)

    monkeypatch.setattr(document, "diagnose", endless)
    desk = Desk()
    desk.checking.changed(Document("file:///a%20b.kif", WRONG, 1), is_opened=True)
    told = await asyncio.wait_for(desk.told.get(), 30)
    assert told == "/a b.kif could not be checked: limit reached: more than 10 seconds"
    assert desk.published.empty()


def test_a_large_file_is_checked_like_a_small_one() -> None:
    rules = "(role x)\n" + "(p a)\n" * (SMALL_CHARACTERS // 6)
    small, large = (diagnose(Document("file:///a.kif", text)) for text in (rules[:3_003], rules))
    assert {one.code.name for one in small} == {one.code.name for one in large}


def test_an_editor_gets_so_many_diagnostics_and_no_more() -> None:
    assert len(diagnose(Document("file:///a.kif", "(p ()) " * (MAX_DIAGNOSTICS + 1)))) == MAX_DIAGNOSTICS
