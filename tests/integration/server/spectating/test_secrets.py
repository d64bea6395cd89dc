"""Before the end viewers see nothing that helps a player: each step compares everything public with the secrets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from server.match.profiles import Profile
from server.principal import Principal, Role
from server.records.codec import entry_json
from server.refusals import RequestError
from server.spectating.broadcast import Delay
from server.spectating.overview import Overview, page
from server.spectating.public_record import public_record, transcript
from server.spectating.state import StateView, state_at
from server.spectating.stream import feed
from server.storage.match_queries import MatchFilter
from tests.kit.server.scripted import library, start_of
from tests.kit.server.spectating.written_match import MATCH, OWNER, WrittenMatch, written_match

POKER = (("noop", "noop", "(deal queen king)"), ("check", "noop", "noop"), ("noop", "check", "noop"))
NOUGHTS = (("(mark 1 1)", "noop"), ("noop", "(mark 2 2)"), ("(mark 1 2)", "noop"))
CASES = {
    "imperfect": ("kuhnpoker", POKER, Profile()),
    "scrambled": ("tictactoe", NOUGHTS, Profile(is_scrambled=True)),
    "both": ("kuhnpoker", POKER, Profile(is_scrambled=True)),
}
SEEDS = {"seed": 918273645546372, "scrambleSeed": 564738291192837}


@pytest.fixture(params=CASES)
async def hidden(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[WrittenMatch]:
    name, moves, profile = CASES[request.param]
    async with written_match(tmp_path, library(name), moves, profile, SEEDS) as found:
        yield found


async def everything(played: WrittenMatch, viewer: Principal | None) -> list[Any]:
    """Return all that *viewer* can ask for and gets."""
    shown: list[Any] = [await public_record(played, MATCH)]
    shown += await page(played, MatchFilter(), None, 10)
    shown += await page(played, MatchFilter(game="turns"), None, 10)
    async for event in feed(played, MATCH, poll_s=0):
        shown.append(event.data)
        if event.number == played.n_written - 1:
            break
    async for _, listed in Overview(played).changes(0):
        shown.append(listed)
        break
    for role in start_of(played.journal).roles:
        shown.append(await said(transcript(played, MATCH, role, viewer)))
        for step in (0, 2):
            shown.append(await said(state_at(played, MATCH, step, viewer)))
            shown.append(await said(state_at(played, MATCH, step, viewer, role)))
    return shown


async def said(asking: Coroutine[Any, Any, StateView | list[dict[str, Any]]]) -> Any:
    try:
        answer = await asking
    except RequestError as error:
        return f"{error.code} {error.message} {error.hint}"
    return asdict(answer) if isinstance(answer, StateView) else answer


def leaves(value: Any) -> Iterator[str]:
    """Yield every text and number in a JSON value, keys too."""
    if isinstance(value, dict):
        yield from map(str, value)
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from leaves(part)
    else:
        yield str(value)


def secrets(played: WrittenMatch) -> set[str]:
    """Return what no viewer may see before the end."""
    found = {str(seed) for seed in SEEDS.values()}
    started = start_of(played.journal)
    if started.scrambling:
        found |= {*started.scrambling, *started.scrambling.values(), str(started.rules), started.rules_sha256}
        found |= {started.game, *started.roles}
    for entry in played.journal[1:]:
        told = ("state", "percepts", "text", "move", "moves")
        kept = {name: value for name, value in entry_json(entry).items() if name in told}
        found |= set(leaves(list(kept.values())))
    return found - {"", "None"}


@pytest.mark.sampled(2)
async def test_viewers_see_no_secret_while_a_hidden_match_is_played(hidden: WrittenMatch) -> None:
    kept = secrets(hidden)
    assert len(kept) > 15
    while hidden.n_written < len(hidden.journal):
        kind = hidden.journal[hidden.n_written].kind
        if kind in ("completed", "closed"):
            break
        await hidden.write(kind)
        if kind == "sent":  # the answer shows more
            continue
        shown = await everything(hidden, Principal("ada", Role.ADMIN))
        assert set(leaves(shown)) & kept == set()
        assert not [seed for seed in SEEDS.values() if str(seed) in json.dumps(shown)]


async def test_after_the_end_viewers_see_everything(hidden: WrittenMatch) -> None:
    await hidden.finish()
    shown = set(leaves([*await everything(hidden, None), await public_record(hidden, MATCH)]))
    assert secrets(hidden) - shown == set()


async def test_who_registered_a_player_sees_its_own_seat_and_no_other(tmp_path: Path) -> None:
    async with written_match(tmp_path, library("kuhnpoker"), POKER, Profile(), SEEDS) as played:
        await played.write("state", 3)
        owner = Principal(OWNER, Role.PLAYER)
        told = [await said(transcript(played, MATCH, role, owner)) for role in ("alice", "bob", "random")]
        assert [isinstance(lines, list) for lines in told] == [True, False, False]
        assert {line["role"] for line in told[0]} == {"alice"}
        views = [await said(state_at(played, MATCH, 1, owner, role)) for role in ("alice", "bob", "random")]
        assert (views[0]["facts"], list(views[0]["percepts"]), views[0]["moves"]) == (
            None,
            ["alice"],
            {"alice": "check"},
        )
        assert [view.partition(" ")[0] for view in views[1:]] == ["not_public_yet", "not_public_yet"]


async def test_who_registers_a_player_of_that_name_later_sees_nothing(tmp_path: Path) -> None:
    async with written_match(tmp_path, library("kuhnpoker"), POKER, Profile(), SEEDS) as played:
        await played.write("state", 3)
        await played.register_again("mallory")
        told = await said(transcript(played, MATCH, "alice", Principal("mallory", Role.PLAYER)))
        assert told.partition(" ")[0] == "not_public_yet"


async def test_the_owner_of_a_player_learns_no_role_of_a_scrambled_match(tmp_path: Path) -> None:
    name, moves, profile = CASES["scrambled"]
    async with written_match(tmp_path, library(name), moves, profile, SEEDS) as played:
        owner = Principal(OWNER, Role.PLAYER)
        before = await transcript(played, MATCH, "0", owner)
        await played.write("state", 2)
        told = [await said(transcript(played, MATCH, seat, owner)) for seat in ("x", "o", "red", "1", "2")]
    assert before == []
    assert [answer.partition(" ")[0] for answer in told] == ["not_public_yet"] * 5


async def test_the_owner_of_a_player_learns_no_role_of_a_scrambled_match_that_is_shown_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, moves, profile = CASES["scrambled"]
    monkeypatch.setattr("server.spectating.broadcast.delay_of", lambda _: Delay(is_to_end=True))
    async with written_match(tmp_path, library(name), moves, profile, SEEDS) as played:
        await played.write("state", 2)
        owner = Principal(OWNER, Role.PLAYER)
        told = {role: await said(state_at(played, MATCH, 1, owner, role)) for role in ("x", "o", "red")}
    assert told == dict.fromkeys(told, "not_public_yet what a role perceives is shown when the match is over ")


async def test_the_transcript_of_a_scrambled_seat_has_scrambled_names_alone(tmp_path: Path) -> None:
    name, moves, profile = CASES["scrambled"]
    async with written_match(tmp_path, library(name), moves, profile, SEEDS) as played:
        await played.write("state", 2)
        lines = await transcript(played, MATCH, "0", Principal(OWNER, Role.PLAYER))
        assert {key for line in lines for key in line} == {
            "direction", "at", "step", "message", "text", "elapsedMs", "error"
        }  # fmt: skip
