"""Several game managers on one PostgreSQL: players that dial in, and people, may reach any of them at any time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import cycle
from typing import Any

import aiohttp
import pytest
from sqlalchemy.engine import make_url

from server.hosting.settings import GameManagerSettings, PracticeLimits
from server.principal import Principal, Role
from server.refusals import RequestError
from server.registry.registry import PlayerWishes
from server.storage.database import Database
from server.storage.rows import MatchStatus
from tests.kit.polling import until
from tests.kit.server.hosting.hosts import hosting as process_hosting
from tests.kit.server.hosting.hosts import looking, until_all_over, until_steps
from tests.kit.server.peers import OK, listening, request
from tests.kit.server.postgresql import execute
from tests.kit.server.registry.host import Caller, Host, event, finished, hosting, order

PLAYERS = "/api/v1/players"
NDJSON = "application/x-ndjson"
SECRET = "GGP-Seat-Secret"
END_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ggp notifications'"
IDLE = GameManagerSettings(max_running=0)
"""A manager that plays no match itself."""


@asynccontextmanager
async def managers(address: str, *settings: GameManagerSettings) -> AsyncIterator[list[Host]]:
    """Yield managers on one database, which know each other by now."""
    async with AsyncExitStack() as stack:
        hosts = []
        for each in settings:
            database = await Database.open(address)
            stack.push_async_callback(database.close)
            hosts.append(await stack.enter_async_context(hosting(database, settings=each)))
        yield hosts


class DialIn:
    """A player called *name* that reads its requests where *read* says, and posts each reply to the next of *posting*.

    Attributes:
        asked: the ids of the requests that came, in order.
        answered: those of which the reply was taken.
        said: the kinds of the events that are no requests.
    """

    def __init__(self, name: str, posting: list[Caller], answer: Callable[[dict[str, Any]], str] | None = None) -> None:
        self.name = name
        self.asked: list[str] = []
        self.answered: list[str] = []
        self.said: list[str] = []
        self._posting = cycle(posting)
        self._answer = answer or (lambda told: (told.get("legalMoves") or ["ready"])[0])

    async def read(self, caller: Caller) -> None:
        """Be connected at *caller* until the stream ends."""
        path = f"{PLAYERS}/{self.name}/requests?past=true"
        with suppress(aiohttp.ClientError):
            async with caller.stream(path, Accept=NDJSON) as stream:
                while (told := await event(stream))["event"] != "end":
                    await self._take(told)

    async def _take(self, told: dict[str, Any]) -> None:
        if told["event"] != "request":
            self.said.append(told["event"])
        elif "answered" not in told["data"]:
            await self._reply(told["data"])

    async def _reply(self, told: dict[str, Any]) -> None:
        self.asked.append(told["request"])
        sent = {"request": told["request"], "text": self._answer(told)}
        for _ in range(2):  # the second time to another manager: the same reply counts once
            status, body = await next(self._posting).ask("POST", f"{PLAYERS}/{self.name}/replies", sent)
            assert (status, body) == (200, {"request": told["request"]})
        self.answered.append(told["request"])

    async def until_asked(self, n: int) -> None:
        """Wait until *n* requests have come; before each a reply may have been lost, and have to be sent again."""
        await until(lambda: len(self.asked) >= n, 90)

    @asynccontextmanager
    async def connected(self, host: Host) -> AsyncIterator[None]:
        """Be connected at *host* while the block runs."""
        n_before = self.said.count("connected")
        reading = asyncio.create_task(self.read(host.caller()))
        try:
            await until(lambda: reading.done() or self.said.count("connected") > n_before)
            yield
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


class Patient(DialIn):
    """A player that thinks for a while, and posts a reply again where the manager that asked is gone."""

    async def _reply(self, told: dict[str, Any]) -> None:
        self.asked.append(told["request"])
        await asyncio.sleep(0.2)
        status, sent = 503, {"request": told["request"], "text": self._answer(told)}
        while status == 503:
            status, _ = await next(self._posting).ask("POST", f"{PLAYERS}/{self.name}/replies", sent)


def errors(record: dict[str, Any]) -> set[str]:
    return {error for step in record["errors"] for error in step}


@pytest.mark.exhaustive
async def test_a_player_that_dialled_in_elsewhere_is_asked_each_thing_once(postgresql_address: str) -> None:
    async with managers(postgresql_address, GameManagerSettings(), IDLE, IDLE) as (playing, near, far):
        await near.caller().ask("POST", PLAYERS, {"name": "deep"})
        player = DialIn("deep", [far.caller(), near.caller(), playing.caller()])
        async with player.connected(near):
            ordered = await far.manager.order(order({"x": "deep", "o": "deep"}))
            record = await finished(playing, ordered.row.id)
            await until(lambda: sum("STOP" in request for request in player.asked) == 2)
    assert record["isCompleted"]
    assert errors(record) == {""}
    assert len(player.asked) == len(set(player.asked)) == 2 * (len(record["moves"]) + 2)


async def test_a_match_begins_between_players_that_dialled_in_at_two_managers(postgresql_address: str) -> None:
    async with managers(postgresql_address, GameManagerSettings(), GameManagerSettings()) as hosts:
        players = []
        for name, host in zip(("one", "two"), hosts, strict=True):
            await host.caller().ask("POST", PLAYERS, {"name": name, "maxMatches": 4})
            players.append(DialIn(name, [each.caller() for each in hosts]))
        async with players[0].connected(hosts[0]), players[1].connected(hosts[1]):
            both = [order({"x": "one", "o": "two"}), order({"x": "two", "o": "one"})]
            rows = [(await host.manager.order(each)).row for host, each in zip(hosts, both, strict=True)]
            records = [await finished(hosts[0], row.id) for row in rows]
    assert [record["isCompleted"] for record in records] == [True] * 2
    assert set.union(*map(errors, records)) == {""}
    for player in players:
        assert len(player.asked) == len(set(player.asked))


async def test_the_latest_connection_counts_wherever_it_is(postgresql_address: str) -> None:
    async with managers(postgresql_address, GameManagerSettings(), IDLE) as (here, there):
        await here.caller().ask("POST", PLAYERS, {"name": "deep"})
        first, second, third = (DialIn("deep", [here.caller(), there.caller()]) for _ in range(3))
        async with first.connected(here), second.connected(there):
            await until(lambda: first.said[-1] == "replaced")
            async with third.connected(here):
                await until(lambda: second.said[-1] == "replaced")
                ordered = await here.manager.order(order({"x": "deep", "o": "random"}))
                record = await finished(here, ordered.row.id)
        last = third.said[:]
    assert (first.asked, second.asked, last) == ([], [], ["connected"])
    assert errors(record) == {""}


@pytest.mark.exhaustive
async def test_a_player_moves_from_one_manager_to_another_in_a_match(postgresql_address: str) -> None:
    async with managers(postgresql_address, GameManagerSettings(), IDLE, IDLE) as hosts:
        await hosts[0].caller().ask("POST", PLAYERS, {"name": "deep"})
        player = DialIn("deep", [host.caller() for host in hosts])
        hops = cycle([hosts[1], hosts[2], hosts[0]])
        async with player.connected(next(hops)):
            ordered = await hosts[0].manager.order(order({"x": "deep", "o": "deep"}))
            over = asyncio.create_task(finished(hosts[0], ordered.row.id))
            await until(lambda: len(player.asked) >= 3)
        while not over.done():
            async with player.connected(next(hops)):
                n_before = len(player.asked)
                await until(lambda: over.done() or len(player.asked) >= n_before + 3)  # noqa: B023 -- it is awaited here
        record = await over
    assert record["isCompleted"]
    assert errors(record) == {""}


@pytest.mark.exhaustive
async def test_a_match_goes_on_when_managers_lost_each_other_for_a_moment(postgresql_address: str) -> None:
    async with managers(postgresql_address, GameManagerSettings(), IDLE) as (playing, near):
        await near.caller().ask("POST", PLAYERS, {"name": "deep"})
        player = Patient("deep", [near.caller(), playing.caller()])
        async with player.connected(near):
            ordered = await near.manager.order(order({"x": "deep", "o": "deep"}))
            for n_asked in (2, 6):
                await player.until_asked(n_asked)
                await asyncio.to_thread(execute, make_url(postgresql_address), END_ALL)
            await until_all_over(postgresql_address, [ordered.row.id])  # answers that were lost are waited for
            record = await finished(playing, ordered.row.id)
            await until(lambda: sum("STOP" in request for request in player.asked) == 2)
    assert record["isCompleted"]
    assert errors(record) == {""}
    assert len(player.asked) == len(set(player.asked)) == 2 * (len(record["moves"]) + 2)


async def test_a_player_that_is_removed_is_let_go_everywhere(postgresql_address: str) -> None:
    async with managers(postgresql_address, IDLE, IDLE) as (here, there):
        await here.caller().ask("POST", PLAYERS, {"name": "deep"})
        player = DialIn("deep", [here.caller()])
        async with player.connected(there):
            await until(lambda: here.manager.request_queues.is_connected("deep"))
            await here.manager.registry.remove("deep")
            await until(lambda: player.said == ["connected", "removed"])


async def test_a_player_is_free_everywhere_while_it_is_connected(postgresql_address: str) -> None:
    async with managers(postgresql_address, IDLE, IDLE) as (here, there):
        await here.caller().ask("POST", PLAYERS, {"name": "deep"})
        async with DialIn("deep", []).connected(there):
            await until(lambda: here.manager.request_queues.is_connected("deep"))
            assert await here.manager.registry.is_free("deep", 0)
        await until(lambda: not here.manager.request_queues.is_connected("deep"))
        assert not await here.manager.registry.is_free("deep", 0)


@pytest.mark.exhaustive
async def test_what_is_no_reply_is_refused_as_by_the_manager_that_plays(postgresql_address: str) -> None:
    async with managers(postgresql_address, GameManagerSettings(), IDLE) as (playing, other):
        await playing.caller().ask("POST", PLAYERS, {"name": "deep"})
        player = DialIn("deep", [other.caller()])
        async with player.connected(other):
            ordered = await playing.manager.order(order({"x": "deep", "o": "human"}))
            await playing.manager.note_arrival(ordered.row.id, "o")
            asked = f"{ordered.row.id}:0:PLAY"
            await until(lambda: asked in player.answered)
            said = [
                (await other.caller().ask("POST", f"{PLAYERS}/deep/replies", {"request": request, "text": text}))
                for request, text in ((asked, "(mark 9 9)"), (f"{ordered.row.id}:7:PLAY", "noop"), ("m:7:PLAY", "noop"))
            ]
    assert said == [(409, "other_reply"), (404, "unknown_request"), (404, "unknown_request")]


async def moved(callers: Iterator[Caller], seat: str, move: dict[str, Any], headers: dict[str, str]) -> object:
    """Return the answer to a move of a person, who asks one manager after the other."""
    # On a busy machine the manager that plays may take too long to tell whether it has the move: it may be sent again.
    while (answer := await next(callers).ask("POST", f"{seat}/move", move, headers)) == (503, "storage_failed"):
        pass
    return answer


async def test_a_person_sits_at_any_manager(postgresql_address: str) -> None:
    async with managers(postgresql_address, GameManagerSettings(), IDLE, IDLE) as hosts:
        playing, *others = hosts
        ordered = await playing.manager.order(order({"x": "human", "o": "random"}))
        seat = f"/api/v1/matches/{ordered.row.id}/seats/x"
        headers = {SECRET: ordered.seat_secrets["x"]}
        callers = cycle([host.caller() for host in others])
        n_moves, refused = 0, []
        async with asyncio.timeout(60):
            while (view := (await next(callers).ask("GET", seat, headers=headers))[1])["status"] != "completed":
                if not view["isAsked"]:
                    await asyncio.sleep(0.02)
                    continue
                wrong = {"step": view["step"], "move": "(mark 9 9)"}
                refused.append(await moved(callers, seat, wrong, headers))
                sent = {"step": view["step"], "move": view["legalMoves"][0]}
                assert await moved(callers, seat, sent, headers) == (200, sent)
                n_moves += 1
        late = await moved(callers, seat, {"step": 0, "move": "(mark 1 1)"}, headers)
        record = await finished(playing, ordered.row.id)
    assert set(refused) == {(400, "illegal_move")}
    assert late == (409, "not_asked")
    assert errors(record) == {""}
    assert n_moves >= 3


@pytest.mark.exhaustive
async def test_a_player_stays_connected_while_its_match_is_taken_over(postgresql_address: str) -> None:
    address = postgresql_address
    async with managers(address, IDLE) as (near,):
        await near.caller().ask("POST", PLAYERS, {"name": "deep", "maxMatches": 1})
        player = Patient("deep", [near.caller()])
        async with player.connected(near):
            ordered = await near.manager.order(order({"x": "deep", "o": "deep"}))
            async with process_hosting(address, 1.5) as first:
                await until_steps(address, [ordered.row.id], 1)
                await first.kill()
            async with process_hosting(address, 1.5):
                await until_all_over(address, [ordered.row.id])
        async with looking(address) as stored:
            row = await stored.matches.get(ordered.row.id)
        assert row is not None
        assert (row.status, row.n_errors, row.epoch > 1) == (MatchStatus.COMPLETED, 0, True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("limit", [1, 2])
async def test_no_player_plays_more_than_it_allows_when_two_managers_begin_at_once(
    postgresql_address: str, limit: int
) -> None:
    playing: set[str] = set()
    most = 0

    async def counting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal most
        _, body = await request(reader)
        word, *words = body.strip("()").split()
        if word == "START":
            playing.add(words[0])
            most = max(most, len(playing))
        elif word in ("STOP", "ABORT"):
            playing.discard(words[0])
        writer.write(OK + b"\r\n" + (b"(say Yes)" if word == "PLAY" else b"ready"))

    settings = GameManagerSettings()
    async with listening(counting) as url, managers(postgresql_address, settings, settings) as hosts:
        await hosts[0].manager.registry.register("deep", "ada", url, wishes=PlayerWishes(max_matches=limit))
        text = order({"x": "deep", "o": "deep"})
        rows = [row for _ in range(6) for row in await asyncio.gather(*(host.manager.order(text) for host in hosts))]
        for each in rows:
            await finished(hosts[0], each.row.id)
        async with looking(postgresql_address) as stored:
            held = {row.holder for each in rows if (row := await stored.matches.get(each.row.id)) is not None}
    assert most == limit
    assert len(held) <= 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("limit", [1, 3])
async def test_asking_two_managers_at_once_allows_no_more_practice(postgresql_address: str, limit: int) -> None:
    settings = GameManagerSettings(max_running=0, practice=PracticeLimits(at_once=limit))
    ann = Principal("ann", Role.PLAYER)
    async with managers(postgresql_address, settings, settings) as hosts:
        await hosts[0].manager.registry.register("deep", "ann", "http://127.0.0.1:1")
        text = order({"x": "deep", "o": "random"})
        said = await asyncio.gather(
            *(host.manager.practice.order(text, ann) for host in hosts for _ in range(4)), return_exceptions=True
        )
    refused = [error.code for error in said if isinstance(error, RequestError)]
    assert (len(said) - len(refused), set(refused)) == (limit, {"too_much_practice"})
