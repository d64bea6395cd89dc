"""A player's seat at one match: the session with its worker, who is replaced when lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Final

from gdl.messages import Play, Stop
from players.pipe import Leave, Order
from players.player import MakePlayer
from players.session import NO_ANSWER, Question, Session
from players.worker import Worker

LATENESS_S: Final = 0.3
"""How long past the moment of answering a first legal move is waited for: late may still be within the grace."""
MAX_LOSSES: Final = 10
"""How many workers a match may wear out before there are no more."""
_LOG: Final = logging.getLogger(__name__)


class Seat:
    """Puts questions to a worker and answers in time, whatever becomes of the worker."""

    def __init__(self, session: Session, make_player: MakePlayer) -> None:
        self.session, self.make_player = session, make_player
        self.worker: Worker | None = None
        self.watch: asyncio.TimerHandle | None = None
        self._waiting: list[Order] = [session.join()]
        self._news = asyncio.Event()
        self._is_over = False

    async def play(self, play: Play, received_s: float, step: int | None) -> str:
        """Return the move, in time; a repeated question has the answer it had."""
        if self.session.is_refused:
            return NO_ANSWER
        if not self.session.is_repeated(play, step):
            self.session.question.close()
            self._send(*self.session.ask(play, received_s))
            self._spread_news()
        return await self.answered(self.session.question)

    def catch_up(self, play: Play, received_s: float, step: int | None, answered: str) -> None:
        """Take in a step that was answered before, unless it is known already."""
        if not (self.session.is_refused or self.session.is_repeated(play, step)):
            self.session.question.close()
            self._send(*self.session.catch_up(play, received_s, answered))
            self._spread_news()

    async def answered(self, question: Question) -> str:
        """Return the answer to *question* as soon as it is there, else the best so far when its time ends."""
        await self._wait(lambda: question.answer is not None, question.answer_by_s)
        if question.answer is None and question.best is None:
            latest_s = max(question.answer_by_s, time.monotonic()) + LATENESS_S
            await self._wait(lambda: bool(question.best or question.answer), latest_s)
        return question.close()

    async def work(self) -> None:
        """Keep a worker at work until the match is over."""
        while not self._needs_nobody and self.session.n_losses <= MAX_LOSSES:
            try:
                worker = await Worker.hire(self.make_player)
            except OSError as error:
                _LOG.error("no process for match %s: %s", self.session.start.match_id, error)
                return
            await self._employ(worker)

    @property
    def _needs_nobody(self) -> bool:
        return self._is_over or self.session.is_refused

    async def _employ(self, worker: Worker) -> None:
        if self._is_over:
            await worker.kill()
            return
        self.worker = worker
        self._send()
        async for report in worker.reports():
            self.session.hear(report)
            self._spread_news()
        if not self._needs_nobody:
            _LOG.warning("a worker of match %s was lost and is replaced", self.session.start.match_id)
            self.worker = None
            self._waiting = list(self.session.replace(time.monotonic()))
            self._spread_news()
            await worker.kill()

    async def leave(self, stop: Stop | None, patience_s: float) -> None:
        """End the match, with the last step if it was told, and the worker, who may take *patience_s* for it."""
        self._is_over = True
        orders = [] if stop is None else self.session.stop(stop)
        self.session.question.close()
        self._spread_news()
        if self.worker is not None:
            self.worker.send(*orders, Leave(is_abort=stop is None))
            await self.worker.end(patience_s)

    def _send(self, *orders: Order) -> None:
        self._waiting += orders
        if self.worker is not None:
            self.worker.send(*self._waiting)
            self._waiting = []

    def _spread_news(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _wait(self, has_come: Callable[[], bool], until_s: float) -> None:
        while not has_come() and (remaining_s := until_s - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), remaining_s)
