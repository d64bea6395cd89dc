"""A player on standard input and output: one message a line, one reply a line."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from typing import Final

from gdl.errors import MessageError
from gdl.messages import read_message
from gdl.wire import decode
from players.desk import Desk, Settings
from players.player import MakePlayer
from players.session import NO_ANSWER
from players.warming import start_warming
from players.worker import is_worker_importing_main, prepare_workers

_LEGAL: Final = re.compile(rb"\s*\(\s*LEGAL\s", re.IGNORECASE)
"""The line that tells legal moves to players without an engine; it has no answer, and this one needs it not."""


def run_stdio(make_player: MakePlayer, settings: Settings | None = None) -> None:
    """Answer the messages on standard input until it ends."""
    if is_worker_importing_main():
        return
    settings = settings or Settings(getattr(make_player, "__name__", "player"))
    prepare_workers()
    start_warming()
    asyncio.run(answer_lines(Desk(make_player, settings), sys.stdin.buffer.readline, _print_line))


async def answer_lines(desk: Desk, read_line: Callable[[], bytes], write_line: Callable[[str], None]) -> None:
    """Answer each line that *read_line* returns with one by *write_line*, until it returns none."""
    try:
        while line := await asyncio.to_thread(read_line):
            if line.strip() and not _LEGAL.match(line):
                write_line(await _reply(desk, decode(line)))
    finally:
        await desk.close()


async def _reply(desk: Desk, line: str) -> str:
    try:
        message = read_message(line)
    except MessageError:
        return NO_ANSWER
    reply = await desk.answer(message)
    desk.delivered(message)
    return reply


def _print_line(reply: str) -> None:
    print(reply, flush=True)  # noqa: T201 -- standard output is the wire
