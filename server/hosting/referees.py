"""The referees of one process: one for each version of a game, shared by its matches, under limits."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import PIPE, Process
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

from gdl import worker
from gdl.engines import make_game
from gdl.errors import ChildProcessDiedError, LimitExceeded
from gdl.game import EvaluationLimits, JointMove, Role
from gdl.games.library import find_game, game_names
from gdl.language.rules import Description, read_rules, rules_sha256
from gdl.language.terms import Constant
from gdl.process_limits import MEGABYTE
from server.hosting.cores import SLOTS_PER_CORE, n_cores_here
from server.hosting.engine_process import (
    KILOBYTE,
    MAX_PERCEPTS,
    Engine,
    GameOutline,
    PackedPosition,
    PositionRequest,
    read_outline,
)
from server.match.position import Position
from server.match.referee import AdaptiveEvaluator, LocalReferee, Referee
from server.records.stored_record import rules_at
from server.storage.rows import GameVersion
from server.threads import in_own_thread
from server.validating.checker import CHILDREN

LARGE_BYTES: Final = 16 * KILOBYTE
"""Longer answers are read beside the event loop, where their texts do not count: these are not read at all."""
_BYTES_PER_CHARACTER: Final = 12
"""How long the pickle of a short term is, measured by its text; an answer that is longer yet is refused."""

_EVALUATION: Final = EvaluationLimits(max_rows=1_000_000, max_seconds=30.0)


def _n_processes() -> int:
    return SLOTS_PER_CORE * n_cores_here()


@dataclass(frozen=True, slots=True)
class RefereeLimits:
    """What rules from outside may cost.

    `evaluation` is for each of its questions; `max_state_kb` for the text of one state, and that of the legal moves in
    it; `max_processes` for all games together. *Units*: seconds, megabytes, kilobytes.
    """

    max_seconds: float = 30.0
    max_memory_mb: int = 2048
    evaluation: EvaluationLimits = _EVALUATION
    max_state_kb: int = 256
    max_processes: int = field(default_factory=_n_processes)

    @property
    def of_process(self) -> worker.ChildLimits:
        """What one process may cost; it keeps to `max_state_kb` itself, unless the rules have taken it over."""
        max_answer = _BYTES_PER_CHARACTER * (2 * KILOBYTE * self.max_state_kb + MAX_PERCEPTS)
        return worker.ChildLimits(self.max_seconds, self.max_memory_mb, max_answer / MEGABYTE)


DEFAULT_LIMITS: Final = RefereeLimits()

_STANDSTILL_S: Final = 5.0
"""How late a deadline is noted where more than other work holds this process up."""


class EngineProcesses:
    """Sees to it that no more than *limit* referees have a process at once, whatever the number of games.

    A process holds nothing that the next one could not be sent, so for a referee that has to ask something the one
    is ended that was asked longest ago. When all are being asked, it waits for its turn.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._turns = asyncio.Semaphore(limit)
        self._running: OrderedDict[ChildReferee, None] = OrderedDict()
        self._asking: set[ChildReferee] = set()

    @asynccontextmanager
    async def turn(self, referee: ChildReferee) -> AsyncIterator[None]:
        """Let *referee* have a process while the block runs, and until others need the room."""
        async with self._turns:
            self._asking.add(referee)
            try:
                await self._make_room(referee)
                yield
            finally:
                self._asking.discard(referee)

    def forget(self, referee: ChildReferee) -> None:
        """Take note that *referee* has no process any more."""
        self._running.pop(referee, None)

    async def _make_room(self, referee: ChildReferee) -> None:
        is_new = referee not in self._running
        self._running[referee] = None
        self._running.move_to_end(referee)
        if is_new and len(self._running) > self._limit:
            # There are no more turns than processes, so that one of them has none.
            idle = next(other for other in self._running if other not in self._asking)
            await idle.close()


class _UnseenTimeError(LimitExceeded):
    """The time of a question is over, and this process did not see it pass, as where it was suspended."""


def _is_unseen(deadline: asyncio.Timeout) -> bool:
    """Return whether this process notes so late that *deadline* has passed that it stood still meanwhile."""
    end_s = deadline.when()
    return end_s is not None and asyncio.get_running_loop().time() - end_s > _STANDSTILL_S


class ChildReferee:
    """Asks a process that runs the rules of *description*; a process that is too slow is ended, and replaced."""

    def __init__(
        self,
        description: Description,
        roles: tuple[Role, ...],
        *,
        has_imperfect_information: bool,
        limits: RefereeLimits = DEFAULT_LIMITS,
        processes: EngineProcesses | None = None,
    ) -> None:
        self.description, self.roles = description, roles
        self.has_imperfect_information = has_imperfect_information
        self._limits, self._process_limits = limits, limits.of_process
        self._processes = processes or EngineProcesses(1)
        self._process: Process | None = None
        self._replies = worker.Replies(self._process_limits)
        self._one_at_a_time = asyncio.Lock()

    async def first_position(self) -> Position:
        """Return the initial state.

        Raises:
            LimitExceeded: it took too long, or too much memory, or is too large.
            ChildProcessDiedError: the process ended.
            GdlError: as `server.match.position.first_position`.
        """
        return await self._ask(PositionRequest())

    async def next_position(self, position: Position, moves: JointMove) -> Position:
        """Return the state after the joint move *moves* in *position*; raises as `first_position`."""
        return await self._ask(PositionRequest(position.step, position.text, tuple(moves), position.is_common))

    async def close(self) -> None:
        """End the process; the next question would start another."""
        self._processes.forget(self)
        process, self._process = self._process, None
        if process is not None:
            worker.end(process.pid)
            await process.wait()

    async def _ask(self, request: PositionRequest) -> Position:
        try:
            return await self._ask_once(request)
        except (ChildProcessDiedError, _UnseenTimeError):
            # Perhaps it was ended or suspended from outside; if it was the request, the next process has it too.
            return await self._ask_once(request)

    async def _ask_once(self, request: PositionRequest) -> Position:
        """Return the position that the process answers with; without an answer in time the process is ended."""
        async with self._one_at_a_time, self._processes.turn(self):
            try:
                async with asyncio.timeout(self._limits.max_seconds) as deadline:
                    reply = await self._reply(request)
            except TimeoutError:
                kind = _UnseenTimeError if _is_unseen(deadline) else LimitExceeded
                await self.close()
                raise kind("seconds for one state", self._limits.max_seconds) from None
            except BaseException:
                await self.close()  # an answer that comes yet would be taken for that to the next question
                raise
        packed = reply.result()
        assert isinstance(packed, PackedPosition)
        is_large = len(packed.rest) >= LARGE_BYTES
        return await in_own_thread(packed.unpacked) if is_large else packed.unpacked()

    async def _reply(self, request: PositionRequest) -> worker.Reply:
        """Write *request* to the process, which is started if there is none, and read its reply."""
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(ConnectionError):  # it has ended, which its exit code explains
            process.stdin.write(worker.call(request))
            await process.stdin.drain()
            while piece := await process.stdout.read(MEGABYTE):
                for reply in self._replies.feed(piece):
                    return reply
        raise worker.death(await process.wait(), self._process_limits)

    async def _start(self) -> Process:
        """Start the process, and write what it reads first: the rules and its limits."""
        self._process = process = await asyncio.create_subprocess_exec(
            *worker.COMMAND, stdin=PIPE, stdout=PIPE, **worker.start_options()
        )
        assert process.stdin is not None
        limits = self._limits
        engine = Engine(self.description.source.text, limits.evaluation, KILOBYTE * limits.max_state_kb)
        process.stdin.write(worker.opening(engine, self._process_limits))
        self._replies = worker.Replies(self._process_limits)
        return process


MAX_IDLE: Final = 16
"""How many idle referees are kept for the next match."""
_OUTLINE_LIMITS: Final = worker.ChildLimits(max_seconds=600.0, max_memory_mb=1024, max_cpu_seconds=20.0)


@dataclass(slots=True)
class _Entry:
    referee: Referee
    n_users: int = 0


class Referees:
    """Lends referees: of the library's own rules in this process, of all others in a child process under *limits*."""

    def __init__(self, limits: RefereeLimits) -> None:
        self._limits, self._processes = limits, EngineProcesses(limits.max_processes)
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    @asynccontextmanager
    async def lent(self, version: GameVersion) -> AsyncIterator[Referee]:
        """Lend the referee of *version* while the block runs.

        Raises:
            RuleFileError: its rules cannot be read any more.
        """
        entry = self._entries.get(version.sha256) or await self._made(version)
        entry.n_users += 1
        self._entries.move_to_end(version.sha256)
        try:
            yield entry.referee
        finally:
            entry.n_users -= 1
            await self._close_idle(MAX_IDLE)

    async def _made(self, version: GameVersion) -> _Entry:
        """Return the entry of *version*: its referee works in this process for trusted rules, else in a child."""
        description = await in_own_thread(partial(read_rules, version.rules, version.name))
        if is_trusted(version):
            referee: Referee = LocalReferee(make_game(description), AdaptiveEvaluator())
        else:
            roles = tuple(map(Constant, version.roles))
            referee = ChildReferee(
                description,
                roles,
                has_imperfect_information=version.is_gdl2,
                limits=self._limits,
                processes=self._processes,
            )
        # Another task may have made one meanwhile.
        return self._entries.setdefault(version.sha256, _Entry(referee))

    async def close(self) -> None:
        """End the idle referees."""
        await self._close_idle(0)

    async def _close_idle(self, n_kept: int) -> None:
        idle = [sha256 for sha256, entry in self._entries.items() if not entry.n_users]
        closing = [self._entries.pop(sha256).referee for sha256 in idle[: max(0, len(idle) - n_kept)]]
        await asyncio.gather(*(referee.close() for referee in closing if isinstance(referee, ChildReferee)))


@cache
def library_hashes() -> Mapping[str, str]:
    """Return the hashes of the rules that came with this program, by the game's name."""
    return {name: rules_sha256(find_game(name).text()) for name in game_names()}


def is_trusted(version: GameVersion) -> bool:
    """Return whether rules came with this program, so that they may run in this process."""
    return version.sha256 in library_hashes().values()


async def outline_of(rules: str, name: str) -> GameOutline:
    """Return the outline of rules from outside, worked out in a child process.

    Raises:
        RuleFileError: they cannot be played.
        LimitExceeded: they cost too much.
        ChildProcessDiedError: the child process gave no answer.
        RequestError: too many rules are looked at just now.
    """
    return await CHILDREN.run(
        lambda is_wanted: worker.run_limited(read_outline, (rules, name), _OUTLINE_LIMITS, is_wanted=is_wanted)
    )


async def outside_rules_at(rules: str, name: str, state: str, where: str) -> str:
    """Return rules from outside with another first state, as `rules_at` does, worked out in a child process.

    Raises:
        MatchRecordError: the state is no KIF.
        RuleFileError, LimitExceeded, ChildProcessDiedError, RequestError: as `outline_of`.
    """
    return await CHILDREN.run(
        lambda is_wanted: worker.run_limited(
            rules_at, (rules, name, state, where), _OUTLINE_LIMITS, is_wanted=is_wanted
        )
    )
