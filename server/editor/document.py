"""A rule file, or the description of a game, as an editor has it open: its text, places, and checks after a pause."""

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote, urlsplit

from lsprotocol.types import Position, PositionEncodingKind, Range

from gdl.checks import check
from gdl.diagnostics import LINE_END, Diagnostic, Source, Span
from gdl.editing.symbols import SymbolIndex, index_symbols
from gdl.errors import ChildProcessDiedError, LimitExceeded, UnknownNameError
from gdl.language.kif import ReadLimits
from gdl.language.rules import METADATA_SUFFIX, RULES_SUFFIX
from gdl.worker import ChildLimits, run_limited
from server.validating.validation import SMALL_CHARACTERS, ValidationOptions, check_description, check_file

_CODECS: Final = {
    PositionEncodingKind.Utf8.value: ("utf-8", 1),
    PositionEncodingKind.Utf16.value: ("utf-16-le", 2),
    PositionEncodingKind.Utf32.value: ("utf-32-le", 4),
}


class TextPositions:
    """The positions of one text, whose places are offsets in characters elsewhere.

    *Units*: columns are in UTF-16, if the editor wants no other *encoding*.

    Source: Language Server Protocol 3.17, Position.
    """

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16.value) -> None:
        self._text = text
        self._codec, self._unit_bytes = _CODECS.get(encoding, _CODECS[PositionEncodingKind.Utf16.value])
        ends = list(LINE_END.finditer(text))
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


INDEX_LIMITS: Final = ReadLimits(max_characters=1_000_000)
"""Of a larger file the names are not known: an editor waits for every answer."""


@dataclass(frozen=True, eq=False)
class Document:
    """One version of a text; what is asked of it is found out once. Columns count in units of `encoding`."""

    uri: str
    text: str
    version: int = 0
    encoding: str = PositionEncodingKind.Utf16.value

    @cached_property
    def source(self) -> Source:
        """The text, by the path of the file if it has one."""
        parts = urlsplit(self.uri)
        return Source(unquote(parts.path) if parts.scheme == "file" else self.uri, self.text)

    @property
    def is_toml(self) -> bool:
        """Whether it is no rule file, but perhaps the description of a game."""
        return self.source.name.lower().endswith(METADATA_SUFFIX)

    @cached_property
    def index(self) -> SymbolIndex:
        """Its names; TOML has none."""
        return index_symbols(Source(self.source.name, "") if self.is_toml else self.source, INDEX_LIMITS)

    @cached_property
    def positions(self) -> TextPositions:
        """Its places as the editor counts them."""
        return TextPositions(self.text, self.encoding)


LIMITS: Final = ChildLimits(max_seconds=10)
MAX_DIAGNOSTICS: Final = 500
"""How many diagnostics of a file the server publishes at most."""

Publish: TypeAlias = Callable[[Document, Sequence[Diagnostic]], None]
Tell: TypeAlias = Callable[[str], None]
Pause: TypeAlias = Callable[[float], Awaitable[None]]


def diagnose(document: Document) -> list[Diagnostic]:
    """Return what the static checks say of *document*; a large one is checked in a child process.

    A TOML file is checked, as `ggp validate` does, where a rule file of its name is beside it: it describes that game.

    Raises:
        LimitExceeded: time or memory ran out.
        ChildProcessDiedError: the child process ended without an answer.
    """
    if document.is_toml:
        return _of_description(document)[:MAX_DIAGNOSTICS]
    if len(document.text) <= SMALL_CHARACTERS:
        return check(document.source)[:MAX_DIAGNOSTICS]
    return run_limited(check, (document.source,), LIMITS)[:MAX_DIAGNOSTICS]


def _of_description(document: Document) -> list[Diagnostic]:
    rules = Path(document.source.name).with_suffix(RULES_SUFFIX)
    options = ValidationOptions(LIMITS.max_seconds)
    try:
        found = check_description(document.source, check_file(str(rules), options), options)
    except (OSError, UnknownNameError):  # without rules it is the configuration of something else
        return []
    return [] if found is None else list(found.diagnostics)


class Checking:
    """Checks every document some time after its last change, one at a time, and publishes what is found."""

    def __init__(self, publish: Publish, tell: Tell, delay_s: float, pause: Pause = asyncio.sleep) -> None:
        self._publish, self._tell = publish, tell
        self._delay_s, self._pause = delay_s, pause
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._worker = ThreadPoolExecutor(1, "checks")

    def changed(self, document: Document, *, is_opened: bool = False) -> None:
        """Have *document* checked after the pause, or at once where it *is_opened*; earlier versions are forgotten."""
        self.forget(document.uri)
        self._tasks[document.uri] = asyncio.create_task(self._check(document, 0 if is_opened else self._delay_s))

    def forget(self, uri: str) -> None:
        """Publish nothing more of what was said about the document so far."""
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """Check nothing more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _check(self, document: Document, delay_s: float) -> None:
        """Check *document* after *delay_s* in the worker thread, and publish the diagnostics."""
        if delay_s:
            await self._pause(delay_s)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._worker, diagnose, document)
        except (LimitExceeded, ChildProcessDiedError) as error:
            self._tell(f"{document.source.name} could not be checked: {error}")
        else:
            self._publish(document, found)
