"""The tables of docs/api.md, made of the operations and of the codes of errors: `python -m tools.api_page PAGE`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from aiohttp import web

from server.api.operation import OPERATIONS, Operation
from server.api.problem import CODES
from server.app import add_api


def all_operations() -> list[Operation]:
    """Return every operation that the server has."""
    app = web.Application()
    add_api(app)
    return app[OPERATIONS]


def written(page: str) -> str:
    """Return *page* with its tables as they should be, each between `<!-- NAME -->` and `<!-- /NAME -->`."""
    operations = all_operations()
    parts = {one.tag: [other for other in operations if other.tag == one.tag] for one in operations}
    page = _replaced(page, "codes", _codes())
    for tag, those in parts.items():
        page = _replaced(page, f"operations {tag}", _operations(those))
    return page


def _replaced(page: str, name: str, lines: Iterable[str]) -> str:
    before, begin, rest = page.partition(f"<!-- {name} -->\n")
    end = f"<!-- /{name} -->"
    if not begin or end not in rest:
        raise ValueError(f"the page has no place for <!-- {name} -->")
    return "".join([before, begin, "\n".join(lines), "\n", end, rest.partition(end)[2]])


def _operations(operations: Iterable[Operation]) -> Iterator[str]:
    yield "| request | role | what |"
    yield "|---|---|---|"
    for one in sorted(operations, key=lambda one: (one.path, one.method)):
        role = "anybody" if one.role is None else one.role.word
        path = re.sub(r"\{(\w+)\}", lambda place: place[1].upper(), one.path)
        yield f"| `{one.method} {path}` | {role} | {one.summary} |"


def _codes() -> Iterator[str]:
    yield "| code | status | when |"
    yield "|---|---|---|"
    for name, code in sorted(CODES.items(), key=lambda one: (one[1].status, one[0])):
        yield f"| `{name}` | {code.status} | {code.meaning} |"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text("utf-8")), "utf-8")
