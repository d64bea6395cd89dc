"""The driver with players in memory and a clock of the test's own."""

from __future__ import annotations

import asyncio
import errno
import math
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest

from gdl.engines import make_game
from gdl.game import RANDOM
from gdl.interpreter import InterpretedGame, InterpretedState
from gdl.language.rules import read_rules
from server.clock import SystemClock, Timeout
from server.errors import SystemRefusalError
from server.match.driver import DriverOptions, MatchDriver
from server.match.exchange import (
    Aborted,
    Answered,
    Closed,
    Completed,
    Event,
    Failed,
    Message,
    Sent,
    Started,
    StepFinished,
)
from server.match.link import PlayerLink, PlayerRequest, ReplyBuffer
from server.match.phases import MatchPhase
from server.match.position import Position
from server.match.referee import AdaptiveEvaluator, LocalReferee
from tests.kit.polling import until
from tests.kit.server.plays import DEALT, LEFT, RIGHT, dealt, setup, two_steps


class Says:
    """A link to a player that answers at once."""

    def __init__(self, answer: Callable[[str], str] = lambda _: "(say no)") -> None:
        self.answer, self.requests, self.n_closed = answer, list[PlayerRequest](), 0

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        self.requests.append(request)
        reply.feed(self.answer(request.text).encode())

    async def close(self) -> None:
        self.n_closed += 1


class Hangs(Says):
    """A link to a player that never answers PLAY; the event *asked* is set when it should."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        self.requests.append(request)
        if request.text.startswith("(PLAY"):
            self.asked.set()
            await asyncio.Event().wait()


class Raises(Says):
    """A link that raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        raise self.error


class StoppedClock(SystemClock):
    """A clock that stands at 5 s, and whose deadlines pass as soon as anybody waits."""

    def now_s(self) -> float:
        return 5.0

    def wall_ms(self) -> int:
        return 5000

    def timeout(self, limit_s: float) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(0)


async def at_once(work: Callable[[], Position]) -> Position:
    return work()


STOPPED = DriverOptions(StoppedClock())


def referee() -> LocalReferee:
    return LocalReferee(two_steps(), at_once)


async def play(left: PlayerLink, right: PlayerLink, options: DriverOptions = STOPPED) -> list[Event]:
    events: list[Event] = []
    await MatchDriver(referee(), setup(), {LEFT: left, RIGHT: right}, [events.append], options).run()
    return events


def errors(events: list[Event]) -> list[tuple[str, ...]]:
    return [event.errors for event in events if isinstance(event, StepFinished)]


async def test_a_match_is_played_to_its_end() -> None:
    left, right = Says(lambda _: "(say Yes)"), Says()
    driver = MatchDriver(referee(), setup(), {LEFT: left, RIGHT: right}, (), STOPPED)
    assert await driver.run() == Completed(5000, 2, (100, 0))
    assert (driver.phase, driver.step) == (MatchPhase.CLOSED, 2)
    assert [(request.match_id, request.step) for request in left.requests] == [
        ("m.1", 0),
        ("m.1", 0),
        ("m.1", 1),
        ("m.1", 2),
    ]
    assert (left.n_closed, right.n_closed) == (1, 1)


async def test_seed_and_replies_reproduce_a_match() -> None:
    assert await play(Says(), Hangs()) == await play(Says(), Hangs())


async def test_silence_is_a_time_out_and_the_match_goes_on() -> None:
    events = await play(Says(), Hangs())
    assert errors(events) == [("", ""), ("", "TO"), ("", "TO")]
    assert isinstance(events[-1], Closed)


@pytest.mark.parametrize(
    "error", [ConnectionRefusedError("refused"), TimeoutError("refused"), UnicodeError("refused"), KeyError("refused")]
)
async def test_whatever_a_link_raises_is_a_connection_error(error: Exception) -> None:
    events = await play(Says(), Raises(error))
    assert errors(events) == [("", "CE")] * 3
    details = {event.detail for event in events if isinstance(event, Answered) and event.role is RIGHT}
    assert details == {str(error)}


async def test_replies_are_cut() -> None:
    events = await play(Says(lambda _: "(say " * 99), Says(), replace(STOPPED, max_reply_bytes=10))
    answered = next(event for event in events if isinstance(event, Answered) and event.error)
    assert (answered.text, answered.error, answered.detail) == (
        "(say (say ", "IL (say (say", "no move: the first 10 bytes hold no complete term",
    )  # fmt: skip


async def test_an_abort_ends_a_match_that_waits_for_a_move() -> None:
    left, right, events = Says(), Hangs(), list[Event]()
    driver = MatchDriver(referee(), setup(), {LEFT: left, RIGHT: right}, [events.append])
    running = asyncio.create_task(driver.run())
    await right.asked.wait()
    driver.abort("enough")
    driver.abort("again")
    outcome = await running
    assert isinstance(outcome, Aborted)
    assert outcome.reason == "enough"
    assert [link.requests[-1].text for link in (left, right)] == ["(ABORT m.1)"] * 2
    assert (left.n_closed, right.n_closed) == (1, 1)


async def test_an_abort_before_the_beginning_sends_nothing() -> None:
    left, right, events = Says(), Says(), list[Event]()
    driver = MatchDriver(referee(), setup(), {LEFT: left, RIGHT: right}, [events.append])
    driver.abort("enough")
    assert isinstance(await driver.run(), Aborted)
    assert [type(event) for event in events] == [Started, Aborted, Closed]
    assert left.requests == right.requests == []


async def test_an_evaluation_holds_up_neither_the_loop_nor_an_abort() -> None:
    began, may_end = threading.Event(), threading.Event()

    class SlowGame(InterpretedGame):
        @property
        def initial_state(self) -> InterpretedState:
            began.set()
            may_end.wait()
            raise AssertionError

        @initial_state.setter
        def initial_state(self, value: InterpretedState) -> None: ...

    driver = MatchDriver(LocalReferee(SlowGame(two_steps().description)), setup(), {LEFT: Says(), RIGHT: Says()})
    running = asyncio.create_task(driver.run())
    await until(began.is_set)
    driver.abort("enough")
    assert isinstance(await running, Aborted)
    may_end.set()


async def test_an_evaluation_without_end_ends_its_match() -> None:
    async def never(_work: Callable[[], Position]) -> Position:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]  # it never returns

    driver = MatchDriver(
        LocalReferee(two_steps(), never),
        setup(),
        {LEFT: Says(), RIGHT: Says()},
        (),
        DriverOptions(StoppedClock(), evaluation_limit_s=30),
    )
    assert await driver.run() == Failed(5000, 0, "LimitExceeded", "limit reached: more than 30 seconds for one state")


@pytest.mark.parametrize("error", [RecursionError("deep"), MemoryError("full"), ValueError("odd")])
async def test_whatever_an_engine_raises_ends_that_match_alone(error: Exception) -> None:
    async def fail(_work: Callable[[], Position]) -> Position:
        raise error

    links = {LEFT: Says(), RIGHT: Says()}
    failing = MatchDriver(LocalReferee(two_steps(), fail), setup(), links, (), STOPPED)
    fine = MatchDriver(referee(), setup(), {LEFT: Says(), RIGHT: Says()}, (), STOPPED)
    failed, completed = await asyncio.gather(failing.run(), fine.run())
    assert failed == Failed(5000, 0, type(error).__name__, str(error))
    assert completed == Completed(5000, 2, (0, 0))


async def test_an_engine_that_fails_after_some_steps_ends_the_match_there() -> None:
    n_states = 0

    async def fail_at_last(work: Callable[[], Position]) -> Position:
        nonlocal n_states
        n_states += 1
        if n_states == 3:
            raise MemoryError("full")
        return work()

    links = {LEFT: Says(), RIGHT: Says()}
    driver = MatchDriver(LocalReferee(two_steps(), fail_at_last), setup(), links, (), STOPPED)
    assert await driver.run() == Failed(5000, 1, "MemoryError", "full")
    assert [link.requests[-1].text for link in links.values()] == ["(ABORT m.1)", "(ABORT m.1)"]


class Counting(AdaptiveEvaluator):
    """An evaluator that is always quick, and raises *error* at the state with the number *fails_at*."""

    def __init__(self, fails_at: int = -1, error: Exception | None = None) -> None:
        super().__init__(quick_s=math.inf)
        self.n_at_once, self._fails_at, self._error = 0, fails_at, error or MemoryError("full")

    def now(self, work: Callable[[], Position]) -> Position | None:
        self.n_at_once += 1
        if self.n_at_once == self._fails_at:
            raise self._error
        return super().now(work)


async def test_states_that_are_quick_are_worked_out_without_a_task_for_each() -> None:
    evaluator = Counting()
    links = {LEFT: Says(lambda _: "(say Yes)"), RIGHT: Says()}
    driver = MatchDriver(LocalReferee(two_steps(), evaluator), setup(), links, (), STOPPED)
    assert await driver.run() == Completed(5000, 2, (100, 0))
    assert evaluator.n_at_once == 2


async def test_an_engine_that_fails_at_once_ends_the_match_there() -> None:
    links = {LEFT: Says(), RIGHT: Says()}
    driver = MatchDriver(LocalReferee(two_steps(), Counting(2)), setup(), links, (), STOPPED)
    assert await driver.run() == Failed(5000, 1, "MemoryError", "full")


class WaitingClock(StoppedClock):
    """A clock on which a wait takes as long as it may, and nothing else takes any time."""

    def __init__(self) -> None:
        self.time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    @asynccontextmanager
    async def timeout(self, limit_s: float) -> AsyncIterator[Timeout]:
        async with asyncio.timeout(None) as deadline:
            waiting = asyncio.get_running_loop().call_soon(lambda: deadline.reschedule(0))
            try:
                yield deadline
            finally:
                waiting.cancel()
                self.time_s += limit_s if deadline.expired() or deadline.when() == 0 else 0


class PauseClock(WaitingClock):
    """A clock on which a wait of a second takes a second, and longer limits are never reached."""

    @asynccontextmanager
    async def timeout(self, limit_s: float) -> AsyncIterator[Timeout]:
        async with super().timeout(limit_s) if limit_s <= 1 else asyncio.timeout(None) as deadline:
            yield deadline


class Refused:
    """An evaluator to which the system gives no process from the second state on, *n_refusals* times."""

    def __init__(self, n_refusals: int) -> None:
        self._n_refusals, self._n_states = n_refusals, 0

    async def __call__(self, work: Callable[[], Position]) -> Position:
        self._n_states += 1
        if 1 < self._n_states <= 1 + self._n_refusals:
            raise OSError(errno.EMFILE, "Too many open files")
        return work()


async def test_a_state_that_the_system_refuses_for_a_while_is_worked_out_later() -> None:
    clock, links = PauseClock(), {LEFT: Says(), RIGHT: Says()}
    driver = MatchDriver(LocalReferee(two_steps(), Refused(3)), setup(), links, (), DriverOptions(clock))
    assert await driver.run() == Completed(5000, 2, (0, 0))
    assert clock.time_s == 3


async def test_a_match_that_the_system_refuses_a_state_is_not_over() -> None:
    clock, links, events = PauseClock(), {LEFT: Says(), RIGHT: Says()}, list[Event]()
    referee = LocalReferee(two_steps(), Refused(99))
    with pytest.raises(SystemRefusalError, match="cannot be worked out now: Too many open files"):
        await MatchDriver(referee, setup(), links, [events.append], DriverOptions(clock)).run()
    assert (clock.time_s, [link.requests[-1].text for link in links.values()]) == (30, ["(PLAY m.1 NIL)"] * 2)
    assert not any(isinstance(event, Failed | Aborted | Closed) for event in events)


async def test_a_state_that_the_system_refuses_in_the_loop_is_worked_out_beside_it() -> None:
    evaluator, links = Counting(2, OSError(errno.EMFILE, "Too many open files")), {LEFT: Says(), RIGHT: Says()}
    driver = MatchDriver(LocalReferee(two_steps(), evaluator), setup(), links, (), STOPPED)
    assert await driver.run() == Completed(5000, 2, (0, 0))


async def test_an_observer_that_fails_ends_the_match_and_is_not_hidden() -> None:
    seen: list[Event] = []

    def fail(event: Event) -> None:
        if isinstance(event, StepFinished):
            raise OSError("the disk is full")

    left, right = Says(), Says()
    driver = MatchDriver(referee(), setup(), {LEFT: left, RIGHT: right}, [fail, seen.append], STOPPED)
    with pytest.raises(OSError, match="the disk is full"):
        await driver.run()
    assert left.requests[-1].text == "(ABORT m.1)"
    assert isinstance(seen[-1], Closed)


async def test_a_cancelled_run_lets_go_of_its_players() -> None:
    left, right = Says(), Hangs()
    running = asyncio.create_task(MatchDriver(referee(), setup(), {LEFT: left, RIGHT: right}).run())
    await right.asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (left.n_closed, right.n_closed) == (1, 1)


async def test_many_matches_run_at_once() -> None:
    drivers = [
        MatchDriver(
            LocalReferee(dealt()), replace(setup(roles=[LEFT]), seed=seed), {LEFT: Says(lambda _: "(guess ace)")}
        )
        for seed in range(20)
    ]
    outcomes = await asyncio.gather(*(driver.run() for driver in drivers))
    goals = {outcome.goals for outcome in outcomes if isinstance(outcome, Completed)}
    assert goals == {(None, 0), (None, 100)}


async def test_random_needs_no_link() -> None:
    game = make_game(read_rules(DEALT))
    assert RANDOM in game.roles
    outcome = await MatchDriver(LocalReferee(game), setup(roles=[LEFT]), {LEFT: Says(lambda _: "(guess ace)")}).run()
    assert isinstance(outcome, Completed)


def busy_until(n_asked: int) -> Says:
    """Return a player that is busy with something else when it is first asked, and *n_asked* times in all."""
    link = Says()
    link.answer = lambda text: "busy" if len(link.requests) <= n_asked and text.startswith("(START") else "(say no)"
    return link


@pytest.mark.parametrize(("n_busy", "n_asked", "is_played"), [(1, 2, True), (9, 10, True), (99, 12, False)])
async def test_a_busy_player_is_asked_again_until_the_start_clock_is_over(
    n_busy: int, n_asked: int, is_played: bool
) -> None:
    clock, right = WaitingClock(), busy_until(n_busy)
    events = await play(Says(), right, DriverOptions(clock))
    starts = [request for request in right.requests if request.text.startswith("(START")]
    assert (len(starts), any(isinstance(event, Completed) for event in events)) == (n_asked, is_played)
    assert clock.time_s == n_asked - 1
    assert errors(events)[0] == ("", "" if is_played else "IL busy")
    n_told = sum(isinstance(event, Sent | Answered) and event.message is Message.START for event in events)
    assert n_told == 4
