"""The referee of a game that somebody uploaded: its rules run in a process of their own, under limits."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from gdl.errors import ChildProcessDiedError, LimitExceeded
from gdl.game import JointMove, Role
from gdl.limits import EvaluationLimits
from gdl.rules import Description
from server.hosting.engine_process import Engine, Found, Question, read, write
from server.links.own_player import package_environment
from server.match.position import Position

_MAIN: Final = "from server.hosting.engine_process import main; main()"
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024

_EVALUATION: Final = EvaluationLimits(max_rows=1_000_000, max_seconds=30.0)


@dataclass(frozen=True, slots=True)
class RefereeLimits:
    """What rules from outside may cost. *Units*: seconds and megabytes; `evaluation` is for each of its questions."""

    max_seconds: float = 30.0
    max_memory_mb: int = 2048
    evaluation: EvaluationLimits = _EVALUATION


DEFAULT_LIMITS: Final = RefereeLimits()


class ChildReferee:
    """Asks a process that runs the rules of *description*; a process that is too slow is ended, and replaced."""

    def __init__(
        self,
        description: Description,
        roles: tuple[Role, ...],
        *,
        has_imperfect_information: bool,
        limits: RefereeLimits = DEFAULT_LIMITS,
    ) -> None:
        self.description, self.roles = description, roles
        self.has_imperfect_information = has_imperfect_information
        self._limits = limits
        self._process: Process | None = None
        self._one_at_a_time = asyncio.Lock()

    async def first_position(self) -> Position:
        """Return the initial state.

        Raises:
            LimitExceeded: it took too long, or too much memory.
            ChildProcessDiedError: the process ended.
            GdlError: as `server.match.position.first_position`.
        """
        return await self._ask(Question())

    async def next_position(self, position: Position, moves: JointMove) -> Position:
        """Return the state after the joint move *moves* in *position*; raises as `first_position`."""
        return await self._ask(Question(position.step, position.facts, tuple(moves)))

    async def close(self) -> None:
        """End the process; the next question would start another."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def _ask(self, question: Question) -> Position:
        try:
            return await self._ask_once(question)
        except ChildProcessDiedError:  # perhaps somebody ended it; if it was the question, it ends the next one too
            return await self._ask_once(question)

    async def _ask_once(self, question: Question) -> Position:
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(self._limits.max_seconds):
                    found = await self._answer(question)
            except TimeoutError:
                await self.close()
                raise LimitExceeded("seconds for one state", self._limits.max_seconds) from None
            except BaseException:
                await self.close()  # an answer that comes yet would be taken for that to the next question
                raise
        if found.error is not None:
            raise found.error
        assert found.position is not None
        return found.position

    async def _answer(self, question: Question) -> Found:
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(_packed(question))
            await process.stdin.drain()
            head = await process.stdout.readexactly(8)
            length = int.from_bytes(head, "big")
            if length > MAX_ANSWER_BYTES:
                raise LimitExceeded("bytes of one state", MAX_ANSWER_BYTES)
            found = read(BytesIO(head + await process.stdout.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise ChildProcessDiedError(f"it ended with exit code {await process.wait()}") from error
        assert isinstance(found, Found)
        return found

    async def _start(self) -> Process:
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", _MAIN,
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=package_environment(), start_new_session=True,
        )  # fmt: skip
        assert process.stdin is not None
        rules = self.description.source.text
        process.stdin.write(_packed(Engine(rules, self._limits.evaluation, self._limits.max_memory_mb)))
        return process


def _packed(value: object) -> bytes:
    buffer = BytesIO()
    write(buffer, value)
    return buffer.getvalue()
