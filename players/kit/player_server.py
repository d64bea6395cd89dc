"""A player that serves matches: messages in, replies out, a session and a worker for each; also on standard input."""

import asyncio
import logging
import os
import random
import re
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TextIO, TypeAlias

from gdl.errors import MessageError
from gdl.wire.info import InfoReply, Status, info_text
from gdl.wire.insights import TAKES_INSIGHT, insight_comment
from gdl.wire.messages import Abort, Info, Message, Ping, Play, Preview, Start, Stop, read_message
from gdl.wire.replies import decode
from players.kit import worker
from players.kit.session import NO_ANSWER, OpenRequest, Session, Timing
from players.player import MakePlayer

PATIENCE_S: Final = 2.0
"""How long a worker may take to end by itself when its match has ended."""
HASTE_S: Final = 0.3
"""The same when the whole service ends."""
LARGE_BYTES: Final = 50_000
"""Larger messages are parsed on a thread: the other matches need the event loop."""
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a player takes matches.

    *Units*: seconds; a match without a message for `abandoned_after_s` and ten play clocks is given up.
    """

    name: str
    max_matches: int = 8
    timing: Timing = field(default_factory=Timing)
    abandoned_after_s: float = 600.0
    seed: int | None = None
    worker_limits: worker.WorkerLimits = worker.NO_LIMITS


@dataclass(frozen=True, slots=True)
class PlayerReply:
    """The reply to a message, and what goes beside it; *question* is what it answers in a match."""

    text: str
    question: OpenRequest | None = None

    @property
    def failure(self) -> str:
        """What went wrong in the author's code meanwhile; empty where nothing did."""
        return "" if self.question is None else self.question.failure

    @property
    def insight(self) -> str:
        """What the player thought before its move; empty where it does not tell."""
        return "" if self.question is None else self.question.insight

    def delivered(self) -> None:
        """Note that the reply has reached its game manager."""
        if self.question is not None:
            self.question.is_delivered = True


SeatKey: TypeAlias = tuple[str, str]
"""The id of a match, and the game manager's number of the seat in it; the first seat of a match has none."""


class PlayerServer:
    """Answers the messages of all matches of one player."""

    def __init__(self, make_player: MakePlayer, settings: Settings) -> None:
        self.make_player, self.settings = make_player, settings
        self.seats: dict[SeatKey, worker.SeatedPlayer] = {}
        self._random = random.Random(settings.seed)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether no more matches are taken."""
        return len(self.match_ids) >= self.settings.max_matches

    @property
    def match_ids(self) -> frozenset[str]:
        """The matches that are played now; in some the player may have several seats."""
        return frozenset(match_id for match_id, _ in self.seats)

    async def answer(
        self,
        message: Message,
        received_s: float | None = None,
        step: int | None = None,
        answered: str | None = None,
        seat: str = "",
    ) -> PlayerReply:
        """Return the reply to *message*, in time.

        *received_s* is when its first byte came (monotonic). *step*, *answered* and *seat* come from the game manager's
        headers; *answered* is the earlier reply to the same message, which is given again at once, and *seat* tells
        apart the seats of the player in one match.
        """
        received_s = time.monotonic() if received_s is None else received_s
        if answered is not None:
            self._catch_up(message, received_s, step, answered, seat)
            return PlayerReply(answered)
        match message:
            case Info():
                status = Status.BUSY if self.is_busy else Status.AVAILABLE
                return PlayerReply(info_text(InfoReply(self.settings.name, status)))
            case Ping():
                return PlayerReply("busy" if self.is_busy else "ready")
            case Preview():
                return PlayerReply("ready")
            case Start():
                return await self._start(message, received_s, seat)
            case Play():
                return await self._play(message, received_s, step, seat)
            case Stop():
                self._leave((message.match_id, seat), message)
                return PlayerReply("done")
            case Abort():
                self._leave((message.match_id, seat), None)
                return PlayerReply("aborted")

    async def _start(self, start: Start, received_s: float, number: str) -> PlayerReply:
        seat = self._seat(start, received_s, number)
        if seat is None:
            return PlayerReply("busy")
        question = seat.session.question
        return PlayerReply(await seat.answered(question), question)

    async def _play(self, play: Play, received_s: float, step: int | None, number: str) -> PlayerReply:
        seat = self.seats.get((play.match_id, number))
        if seat is None:
            return PlayerReply(NO_ANSWER)
        self._watch(seat)
        question = seat.ask(play, received_s, step)
        return PlayerReply(NO_ANSWER) if question is None else PlayerReply(await seat.answered(question), question)

    async def until_caught_up(self) -> None:
        """Wait until the players have taken in all messages so far, however long they take to read the rules."""
        await asyncio.gather(*(seat.until_caught_up() for seat in self.seats.values()))

    async def close(self) -> None:
        """Give up all matches and end all workers."""
        for key in tuple(self.seats):
            self._leave(key, None, HASTE_S)
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def _catch_up(self, message: Message, received_s: float, step: int | None, answered: str, number: str) -> None:
        """Take in *message* from before the start of this process, which was *answered*."""
        match message:
            case Start():
                self._seat(message, received_s, number, answered)
            case Play() if (seat := self.seats.get((message.match_id, number))) is not None:
                self._watch(seat)
                seat.catch_up(message, received_s, step, answered)

    def _seat(
        self, start: Start, received_s: float, number: str, answered: str | None = None
    ) -> worker.SeatedPlayer | None:
        """Return the seat at the match that *start* begins, None if no more matches are taken."""
        key = start.match_id, number
        seat = self.seats.get(key)
        # After a move was asked for, a match that begins is another one, of which a game manager gave the same id.
        is_another = answered is None and seat is not None and seat.session.question.play is not None
        if seat is None or is_another or seat.session.start != start:
            self._leave(key, None)
            if self.is_busy and start.match_id not in self.match_ids:
                return None
            session = Session(start, self._random.getrandbits(32), received_s, self.settings.timing, answered)
            seat = self.seats[key] = worker.SeatedPlayer(session, self.make_player, self.settings.worker_limits)
            self._spawn(seat.work())
        self._watch(seat)
        return seat

    def _leave(self, key: SeatKey, stop: Stop | None, patience_s: float = PATIENCE_S) -> None:
        seat = self.seats.pop(key, None)
        if seat is not None:
            self._cancel_watch(seat)
            self._spawn(seat.leave(stop, patience_s))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _watch(self, seat: worker.SeatedPlayer) -> None:
        """Give up the match of *seat* unless another message of it comes in time."""
        self._cancel_watch(seat)
        start = seat.session.start
        silence_s = self.settings.abandoned_after_s + start.start_clock_s + 10 * start.play_clock_s
        seat.watch = asyncio.get_running_loop().call_later(silence_s, self._abandon, seat)

    def _cancel_watch(self, seat: worker.SeatedPlayer) -> None:
        if seat.watch is not None:
            seat.watch.cancel()

    def _abandon(self, seat: worker.SeatedPlayer) -> None:
        _LOG.warning("match %s was abandoned by its game manager", seat.session.start.match_id)
        self._leave(next(key for key, found in self.seats.items() if found is seat), None)


_LEGAL: Final = re.compile(rb"\s*\(\s*LEGAL\s", re.IGNORECASE)
"""The line with the legal moves for players without an engine; it has no answer, and the kit does not need it."""


@contextmanager
def reserved_output() -> Iterator[TextIO]:
    """Yield standard output, to which nothing else is printed while the block runs: that goes to standard error.

    What a player's file prints when it is imported, here or in a worker, must not be taken for the protocol.
    """
    with os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace") as output:
        os.dup2(2, 1)
        try:
            yield output
        finally:
            sys.stdout.flush()
            output.flush()
            os.dup2(output.fileno(), 1)


def run_stdio(make_player: MakePlayer, output: TextIO, settings: Settings | None = None) -> None:
    """Answer the messages on standard input until it ends; the replies go to *output*."""
    if worker.is_worker_importing_main():
        return
    settings = settings or Settings(getattr(make_player, "__name__", "player"))
    worker.prepare_workers(make_player)
    worker.start_warming(make_player)
    tells_insight = os.environ.get(TAKES_INSIGHT) == "1"
    player_server = PlayerServer(make_player, settings)
    write_line = partial(print, file=output, flush=True)
    asyncio.run(answer_lines(player_server, sys.stdin.buffer.readline, write_line, tells_insight=tells_insight))


async def answer_lines(
    player_server: PlayerServer,
    read_line: Callable[[], bytes],
    write_line: Callable[[str], None],
    *,
    tells_insight: bool = False,
) -> None:
    """Answer each line that *read_line* returns with one by *write_line*, until it returns none.

    Where the game manager takes it, a comment with what the player thinks goes before its move.
    """
    try:
        while line := await asyncio.to_thread(read_line):
            if line.strip() and not _LEGAL.match(line):
                answer = await _answer_to(player_server, decode(line))
                if tells_insight and answer.insight:
                    write_line(insight_comment(answer.insight))
                write_line(answer.text)
                answer.delivered()
    finally:
        await player_server.close()


async def _answer_to(player_server: PlayerServer, line: str) -> PlayerReply:
    try:
        message = read_message(line)
    except MessageError:
        return PlayerReply(NO_ANSWER)
    return await player_server.answer(message)
