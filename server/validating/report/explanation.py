"""The page on one code, for people at a terminal: what it means, wrong and right."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator
from typing import Final

from rich.text import Text

from gdl.diagnostics import Code, codes
from gdl.errors import UnknownNameError
from server.validating.report.excerpt import plain

_WIDTH: Final = 100


def code_named(name: str) -> Code:
    """Return the code of that name, `gdl/unsafe-variable` or `unsafe-variable`.

    Raises:
        UnknownNameError: there is none; it suggests the nearest names.
    """
    found = codes().get(name) or codes().get(f"gdl/{name}")
    if found is None:
        near = difflib.get_close_matches(f"gdl/{name.removeprefix('gdl/')[:100]}", codes(), 2)
        raise UnknownNameError("code", name, near)
    return found


def explain(code: Code) -> Iterator[Text]:
    """Yield the lines of the page."""
    yield Text.assemble((code.title, "bold"), f" ({code.severity}, {code.name})")
    yield Text("")
    yield Text(textwrap.fill(code.explanation, _WIDTH))
    for title, style, example in (("Wrong", "red", code.wrong), ("Right", "green", code.right)):
        if example.strip():
            yield Text("")
            yield Text(f"{title}:", style)
            yield from (Text(f"    {plain(line)}") for line in example.strip().splitlines())
