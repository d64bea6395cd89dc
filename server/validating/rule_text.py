"""Rule files as text to edit: read with its encoding, written back whole or not at all, compared line by line."""

import difflib
import io
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import click

from gdl.diagnostics import Source, Span, escaped
from gdl.files import PRIVATE, replacing
from gdl.games.library import find_game
from gdl.language.kif import DEFAULT_LIMITS, ReadLimits, too_large

STANDARD_INPUT: Final = "-"
_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True)
class RuleText:
    """A rule file that may be written back: `path` is None for standard input."""

    path: Path | None
    source: Source
    encoding: str

    def write(self, text: str) -> None:
        """Put *text* in the place of the file, whole or not at all; standard input is answered on standard output.

        Raises:
            OSError: it cannot be written; the file is then as it was.
        """
        raw = text.encode(self.encoding)
        if self.path is None:
            sys.stdout.buffer.write(raw)
            sys.stdout.flush()
        else:
            _replace(self.path.resolve(), raw)

    def show_difference(self, text: str) -> None:
        """Print a unified diff from the file to *text*: its bytes, for `patch`, or coloured lines on a terminal."""
        is_patch = not sys.stdout.isatty()
        for line in self._difference(text):
            click.echo(line if is_patch else _coloured(line.decode(self.encoding, "replace")))

    def _difference(self, text: str) -> Iterator[bytes]:
        name = os.fsencode(self.source.name)
        before, after = (io.BytesIO(whole.encode(self.encoding)).readlines() for whole in (self.source.text, text))
        for line in difflib.diff_bytes(difflib.unified_diff, before, after, name, name):
            yield line.removesuffix(b"\n")
            if not line.endswith(b"\n"):
                yield b"\\ No newline at end of file"


def _coloured(line: str) -> str:
    return click.style("\t".join(map(escaped, line.split("\t"))), fg=_COLOURS.get(line[:1]))


def check_one_input(names: Sequence[str]) -> None:
    """Look that standard input, which can be read but once, is at most once among the files *names*.

    Raises:
        click.UsageError: it is there several times.
    """
    if names.count(STANDARD_INPUT) > 1:
        raise click.UsageError("- is standard input, which can be read once: name it once")


def read_rule_text(name: str, limits: ReadLimits = DEFAULT_LIMITS) -> RuleText:
    """Return the text of a game of the library, of the rule file at a path, or of standard input, called `-`.

    Raises:
        OSError: it cannot be read.
        KifSyntaxError: it is larger than *limits* allow.
        UnknownNameError: there is no such game or file.
    """
    if name == STANDARD_INPUT:
        return _decoded(None, "<stdin>", _read(sys.stdin.buffer, "<stdin>", limits))
    path = find_game(name).path
    with path.open("rb") as file:
        return _decoded(path, str(path), _read(file, str(path), limits))


def _read(file: BinaryIO, name: str, limits: ReadLimits) -> bytes:
    most = 4 * limits.max_characters
    raw = file.read(most + 1)
    if len(raw) > most:
        message = f"the file has more than {limits.max_characters:,} characters"
        raise too_large(message, Span(Source(name, ""), 0, 0))
    return raw


def _decoded(path: Path | None, name: str, raw: bytes) -> RuleText:
    encoding = "utf-8-sig" if raw.startswith(b"\xef\xbb\xbf") else "utf-8"
    try:
        return RuleText(path, Source(name, raw.decode(encoding)), encoding)
    except UnicodeDecodeError:
        return RuleText(path, Source(name, raw.decode("latin-1")), "latin-1")


def _replace(path: Path, raw: bytes) -> None:
    """Replace the content of *path* by *raw* in one step; on failure the file stays as it was."""
    with replacing(path, PRIVATE) as temporary:
        temporary.write_bytes(raw)
        shutil.copymode(path, temporary)
