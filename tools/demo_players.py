"""Players of a made-up class, all at one address: they think as long as one lets them, and err."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection

from aiohttp import web

from gdl.engines import make_game
from gdl.game import Game, Role, State
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from gdl.wire.info import InfoReply, Status, info_text
from gdl.wire.messages import Info, Message, Ping, Play, Start, read_message


@dataclass(frozen=True, slots=True)
class Habits:
    """How a player plays: how often it sees a win, how often it errs, and how long it thinks. *Units*: seconds."""

    skill: float
    error_rate: float = 0.0
    thinks_s: float = 0.0


@dataclass(slots=True)
class _Seat:
    game: Game
    role: Role
    state: State


@lru_cache
def _game(rules: str) -> Game:
    return make_game(read_rules(rules, "rules"))


class DemoPlayers:
    """Answers the messages to all players, whose *habits* are by name; games are those of perfect information."""

    def __init__(self, habits: Mapping[str, Habits]) -> None:
        self._habits = habits
        self._seats: dict[tuple[str, str], _Seat] = {}
        self._random = random.Random(7)

    async def handle(self, request: web.Request) -> web.Response:
        """Answer a message to the player that the path names."""
        name = request.match_info["name"]
        reply = await self._reply(name, read_message(await request.text()))
        return web.Response(text=reply, content_type="text/acl")

    async def _reply(self, name: str, message: Message) -> str:
        match message:
            case Info():
                return info_text(InfoReply(name, Status.AVAILABLE))
            case Start():
                game = _game(message.rules)
                self._seats[name, message.match_id] = _Seat(game, message.role, game.initial_state)
            case Play():
                return await self._move(name, message)
            case Ping():
                return "available"
        return "ready"

    async def _move(self, name: str, message: Play) -> str:
        habits, seat = self._habits[name], self._seats[name, message.match_id]
        if message.told is not None:
            seat.state = seat.state.next_state(message.told)
        moves = seat.state.legal_moves(seat.role)
        if len(moves) > 1:
            await asyncio.sleep(habits.thinks_s * self._random.uniform(0.3, 1.7))
            if self._random.random() < habits.error_rate:
                return "(mark nowhere)"
        if self._random.random() < habits.skill:
            moves = self._winning(seat, moves) or moves
        return str(self._random.choice(moves))

    def _winning(self, seat: _Seat, moves: tuple[Term, ...]) -> tuple[Term, ...]:
        """Return the moves that win at once, whatever the others do first."""
        others = {role: seat.state.legal_moves(role)[0] for role in seat.game.roles if role is not seat.role}
        after = {
            move: seat.state.next_state(tuple(others.get(role, move) for role in seat.game.roles)) for move in moves
        }
        return tuple(move for move, state in after.items() if state.is_terminal and state.goal(seat.role) == 100)


@contextmanager
def demo_process(habits: Mapping[str, Habits]) -> Iterator[str]:
    """Run the players in a process while the block runs, and yield the address before the name of each player."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(dict(habits), there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _run(habits: Mapping[str, Habits], there: Connection) -> None:
    asyncio.run(_listen(habits, there))


async def _listen(habits: Mapping[str, Habits], there: Connection) -> None:
    """Listen until the process is ended, and say where."""
    app = web.Application()
    app.router.add_post("/{name}", DemoPlayers(habits).handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    there.send(f"http://127.0.0.1:{runner.addresses[0][1]}")
    await asyncio.Event().wait()
