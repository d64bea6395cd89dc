"""Exchanges with a program under test by standard input and output, in a process of its own for each match."""

import asyncio
import time
from collections import defaultdict
from dataclasses import replace
from typing import Final

from gdl.wire.replies import decode
from server.links.child_player import ChildPlayer
from server.links.errors import RemotePlayerError
from server.match.link import PlayerRequest, ReplyBuffer
from server.player_checks.probe import Observed, Request

LINGER_S: Final = 0.2
"""How long after its answer a program has to write what it was not asked for."""


class ProgramProbe:
    """Talks with the program *command* as a match does, which also starts it for each match.

    Before each PLAY the program gets a line with its legal moves if it *gets_legal_moves*. A message outside a match
    has a process of its own.
    """

    def __init__(self, command: str, *, gets_legal_moves: bool) -> None:
        self._gets_legal_moves = gets_legal_moves
        self._children: defaultdict[str, ChildPlayer] = defaultdict(lambda: ChildPlayer(command))

    async def exchange(self, request: Request, timeout_s: float) -> Observed:
        """Return the line that answers *request* within *timeout_s*."""
        child, reply = self._children[request.match_id], ReplyBuffer()
        began_s = time.monotonic()
        trouble = await self._trouble(child, request, reply, timeout_s)
        observed = Observed(
            decode(bytes(reply.raw)), time.monotonic() - began_s, bool(reply.raw), trouble, reply.insight
        )
        if request.lingers:
            await asyncio.sleep(LINGER_S)
            observed = replace(observed, extra=decode(child.unasked))
        if not request.match_id:
            await self.end_match("")
        return observed

    async def _trouble(self, child: ChildPlayer, request: Request, reply: ReplyBuffer, timeout_s: float) -> str:
        """Have *reply* filled by *child*; return why there is none, if there is none."""
        text = request.body.decode()
        if self._gets_legal_moves and request.legal_line:
            text = f"{request.legal_line}\n{text}"
        try:
            async with asyncio.timeout(timeout_s):
                await child.deliver(PlayerRequest(text, request.match_id, request.step), reply)
        except TimeoutError:
            return f"no answer within {timeout_s:g} s" + (f"; {reply.hint}" if reply.hint else "")
        except RemotePlayerError as error:
            return str(error)
        except OSError as error:
            return f"the program cannot be started: {error.strerror or error}"
        return ""

    async def end_match(self, match_id: str) -> None:
        """End the process of the match *match_id*, if there is one."""
        child = self._children.pop(match_id, None)
        if child is not None:
            await child.close()

    async def aclose(self) -> None:
        """End the processes of all matches."""
        for match_id in [*self._children]:
            await self.end_match(match_id)
