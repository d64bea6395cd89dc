"""Carries out what a match commands: sends messages with their deadlines, has states worked out, reports replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gdl.errors import LimitExceeded
from gdl.game import Role
from server.match.clock import Clock, SystemClock
from server.match.core import Match
from server.match.events import Aborted, Completed, Event, Failed
from server.match.exchange import (
    AbortRequest,
    Answer,
    Ask,
    Begin,
    Drop,
    Ending,
    Evaluate,
    Evaluated,
    EvaluationFailed,
    Input,
    Output,
    Resume,
)
from server.match.link import MAX_REPLY_BYTES, Letter, PlayerLink, ReplyBuffer
from server.match.past import Past
from server.match.phases import Phase
from server.match.position import Position
from server.match.referee import Referee
from server.match.setup import MatchSetup

Observer: TypeAlias = Callable[[Event], None]
Settle: TypeAlias = Callable[[], Awaitable[None]]
"""Returns when everything that observers were told is kept."""
Outcome: TypeAlias = Completed | Aborted | Failed


async def at_once() -> None:
    """Settle nothing: the observers keep what they are told before they return."""


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """What a driver works with. *Units*: seconds for one state, bytes of one reply.

    `settle` is awaited before messages go out. When it raises, nobody is told anything more: somebody else may play
    the match on. `on_share` is told after each round how long this side took: from the last reply to the next message.
    """

    clock: Clock = field(default_factory=SystemClock)
    settle: Settle = at_once
    on_share: Callable[[float], None] = lambda _: None
    evaluation_limit_s: float = 300.0
    max_reply_bytes: int = MAX_REPLY_BYTES


DEFAULT_OPTIONS: Final = DriverOptions()


class MatchDriver:
    """Plays one match with the players behind *links*; *referee* works out the states.

    *observers* are called in the event loop with every event, in order, and before the next message goes out. When one
    raises, the match is aborted and `run` raises the same.
    """

    def __init__(
        self,
        referee: Referee,
        setup: MatchSetup,
        links: Mapping[Role, PlayerLink],
        observers: Sequence[Observer] = (),
        options: DriverOptions = DEFAULT_OPTIONS,
    ) -> None:
        self._referee, self._setup, self._links, self._observers = referee, setup, links, list(observers)
        self._options, self._clock = options, options.clock
        self._match = Match(referee, setup)
        self._inbox: asyncio.Queue[Input] = asyncio.Queue()
        self._tasks: dict[asyncio.Task[None], int] = {}
        self._outcome: Outcome | None = None
        self._replied_s: float | None = None
        self._observer_error: Exception | None = None

    @property
    def phase(self) -> Phase:
        """What the match is doing."""
        return self._match.phase

    @property
    def step(self) -> int:
        """How many joint moves were made."""
        return self._match.step

    def abort(self, reason: str) -> None:
        """End the match soon: the players are told, and `run` returns after their farewells. For the loop's thread."""
        self._inbox.put_nowait(AbortRequest(self._clock.wall_ms(), reason))

    async def run(self, past: Past | None = None) -> Outcome:
        """Play the match to its end, and return how it ended; the links are closed then.

        With *past* it goes on where it broke off.
        """
        now_ms = self._clock.wall_ms()
        self._outcome = None if past is None else past.outcome
        try:
            await self._carry_out(self._match.receive(Begin(now_ms) if past is None else Resume(now_ms, past)))
            while self._match.phase is not Phase.CLOSED:
                await self._carry_out(self._match.receive(await self._inbox.get()))
        finally:
            await self._clean_up()
        if self._observer_error is not None:
            raise self._observer_error
        assert self._outcome is not None
        return self._outcome

    async def _carry_out(self, outputs: Sequence[Output]) -> None:
        is_settled = False
        for output in outputs:
            match output:
                case Ask():
                    if not is_settled:
                        await self._options.settle()
                        is_settled = True
                    self._spawn(self._ask(output), output.round)
                case Evaluate():
                    self._spawn(self._evaluate(output), 0)
                case Drop(round=number):
                    self._cancel(number)
                case event:
                    self._tell(event)

    def _tell(self, event: Event) -> None:
        if isinstance(event, Completed | Aborted | Failed):
            self._outcome = event
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as error:  # whatever it is, the players must still be told
                self._observers.remove(observer)
                self._observer_error = self._observer_error or error
                self.abort("the match can be recorded no further")

    def _spawn(self, work: Coroutine[None, None, None], number: int) -> None:
        task = asyncio.create_task(work)
        self._tasks[task] = number
        task.add_done_callback(self._tasks.pop)

    def _cancel(self, number: int) -> None:
        for task, its_number in self._tasks.items():
            if its_number == number:
                task.cancel()

    async def _ask(self, ask: Ask) -> None:
        started_s = self._clock.now_s()
        if self._replied_s is not None:
            self._options.on_share(started_s - self._replied_s)
            self._replied_s = None
        reply = ReplyBuffer(self._options.max_reply_bytes)
        ending, detail = await self._deliver(ask, reply)
        self._replied_s = self._clock.now_s()
        elapsed_ms = round(1000 * (self._replied_s - started_s))
        if ending is Ending.REPLIED and reply.is_cut:
            detail = f"the first {len(reply.raw):,} bytes hold no complete term"
        answer = Answer(self._clock.wall_ms(), ask.round, ask.role, ending, bytes(reply.raw), elapsed_ms, detail)
        self._inbox.put_nowait(answer)

    async def _deliver(self, ask: Ask, reply: ReplyBuffer) -> tuple[Ending, str]:
        letter = Letter(ask.text, self._setup.match_id, ask.step, limit_s=ask.limit_s)
        deadline = None
        try:
            async with self._clock.timeout(ask.limit_s) as deadline:
                await self._links[ask.role].deliver(letter, reply)
        except Exception as error:  # a match must outlive whatever a link does
            if reply.has_enough:
                return Ending.REPLIED, ""
            if deadline is not None and deadline.expired():
                return Ending.TIMED_OUT, ""
            words = (error.strerror or "") if isinstance(error, OSError) else ""
            return Ending.FAILED, words or str(error) or type(error).__name__
        return Ending.REPLIED, ""

    async def _evaluate(self, command: Evaluate) -> None:
        limit_s = self._options.evaluation_limit_s
        deadline = None
        try:
            async with self._clock.timeout(limit_s) as deadline:
                position = await self._position(command)
        except Exception as error:  # a server must outlive whatever rules make of an engine
            is_late = deadline is not None and deadline.expired()
            failure = LimitExceeded("seconds for one state", limit_s) if is_late else error
            self._inbox.put_nowait(EvaluationFailed(self._clock.wall_ms(), failure))
        else:
            self._inbox.put_nowait(Evaluated(self._clock.wall_ms(), position))

    async def _position(self, command: Evaluate) -> Position:
        if command.position is None:
            return await self._referee.first_position()
        return await self._referee.next_position(command.position, command.moves)

    async def _clean_up(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *(link.close() for link in self._links.values()), return_exceptions=True)
