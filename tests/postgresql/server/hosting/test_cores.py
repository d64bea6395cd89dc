"""Players of ours share the cores: no more processes than there is room for, in the order of the orders."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.kit import forking, worker
from players.kit.worker import WorkerLimits
from server.errors import TooFewCoresError, TooManyRolesError
from server.hosting.cores import SLOTS_PER_CORE, CoreBudget
from server.hosting.game_manager import GameManager
from server.hosting.order import MatchRequest
from server.hosting.settings import GameManagerSettings
from server.hosting.uploads import Upload, keep_game
from server.links.own_player import WorkerPlayer
from server.match.link import PlayerRequest, ReplyBuffer
from server.registry.queueing import WaitReason
from server.spectating.overview import listed
from server.storage.database import Database
from server.storage.games import GameStore
from server.validating.checker import Checker
from tests.kit import polling
from tests.kit.server.hosting.managing import managing, order, until
from tests.kit.server.hosting.refereeing import EXPLODING
from tests.kit.server.peers import hanging, listening
from tests.kit.server.plays import TWO_STEPS
from tests.kit.server.processes import oom_score_of


@pytest.mark.parametrize(
    ("players", "n_slots"),
    [
        (("random", "legal", "http://host:1", "ann", "human"), 0),
        (("greedy", "random"), 1),
        (("mcts:playouts=5", "random"), 4),
        (("mcts:playouts=5,threads=2", "random"), 8),
        (("mcts:threads=64", "mcts"), 8),
        (("mcts:threads=64", "human"), 1),
        (("mcts:threads=-1", "random"), 4),
        (("minimax", "greedy"), 5),
        (("mcts", "nested", "minimax"), 8),
        (("mcts", "human"), 1),
    ],
)
def test_what_a_match_takes_of_two_cores(players: tuple[str, ...], n_slots: int) -> None:
    assert CoreBudget(2).slots_for(players) == n_slots


@pytest.mark.parametrize(
    ("players", "n_slots"),
    [
        (("mcts", "mcts"), 6),
        (("mcts", "greedy"), 5),
        (("mcts:threads=64", "random"), 6),
        (("greedy",) * 7, 7),
        (("mcts", "human"), 1),
    ],
)
def test_beside_matches_with_people_a_match_takes_of_two_cores_what_these_leave(
    players: tuple[str, ...], n_slots: int
) -> None:
    budget = CoreBudget(2)
    budget.request("first", 1, has_person=True)
    budget.request("second", 1, has_person=True)
    budget.request("third", 4)
    assert budget.slots_for(players) == n_slots


def test_people_begin_matches_on_half_of_the_slots_whatever_others_hold() -> None:
    budget = CoreBudget(2)
    assert budget.n_free_for_people == 8
    budget.request("searches", 8, 2)
    assert (budget.n_free, budget.n_free_for_people) == (0, 6)
    budget.request("person", 1, 1, has_person=True)
    assert budget._requests["person"].is_granted.is_set()
    assert (budget.n_free, budget.n_free_for_people) == (-1, 3)


def test_with_people_there_are_no_more_processes_than_slots() -> None:
    budget = CoreBudget(2)
    for number in range(7):
        budget.request(f"light {number}", 1, 1)
    budget.request("person", 1, 1, has_person=True)
    budget.request("other", 1, 1, has_person=True)
    assert budget.n_free_for_people == -1
    assert [budget._requests[name].is_granted.is_set() for name in ("person", "other")] == [True, False]
    budget.release("light 0")
    assert budget._requests["other"].is_granted.is_set()


def test_a_match_that_could_never_begin_is_refused() -> None:
    CoreBudget(1).check(("greedy",) * SLOTS_PER_CORE)
    with pytest.raises(TooFewCoresError, match="5 of its players need a process of ours, and 4 may run at once"):
        CoreBudget(1).check(("greedy",) * 4 + ("mcts", "random"))


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 8)), max_size=40))
def test_no_more_is_granted_than_there_is_and_the_oldest_first(asked: list[tuple[str, int]]) -> None:
    budget, waiting = CoreBudget(2), dict[str, int]()
    for match_id, n_slots in asked:
        if match_id in waiting:
            budget.release(match_id)
            del waiting[match_id]
        else:
            budget.request(match_id, n_slots)
            waiting[match_id] = n_slots
        n_left = budget.n_slots
        for other, n_other in waiting.items():
            if n_other == 0:
                continue
            has_room = n_other <= n_left
            assert budget._requests[other].is_granted.is_set() is has_room
            if not has_room:
                break
            n_left -= n_other


async def test_a_match_that_is_aborted_waits_no_longer() -> None:
    budget = CoreBudget(1)
    budget.request("first", 4)
    budget.request("second", 4)
    budget.waive("second")
    await asyncio.wait_for(budget.granted("second"), 5)
    budget.release("first")
    assert budget.n_free == 4


@pytest.mark.sampled(2)
async def test_searches_queue_for_the_cores_while_others_play(database: Database) -> None:
    async with listening(hanging) as slow, managing(database, GameManagerSettings(player_cores=1)) as manager:
        searching = await _two_searches(manager, slow)
        await until(manager, (await manager.order(order("random", "legal"))).row.id, "completed")
        await _until_free(manager, 0)
        assert manager.wait_reasons == {searching[1]: WaitReason(needs_core=True)}
        lines = await listed(manager, await manager.matches.queued(10))
        assert [line.get("waitsFor") for line in lines] == ["core"]
        for match_id in searching:
            await until(manager, match_id, "running")
            assert await manager.abort(match_id, "changed my mind")
            await until(manager, match_id, "aborted")
        await _until_free(manager, SLOTS_PER_CORE)


async def test_searches_and_a_person_who_thinks_do_not_wait_for_each_other(database: Database) -> None:
    async with listening(hanging) as slow, managing(database, GameManagerSettings(player_cores=1)) as manager:
        searching = await _two_searches(manager, slow)
        thinking = (await manager.order(order("human", "greedy", playClock=600))).row.id
        await manager.note_arrival(thinking, "left")
        await until(manager, thinking, "running")
        assert await manager.abort(searching[0], "enough")
        await until(manager, searching[1], "running")
        for match_id in (searching[1], thinking):
            assert await manager.abort(match_id, "enough")


async def _two_searches(manager: GameManager, slow: str) -> list[str]:
    """Order two matches of a search against a *slow* player, and return their ids once the first is played."""
    players = {"left": {"player": "mcts:playouts=5"}, "right": {"player": slow, "maxMatches": 2}}
    text = order("mcts", slow, players=players, startClock=60, playClock=1)
    searching = [(await manager.order(text)).row.id for _ in range(2)]
    await until(manager, searching[0], "running")
    return searching


async def _until_free(manager: GameManager, n_slots: int) -> None:
    await polling.until(lambda: manager.supervisor.cores.n_free == n_slots)


@pytest.mark.sampled(2)
async def test_an_order_that_needs_more_processes_than_may_run_is_refused(database: Database) -> None:
    async with managing(database, GameManagerSettings(player_cores=1)) as manager:
        rules = TWO_STEPS + " ".join(f"(role r{i})" for i in range(4))
        with pytest.raises(TooFewCoresError):
            await manager.order(_with_all(rules, "greedy"))
        assert await manager.queue.length() == 0


def _with_all(rules: str, player: str) -> MatchRequest:
    roles = ["left", "right", *(f"r{i}" for i in range(4))]
    return MatchRequest.model_validate({"rules": rules, "players": dict.fromkeys(roles, player)})


@pytest.mark.sampled(2)
async def test_a_game_of_more_roles_than_may_be_played_is_refused_with_the_limit(database: Database) -> None:
    async with managing(database, GameManagerSettings(max_roles=2)) as manager:
        assert (await manager.order(order("random", "random"))).row.game == "unnamed"
        with pytest.raises(TooManyRolesError, match=r"has 6 roles, and no more than 2 .* \(--max-roles\)"):
            await manager.order(_with_all(TWO_STEPS + " ".join(f"(role r{i})" for i in range(4)), "random"))


@pytest.mark.sampled(2)
async def test_a_game_of_more_roles_than_may_be_played_is_not_kept(database: Database) -> None:
    games = GameStore(database)
    with pytest.raises(TooManyRolesError):
        await keep_game(games, Checker(), Upload("two", TWO_STEPS, "ann"), max_roles=1)
    assert await games.find("two") is None


async def _asked(player: WorkerPlayer, text: str, step: int = 0) -> str:
    reply = ReplyBuffer()
    await player.deliver(PlayerRequest(text, "m.1", step), reply)
    return bytes(reply.raw).decode()


async def test_a_seat_whose_process_dies_goes_on_in_another_and_no_other_seat_notices() -> None:
    one, other = (WorkerPlayer("greedy", WorkerLimits(2048, 5)) for _ in range(2))
    try:
        for player, role in ((one, "left"), (other, "right")):
            assert await _asked(player, f"(START m.1 {role} ({TWO_STEPS}) 20 5)") == "ready"
        workers = [_worker_of(player) for player in (one, other)]
        os.kill(workers[0], signal.SIGKILL)
        assert [await _asked(player, "(PLAY m.1 NIL)") for player in (one, other)] == ["(say Yes)"] * 2
        assert (_worker_of(one) != workers[0], _worker_of(other)) == (True, workers[1])
    finally:
        await asyncio.gather(one.stop(), other.stop())


async def test_a_seat_that_the_system_refuses_a_fork_server_at_first_plays_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusals, prepare = iter([OSError(errno.EMFILE, "Too many open files")]), forking.prepare

    def refuse_at_first(modules: Iterable[str]) -> None:
        for refusal in refusals:
            raise refusal
        prepare(modules)

    monkeypatch.setattr(forking, "prepare", refuse_at_first)
    monkeypatch.setattr(worker, "REFUSAL_PAUSE_S", 0.01)
    player = WorkerPlayer("greedy", WorkerLimits(2048, 5))
    try:
        answers = [await _asked(player, text) for text in (f"(START m.1 left ({TWO_STEPS}) 20 5)", "(PLAY m.1 NIL)")]
    finally:
        await player.stop()
    assert answers == ["ready", "(say Yes)"]


async def test_a_seat_whose_fork_server_is_slow_begins_its_match_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    has_come, prepare = threading.Event(), forking.prepare

    def prepare_late(modules: Iterable[str]) -> None:
        assert has_come.wait(60)
        prepare(modules)

    monkeypatch.setattr(forking, "prepare", prepare_late)
    player = WorkerPlayer("greedy", WorkerLimits(2048, 5))
    try:
        answers = [await asyncio.wait_for(_asked(player, f"(START m.1 left ({TWO_STEPS}) 1 5)"), 20)]
        has_come.set()
        answers.append(await _asked(player, "(PLAY m.1 NIL)"))
    finally:
        has_come.set()
        await player.stop()
    assert answers == ["ready", "(say Yes)"]


async def test_a_system_without_memory_ends_a_search_before_the_server() -> None:
    player = WorkerPlayer("greedy", WorkerLimits())
    try:
        assert await _asked(player, f"(START m.1 left ({TWO_STEPS}) 20 5)") == "ready"
        scores = [oom_score_of(pid) for pid in (os.getpid(), _worker_of(player))]
    finally:
        await player.stop()
    assert scores[1] == min(1000, scores[0] + 300)


def _worker_of(player: WorkerPlayer) -> int:
    (seat,) = player._server.seats.values()
    assert seat.worker is not None
    assert seat.worker.process.pid is not None
    return seat.worker.process.pid


async def test_rules_that_take_all_memory_of_a_worker_cost_its_match_no_more_than_the_clock() -> None:
    player = WorkerPlayer("greedy", WorkerLimits(300))
    try:
        answers = [await _asked(player, text) for text in (f"(START m.1 one ({EXPLODING}) 2 1)", "(PLAY m.1 NIL)")]
    finally:
        await player.stop()
    assert answers == ["ready", "nil"]
