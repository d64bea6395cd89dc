"""The link to a player, whatever it is made of: one message goes out, one reply comes back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Protocol

from gdl.language.kif import BLANK, COMMENT, NAME_CHARACTER
from gdl.language.terms import Term
from gdl.wire.insights import MAX_INSIGHT

MAX_REPLY_BYTES: Final = 64 * 1024
MAX_FAILURE: Final = 1_000
"""How many characters are kept of what a player tells of its own failure."""
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_OPEN, _CLOSE = b"()"
# Without `)*+`, after which Python before 3.11.5 has skipped a part of what does not match.
_GAP: Final = re.compile(rf"(?:{BLANK}++|(?>{COMMENT})[\r\n])*".encode())
_NAME: Final = re.compile(f"{NAME_CHARACTER}*+".encode())
_COMMENT: Final = re.compile(COMMENT.encode())
_LINE: Final = re.compile(rb"[^\r\n]*+")
_LEVELS: Final = [(byte == _OPEN) - (byte == _CLOSE) for byte in range(256)]
"""By how many levels a byte goes deeper."""


@dataclass(frozen=True, slots=True)
class PlayerRequest:
    """A message on its way: its text, and the match and step that it belongs to (for headers).

    `answered` is what was answered to the same message before, perhaps to another process of the game manager or by
    another one of the player: a player that lacks the step takes it in, and need not think about it again. `limit_s` is
    how long the reply is waited for; the last `grace_s` of it are for the way, and the messages leave them out.
    `legal_moves` are those that the role has, and no other's; nothing but for PLAY.
    *Units*: seconds.
    """

    text: str
    match_id: str = ""
    step: int = 0
    answered: str | None = None
    limit_s: float | None = None
    legal_moves: Sequence[Term] = ()
    grace_s: float = 0.0

    @property
    def clock_s(self) -> float | None:
        """How long the player may think, as its messages say."""
        return None if self.limit_s is None else max(0.0, self.limit_s - self.grace_s)


class ReplyBuffer:
    """What has come of a reply, at most *limit_bytes* of it, and whether its first term is complete.

    A list ends at its parenthesis, a name at the blank after it; the link knows of the end of the whole reply. Each
    byte is looked at once, however small the pieces are.
    """

    def __init__(self, limit_bytes: int = MAX_REPLY_BYTES) -> None:
        self.raw = bytearray()
        self.is_complete = False
        self.is_cut = False
        self.failure = self.insight = self.hint = ""
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

    def note_insight(self, text: str) -> None:
        """Keep what the player tells of its thoughts, beside its reply, as it came; what is too long is dropped."""
        self.insight = text if len(text) <= MAX_INSIGHT else ""

    def note_failure(self, text: str) -> None:
        """Keep what the player tells of its own failure, beside its reply."""
        self.failure = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:MAX_FAILURE])

    def note_hint(self, text: str) -> None:
        """Keep what the link takes for the cause if no reply comes in time; it is for people."""
        self.hint = text

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
                i = end_of(_LINE, data, i)
                self._is_in_comment = i == len(data)
            elif self._depth:
                i = self._scan_list(data, i)
            elif self._is_in_name:
                end = end_of(_NAME, data, i)
                # After a name one byte is needed, however many blanks there are.
                self.is_complete = end < len(data)
                i = min(end + 1, len(data))
            else:
                i = self._scan_gap(data, i)
        return i

    def _scan_list(self, data: bytes, start: int) -> int:
        """Look for the end of the open list, without a step of Python for each of its tokens."""
        text = _COMMENT.sub(b"", data[start:])
        n_closing = text.count(b")")
        if n_closing >= self._depth:  # else the list cannot end here, as in most of what floods
            depths = list(accumulate(map(_LEVELS.__getitem__, text), initial=self._depth))
            if 0 in depths:
                self._depth, self.is_complete = 0, True
                return start + _length_with_comments(data[start:], depths.index(0))
        self._depth += text.count(b"(") - n_closing
        last_line = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        self._is_in_comment = b";" in data[max(start, last_line) :]
        return len(data)

    def _scan_gap(self, data: bytes, start: int) -> int:
        """Look for what comes after blanks and comments: a list, a name, a parenthesis that closes nothing."""
        i = end_of(_GAP, data, start)
        first = data[i : i + 1]
        if first == b";":
            self._is_in_comment = True
        elif first == b"(":
            self._depth = 1
        elif first == b")":
            self.is_complete = True
        elif first:
            self._is_in_name = True
        return min(i + 1, len(data))


def _length_with_comments(data: bytes, n_bytes: int) -> int:
    """Return where in *data* the first *n_bytes* outside comments end."""
    i = 0
    while (comment := _COMMENT.search(data, i, i + n_bytes)) is not None:
        n_bytes -= comment.start() - i
        i = end_of(_COMMENT, data, comment.start())
    return i + n_bytes


def end_of(pattern: re.Pattern[bytes], data: bytes, start: int) -> int:
    """Return where in *data* ends what *pattern* matches at *start*, as it does there for certain."""
    found = pattern.match(data, start)
    assert found is not None
    return found.end()


class PlayerLink(Protocol):
    """The way to one player, open for one match."""

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:
        """Send *request* and fill *reply* until it has enough or the player has ended it.

        May be cancelled at any time, and leaves nothing behind that would hold up the next request.

        Raises:
            OSError: the connection failed.
            RemotePlayerError: what came is no reply.
        """

    async def close(self) -> None:
        """Let go of everything that the link holds."""


class NoLink:
    """A link to a player that cannot be reached, for *reason*, which the record says."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def deliver(self, request: PlayerRequest, reply: ReplyBuffer) -> None:  # noqa: ARG002 -- the protocol's signature
        """Fail.

        Raises:
            OSError: always.
        """
        raise OSError(self._reason)

    async def close(self) -> None:
        """Do nothing: nothing is held."""
