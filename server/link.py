"""The way to a player, whatever it is made of: one message goes out, one reply comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

MAX_REPLY_BYTES: Final = 64 * 1024
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANKS: Final = frozenset(b" \t\r\n\f\v")
_OPEN, _CLOSE, _COMMENT, _NEWLINE = b"();\n"


@dataclass(frozen=True, slots=True)
class Letter:
    """A message on its way: its text, and the match and step that it belongs to (for headers)."""

    text: str
    match_id: str = ""
    step: int = 0


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
        room = self._limit_bytes - len(self.raw)
        for byte in data[:room]:
            if self.is_complete:
                return
            if not self._is_byte_order_mark(byte):
                self._look_at(byte)
            self.raw.append(byte)
        self.is_cut = len(data) > room and not self.is_complete

    def _is_byte_order_mark(self, byte: int) -> bool:
        i = len(self.raw)
        return i < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK[i] == byte and _BYTE_ORDER_MARK.startswith(self.raw)

    def _look_at(self, byte: int) -> None:
        if self._is_in_comment:
            self._is_in_comment = byte != _NEWLINE
        elif byte == _OPEN:
            self._end_name()
            self._depth += 1
        elif byte == _CLOSE:
            self.is_complete = self._depth <= 1
            self._depth -= 1
        elif byte == _COMMENT or byte in _BLANKS:
            self._end_name()
            self._is_in_comment = byte == _COMMENT
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
