"""Carries out what a match commands: sends messages with their deadlines, has states worked out, reports replies."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from gdl.errors import LimitExceeded
from gdl.game import Role
from server.clock import SYSTEM_CLOCK, Clock
from server.errors import SystemRefusalError
from server.match import exchange
from server.match.core import Match
from server.match.exchange import Aborted, Completed, Event, Failed, Message
from server.match.link import MAX_REPLY_BYTES, PlayerLink, PlayerRequest, ReplyBuffer
from server.match.phases import MatchPhase
from server.match.position import Position
from server.match.referee import LocalReferee, Referee
from server.match.setup import MatchSetup
from server.match.verdicts import says_busy

Observer: TypeAlias = Callable[[Event], None]
Flush: TypeAlias = Callable[[], Awaitable[None]]
"""Returns when everything that observers took is kept."""
Outcome: TypeAlias = Completed | Aborted | Failed


async def no_flush() -> None:
    """Flush nothing: the observers keep each event before they return."""


@dataclass(frozen=True, slots=True)
class DriverOptions:
    """What a driver works with. *Units*: seconds for one state, bytes of one reply.

    `flush` is awaited before messages go out. When it raises, no more messages go out: another process may play the
    match on. `on_step_overhead` is called after each question with the step overhead, the time that this side took from
    the last reply to the next message.
    """

    clock: Clock = SYSTEM_CLOCK
    flush: Flush = no_flush
    on_step_overhead: Callable[[float], None] = lambda _: None
    evaluation_limit_s: float = 300.0
    max_reply_bytes: int = MAX_REPLY_BYTES


_OUTCOMES: Final = (Completed, Aborted, Failed)
BUSY_PAUSE_S: Final = 1.0
"""How long after a player was busy it is asked again."""
REFUSAL_PAUSE_S: Final = 1.0
"""How long after the system refused what a state needs it is worked out again."""
MAX_REFUSALS: Final = 30
"""How often the system may refuse it."""
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
        self._grace_s = {seat.role: seat.profile.grace_s for seat in setup.seats}
        self._options, self._clock = options, options.clock
        self._match = Match(referee, setup)
        self._inbox: asyncio.Queue[exchange.Input | SystemRefusalError] = asyncio.Queue()
        self._tasks: dict[asyncio.Task[None], int] = {}
        self._outcome: Outcome | None = None
        self._replied_s: float | None = None
        self._observer_error: Exception | None = None

    @property
    def phase(self) -> MatchPhase:
        """What the match is doing."""
        return self._match.phase

    @property
    def step(self) -> int:
        """How many joint moves were made."""
        return self._match.step

    def abort(self, reason: str) -> None:
        """End the match soon: the players get ABORT, and `run` returns after their answers. For the loop's thread."""
        self._inbox.put_nowait(exchange.AbortRequest(self._clock.wall_ms(), reason))

    async def run(self, resume_state: exchange.ResumeState | None = None) -> Outcome:
        """Play the match to its end, and return how it ended; the links are closed then.

        With *resume_state* the match goes on where it broke off.

        Raises:
            SystemRefusalError: a state cannot be worked out now; the match is not over, and may go on later.
        """
        now_ms = self._clock.wall_ms()
        self._outcome = None if resume_state is None else resume_state.outcome
        try:
            await self._carry_out(
                self._match.receive(
                    exchange.Begin(now_ms) if resume_state is None else exchange.Resume(now_ms, resume_state)
                )
            )
            while self._match.phase is not MatchPhase.CLOSED:
                happened = await self._inbox.get()
                if isinstance(happened, SystemRefusalError):
                    raise happened
                await self._carry_out(self._match.receive(happened))
        finally:
            await self._clean_up()
        if self._observer_error is not None:
            raise self._observer_error
        assert self._outcome is not None
        return self._outcome

    async def _carry_out(self, outputs: Sequence[exchange.Output]) -> None:
        """Carry out *outputs* in order; everything is flushed before the first message goes out."""
        is_flushed = False
        for output in outputs:
            match output:
                case exchange.AskPlayer():
                    if not is_flushed:
                        await self._options.flush()
                        is_flushed = True
                    self._spawn(self._ask(output), output.question)
                case exchange.Evaluate():
                    # The states of a match that goes on follow on nothing, and must not all be worked out in one go.
                    if len(outputs) == 1 or not self._evaluate_now(output):
                        self._spawn(self._evaluate(output), 0)
                case exchange.Drop(question=number):
                    self._cancel(number)
                case event:
                    self._tell(event)

    def _tell(self, event: Event) -> None:
        """Call the observers with *event*; one that raises is called no more, and the match is aborted."""
        if isinstance(event, _OUTCOMES):
            self._outcome = event
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as error:  # whatever it is, the players must still get ABORT
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

    async def _ask(self, ask: exchange.AskPlayer) -> None:
        """Ask a player, and put its answer, or how the wait ended, into the inbox."""
        started_s = self._clock.now_s()
        if self._replied_s is not None:
            self._options.on_step_overhead(started_s - self._replied_s)
            self._replied_s = None
        reply, ending, detail = await self._reply(ask, started_s + ask.limit_s)
        self._replied_s = self._clock.now_s()
        elapsed_ms = round(1000 * (self._replied_s - started_s))
        if ending is exchange.ReplyEnding.REPLIED and reply.is_cut:
            detail = f"the first {len(reply.raw):,} bytes hold no complete term"
        at_ms, raw = self._clock.wall_ms(), bytes(reply.raw)
        self._inbox.put_nowait(
            exchange.Answer(
                at_ms=at_ms,
                question=ask.question,
                role=ask.role,
                ending=ending,
                raw=raw,
                elapsed_ms=elapsed_ms,
                detail=detail,
                failure=reply.failure,
                insight=reply.insight,
            )
        )

    async def _reply(self, ask: exchange.AskPlayer, until_s: float) -> tuple[ReplyBuffer, exchange.ReplyEnding, str]:
        """Ask; a player that is busy at START is asked again until *until_s*, each time with its whole clock."""
        for _ in range(1 + int(ask.limit_s / BUSY_PAUSE_S)):
            reply = ReplyBuffer(self._options.max_reply_bytes)
            ending, detail = await self._deliver(ask, reply)
            is_busy = ask.message is Message.START and ending is exchange.ReplyEnding.REPLIED and says_busy(reply.raw)
            if not is_busy or self._clock.now_s() + BUSY_PAUSE_S > until_s:
                break
            await self._pause(BUSY_PAUSE_S)
        return reply, ending, detail

    async def _pause(self, pause_s: float) -> None:
        with suppress(TimeoutError):
            async with self._clock.timeout(pause_s):
                await asyncio.Event().wait()

    async def _deliver(self, ask: exchange.AskPlayer, reply: ReplyBuffer) -> tuple[exchange.ReplyEnding, str]:
        """Send the message of *ask* once, and return how the wait for its reply ended, with a detail for records."""
        request = PlayerRequest(
            ask.text,
            self._setup.match_id,
            ask.step,
            limit_s=ask.limit_s,
            legal_moves=ask.legal_moves,
            grace_s=self._grace_s[ask.role],
        )
        deadline = None
        try:
            async with self._clock.timeout(ask.limit_s) as deadline:
                await self._links[ask.role].deliver(request, reply)
        except Exception as error:  # a match must outlive whatever a link does
            if reply.has_enough:
                return exchange.ReplyEnding.REPLIED, ""
            if deadline is not None and deadline.expired():
                return exchange.ReplyEnding.TIMED_OUT, reply.hint
            words = (error.strerror or "") if isinstance(error, OSError) else ""
            return exchange.ReplyEnding.FAILED, words or str(error) or type(error).__name__
        return exchange.ReplyEnding.REPLIED, ""

    def _evaluate_now(self, command: exchange.Evaluate) -> bool:
        """Work out a state that is quick to be had, without a task for it; return whether that was done."""
        if command.position is None or not isinstance(self._referee, LocalReferee):
            return False
        try:
            position = self._referee.next_position_now(command.position, command.moves)
        except OSError:
            return False  # what the system refuses now is tried again, which takes a task
        except Exception as error:  # as below
            self._inbox.put_nowait(exchange.EvaluationFailed(self._clock.wall_ms(), error))
            return True
        if position is not None:
            self._inbox.put_nowait(exchange.Evaluated(self._clock.wall_ms(), position))
        return position is not None

    async def _evaluate(self, command: exchange.Evaluate) -> None:
        """Have a state worked out, and put it, or why that failed, into the inbox."""
        limit_s = self._options.evaluation_limit_s
        deadline = None
        try:
            async with self._clock.timeout(limit_s) as deadline:
                position = await self._position(command)
        except SystemRefusalError as refusal:
            self._inbox.put_nowait(refusal)
        except Exception as error:  # a server must outlive whatever rules make of an engine
            is_late = deadline is not None and deadline.expired()
            failure = LimitExceeded("seconds for one state", limit_s) if is_late else error
            self._inbox.put_nowait(exchange.EvaluationFailed(self._clock.wall_ms(), failure))
        else:
            self._inbox.put_nowait(exchange.Evaluated(self._clock.wall_ms(), position))

    async def _position(self, command: exchange.Evaluate) -> Position:
        """Return the state; what the system refuses, as with too many open files, says nothing about the rules."""
        reason = ""
        for _ in range(MAX_REFUSALS):
            try:
                if command.position is None:
                    return await self._referee.first_position()
                return await self._referee.next_position(command.position, command.moves)
            except OSError as error:
                reason = error.strerror or str(error)
                await self._pause(REFUSAL_PAUSE_S)
        raise SystemRefusalError(reason)

    async def _clean_up(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *(link.close() for link in self._links.values()), return_exceptions=True)
