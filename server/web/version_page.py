"""The page of what differs between two versions of a game's rules."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from aiohttp import web

from gdl.editing.differences import RuleChange, RuleDifference, changed_lines, difference
from gdl.language.rules import Description, Rule
from server.api.operation import MANAGER
from server.errors import RequestError
from server.match.referee import in_own_thread
from server.storage.games import title_of
from server.web.boards import rule_book
from server.web.rendering import render
from server.web.validation_page import plain

_MOST_CHANGES: Final = 200
_MOST_LINES: Final = 100
_MOST_LINES_IN_ALL: Final = 5_000
"""After the change that reaches so many lines the others are only counted: the page is filled on the event loop."""
_MOST_CHARACTERS: Final = 10_000
"""How much of each rule is shown at most."""
_SIGNS: Final = {"-": "removed", "+": "added"}


async def show_difference(request: web.Request) -> web.Response:
    """Show which rules differ by meaning between the versions `old` and `new` that the query names."""
    name = request.match_info["name"]
    versions = {version.sha256: version for version in await request.app[MANAGER].games.versions(name)}
    old, new = (versions.get(request.query.get(key, "")) for key in ("old", "new"))
    if old is None or new is None:
        raise RequestError("unknown_game", f"the game {name[:100]!r} has no such two versions", "", 404)
    before, now = (await rule_book(old)).description, (await rule_book(new)).description
    found, changes = await in_own_thread(partial(compared, before, now))
    return render(
        request,
        "difference.html",
        old=old,
        new=new,
        title=title_of(new),
        n_same=found.n_same,
        counts=[(len(found.of_kind(kind)), kind) for kind in ("added", "removed", "changed")],
        changes=changes,
        n_more=len(found.changes) - len(changes),
    )


def compared(old: Description, new: Description) -> tuple[RuleDifference, list[dict[str, Any]]]:
    """Return what differs, and what the template shows of the first changes."""
    found, shown = difference(old, new), list[dict[str, Any]]()
    n_lines = 0
    for change in found.changes[:_MOST_CHANGES]:
        if n_lines >= _MOST_LINES_IN_ALL:
            break
        shown.append(_shown(change))
        n_lines += len(shown[-1]["lines"])
    return found, shown


def _shown(change: RuleChange) -> dict[str, Any]:
    """Return what the template shows of *change*: where the rule is, and its lines with what became of each."""
    old, new = (_first_lines(rule) for rule in (change.old, change.new))
    return {
        "kind": change.kind,
        "relation": plain(change.relation),
        "places": [
            f"line {rule.span.line} {which}"
            for rule, which in ((change.old, "before"), (change.new, "now"))
            if rule is not None
        ],
        "lines": [(_SIGNS.get(line[0], ""), line[0], plain(line[1:])) for line in changed_lines(old, new)],
    }


def _first_lines(rule: Rule | None) -> list[str]:
    return [] if rule is None else rule.span.text[:_MOST_CHARACTERS].split("\n")[:_MOST_LINES]
