"""The states of a match as each viewer may see them: all that is told of a step, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import pytest

from gdl.language.rules import read_rules
from server.principal import Principal, Role
from server.records.entries import CompletedEntry, Entry, StepEntry
from server.records.errors import MatchRecordError
from server.refusals import RequestError
from server.spectating.state import StateView, state_at
from server.storage.rows import PlayerRow, SeatKind
from tests.kit.server.scripted import START_MS, TURNS_MOVES, turns
from tests.kit.server.spectating.guesses import DEAL, GUESS, PERCEPTS, SAY, delayed, journal
from tests.kit.server.spectating.written_match import MATCH, OWNER, WrittenMatch, written_match

LEFT = Principal("carol", Role.PLAYER)
"""Who registered the player of `left`."""
REFUSED = ("not_public_yet", 403)
ROLES = ("random", "left", "right")
DEALT: Final[dict[str, dict[str, Any]]] = {
    "moves": {"random": "( deal ace )", "left": "noop", "right": "noop"},
    "errors": {"random": "TO", "left": "", "right": ""},
    "thinking_ms": {"random": None, "left": 5, "right": 5},
    "origins": {"random": "chance", "left": "player", "right": "player"},
}
SAID: Final[dict[str, dict[str, Any]]] = {
    "moves": {"random": "noop", "left": "( say ace )", "right": "( say king )"},
    "errors": {"random": "", "left": "", "right": ""},
    "thinking_ms": {"random": None, "left": 5, "right": 5},
    "origins": {"random": "chance", "left": "player", "right": "player"},
}
SEEN: Final[dict[str, Any]] = {"percepts": dict.fromkeys(ROLES, ("( dealt ace )",))}
FACTS: Final[list[dict[str, Any]]] = [
    {"facts": ("(at 0)",)},
    {"facts": ("(at 1)", "(dealt ace)")},
    {"facts": ("(at 2)", "(dealt ace)")},
]


def of(told: dict[str, dict[str, Any]], *roles: str) -> dict[str, Any]:
    """Return what is *told* of these roles alone."""
    return {name: {role: value for role, value in by_role.items() if role in roles} for name, by_role in told.items()}


def told(view: StateView) -> dict[str, Any]:
    """Return all of *view* that there is, without what is the same in all steps."""
    left_out = ("match_id", "step", "n_steps", "roles", "at_ms")
    return {name: value for name, value in asdict(view).items() if name not in left_out and value is not None}


async def asked(
    played: WrittenMatch, step: int, viewer: Principal | None = None, role: str | None = None
) -> dict[str, Any] | tuple[str, int]:
    try:
        return told(await state_at(played, MATCH, step, viewer, role))
    except RequestError as error:
        return error.code, error.status


@asynccontextmanager
async def guessing(folder: Path, percepts: str = "no say is seen") -> AsyncIterator[WrittenMatch]:
    """Yield a match of which every role knows the first two states, played to its third."""
    async with written_match(folder, read_rules(GUESS + PERCEPTS[percepts]), (DEAL, SAY)) as played:
        played.journal[1:] = journal(percepts)[1:]
        await played.players.put(PlayerRow("player-1", SeatKind.DIAL_IN, LEFT.name, START_MS - 2))
        await played.write("state", 3)
        yield played


@pytest.mark.parametrize("is_over", [False, True])
async def test_all_is_told_of_a_match_in_which_nothing_is_hidden(tmp_path: Path, is_over: bool) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        await played.write("state", 3)
        if is_over:
            await played.finish()
        views = [await state_at(played, MATCH, step) for step in range(3)]
        of_role = [await state_at(played, MATCH, step, None, "b") for step in range(3)]
    times = [START_MS + 1, START_MS + 12, START_MS + 18]
    moves = ({"a": "go", "b": "noop"}, {"a": "noop", "b": "( jump 1 )"})
    thinking: dict[str, int | None] = {"a": 5, "b": 5}
    assert of_role == views
    assert views == [
        StateView(
            MATCH, 0, 2, ("a", "b"), times[0], ("(at 0)", "(control a)"), None, moves[0],
            {"a": "TO", "b": ""}, thinking, {"a": "substitute", "b": "player"},
        ),
        StateView(
            MATCH, 1, 2, ("a", "b"), times[1], ("(at 1)", "(control b)"), None, moves[1],
            {"a": "", "b": ""}, thinking, {"a": "player", "b": "player"},
        ),
        StateView(
            MATCH, 2, 2, ("a", "b"), times[2], ("(at 2)", "(control a)"), goals={"a": 100, "b": 0} if is_over else None,
        ),
    ]  # fmt: skip


async def test_while_a_hidden_match_is_played_all_see_what_every_role_knows(tmp_path: Path) -> None:
    async with guessing(tmp_path) as played:
        shown = [await asked(played, step) for step in range(4)]
        of_role = [await asked(played, step, Principal("ada", Role.ADMIN), "left") for step in range(4)]
    # What is done in the second state not all know, since not all know what becomes of it.
    assert shown == [FACTS[0] | DEALT, FACTS[1] | SEEN | of(SAID), REFUSED, REFUSED]
    assert of_role == shown


async def test_while_a_hidden_match_is_played_its_owner_sees_what_a_player_did_and_perceived(tmp_path: Path) -> None:
    async with guessing(tmp_path) as played:
        shown = [await asked(played, step, LEFT, "left") for step in range(3)]
        others = [await asked(played, step, LEFT, "right") for step in range(3)]
    assert shown == [FACTS[0] | DEALT, FACTS[1] | SEEN | of(SAID, "left"), {"percepts": {"left": ()}}]
    assert others == [FACTS[0] | DEALT, FACTS[1] | SEEN | of(SAID), REFUSED]


async def test_after_the_end_all_see_everything(tmp_path: Path) -> None:
    async with guessing(tmp_path) as played:
        await played.finish()
        shown = [await asked(played, step) for step in range(3)]
    nothing: dict[str, Any] = {"percepts": dict.fromkeys(ROLES, ())}
    assert shown == [FACTS[0] | DEALT, FACTS[1] | SEEN | SAID, FACTS[2] | nothing]


@pytest.mark.parametrize("viewer", [None, LEFT])
async def test_after_the_end_all_see_what_each_role_knew(tmp_path: Path, viewer: Principal | None) -> None:
    async with guessing(tmp_path) as played:
        await played.finish()
        shown = {role: [await asked(played, step, viewer, role) for step in range(3)] for role in ROLES}
    assert shown == {
        role: [FACTS[0] | DEALT, FACTS[1] | SEEN | of(SAID, role), {"percepts": {role: ()}}] for role in ROLES
    }


async def test_percepts_are_those_of_the_step_before(tmp_path: Path) -> None:
    async with guessing(tmp_path, "one sees no deal") as played:
        await played.finish()
        shown = [await asked(played, step, None, "left") for step in range(3)]
    dealt = "( dealt ace )", "( did left noop )", "( did right noop )"
    said = "( did left ( say ace ) )", "( did right ( say king ) )"
    assert shown == [
        FACTS[0] | of(DEALT, "left"),
        of(SAID, "left") | {"percepts": {"left": dealt}},
        {"percepts": {"left": said}},
    ]


async def test_who_registered_a_player_does_not_wait_for_the_broadcast(tmp_path: Path) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        await delayed(played, "end")
        await played.write("state", 3)
        others = [await asked(played, 2, LEFT, "a"), await asked(played, 2, LEFT)]
        own = await asked(played, 2, Principal(OWNER, Role.PLAYER), "a")
    assert others == [("unknown_step", 404)] * 2
    assert own == {"facts": ("(at 2)", "(control a)")}


async def test_what_there_is_not_is_named(tmp_path: Path) -> None:
    async def refused(step: int, role: str | None = None) -> tuple[str, str, int]:
        with pytest.raises(RequestError) as caught:
            await state_at(played, MATCH, step, None, role)
        return caught.value.code, caught.value.message, caught.value.status

    async with guessing(tmp_path) as played:
        hidden = [await refused(2), await refused(2, "left")]
        await played.finish()
        found = [await refused(-1), await refused(3), await refused(0, "z" * 200)]
    assert hidden == [
        ("not_public_yet", "what happens in this match is shown when the match is over", 403),
        ("not_public_yet", "what a role perceives is shown when the match is over", 403),
    ]
    assert found == [
        ("unknown_step", "the match has no state of step -1", 404),
        ("unknown_step", "the match has no state of step 3", 404),
        ("unknown_seat", f"the match has no role '{'z' * 100}'", 404),
    ]


async def test_a_match_that_has_not_begun_has_no_state(tmp_path: Path) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        assert await asked(played, 0) == ("unknown_step", 404)


def of_one_role(entry: Entry) -> Entry:
    """Return *entry* as it is where a journal tells of one role too few."""
    match entry:
        case StepEntry():
            return replace(entry, elapsed_ms=entry.elapsed_ms[:1])
        case CompletedEntry():
            return replace(entry, goals=entry.goals[:1])
        case _:
            return entry


@pytest.mark.parametrize("step", [0, 2])
async def test_a_journal_that_does_not_tell_of_every_role_is_damaged(tmp_path: Path, step: int) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        played.journal[:] = map(of_one_role, played.journal)
        await played.write("completed")
        with pytest.raises(MatchRecordError) as caught:
            await state_at(played, MATCH, step)
    assert caught.value.where == f"the journal of match {MATCH}"
