"""Asking players who they are and whether they are free: INFO, and PING for the older ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gdl.errors import MessageError
from gdl.messages import Info, Ping, to_text
from gdl.replies import InfoReply, Status, is_complete, read_info
from gdl.wire import decode
from server.errors import RemotePlayerError
from server.links.http_player import HttpPlayer
from server.links.targets import Targets
from server.match.clock import Clock, SystemClock
from server.match.link import Letter, ReplyBuffer

_INFO, _PING = to_text(Info()), to_text(Ping())
_SYSTEM_CLOCK: Final = SystemClock()


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """What is known of the player at `url`.

    `answered` is the message that it understood, None where it understood neither; `trouble` says why, a sentence for
    each. Silence is no proof of death: some players answer nothing while they think.
    """

    url: str
    reply: InfoReply
    answered: str | None
    trouble: tuple[str, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether the player says that it would take a match now."""
        return self.reply.status is Status.AVAILABLE


async def ask_info(
    url: str, deadline_s: float = 5.0, clock: Clock = _SYSTEM_CLOCK, *, targets: Targets | None = None
) -> PlayerInfo:
    """Return what the player at *url* says to INFO, or failing that to PING, each within half of *deadline_s*.

    Addresses outside *targets* are not called.

    Raises:
        PlayerSpecError: *url* is none that a player could have.
    """
    player = HttpPlayer(url, targets=targets)
    trouble: list[str] = []
    for question in (_INFO, _PING):
        try:
            reply = await _ask(player, question, deadline_s / 2, clock)
        except (OSError, RemotePlayerError, MessageError) as error:
            trouble.append(f"{question}: {error}")
        else:
            return PlayerInfo(player.url, reply, question.strip("()"), tuple(trouble))
    return PlayerInfo(player.url, InfoReply(), None, tuple(trouble))


async def _ask(player: HttpPlayer, question: str, limit_s: float, clock: Clock) -> InfoReply:
    reply = _InfoBuffer()
    deadline = None
    try:
        async with clock.timeout(limit_s) as deadline:
            await player.deliver(Letter(question), reply)
    except TimeoutError as error:
        if deadline is None or not deadline.expired():
            raise
        if not reply.raw:
            raise TimeoutError(f"no answer within {limit_s:g} s") from error
    return read_info(decode(bytes(reply.raw)))


class _InfoBuffer(ReplyBuffer):
    """An answer to INFO, which may be JSON: all of it counts, not its first term."""

    def feed(self, data: bytes) -> None:
        room = self._limit_bytes - len(self.raw)
        self.raw += data[:room]
        self.is_cut = len(data) > room
        # Only here can an answer have ended; to look more often would take long where single bytes come.
        if data.endswith((b")", b"}", b'"', b" ", b"\n")):
            self.is_complete = is_complete(decode(bytes(self.raw)))
