"""Matches from their players to the record, and the processes that they start."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest

from gdl.engines import make_game
from gdl.errors import UnknownNameError
from gdl.language.terms import Constant
from gdl.process_limits import ending
from players.kit.worker import WorkerLimits
from server.hosting.runner import MatchRunner, opened
from server.links.connection import PlainConnection
from server.links.errors import PlayerSpecError, PlayerStartError, RemotePlayerError
from server.links.own_player import OwnPlayer, start_own_player
from server.links.player_spec import PlayerSpec, player_spec, public_player_spec
from server.links.request_queue import RequestQueues
from server.links.seating import seated
from server.match.driver import MatchDriver
from server.match.exchange import Sent, StepFinished
from server.match.link import PlayerRequest, ReplyBuffer
from server.match.profiles import Profile
from server.match.referee import LocalReferee
from server.match.setup import MatchSetup, Seat
from server.records.entries import Entry, entry_of
from server.records.journal import FileRecorder
from server.registry.player_references import RegisteredPlayer
from server.storage.rows import PlayerRow, SeatKind
from tests.kit.polling import until
from tests.kit.server.hosting.local import local_match
from tests.kit.server.peers import listening, replying
from tests.kit.server.processes import children_of, is_running
from tests.kit.server.scripted import CIRCUMSTANCES, PLAIN, TURNS, events, library, turns

A, B = Constant("a"), Constant("b")
ASKED = PlayerRequest("(PLAY m NIL)", "m")
BROKEN = PlayerSpec("no-such-player", is_own=True)


async def test_our_player_listens_and_is_gone_after_stop() -> None:
    player = await start_own_player("legal")
    assert player.url.startswith("http://127.0.0.1:")
    assert is_running(player.process_id)
    await player.stop()
    assert not is_running(player.process_id)


@pytest.mark.exhaustive
async def test_a_player_that_ends_at_once_is_no_player() -> None:
    before = children_of(os.getpid())
    with pytest.raises(PlayerStartError) as caught:
        await start_own_player("no-such-player")
    assert caught.value.reason == "its process ended with exit code 2"
    assert children_of(os.getpid()) <= before


async def test_a_player_whose_process_is_killed_is_told_as_that() -> None:
    player = await start_own_player("legal")
    try:
        os.kill(player.process_id, signal.SIGKILL)
        with pytest.raises(RemotePlayerError) as caught:
            await player.deliver(PlayerRequest("(INFO)"), ReplyBuffer())
    finally:
        await player.stop()
    assert caught.value.message == f"its process {ending(-signal.SIGKILL)}"


@pytest.mark.exhaustive
async def test_when_one_player_does_not_start_the_others_are_stopped() -> None:
    before = children_of(os.getpid())
    with pytest.raises(PlayerStartError):
        async with opened({A: player_spec("greedy"), B: BROKEN}):
            pytest.fail("it was opened")
    assert children_of(os.getpid()) <= before


@pytest.mark.exhaustive
async def test_whatever_happens_in_the_block_the_players_are_stopped() -> None:
    processes: list[int] = []

    async def fail() -> None:
        async with opened({A: player_spec("greedy"), B: player_spec("greedy")}) as links:
            processes.extend(link.process_id for link in links.values() if isinstance(link, OwnPlayer))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert len(processes) == 2
    assert not any(map(is_running, processes))


@pytest.mark.exhaustive
async def test_however_often_a_match_is_cancelled_its_players_are_stopped() -> None:
    processes: list[int] = []

    async def wait() -> None:
        async with opened({A: player_spec("greedy"), B: player_spec("greedy")}) as links:
            processes.extend(link.process_id for link in links.values() if isinstance(link, OwnPlayer))
            await asyncio.Event().wait()

    match = asyncio.create_task(wait())
    await until(lambda: processes)
    while not match.done():
        match.cancel()
        await asyncio.sleep(0)
    assert match.cancelled()
    assert not any(map(is_running, processes))


async def test_a_player_that_dials_in_has_requests_of_each_of_its_seats() -> None:
    queues = RequestQueues()
    player = RegisteredPlayer(PlayerRow("deep", SeatKind.DIAL_IN, "me", 1), queues)
    async with opened({A: player, B: player}) as links:
        asking = [asyncio.create_task(links[role].deliver(ASKED, ReplyBuffer())) for role in (B, A)]
        await asyncio.sleep(0)
        found = [queued.id for queued in queues.of_player("deep").waiting]
        for task in asking:
            task.cancel()
    assert found == ["m:0:PLAY:2", "m:0:PLAY"]


async def test_a_match_that_is_aborted_before_it_begins_is_recorded(tmp_path: Path) -> None:
    with closing(FileRecorder(CIRCUMSTANCES, tmp_path / "m.json")) as recorder:
        match = local_match(make_game(turns()), {"a": "greedy"}, recorder)
        match.abort("changed my mind")
        record = await match.play()
    assert (record["isAborted"], record["moves"]) == (True, [])
    assert (record["x-end"]["how"], record["x-end"]["reason"]) == ("aborted", "changed my mind")


async def test_a_match_that_is_cancelled_leaves_its_journal_and_no_process(tmp_path: Path) -> None:
    before = children_of(os.getpid())
    begun = asyncio.Event()
    with closing(FileRecorder(CIRCUMSTANCES, tmp_path / "m.json")) as recorder:
        match = local_match(make_game(turns()), {"a": "greedy"}, recorder)
        playing = asyncio.create_task(match.play([lambda _: begun.set()]))
        await begun.wait()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
    assert [path.name for path in _files(tmp_path)] == ["m.json.journal"]
    assert children_of(os.getpid()) <= before


SLOW = """
import time
import players

class Slow(players.Player):
    def join(self, game, role, seed):
        time.sleep(1.3)
        super().join(game, role, seed)

    def move(self, state, role, deadline):
        return state.legal_moves(role)[0]
"""


class BrokenOff(FileRecorder):
    """Has the entries of a match of `turns` that broke off before its first move."""

    def __init__(self) -> None:
        super().__init__(CIRCUMSTANCES)
        self._entries: list[Entry] = []
        for event in takewhile(lambda event: not isinstance(event, StepFinished), events(turns(), ())):
            if isinstance(event, Sent):
                event = replace(event, text=f"(START match.m1 {event.role} ({TURNS}) 1 1)")  # noqa: PLW2901 -- as it was
            self._entries.append(entry_of(event, CIRCUMSTANCES))
            self.record.add(self._entries[-1])

    async def earlier(self) -> Sequence[Entry]:
        return self._entries


async def test_no_clock_runs_while_a_player_of_ours_reads_the_rules_of_a_resumed_match(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    seats = {A: PlayerSpec(f"{tmp_path}/slow.py", is_own=True, worker_limits=WorkerLimits()), B: player_spec("legal")}
    setup = MatchSetup(tuple(Seat(role, f"{role}-player", PLAIN) for role in seats), 1, 1, match_id="match.m1")
    record = await MatchRunner(setup, seats, LocalReferee(make_game(turns())), BrokenOff()).play()
    assert (record["isCompleted"], record["errors"]) == (True, [["", ""]] * 3)


async def test_a_match_that_stops_while_it_waits_for_its_players_to_come_back_keeps_nothing_for_them() -> None:
    queues = RequestQueues()
    queue = queues.of_player("deep")
    player = RegisteredPlayer(PlayerRow("deep", SeatKind.DIAL_IN, "me", 1), queues)
    seats = {role: player.seat(role, PLAIN) for role in (A, B)}
    setup = MatchSetup(tuple(seats.values()), 1, 1, match_id="match.m1")
    match = MatchRunner(setup, dict.fromkeys(seats, player), LocalReferee(make_game(turns())), BrokenOff())
    playing = asyncio.create_task(match.play())
    await until(lambda: queue.keeps("match.m1"))
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)
    assert not queue.keeps("match.m1")


async def test_a_match_that_is_over_leaves_no_cycles_to_the_garbage_collector() -> None:
    async with listening(replying(lambda body: "(say a)" if body.startswith("(PLAY") else "ready")) as url:
        gc.collect()
        gc.disable()
        try:
            record = await local_match(make_game(turns()), dict.fromkeys("ab", url)).play()
            # by type: other classes' proxies of what is gone cannot be asked what they are
            left = [each for each in gc.get_objects() if issubclass(type(each), (MatchDriver, PlainConnection))]
        finally:
            gc.enable()
    assert (record["isCompleted"], left) == (True, [])


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_match_whose_players_do_not_start_is_recorded_as_aborted_where_that_is_wanted() -> None:
    game = make_game(turns())
    seats = {A: player_spec("legal"), B: BROKEN}
    setup = MatchSetup(tuple(player.seat(role, Profile()) for role, player in seats.items()), 10, 10)
    match = MatchRunner(setup, seats, LocalReferee(game), FileRecorder(CIRCUMSTANCES))
    with pytest.raises(PlayerStartError) as caught:
        await match.play()
    record = await match.abandon(str(caught.value))
    assert (record["isAborted"], record["x-end"]["reason"]) == (True, str(caught.value))


async def test_two_matches_of_one_seed_and_the_same_replies_are_one_match() -> None:
    game = make_game(library("montyhall"))
    records = [await local_match(game, {"candidate": "legal"}, seed=4).play() for _ in range(2)]
    assert records[0]["moves"] == records[1]["moves"]


@pytest.mark.parametrize(
    ("text", "is_own", "name", "is_told"),
    [
        ("legal", True, "legal", False),
        ("mcts:playouts=5", True, "mcts:playouts=5", False),
        ("llm:model=m,url=http://bob:secret@host/v1", True, "llm:model=m,url=http://bob:***@host/v1", False),
        ("http://user:secret@host:7/path", False, "host:7", False),
        ("https://host", False, "host:443", False),
        ("http://host", False, "host:9147", False),
        ("cmd:/bin/sh 'my player.sh'", False, "sh", False),
        ("cmd+legal:/bin/cat -v", False, "cat", True),
    ],
)
def test_what_a_specification_names(text: str, is_own: bool, name: str, is_told: bool) -> None:
    found = player_spec(text)
    seat = found.seat(A, Profile(grace_s=2.0))
    assert (found.is_own, seat) == (is_own, Seat(A, name, Profile(grace_s=2.0, gets_legal_moves=is_told)))


@pytest.mark.parametrize(
    "text",
    [
        "legal",
        "mcts:playouts=5",
        "mcts:weights=False,exploration=0.5",
        "mcts:simultaneous=regret,engine=python",
        "http://host:7",
        "https://host",
    ],
)
def test_what_may_be_named_over_the_network(text: str) -> None:
    assert public_player_spec(text) == player_spec(text)


@pytest.mark.parametrize("text", ["cmd:true", "cmd+legal:true", "x.py", "a.b:C", "human", "mcts:playouts='5'", ""])
def test_what_may_not_be_named_over_the_network(text: str) -> None:
    with pytest.raises(PlayerSpecError):
        public_player_spec(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mcts:playouts=many", "over HTTP its option playouts takes a number, or True or False"),
        ("mcts:engine=../x", "over HTTP its option engine takes a number, or True or False, or a word"),
        ("mcts:engine=fast", "engine is one of best, compiled, interpreter, python, not fast"),
        ("nested:depth=5", "it has no option depth; it takes playouts, level"),
        ("llm", "the server's environment must set GGP_LLM_URL and GGP_LLM_MODEL"),
    ],
)
def test_what_is_wrong_with_one_of_ours_is_told_over_the_network(
    text: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GGP_LLM_URL", raising=False)
    monkeypatch.delenv("GGP_LLM_MODEL", raising=False)
    with pytest.raises(PlayerSpecError) as caught:
        public_player_spec(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize("option", ["log=words", "model=gpt", "url=http://host", "log=/tmp/x"])
def test_files_addresses_and_models_of_llm_are_not_chosen_over_the_network(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGP_LLM_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("GGP_LLM_MODEL", "m")
    with pytest.raises(PlayerSpecError, match=f"its option {option.partition('=')[0]} takes a number"):
        public_player_spec(f"llm:{option}")


def test_roles_that_are_left_out_are_played_by_random() -> None:
    game = make_game(library("kuhnpoker"))
    found = seated(game, {"bob": player_spec("legal")})
    assert {str(role): spec.text for role, spec in found.items()} == {"alice": "random", "bob": "legal"}


@pytest.mark.parametrize("role", ["Bob", "random", "carol"])
def test_a_role_that_no_player_plays(role: str) -> None:
    with pytest.raises(UnknownNameError):
        seated(make_game(library("kuhnpoker")), {role: player_spec("legal")})
