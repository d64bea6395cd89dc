"""Places as editors count them: lines, and columns in the units of an encoding, both from 0."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from lsprotocol.types import Position, PositionEncodingKind, Range

from gdl.source import Span

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_CODECS: Final = {
    PositionEncodingKind.Utf8.value: ("utf-8", 1),
    PositionEncodingKind.Utf16.value: ("utf-16-le", 2),
    PositionEncodingKind.Utf32.value: ("utf-32-le", 4),
}


class Positions:
    """The positions of one text, whose places are offsets in characters elsewhere.

    *Units*: columns are in UTF-16, if the editor wants no other *encoding*.

    Source: Language Server Protocol 3.17, Position.
    """

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16.value) -> None:
        self._text = text
        self._codec, self._unit_bytes = _CODECS.get(encoding, _CODECS[PositionEncodingKind.Utf16.value])
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._ends = [*(end.start() for end in ends), len(text)]

    def offset(self, position: Position) -> int:
        """Return the offset of *position*; behind the end of a line it is that end, behind the text the text's."""
        if position.line >= len(self._starts):
            return len(self._text)
        start = self._starts[position.line]
        line = self._text[start : self._ends[position.line]]
        before = line.encode(self._codec, "surrogatepass")[: position.character * self._unit_bytes]
        return start + len(before.decode(self._codec, "ignore"))

    def position(self, offset: int) -> Position:
        """Return the position of *offset*."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : min(offset, self._ends[line])]
        return Position(line, len(before.encode(self._codec, "surrogatepass")) // self._unit_bytes)

    def range(self, span: Span) -> Range:
        """Return the range of *span*."""
        return Range(self.position(span.start), self.position(span.end))

    @property
    def whole(self) -> Range:
        """The range of the whole text."""
        return Range(Position(0, 0), self.position(len(self._text)))
