"""While a hidden match is played no address of the server tells what helps a player, not even an administrator."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientTimeout, web

from server.records.entries import AnsweredEntry, Entry, SentEntry, StateEntry, StepEntry
from tests.kit.polling import until
from tests.kit.server.api.fixtures import answering
from tests.kit.server.api.whole_server import Client, manager_of, ordered, record
from tests.kit.server.scripted import start_of
from tests.kit.server.web.markup import folded, without_tags

STREAMS = ("/events", "/requests", "/letters")
CASES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "scrambled": ("tictactoe", ("x", "o"), {"scramble": True}),
    "imperfect": ("kuhnpoker", ("alice", "bob"), {}),
    "both": ("kuhnpoker", ("alice", "bob"), {"scramble": True}),
}
OF_GAMES = ("/api/v1/games", "/base/games", "/games", "/start")
"""Addresses that tell of all games, whatever is played."""


@pytest.fixture
async def slower() -> AsyncIterator[str]:
    """Yield the address of a player that answers its first PLAY, and thinks about the second."""
    n_asked: dict[str, int] = {}

    async def answer(request: web.Request) -> web.Response:
        words = (await request.text()).split(maxsplit=2)
        if words[0] != "(PLAY":
            return web.Response(text="ready")
        seat = f"{words[1]} {request.path}"
        n_asked[seat] = n_asked.get(seat, 0) + 1
        if n_asked[seat] > 1:
            await asyncio.sleep(60)
        return web.Response(text="noop")

    async with answering(answer) as address:
        yield address


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
async def test_no_address_tells_a_secret(client: Client, slower: str, case: str) -> None:
    game, roles, how = CASES[case]
    always = "".join([folded(await body(client, path)) for path in addresses(client, "none", roles, streams=())])
    url = await ordered(client, game=game, players={role: f"{slower}{role}" for role in roles}, **how)
    await second_state(client, url)
    match_id = url.rpartition("/")[2]
    told = {path: await body(client, path) for path in addresses(client, match_id, (*roles, "random"))}
    # A scrambled name may happen to be a word.
    kept = {secret for secret in await secrets(client, match_id) if secret not in always}
    assert len(kept) >= 8
    leaks = [(path, secret) for path, text in told.items() for secret in kept if tells(text, secret)]
    assert (leaks, len(told) > 40) == ([], True)


async def second_state(client: Client, url: str) -> None:
    """Wait until the match has made a step."""

    async def is_there() -> bool:
        return len((await record(client, url, "running"))["stateTimes"]) > 1

    await until(is_there, 30)


def addresses(client: Client, match_id: str, roles: tuple[str, ...], streams: tuple[str, ...] = STREAMS) -> list[str]:
    """Return every address of the server that is read with GET, with what may stand in it; but no rules of games.

    Of the addresses that answer with a stream only those that end with one of *streams*.
    """
    app = client.app
    assert app is not None
    fillings: dict[str, list[str]] = {
        "match_id": [match_id], "id": [match_id], "role": list(roles), "step": ["0", "1", "2"], "number": ["0"],
        "feed": ["updatedFeed.json", "updatedFeed.atom", "completedFeed.json"], "name": ["unnamed"],
        "entrant": ["nobody"], "other": ["random"], "game": ["tictactoe"], "import_id": ["nosuch"],
    }  # fmt: skip
    found = []
    for route in app.router.routes():
        path = "" if route.resource is None else route.resource.canonical
        is_left_out = path.startswith(OF_GAMES) or (path.endswith(STREAMS) and not path.endswith(streams))
        if route.method == "GET" and not is_left_out:
            found += _filled(path, fillings)
    found += [f"{path}?role={role}" for path in found if "/states/" in path for role in roles]
    return found + [f"/matches/{match_id}?step={step}" for step in range(3)]


def _filled(path: str, fillings: dict[str, list[str]]) -> list[str]:
    place = re.search(r"\{(\w+)\}", path)
    if place is None:
        return [path]
    return [one for text in fillings[place[1]] for one in _filled(path.replace(place[0], text), fillings)]


async def body(client: Client, path: str) -> str:
    """Return what *path* answers, headers and all; of a stream what comes within a moment."""
    text = ""
    try:
        async with client.get(path, timeout=ClientTimeout(total=1.5 if path.endswith(STREAMS) else 20)) as answer:
            assert answer.status < 500
            text = str(answer.headers)
            async for piece in answer.content.iter_any():
                text += piece.decode(errors="replace")
    except TimeoutError:
        assert path.endswith(STREAMS)
    return text


async def secrets(client: Client, match_id: str) -> set[str]:
    """Return what no caller may see while the match is played."""
    manager = manager_of(client)
    row, entries = await manager.matches.get(match_id), await manager.journals.entries(match_id)
    assert row is not None
    started = start_of(entries)
    found = {str(row.order["seed"]), str(row.order["scrambleSeed"])}
    told = {folded(text) for entry in entries[1:] for text in _hidden(entry) if "(" in text}
    if not started.scrambling:  # everybody knows the rules
        return found | {text for text in told if text not in folded(str(started.rules))}
    names = {name for name in started.scrambling if not name.startswith("?")}
    sentences = {f"({name}" for name in names if len(name) > 3}
    return found | told | sentences | {*started.scrambling.values(), started.rules_sha256}


def _hidden(entry: Entry) -> list[str]:
    """Return the facts, percepts, moves and messages of *entry*; the first state follows from the rules."""
    match entry:
        case StateEntry() if entry.step > 0:
            facts = re.findall(r"\( [^()]+ \)", entry.state[2:-2])
            return [*facts, *(text for seen in entry.percepts or () for text in seen)]
        case StepEntry():
            return list(entry.moves or ())
        case SentEntry():
            return [entry.text]
        case AnsweredEntry():
            return [entry.text, entry.move or ""]
        case _:
            return []


def tells(text: str, secret: str) -> bool:
    """Return whether *text* has *secret*: a word as such, not as the end of one and the beginning of the next."""
    if not secret.isalnum():
        return secret in folded(text)
    return re.search(f"(?<![a-z0-9]){secret}(?![a-z0-9])", without_tags(text, " "), re.IGNORECASE) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("<b>renope</b>", True), ('{"move": "renope"}', True), ("(renope 1)", True), ("there no pen", False)],
)
def test_a_text_tells_a_name_only_as_a_word(text: str, expected: bool) -> None:
    assert tells(text, "renope") is expected
