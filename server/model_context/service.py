"""The server of `ggp mcp`: the library and the engines as tools, by the Model Context Protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from gdl.errors import GdlError
from server.model_context.matches import OPPONENTS, Seats
from server.model_context.positions import game, games, position, validation

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
_VIEW: Final = (
    "Moves without a choice are made for you. `moves` are the joint moves since you chose last. In a game of hidden "
    "information there are none: `seen` is what you perceived in the last ten steps, a list for each, and where "
    "`isGuess` is true facts and board are a position that agrees with all that you perceived, not always the true one."
)
_INSTRUCTIONS: Final = (
    "Games whose rules are written in the Game Description Language. List games, show one, ask for positions and legal "
    "moves, validate rules that you write, or play: begin_match, then make_move until isTerminal. Goals are 0 to 100."
)


async def _beside(work: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
    """Return what *work* returns, in a thread; errors that it foresees become those of a tool."""
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    except GdlError as error:
        raise ToolError(str(error)) from error
    except OSError as error:  # a file of the folder of games, whose place on this machine is not for a model
        raise ToolError(f"a file of the game cannot be read: {error.strerror}") from error


async def _alone(
    lock: asyncio.Lock, work: Callable[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Answer:
    """Return what *work* returns, as `_beside`; no other work under *lock* begins before its thread has ended.

    A thread goes on when its call is cancelled.
    """

    def release(ended: asyncio.Future[Answer]) -> None:
        lock.release()
        if not ended.cancelled():
            ended.exception()  # of a call that was cancelled nothing else asks for it

    await lock.acquire()
    thread = asyncio.ensure_future(_beside(work, *args, **kwargs))
    thread.add_done_callback(release)
    return await asyncio.shield(thread)


def model_context_server(version: str) -> MCPServer[Any]:
    """Return the server with its tools."""
    server: MCPServer[Any] = MCPServer("ggp", version=version, instructions=_INSTRUCTIONS)
    kept, one_at_a_time = Seats(), asyncio.Lock()

    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    plays = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

    @server.tool(annotations=reads, description="List the games: name, title, roles, what they are.")
    async def list_games() -> list[dict[str, Any]]:
        return await _beside(games)

    @server.tool(
        annotations=reads,
        description="Show a game: its rules in GDL, how unclear points were decided, its first position.",
    )
    async def show_game(game_name: str) -> dict[str, Any]:
        return await _beside(game, game_name)

    @server.tool(annotations=reads, description="Say what is wrong with rules in GDL, by line and column.")
    async def validate_rules(rules: str) -> dict[str, Any]:
        return await _beside(validation, rules)

    @server.tool(annotations=reads, description="The position after joint moves, one move for each role in each step: "
                 "facts, board, legal moves of each role, and at the end the goals.")  # fmt: skip
    async def show_position(game_name: str, steps: list[list[str]]) -> dict[str, Any]:
        return await _beside(position, game_name, steps)

    @server.tool(
        annotations=plays,
        description=f"Begin a match in which you have a role; the others are played by {', '.join(OPPONENTS)}. {_VIEW}",
    )
    async def begin_match(game_name: str, role: str, opponent: str = "mcts") -> dict[str, Any]:
        return await _alone(one_at_a_time, kept.begin, game_name, role, opponent)

    @server.tool(
        annotations=plays,
        description=f"Make your move in a match, and see the position in which you choose next. {_VIEW}",
    )
    async def make_move(match: str, move: str) -> dict[str, Any]:
        return await _alone(one_at_a_time, kept.move, match, move)

    return server
