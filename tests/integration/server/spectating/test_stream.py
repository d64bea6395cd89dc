"""Following a match: each event once, whichever server plays it, and hidden ones whole after their end."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from server.errors import UnknownMatchError
from server.match.profiles import Profile
from server.records.entries import StateEntry
from server.spectating import overview
from server.spectating.events import PublicEvent
from server.spectating.overview import Overview
from server.spectating.stream import feed, public_events
from server.storage.notifications import Notifier
from server.storage.rows import MatchRow, MatchStatus
from tests.kit.server.scripted import TURNS_MOVES, turns
from tests.kit.server.spectating.written_match import MATCH, WrittenMatch, written_match
from tests.kit.server.storage.samples import keep


async def followed(played: WrittenMatch, after: int = -1, poll_s: float = 60.0) -> list[PublicEvent]:
    return [event async for event in feed(played, MATCH, after, poll_s)]


async def test_news_wake_who_follows(played: WrittenMatch) -> None:
    following = asyncio.create_task(followed(played))
    for kind in ("started", "state", "step", "state"):
        await played.write(kind)
        await asyncio.sleep(0)
    await played.finish()
    events = await following
    assert [event.number for event in events] == list(range(len(played.journal)))
    assert [event.data["state"] for event in events if event.kind == "state"] == [
        entry.state for entry in played.journal if isinstance(entry, StateEntry)
    ]


async def test_what_another_manager_commits_is_found_by_looking(played: WrittenMatch) -> None:
    played.notifier = Notifier()  # of this process, which the writer does not tell
    await played.write("started")
    events = feed(played, MATCH, poll_s=0.01)
    found = [await anext(events)]
    await played.write("state", 2)
    found.append(await anext(events))
    await played.finish()
    found += [event async for event in events]
    assert [event.number for event in found] == list(range(len(played.journal)))


async def test_a_client_that_comes_again_gets_the_rest(played: WrittenMatch) -> None:
    await played.write("state")
    journal = await public_events(played, MATCH)
    assert [event.kind for event in journal] == ["started", "state"]
    await played.finish()
    assert [event.number for event in await followed(played, after=1)] == list(range(2, len(played.journal)))
    assert await followed(played, after=len(played.journal)) == []


async def test_a_match_that_is_not_there_cannot_be_followed(played: WrittenMatch) -> None:
    with pytest.raises(UnknownMatchError):
        await anext(feed(played, "none"))


async def test_what_was_hidden_is_shown_after_the_end(tmp_path: Path) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES, Profile(is_scrambled=True)) as played:
        await played.write("state", 2)
        before = await public_events(played, MATCH)
        await played.finish()
        after = await public_events(played, MATCH)
    assert [("state" in event.data, "role" in event.data) for event in before] == [(False, False)] * len(before)
    assert all("state" in event.data for event in after if event.kind == "state")


@pytest.mark.parametrize("is_open", [True, False])
async def test_who_follows_a_match_sees_what_its_set_allows_by_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES, Profile(is_scrambled=True)) as played:
        get = played.matches.get

        async def of_set(match_id: str) -> MatchRow | None:
            row = await get(match_id)
            return row and replace(row, is_set_open=row.has_ended is is_open)  # it was the other while it was played

        monkeypatch.setattr(played.matches, "get", of_set)
        events = feed(played, MATCH, poll_s=0.01)
        await played.write("state")
        begun = [await anext(events), await anext(events)]
        await played.finish()
        shown = ["state" in event.data async for event in events if event.kind == "state"]
    assert (["state" in event.data for event in begun], shown) == ([False, False], [not is_open] * 2)


async def test_a_client_that_comes_again_gets_the_end_of_what_was_saying_farewell(played: WrittenMatch) -> None:
    await played.write("completed")
    ended_ms = played.journal[played.n_written - 1].at_ms
    last_id = ended_ms + 9_000
    async with aclosing(Overview(played, lambda: last_id, poll_s=60.0).batches(None)) as batches:
        (before,) = await anext(batches)
    await played.finish()
    async with aclosing(Overview(played, poll_s=60.0).batches(int(before.event_id))) as batches:
        (after,) = await anext(batches)
    assert [(event.data["id"], event.data["status"]) for event in (before, after)] == [
        (MATCH, "running"),
        (MATCH, "completed"),
    ]


async def test_the_end_of_a_match_is_told_that_newer_ones_pushed_out_of_the_list(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "MAX_SHOWN", 1)
    row = await played.matches.get(MATCH)
    assert row is not None
    newer = replace(row, id="match.m2", created_ms=row.created_ms + 1, status=MatchStatus.QUEUED)
    told = []
    async with aclosing(Overview(played, poll_s=0.01).changes()) as changes:
        told.append(await anext(changes))
        await keep(played.matches, newer, ())
        await played.queue.claim([newer.id], "holder", 1e6)
        told.append(await anext(changes))
        await played.finish()
        told.append(await anext(changes))
    assert [(match["id"], match["status"]) for _, match in told] == [
        (MATCH, "running"),
        (newer.id, "running"),
        (MATCH, "completed"),
    ]
