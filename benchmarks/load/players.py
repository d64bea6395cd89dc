"""Players for a thousand matches: one process, an HTTP server on a bare socket, legal moves after some thinking."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import click

BACKLOG: Final = 4_096
_LENGTH: Final = re.compile(rb"\r\ncontent-length:\s*([0-9]+)", re.IGNORECASE)
_HEAD: Final = b"HTTP/1.0 200 OK\r\nContent-Type: text/acl\r\nConnection: close\r\nContent-Length: "


@dataclass(slots=True)
class Step:
    """When the replies of a match's last step went out, and how many requests of the next one have come."""

    replied_s: float = 0.0
    n_asked: int = 0


@dataclass(slots=True)
class Figures:
    """What was measured: *Units*: seconds."""

    shares_s: list[float] = field(default_factory=list)
    answers_s: list[float] = field(default_factory=list)
    lags_s: list[float] = field(default_factory=list)
    n_requests: int = 0
    n_broken: int = 0
    """Connections that the manager had closed before the reply was written."""


class Seats:
    """The seats of all matches; *shortest_s* and *longest_s* bound the time that a reply takes."""

    def __init__(self, shortest_s: float, longest_s: float, seed: int) -> None:
        self.figures = Figures()
        self.held: list[Callable[[], object]] | None = None
        self._bounds_s, self._chance = (shortest_s, longest_s), random.Random(seed)
        self._boards: dict[str, Board] = {}
        self._steps: dict[str, Step] = {}
        self.n_ended = 0
        self._playing: set[str] = set()
        self._n_most = 0

    def answer(self, seat: str, text: str) -> tuple[str, float]:
        """Return the reply of the player at *seat*, as in `/17/x`, to *text*, and its time of thinking in seconds.

        At any other path a player of many matches answers, whose START says which role it has.
        """
        match, _, role = seat.rpartition("/")
        self.figures.n_requests += 1
        if role not in ROLES:
            return self._answer_anywhere(seat, text), 0.0
        board = self._boards.setdefault(seat, Board(role))
        word = text.lstrip(" (")[:4].upper()
        self._note_request(match, is_play=word == "PLAY")
        is_farewell = word in ("STOP", "ABOR")
        self.n_ended += is_farewell
        self._note_presence(seat, is_playing=not is_farewell)
        return board.answer(text, self._chance), 0.0 if is_farewell else self._chance.uniform(*self._bounds_s)

    def _answer_anywhere(self, path: str, text: str) -> str:
        started, named = _START.match(text), _MATCH_ID.match(text)
        key = f"{path} {named[1] if named else ''}"
        if started is not None:
            self._boards[key] = Board(started[1].lower())
        if key not in self._boards:
            return "available"
        reply = self._boards[key].answer(text, self._chance)
        if reply == "done":
            del self._boards[key]
        return reply

    def _note_request(self, match: str, *, is_play: bool) -> None:
        """Note a request; the share of a step ends with the PLAY that comes last."""
        step = self._steps.setdefault(match, Step())
        step.n_asked += 1
        if step.n_asked == len(ROLES):
            if step.replied_s and is_play:
                self.figures.shares_s.append(time.perf_counter() - step.replied_s)
            step.n_asked = 0

    def _note_presence(self, seat: str, *, is_playing: bool) -> None:
        """Note that *seat* plays, from its START to its STOP, or does no more."""
        if is_playing:
            self._playing.add(seat)
            self._n_most = max(self._n_most, len(self._playing))
        else:
            self._playing.discard(seat)

    def note_reply(self, seat: str, elapsed_s: float) -> None:
        """Note that the reply of *seat* went out, *elapsed_s* after its request came."""
        self.figures.answers_s.append(elapsed_s)
        step = self._steps.get(seat.rpartition("/")[0])
        if step is not None:
            step.replied_s = time.perf_counter()

    def hold(self) -> int:
        """Hold all replies to START from now on; return how many wait already."""
        self.held = self.held or []
        return len(self.held)

    def release(self) -> int:
        """Release the replies to START; return how many had waited."""
        held, self.held = self.held or [], None
        for answering in held:
            answering()
        return len(held)

    def ended(self) -> int:
        """Return how many seats had STOP or ABORT since the last call that asked for figures."""
        return self.n_ended

    def take_figures(self) -> dict[str, Any]:
        """Return what was measured since the last call."""
        figures, self.figures, self._steps, self.n_ended = self.figures, Figures(), {}, 0
        n_most, self._n_most = self._n_most, len(self._playing)
        return {
            "most_seats": n_most,
            "shares_s": figures.shares_s,
            "longest_answer_s": max(figures.answers_s, default=0.0),
            "longest_lag_s": max(figures.lags_s, default=0.0),
            "requests": figures.n_requests,
            "broken": figures.n_broken,
        }


class Conversation(asyncio.Protocol):
    """One connection: a request, a time of thinking, a reply."""

    def __init__(self, seats: Seats) -> None:
        self._seats, self._raw, self._is_asked = seats, b"", False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer when the request is whole."""
        self._raw += data
        head, blank, body = self._raw.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if blank and not self._is_asked and len(body) >= (int(length[1]) if length else 0):
            self._is_asked = True
            self._take(head.split(b" ", 2)[1].decode("latin-1"), body.decode("utf-8", "replace"))

    def _take(self, path: str, text: str) -> None:
        """Answer a control request at once, and a message after the time of thinking."""
        if path in _CONTROLS:
            self._write(json.dumps(_CONTROLS[path](self._seats)))
            return
        reply, think_s = self._seats.answer(path, text)
        answering = partial(self._think, path, reply, think_s)
        if self._seats.held is not None and reply == "ready":
            self._seats.held.append(answering)
        else:
            answering()

    def _think(self, path: str, reply: str, think_s: float) -> None:
        asyncio.get_running_loop().call_later(think_s, self._reply, path, reply, time.perf_counter())

    def _reply(self, path: str, reply: str, came_s: float) -> None:
        if self._transport is None or self._transport.is_closing():
            self._seats.figures.n_broken += 1
        else:
            self._write(reply)
        self._seats.note_reply(path, time.perf_counter() - came_s)

    def _write(self, body: str) -> None:
        assert self._transport is not None
        raw = body.encode()
        self._transport.write(b"%s%d\r\n\r\n%s" % (_HEAD, len(raw), raw))
        self._transport.close()

    def connection_lost(self, _exc: Exception | None) -> None:
        """Forget the connection."""
        self._transport = None


_CONTROLS: Final[dict[str, Callable[[Seats], Any]]] = {
    "/ended": Seats.ended,
    "/figures": Seats.take_figures,
    "/hold": Seats.hold,
    "/release": Seats.release,
}
"""The requests of the benchmark itself."""


async def _watch_lag(seats: Seats, interval_s: float = 0.05) -> None:
    while True:
        expected_s = time.perf_counter() + interval_s
        await asyncio.sleep(interval_s)
        seats.figures.lags_s.append(time.perf_counter() - expected_s)


async def _serve(seats: Seats, port: int) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    server = await loop.create_server(lambda: Conversation(seats), "127.0.0.1", port, backlog=BACKLOG)
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    watching = asyncio.create_task(_watch_lag(seats))
    click.echo(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    await ended.wait()
    watching.cancel()
    server.close()


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0: any free one.")
@click.option("--shortest", type=float, default=0.5, show_default=True, help="The least time for a reply, in seconds.")
@click.option("--longest", type=float, default=1.5, show_default=True, help="The most time for a reply, in seconds.")
@click.option("--seed", type=int, default=1, show_default=True, help="Decides moves and times.")
def command(port: int, shortest: float, longest: float, seed: int) -> None:
    """Play every seat of tictactoe that is asked for, until SIGTERM."""
    asyncio.run(_serve(Seats(shortest, longest, seed), port))


ROLES: Final = ("x", "o")
_MESSAGE: Final = re.compile(r"\s*\(\s*([A-Za-z]+)")
_MATCH_ID: Final = re.compile(r"\s*\(\s*[A-Za-z]+\s+([^\s()]+)")
_START: Final = re.compile(r"\s*\(\s*START\s+[^\s()]+\s+([xo])\s", re.IGNORECASE)
_MARK: Final = re.compile(r"\(\s*mark\s+([1-3])\s+([1-3])\s*\)", re.IGNORECASE)
_CELLS: Final = frozenset((column, row) for column in "123" for row in "123")
_ANSWERS: Final[Mapping[str, str]] = MappingProxyType({"INFO": "available", "PREVIEW": "ready", "START": "ready"})


@dataclass(slots=True)
class Board:
    """One match as one of its players sees it: the cells that are free; `x` and `o` take turns."""

    role: str
    free: set[tuple[str, str]] = field(default_factory=lambda: set(_CELLS))

    def answer(self, text: str, chance: random.Random) -> str:
        """Return the reply to the message *text*: a legal move to PLAY."""
        found = _MESSAGE.match(text)
        word = found[1].upper() if found else ""
        if word == "START":
            self.free = set(_CELLS)
        if word != "PLAY":
            return _ANSWERS.get(word, "done")
        # The rules are in START alone, so what PLAY marks was marked in the step before.
        self.free -= {(mark[1], mark[2]) for mark in _MARK.finditer(text)}
        return self._move(chance)

    def _move(self, chance: random.Random) -> str:
        n_marked = len(_CELLS) - len(self.free)
        if not self.free or ROLES[n_marked % 2] != self.role:
            return "noop"
        column, row = chance.choice(sorted(self.free))
        return f"(mark {column} {row})"


if __name__ == "__main__":
    command()
