"""Publishing to a spectator server of the field: what it receives, and that its failures disturb nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from server.app import Watch, managing
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.match.profiles import Profile
from server.records.entries import ClosedEntry, StateEntry, StepEntry
from server.spectating.publishing import WATCH_S, Post, Publisher, PublishSettings, posting
from server.storage.database import Database
from server.storage.errors import StorageError
from server.storage.rows import GameVersion, MatchRow
from tests.kit.polling import until
from tests.kit.server.scripted import TURNS_MOVES, turns
from tests.kit.server.spectating.spectator_server import SpectatorServer, spectator_server
from tests.kit.server.spectating.written_match import WrittenMatch, written_match

SETTINGS = PublishSettings(games_url="http://127.0.0.1/base/games/", pause_s=0.001)


async def publish(
    played: WrittenMatch, server: SpectatorServer, address: str, settings: PublishSettings = SETTINGS
) -> None:
    """Play the match, and publish each state as it comes."""
    async with posting(address) as post:
        publisher = Publisher(played, played.publications, post, settings)
        while played.n_written < len(played.journal):
            first = played.n_written
            entry = played.journal[first]
            await played.write(entry.kind)
            publisher.take("match.m1", first, entry)
            n_done = len(server.updates)
            if isinstance(entry, StateEntry):
                for _ in range(200):
                    if len(server.updates) > n_done or server.n_failing or server.refusals:
                        break
                    await asyncio.sleep(0.005)
        await played.finish()
        await until(lambda: server.refusals or (server.updates and server.updates[-1]["isCompleted"]))
        await publisher.close()


async def test_a_match_is_published_state_by_state(played: WrittenMatch) -> None:
    async with spectator_server() as (server, address):
        await publish(played, server, address)
    assert server.refusals == []
    assert sorted({len(update["states"]) for update in server.updates}) == [1, 2, 3]
    last = server.updates[-1]
    assert (last["isCompleted"], last["goalValues"], last["gameMetaURL"]) == (
        True, [100, 0], "http://127.0.0.1/base/games/turns/v0/"
    )  # fmt: skip
    assert not [name for update in server.updates for name in update if name.startswith("x-")]


async def test_no_update_takes_back_what_an_earlier_one_said_of_start(played: WrittenMatch) -> None:
    failed = ("TO", "")
    played.journal = [
        replace(entry, errors=failed) if isinstance(entry, StepEntry) and entry.moves is None else entry
        for entry in played.journal
    ]
    async with spectator_server() as (server, address):
        await publish(played, server, address)
    told = {len(update["states"]): update.get("errors", [None])[0] for update in server.updates}
    assert (server.refusals, told) == ([], {1: None, 2: list(failed), 3: list(failed)})


async def test_a_hidden_match_is_published_after_its_end(tmp_path: Path) -> None:
    async with (
        written_match(tmp_path, turns(), TURNS_MOVES, Profile(is_scrambled=True)) as played,
        spectator_server() as (server, address),
        posting(address) as post,
    ):
        publisher = Publisher(played, played.publications, post, SETTINGS)
        await played.write("state", 2)
        publisher.take("match.m1", 1, StateEntry(1, 0, "( )", None))
        await publisher.close()
        assert server.updates == []
        await played.finish()
        publisher.take("match.m1", 1, ClosedEntry(1))
        await publisher.close()
    assert [(update["isCompleted"], len(update["states"])) for update in server.updates] == [(True, 3)]


async def test_a_hidden_match_whose_end_is_written_late_is_published(tmp_path: Path) -> None:
    async with (
        written_match(tmp_path, turns(), TURNS_MOVES, Profile(is_scrambled=True)) as played,
        spectator_server() as (server, address),
        posting(address) as post,
    ):
        publisher = Publisher(played, played.publications, post, SETTINGS)
        await played.write("state", 2)
        publisher.take("match.m1", 1, ClosedEntry(1))
        await publisher.close()
        before = list(server.updates)
        await played.finish()
        publisher.take_end("match.m1")
        await publisher.close()
    assert (before, [update["isCompleted"] for update in server.updates]) == ([], [True])


async def test_a_match_is_published_when_it_is_played_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Publisher, "take", lambda *_: None)
    database = await Database.open(f"sqlite:///{tmp_path}/ggp.sqlite")
    async with spectator_server() as (server, address):
        settings = PublishSettings(address, "http://127.0.0.1/games/", pause_s=0.001)
        async with managing(database, GameManagerSettings(), Watch(), settings) as manager:
            await manager.play()
            await manager.order(MatchRequest(game="tictactoe", players={}))
            await until(lambda: server.updates)
    await database.close()
    assert [update["isCompleted"] for update in server.updates] == [True]


async def test_a_match_of_which_no_state_is_public_yet_is_not_published(played: WrittenMatch) -> None:
    async with spectator_server() as (server, address), posting(address) as post:
        publisher = Publisher(played, played.publications, post, SETTINGS)
        await played.write("started")
        publisher.take("match.m1", 1, StateEntry(1, 0, "( )", None))
        await publisher.close()
    assert (server.updates, server.refusals) == ([], [])


async def test_what_comes_just_when_an_update_is_sent_is_published_too(played: WrittenMatch) -> None:
    posted: list[dict[str, str]] = []

    async def post(form: dict[str, str]) -> None:
        posted.append(form)

    await played.finish()
    publisher, others = Publisher(played, played.publications, post, SETTINGS), asyncio.all_tasks()
    publisher.take("match.m1", 1, ClosedEntry(1))
    (sending,) = asyncio.all_tasks() - others

    def take_when_sent() -> None:
        if sending.done():
            publisher.take("match.m1", 1, ClosedEntry(1))
        else:
            asyncio.get_running_loop().call_soon(take_when_sent)

    take_when_sent()
    await sending
    await publisher.close()
    assert len(posted) == 2


async def test_what_is_published_is_signed(played: WrittenMatch) -> None:
    settings = replace(SETTINGS, signing_key=generate_private_key(65537, 2048))
    async with spectator_server() as (server, address):
        await publish(played, server, address, settings)
    assert (server.refusals, all("matchHostSignature" in update for update in server.updates)) == ([], True)


def keeping(posted: list[dict[str, str]]) -> Post:
    async def post(form: dict[str, str]) -> None:
        posted.append(form)

    return post


async def published(played: WrittenMatch, posted: list[dict[str, str]], settings: PublishSettings = SETTINGS) -> None:
    """Publish the match as it is now."""
    publisher = Publisher(played, played.publications, keeping(posted), settings)
    publisher.take("match.m1", 1, ClosedEntry(1))
    await publisher.close(limit_s=60)


async def test_a_match_is_updated_with_a_secret_that_a_restart_keeps_and_the_seeds_make(played: WrittenMatch) -> None:
    posted: list[dict[str, str]] = []
    await played.write("state")
    for _ in range(2):
        await published(played, posted)
    secret = hashlib.sha256(b"match.m1 7 8").hexdigest()
    assert [sorted(form) for form in posted] == [["AUTH", "DATA"]] * 2
    assert [form["AUTH"] for form in posted] == [secret] * 2


@pytest.mark.parametrize(
    ("hashes", "number"), [(["old"], 1), (["old", "older"], 2), ([], 0), (None, 0)], ids=["1", "2", "0", "unknown"]
)
async def test_the_address_of_the_rules_names_their_version(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch, hashes: list[str] | None, number: int
) -> None:
    (own,) = await played.games.versions("turns")

    async def versions(name: str) -> list[GameVersion]:
        assert name == "turns"
        new = replace(own, sha256="new")
        return [new] if hashes is None else [new, own, *(replace(own, sha256=each) for each in hashes)]

    monkeypatch.setattr(played.games, "versions", versions)
    posted: list[dict[str, str]] = []
    await played.write("state")
    await published(played, posted)
    assert json.loads(posted[0]["DATA"])["gameMetaURL"] == f"http://127.0.0.1/base/games/turns/v{number}/"


async def test_the_end_of_a_match_is_owed_while_its_set_is_played(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    owed: list[bool] = []
    get = played.matches.get

    async def of_set(match_id: str) -> MatchRow | None:
        row = await get(match_id)
        return row and replace(row, is_set_open=not owed)

    async def end(match_id: str) -> None:
        ended.append(match_id)

    monkeypatch.setattr(played.matches, "get", of_set)
    monkeypatch.setattr(played.publications, "end", end)
    await played.finish()
    for _ in range(2):
        await published(played, [])
        owed.append(not ended)
    assert (owed, ended) == ([True, False], ["match.m1"])


async def test_the_end_of_a_match_is_owed_from_its_first_update_on(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Collection[str]] = []
    begin = played.publications.begin

    async def failing_at_first(match_ids: Collection[str]) -> None:
        begun.append(match_ids)
        if len(begun) == 1:
            raise StorageError("ggp.sqlite", "it does not answer")
        await begin(match_ids)

    monkeypatch.setattr(played.publications, "begin", failing_at_first)
    posted: list[dict[str, str]] = []
    n_begun: list[int] = []

    async def wait(_closing: asyncio.Event, _seconds: float) -> None:
        n_begun.append(len(begun))

    await played.finish()
    publisher = Publisher(played, played.publications, keeping(posted), SETTINGS, wait)
    for n_posted in (1, 2):
        publisher.take("match.m1", 1, ClosedEntry(1))
        await until(lambda: len(posted) == n_posted)  # noqa: B023 -- it is awaited here
        await publisher.close(limit_s=60)
    assert (begun, n_begun) == ([["match.m1"]] * 3, [1, 3])


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_an_answer_that_is_no_success_is_a_failure_and_no_redirect_is_followed(status: int) -> None:
    called: list[str] = []

    async def note(request: web.Request) -> web.Response:
        called.append(request.path)
        return web.Response(status=status, headers={"Location": "/elsewhere"})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", note)
    async with TestServer(app) as server, posting(str(server.make_url("/"))) as post:
        with pytest.raises(OSError, match=f"^the spectator server answered {status}$"):
            await post({"AUTH": "a", "DATA": "{}"})
    assert called == ["/"]


async def test_it_is_looked_for_what_is_owed_until_the_server_ends_also_after_an_outage(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted: list[dict[str, str]] = []
    waited: list[float] = []
    await played.finish()
    await played.publications.begin(["match.m1"])
    claim = played.publications.claim

    async def failing() -> list[str]:
        if len(waited) < 2:
            raise StorageError("ggp.sqlite", "it does not answer")
        return await claim()

    async def wait(closing: asyncio.Event, seconds: float) -> None:
        if seconds == WATCH_S:
            waited.append(seconds)
        if len(waited) == 3:
            closing.set()

    monkeypatch.setattr(played.publications, "claim", failing)
    publisher = Publisher(played, played.publications, keeping(posted), SETTINGS, wait)
    await publisher.watch()
    await publisher.close(limit_s=60)
    assert (waited, len(posted)) == ([WATCH_S] * 3, 1)


async def test_what_was_withheld_before_the_server_began_is_owed_from_its_first_look_on(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Collection[str]] = []

    async def withheld() -> set[str]:
        return {"match.m7"}

    async def begin(match_ids: Collection[str]) -> None:
        begun.append(match_ids)

    monkeypatch.setattr(played.matches, "withheld", withheld)
    monkeypatch.setattr(played.publications, "begin", begin)
    publisher = Publisher(played, played.publications, keeping([]), SETTINGS)
    for _ in range(2):
        await publisher.look()
    assert begun == [{"match.m7"}]


async def test_an_update_that_failed_is_sent_again(played: WrittenMatch) -> None:
    async with spectator_server() as (server, address):
        server.n_failing = 3
        await publish(played, server, address)
    assert server.updates[-1]["isCompleted"]


async def test_a_server_that_is_gone_is_given_up(played: WrittenMatch, caplog: pytest.LogCaptureFixture) -> None:
    async with spectator_server() as (_, address):
        pass
    waited: list[float] = []

    async def wait(_closing: asyncio.Event, seconds: float) -> None:
        waited.append(seconds)

    await played.finish()
    async with posting(address) as post:
        publisher = Publisher(played, played.publications, post, PublishSettings(n_attempts=4, pause_s=1), wait)
        publisher.take("match.m1", 1, ClosedEntry(1))
        await until(lambda: "was not published" in caplog.text)
        await publisher.close()
    assert waited == [1, 2, 4, 8]


async def test_what_comes_late_in_an_outage_is_tried_as_often_as_any_update(played: WrittenMatch) -> None:
    n_posted = 0

    async def post(_form: dict[str, str]) -> None:
        nonlocal n_posted
        n_posted += 1
        if n_posted < 6:
            raise OSError("the spectator server is gone")

    async def wait(_closing: asyncio.Event, _seconds: float) -> None:
        if n_posted == 3:
            publisher.take("match.m1", 1, ClosedEntry(1))

    await played.finish()
    publisher = Publisher(played, played.publications, post, replace(SETTINGS, n_attempts=4), wait)
    publisher.take("match.m1", 1, StateEntry(1, 0, "( )", None))
    await until(lambda: n_posted == 6)
    await publisher.close()
    assert n_posted == 6


async def test_what_waits_when_the_server_ends_is_tried_once_more_at_once(
    played: WrittenMatch, caplog: pytest.LogCaptureFixture
) -> None:
    n_posted = 0

    async def post(_form: dict[str, str]) -> None:
        nonlocal n_posted
        n_posted += 1
        raise OSError("the spectator server is gone")

    await played.finish()
    publisher = Publisher(played, played.publications, post, PublishSettings(pause_s=1_000))
    publisher.take("match.m1", 1, ClosedEntry(1))
    await publisher.close(limit_s=60)
    assert (n_posted, caplog.messages) == (1, ["match match.m1 was not published: the spectator server is gone"])


async def test_a_failure_without_words_is_logged_by_its_kind(
    played: WrittenMatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def post(_form: dict[str, str]) -> None:
        raise TimeoutError

    await played.finish()
    publisher = Publisher(played, played.publications, post, replace(SETTINGS, n_attempts=1))
    publisher.take("match.m1", 1, ClosedEntry(1))
    await publisher.close(limit_s=60)
    assert caplog.messages == ["match match.m1 was not published: TimeoutError"]


async def test_what_does_not_arrive_before_the_server_ends_is_logged(
    played: WrittenMatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def post(_form: dict[str, str]) -> None:
        await asyncio.Event().wait()

    await played.finish()
    publisher = Publisher(played, played.publications, post, SETTINGS)
    before = asyncio.all_tasks()
    publisher.take("match.m1", 1, ClosedEntry(1))
    await publisher.close(limit_s=0)
    assert asyncio.all_tasks() == before
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert told == [("WARNING", "match match.m1 was not published to its last change: the server ends")]


async def test_an_end_that_did_not_arrive_is_published_by_the_next_server(played: WrittenMatch) -> None:
    async with spectator_server() as (server, address), posting(address) as post:
        await played.write("state", 2)
        first = Publisher(played, played.publications, post, SETTINGS)
        first.take("match.m1", 1, StateEntry(1, 0, "( )", None))
        await first.close()
        await played.finish()  # by a process that is killed then
        second = Publisher(played, played.publications, post, SETTINGS)
        await second.look()
        await second.close()
        third = Publisher(played, played.publications, post, SETTINGS)
        await third.look()
        await third.close()
    assert [update["isCompleted"] for update in server.updates] == [False, True]
