"""The feeds of matches: read once for all who follow, from any event on, and `closed` at the end for each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from server.errors import UnknownMatchError
from server.records.entries import Entry, StateEntry
from server.records.errors import MatchRecordError
from server.spectating import stream
from server.spectating.fanout import SharedEvent
from server.spectating.stream import MatchFeeds, public_events, shared
from server.storage.notifications import Notifier
from server.storage.rows import MatchRow, MatchStatus
from tests.kit.polling import until
from tests.kit.server.scripted import START_MS
from tests.kit.server.spectating.written_match import MATCH, WrittenMatch


@pytest.fixture
def reads(played: WrittenMatch, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return from behind which entries the journal was read, a number for each time."""
    found: list[int] = []
    entries = played.journals.entries

    async def noted(match_id: str, after: int = -1) -> Sequence[Entry]:
        found.append(after)
        return await entries(match_id, after)

    monkeypatch.setattr(played.journals, "entries", noted)
    return found


def told(events: Sequence[SharedEvent]) -> list[tuple[str, dict[str, Any], str]]:
    return [(event.kind, event.data, event.event_id) for event in events]


async def followed(feeds: MatchFeeds, after: int = -1) -> list[tuple[str, dict[str, Any], str]]:
    return told([event async for events in feeds.follow(MATCH, after) for event in events])


async def whole(played: WrittenMatch) -> list[tuple[str, dict[str, Any], str]]:
    return told([shared(event) for event in await public_events(played, MATCH)])


async def ended_early(played: WrittenMatch, monkeypatch: pytest.MonkeyPatch, status: MatchStatus) -> None:
    """Let the match have ended before it began."""
    row = await played.matches.get(MATCH)
    assert row is not None
    over = replace(row, status=status, started_ms=None, ended_ms=START_MS + 5, abort_reason="enough")

    async def get(_match_id: str) -> MatchRow:
        return over

    monkeypatch.setattr(played.matches, "get", get)


async def test_all_who_follow_get_each_event_and_the_journal_is_read_once_for_them(
    played: WrittenMatch, reads: list[int]
) -> None:
    feeds = MatchFeeds(played, poll_s=60.0)
    await played.write("state")
    following = [asyncio.create_task(followed(feeds)) for _ in range(3)]
    await played.write("state")
    await played.finish()
    found = await asyncio.gather(*following)
    assert reads.count(-1) == 1
    assert found == [await whole(played)] * 3


async def test_what_another_process_writes_is_found_by_looking(played: WrittenMatch) -> None:
    played.notifier = Notifier()  # of this process, which the writer does not tell
    await played.write("state")
    events = MatchFeeds(played, poll_s=0.01).follow(MATCH)
    found = await anext(events)
    await played.finish()
    found += [event async for some in events for event in some]
    assert told(found) == await whole(played)


class Connection:
    """Keeps what is sent to a viewer that waits."""

    is_ndjson = True

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send_now(self, data: bytes) -> bool:
        self.sent.append(data)
        return True


async def test_one_who_waits_is_sent_what_is_new_and_does_not_fetch_it(played: WrittenMatch) -> None:
    await played.write("state")
    sink = Connection()
    following = MatchFeeds(played, poll_s=60.0).follow(MATCH, sink=sink)
    waiting = asyncio.ensure_future(anext(following))
    await until(lambda: sink.sent)
    is_done = waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert (is_done, [json.loads(line)["id"] for line in b"".join(sink.sent).splitlines()]) == (False, ["0", "1"])


async def test_one_who_waits_gets_each_event_once_whichever_way(played: WrittenMatch) -> None:
    await played.write("state")
    sink = Connection()
    following = asyncio.create_task(_yielded(MatchFeeds(played, poll_s=60.0), sink))
    await until(lambda: sink.sent)
    await played.finish()
    yielded = await following
    ids = [json.loads(line)["id"] for line in b"".join(sink.sent).splitlines()]
    assert sorted(map(int, ids + yielded)) == list(range(len(played.journal)))


async def _yielded(feeds: MatchFeeds, sink: Connection) -> list[str]:
    return [event.event_id async for events in feeds.follow(MATCH, sink=sink) for event in events]


async def test_questions_alone_tell_the_time_at_which_they_are_sent(played: WrittenMatch) -> None:
    await played.finish()
    events = [shared(event) for event in await public_events(played, MATCH)]
    timed = {event.kind for event in events if "now" in json.loads(event.encoded(is_ndjson=True))["data"]}
    assert timed == {"asked"}


@pytest.mark.parametrize("after", [-1, 0, 5])
async def test_who_comes_again_gets_what_came_after_the_last_event_it_knows(played: WrittenMatch, after: int) -> None:
    await played.finish()
    events = await whole(played)
    assert await followed(MatchFeeds(played), after) == events[after + 1 :]


async def test_who_lacks_the_last_event_alone_gets_it_once(played: WrittenMatch) -> None:
    await played.finish()
    events = await whole(played)
    assert await followed(MatchFeeds(played), len(events) - 2) == events[-1:]


@pytest.mark.parametrize("after", [-1, 0, 1, 4, 99])
async def test_the_events_up_to_now_begin_after_the_last_one_that_is_known(played: WrittenMatch, after: int) -> None:
    await played.write("state", 2)
    numbers = [event.number for event in await public_events(played, MATCH, after)]
    assert numbers == list(range(after + 1, played.n_written))


@pytest.mark.parametrize("n_more", [0, 1, 100])
async def test_who_knows_all_events_gets_the_last_once_more(played: WrittenMatch, n_more: int) -> None:
    await played.finish()
    events = await whole(played)
    after = len(events) - 1 + n_more
    assert await followed(MatchFeeds(played), after) == [("closed", events[-1][1], str(after))]


async def test_of_many_events_some_come_at_a_time(played: WrittenMatch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_EVENTS", 4)
    await played.finish()
    batches = [events async for events in MatchFeeds(played).follow(MATCH)]
    assert [len(events) for events in batches] == [4, 4, 4, 4, 4, 1]
    assert told([event for events in batches for event in events]) == await whole(played)


async def test_a_match_that_is_not_there_cannot_be_followed(played: WrittenMatch) -> None:
    feeds = MatchFeeds(played)
    for _ in range(2):
        with pytest.raises(UnknownMatchError):
            await anext(feeds.follow("none"))


async def test_a_journal_that_makes_no_sense_is_named_to_all_who_follow(played: WrittenMatch) -> None:
    played.journal = [entry for entry in played.journal if isinstance(entry, StateEntry)]
    await played.write("state")
    feeds = MatchFeeds(played)
    found = await asyncio.gather(followed(feeds), followed(feeds), return_exceptions=True)
    assert [type(error) for error in found] == [MatchRecordError] * 2


@pytest.mark.parametrize("status", [MatchStatus.ABORTED, MatchStatus.FAILED])
async def test_who_follows_a_match_that_never_began_is_told_why_it_ended(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch, status: MatchStatus
) -> None:
    await ended_early(played, monkeypatch, status)
    events = await whole(played)
    assert events == [
        (status.value, {"at": START_MS + 5, "step": 0, "reason": "enough"}, "0"),
        ("closed", {"at": START_MS + 5}, "1"),
    ]
    parts = [await public_events(played, MATCH, after) for after in (-1, 0, 1)]
    assert [[event.number for event in part] for part in parts] == [[0, 1], [1], []]
    feeds = MatchFeeds(played)
    assert [await followed(feeds, after) for after in (-1, 0, 1, 7)] == [
        events,
        events[1:],
        [("closed", {"at": START_MS + 5}, "1")],
        [("closed", {"at": START_MS + 5}, "7")],
    ]


@pytest.mark.parametrize("after", [-1, 0, 1])
async def test_the_end_of_a_match_whose_journal_broke_off_is_told(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    await played.write("state")
    events = await whole(played)
    row = await played.matches.get(MATCH)
    assert row is not None
    over = replace(row, status=MatchStatus.ABORTED, ended_ms=START_MS + 5, abort_reason="enough")

    async def get(_match_id: str) -> MatchRow:
        return over

    monkeypatch.setattr(played.matches, "get", get)
    told_last = ("closed", {"at": START_MS + 5}, events[-1][2])
    assert await followed(MatchFeeds(played), after) == [*events[after + 1 :], told_last]


@pytest.mark.parametrize("after", [-1, 0, 3])
async def test_the_end_of_a_match_whose_journal_is_lost_has_an_id_from_which_to_go_on(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    await ended_early(played, monkeypatch, MatchStatus.COMPLETED)
    assert await followed(MatchFeeds(played), after) == [("closed", {"at": START_MS + 5}, str(max(after, 0)))]


async def test_after_the_end_a_match_is_read_anew(played: WrittenMatch, reads: list[int]) -> None:
    feeds = MatchFeeds(played)
    await played.finish()
    async with aclosing(feeds.follow(MATCH)) as first:
        await anext(first)
        await until(lambda: feeds._feeds[MATCH].audience.is_over)
        assert await followed(feeds) == await whole(played)
    assert reads == [-1, -1, -1]


async def test_a_match_that_is_followed_no_more_is_not_read_on(played: WrittenMatch, reads: list[int]) -> None:
    feeds = MatchFeeds(played, poll_s=60.0)
    await played.write("state")
    async with aclosing(feeds.follow(MATCH)) as following:
        await anext(following)
    await played.finish()
    for _ in range(20):
        await asyncio.sleep(0)
    assert (reads, feeds._feeds) == ([-1], {})
