"""Asks players for their name and status: INFO, and PING for the older ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gdl.errors import MessageError
from gdl.wire.info import InfoReply, Status, read_info
from gdl.wire.messages import Info, Ping, to_text
from gdl.wire.replies import decode, is_complete
from server.clock import SYSTEM_CLOCK, Clock
from server.links.addresses import AllowedAddresses
from server.links.errors import HttpStatusError, RemotePlayerError
from server.links.http_player import HttpPlayer
from server.match.link import PlayerRequest, ReplyBuffer
from server.sanitization import clean_line

_INFO, _PING = to_text(Info()), to_text(Ping())
_MAX_FIELDS: Final = 50
MAX_INFO_BYTES: Final = 16 * 1024
MAX_LOOKS: Final = 16
"""How often the end of a JSON object is looked for before it is left to the end of the reply."""
_GATEWAY_STATUSES: Final = frozenset((502, 503, 504))
"""What a proxy answers in the place of a player that it does not reach."""


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """What is known of the player at `url`.

    `answered` is the message that it understood, None where it understood neither; `trouble` says why, a sentence for
    each. `is_there` is whether it replied at all: players of the GameController protocol know neither message, and
    answer with an error or any word. Silence is no proof of death: some players answer nothing while they think.
    """

    url: str
    reply: InfoReply
    answered: str | None
    trouble: tuple[str, ...] = ()
    is_there: bool = True

    @property
    def is_available(self) -> bool:
        """Whether the player says that it would take a match now."""
        return self.reply.status is Status.AVAILABLE


async def ask_info(
    url: str, deadline_s: float = 5.0, clock: Clock = SYSTEM_CLOCK, *, targets: AllowedAddresses | None = None
) -> PlayerInfo:
    """Return what the player at *url* says to INFO, or failing that to PING, each within half of *deadline_s*.

    Addresses outside *targets* are not called.

    Raises:
        PlayerSpecError: *url* is none that a player could have.
    """
    player = HttpPlayer(url, targets=targets)
    trouble: list[str] = []
    is_there = False
    for question in (_INFO, _PING):
        try:
            reply = await _ask(player, question, deadline_s / 2, clock)
        except (OSError, RemotePlayerError, MessageError) as error:
            trouble.append(f"{question}: {error}")
            is_there = is_there or _is_of_player(error)
        else:
            return PlayerInfo(player.url, _clean(reply), question.strip("()"), tuple(map(clean_line, trouble)))
    return PlayerInfo(player.url, InfoReply(), None, tuple(map(clean_line, trouble)), is_there)


def _is_of_player(error: Exception) -> bool:
    """Return whether *error* tells of a player that replied, though with nothing that answers INFO."""
    if isinstance(error, HttpStatusError):
        return error.status >= 400 and error.status not in _GATEWAY_STATUSES
    return isinstance(error, MessageError)


def _clean(reply: InfoReply) -> InfoReply:
    """Return *reply* with names and fields that can be stored and shown; there are no more than a few."""
    others = {clean_line(key): clean_line(value) for key, value in reply.others[:_MAX_FIELDS]}
    name = None if reply.name is None else clean_line(reply.name)
    return InfoReply(name, reply.status, tuple(others.items()))


async def _ask(player: HttpPlayer, question: str, limit_s: float, clock: Clock) -> InfoReply:
    """Return the reply to *question*.

    Raises:
        TimeoutError: nothing came within *limit_s*.
        OSError, RemotePlayerError: as `HttpPlayer.deliver`.
        MessageError: the reply is no answer to INFO.
    """
    reply = _InfoBuffer()
    deadline = None
    try:
        async with clock.timeout(limit_s) as deadline:
            await player.deliver(PlayerRequest(question), reply)
    except TimeoutError as error:
        if deadline is None or not deadline.expired():
            raise
        if not reply.raw:
            raise TimeoutError(f"no answer within {limit_s:g} s") from error
    return read_info(decode(bytes(reply.raw)))


class _InfoBuffer(ReplyBuffer):
    """An answer to INFO, which may be a JSON object: all of that counts, not its first term."""

    def __init__(self) -> None:
        super().__init__(MAX_INFO_BYTES)
        self._n_looks_left = MAX_LOOKS

    def feed(self, data: bytes) -> None:
        """Take what came; a JSON object is complete when it can be read, anything else after its first term."""
        if not (bytes(self.raw) + data).lstrip().startswith(b"{"):
            super().feed(data)
            return
        room = self._limit_bytes - len(self.raw)
        self.raw += data[:room]
        self.is_cut = len(data) > room
        # Only here can an object have ended. Each look takes in all that has come.
        if data.rstrip().endswith(b"}") and self._n_looks_left:
            self._n_looks_left -= 1
            self.is_complete = is_complete(decode(bytes(self.raw)))
