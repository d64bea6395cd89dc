"""The way to a player, whatever it is made of: one message goes out, one reply comes back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

MAX_REPLY_BYTES: Final = 64 * 1024
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANKS: Final = frozenset(b" \t\r\n\f\v")
_OPEN, _CLOSE, _COMMENT = b"();"
_RUN: Final = re.compile(rb"[();]|[ \t\r\n\f\v]+|[^ \t\r\n\f\v();]+")


@dataclass(frozen=True, slots=True)
class Letter:
    """A message on its way: its text, and the match and step that it belongs to (for headers).

    `answered` is what was answered to the same message before, perhaps to another process of the game manager or by
    another one of the player: a player that lacks the step takes it in, and need not think about it again. `limit_s` is
    how long the reply is waited for. *Units*: seconds.
    """

    text: str
    match_id: str = ""
    step: int = 0
    answered: str | None = None
    limit_s: float | None = None


class ReplyBuffer:
    """What has come of a reply, at most *limit_bytes* of it, and whether its first term is complete.

    A list ends at its parenthesis, a name at the blank after it; the link knows of the end of the whole reply. Each
    byte is looked at once, however small the pieces are.
    """

    def __init__(self, limit_bytes: int = MAX_REPLY_BYTES) -> None:
        self.raw = bytearray()
        self.is_complete = False
        self.is_cut = False
        self._limit_bytes = limit_bytes
        self._depth = 0
        self._is_in_name = self._is_in_comment = False

    @property
    def is_in_list(self) -> bool:
        """Whether a parenthesis is open, so that an end now would be too early."""
        return self._depth > 0 and not self.is_complete

    @property
    def has_enough(self) -> bool:
        """Whether nothing that may still come would be looked at."""
        return self.is_complete or self.is_cut

    def feed(self, data: bytes) -> None:
        """Take what came; what comes after the first term or the limit is thrown away."""
        if self.has_enough:
            return
        room = self._limit_bytes - len(self.raw)
        n_marks = self._n_byte_order_marks(data)
        n_used = self._scan(data[:room], n_marks)
        self.raw += data[:n_used]
        self.is_cut = len(data) > room and not self.is_complete

    def _n_byte_order_marks(self, data: bytes) -> int:
        """Return how many bytes of *data* go on with, or begin, the mark that some editors put before a text."""
        begun = bytes(self.raw + data[:3])
        is_mark = _BYTE_ORDER_MARK.startswith(begun[:3])
        return len(begun[:3]) - len(self.raw) if is_mark and len(self.raw) < 3 else 0

    def _scan(self, data: bytes, start: int) -> int:
        """Look at *data* from *start*, up to the end of the first term; return how many bytes were needed."""
        i = start
        while i < len(data) and not self.is_complete:
            if self._is_in_comment:
                end = data.find(b"\n", i)
                self._is_in_comment = end < 0
                i = len(data) if end < 0 else end + 1
                continue
            found = _RUN.match(data, i)
            assert found is not None
            self._look_at(data[i])
            # After a name one blank is needed, however many there are.
            i = i + 1 if self.is_complete else found.end()
        return i

    def _look_at(self, first: int) -> None:
        """Look at a run of bytes of a kind, which begins with *first*."""
        if first == _OPEN:
            self._end_name()
            self._depth += 1
        elif first == _CLOSE:
            self.is_complete = self._depth <= 1
            self._depth -= 1
        elif first == _COMMENT or first in _BLANKS:
            self._end_name()
            self._is_in_comment = first == _COMMENT
        else:
            self._is_in_name = True

    def _end_name(self) -> None:
        self.is_complete = self._is_in_name and self._depth == 0
        self._is_in_name = False


class PlayerLink(Protocol):
    """The way to one player, open for one match."""

    async def deliver(self, letter: Letter, reply: ReplyBuffer) -> None:
        """Send *letter* and fill *reply* until it has enough or the player has ended it.

        May be cancelled at any time, and leaves nothing behind that would hold up the next letter.

        Raises:
            OSError: the connection failed.
            RemotePlayerError: what came is no reply.
        """

    async def close(self) -> None:
        """Let go of everything that the link holds."""


class NoLink:
    """A way that leads nowhere, for the *reason* that records tell."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def deliver(self, letter: Letter, reply: ReplyBuffer) -> None:  # noqa: ARG002 -- nobody gets it
        """Fail.

        Raises:
            OSError: always.
        """
        raise OSError(self._reason)

    async def close(self) -> None:
        """Do nothing: nothing is held."""
