"""Pages use nothing that the oldest browsers of docs/hosting.md do not know: Chrome 105, Firefox 121, Safari 15.5."""

from __future__ import annotations

import re
from typing import Final

import pytest

from server.web.static_files import static_files

NEWER: Final = {
    ".css": r"light-dark\(|@starting-style|@container|@scope|@layer|anchor\(|field-sizing|interpolate-size|^\s*&",
    ".js": r"withResolvers|fromAsync|groupBy|\.toSorted|\.toReversed|\.with\(|\.findLast|isSubsetOf|startViewTransition"
    r"|showPopover|structuredClone|\bwith \{ type|Iterator\.|Temporal\.|/v[;,)]|scrollend|URL\.parse|AbortSignal\.any",
}


@pytest.mark.parametrize("kind", NEWER)
def test_pages_use_what_the_oldest_browsers_know(kind: str) -> None:
    of_kind = {name: body.decode() for name, body in static_files().items() if name.endswith(kind)}
    bare = {name: re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL) for name, text in of_kind.items()}
    found = [(name, word) for name, text in bare.items() for word in re.findall(NEWER[kind], text, re.MULTILINE)]
    assert found == []
