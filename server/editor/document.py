"""A rule file as an editor has it open: one version of its text, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import unquote, urlsplit

from lsprotocol.types import PositionEncodingKind

from gdl.editing.symbols import SymbolIndex, index_symbols
from gdl.kif import ReadLimits
from gdl.source import Source
from server.editor.positions import Positions

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

    @cached_property
    def index(self) -> SymbolIndex:
        """Its names."""
        return index_symbols(self.source, INDEX_LIMITS)

    @cached_property
    def positions(self) -> Positions:
        """Its places as the editor counts them."""
        return Positions(self.text, self.encoding)
