"""The record of a match as the public may see it, before it begins, while it is played, and after; and transcripts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from gdl.language.rules import read_rules
from server.errors import UnknownMatchError
from server.match.profiles import Profile
from server.principal import Principal, Role
from server.records.entries import AnsweredEntry, StateEntry
from server.refusals import RequestError
from server.spectating import public_record as module
from server.spectating.public_record import is_id, known_match, public_record, public_record_text, transcript
from server.storage.rows import MatchStatus, SeatKind
from tests.kit.server.scripted import START_MS, TURNS_MOVES, turns
from tests.kit.server.spectating.guesses import DEAL, GUESS, PERCEPTS, SAY, delayed, journal
from tests.kit.server.spectating.written_match import MATCH, OWNER, WrittenMatch, written_match
from tests.kit.server.storage.samples import keep

OWN: Final = Principal(OWNER, Role.PLAYER)
OTHERS: Final = [None, Principal("mallory", Role.PLAYER), Principal("ada", Role.ADMIN)]
FAILURE: Final = "NoLegalMoveError: in (at 3)"


@pytest.fixture
async def scrambled(tmp_path: Path) -> AsyncIterator[WrittenMatch]:
    async with written_match(tmp_path, turns(), TURNS_MOVES, Profile(is_scrambled=True)) as found:
        yield found


async def change(played: WrittenMatch, **values: Any) -> None:
    """Change the row of the match, whose second role a person plays who has not come."""
    row = await played.matches.find(MATCH)
    assert row is not None
    seats = (await played.matches.seats([MATCH]))[MATCH]
    await played.matches.delete(MATCH)
    await keep(played.matches, replace(row, **values), [seats[0], replace(seats[1], kind=SeatKind.HUMAN)])


ENDED: Final = {"abort_reason": FAILURE, "ended_ms": 9}
WAITING: Final = {"matchId": MATCH, "isCompleted": False, "isAborted": False}
OVER: Final = {"matchId": MATCH, "isCompleted": False, "isAborted": True}


@pytest.mark.parametrize(
    ("values", "record"),
    [
        ({"status": MatchStatus.QUEUED}, WAITING | {"x-status": "queued"}),
        ({"status": MatchStatus.LOBBY}, WAITING | {"x-status": "lobby", "x-missing": ["b"]}),
        ({"status": MatchStatus.LOBBY, "is_hidden": True}, WAITING | {"x-status": "lobby", "x-missing": ["b"]}),
        ({"status": MatchStatus.RUNNING}, WAITING | {"x-status": "starting"}),
        ({"status": MatchStatus.ABORTED, "ended_ms": 9}, OVER | {"x-status": "aborted"}),
        *(
            ({"status": status} | ENDED, OVER | {"x-status": how, "x-end": {"how": how, "at": 9, "reason": FAILURE}})
            for status, how in ((MatchStatus.ABORTED, "aborted"), (MatchStatus.FAILED, "failed"))
        ),
    ],
)
async def test_of_a_match_that_has_not_begun_the_record_says_what_it_waits_for_or_why_it_ended(
    played: WrittenMatch, values: dict[str, Any], record: dict[str, Any]
) -> None:
    await change(played, **values)
    assert await public_record(played, MATCH) == record


async def test_of_a_scrambled_match_that_has_not_begun_no_role_is_named(scrambled: WrittenMatch) -> None:
    await change(scrambled, status=MatchStatus.LOBBY)
    assert await public_record(scrambled, MATCH) == WAITING | {"x-status": "lobby"}


async def test_the_record_of_a_match_that_is_shown_late_says_so_until_its_end(played: WrittenMatch) -> None:
    before = await public_record(played, MATCH)
    await delayed(played, "3 steps")
    await played.write("state", 3)
    late = await public_record(played, MATCH)
    await played.finish()
    after = await public_record(played, MATCH)
    assert ["x-delay" in record for record in (before, late, after)] == [False, True, False]
    assert (late["x-delay"], late["x-status"]) == ("3 steps", "running")


async def test_the_record_of_a_match_that_is_shown_live_tells_of_no_delay(played: WrittenMatch) -> None:
    await played.write("state", 2)
    record = await public_record(played, MATCH)
    assert (record["x-status"], "x-delay" in record) == ("running", False)


async def test_a_record_has_the_steps_of_the_seconds_before_its_delay(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    await delayed(played, "60 s")
    await played.write("state", 3)
    times = [entry.at_ms for entry in played.journal if isinstance(entry, StateEntry)]
    shown = []
    for at_ms in times:
        monkeypatch.setattr("server.spectating.broadcast.now_ms", lambda at_ms=at_ms: at_ms + 60_000)
        shown.append((await public_record(played, MATCH))["stateTimes"])
    assert shown == [times[:1], times[:2], times]


async def test_of_a_hidden_match_the_record_has_what_all_roles_know(tmp_path: Path) -> None:
    shown = []
    async with written_match(tmp_path, read_rules(GUESS + PERCEPTS["no say is seen"]), (DEAL, SAY)) as played:
        played.journal[1:] = journal("no say is seen")[1:]
        for kind in ("started", "state", "state", "state"):
            await played.write(kind)
            record = await public_record(played, MATCH)
            shown.append((record.get("states"), record.get("moves")))
    states = ["( ( at 0 ) )", "( ( at 1 ) ( dealt ace ) )"]
    assert shown == [
        (None, None), (states[:1], []), (states, [["( deal ace )", "noop", "noop"]]), (None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("longest", [0, 100_000])
async def test_a_record_is_written_as_json_however_long_it_is(
    played: WrittenMatch, monkeypatch: pytest.MonkeyPatch, longest: int
) -> None:
    monkeypatch.setattr(module, "_LONG", longest)
    await played.finish()
    assert await public_record_text(played, MATCH) == json.dumps(await public_record(played, MATCH))


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("m", True), ("", False), ("m" * 200, True), ("m" * 201, False), ("m\0", False), ("é", False), ("m 1", True)],
)
def test_an_id_is_short_and_can_be_printed(text: str, is_one: bool) -> None:
    assert is_id(text) == is_one


async def test_a_match_that_there_is_not_is_named(played: WrittenMatch) -> None:
    assert (await known_match(played, MATCH)).id == MATCH
    for name in ("none", "m\0"):
        with pytest.raises(UnknownMatchError) as caught:
            await known_match(played, name)
        assert caught.value.args == (name,)


async def refused(played: WrittenMatch, seat: str, viewer: Principal | None) -> tuple[str, str, int]:
    with pytest.raises(RequestError) as caught:
        await transcript(played, MATCH, seat, viewer)
    return caught.value.code, caught.value.message, caught.value.status


START: Final = {"step": 0, "message": "START"}
PLAY: Final = {"step": 0, "message": "PLAY"}
WIRE: Final[list[dict[str, Any]]] = [
    {"direction": "sent", "at": START_MS + 2, "text": "(START match.m1 a (...) 10 5)"} | START,
    {"direction": "answered", "at": START_MS + 3, "text": "ready", "elapsedMs": 3, "error": ""} | START,
    {"direction": "sent", "at": START_MS + 7, "text": "(PLAY match.m1 0)"} | PLAY,
    {"direction": "answered", "at": START_MS + 8, "text": "", "elapsedMs": 5, "error": "IL"} | PLAY,
]
"""What the player of the first role was sent and answered, in no game's own names."""
NAMED: Final[list[dict[str, Any]]] = [
    {}, {"detail": "", "move": None}, {}, {"detail": "late", "move": "go", "error": "IL ( go 9 )"},
]  # fmt: skip


async def answer_badly(played: WrittenMatch) -> None:
    """Play up to the second state; the first role answers with what is no move."""
    played.journal[:] = [
        replace(entry, error="IL ( go 9 )") if isinstance(entry, AnsweredEntry) and entry.error else entry
        for entry in played.journal
    ]
    await played.write("state", 2)


async def test_who_registered_a_player_sees_what_it_was_sent_and_answered(played: WrittenMatch) -> None:
    before = await transcript(played, MATCH, "a", OWN)
    await answer_badly(played)
    assert before == []
    assert await transcript(played, MATCH, "a", OWN) == [
        {"role": "a"} | line | more for line, more in zip(WIRE, NAMED, strict=True)
    ]


async def test_while_names_are_scrambled_a_transcript_has_none_of_the_game(scrambled: WrittenMatch) -> None:
    await answer_badly(scrambled)
    assert await transcript(scrambled, MATCH, "0", OWN) == WIRE


@pytest.mark.sampled(4)
@pytest.mark.parametrize("viewer", OTHERS)
@pytest.mark.parametrize("seat", ["a", "b", "z", "0", ""])
async def test_others_see_no_transcript_before_the_end(
    played: WrittenMatch, viewer: Principal | None, seat: str
) -> None:
    await answer_badly(played)
    told = await refused(played, seat, viewer)
    assert told == ("not_public_yet", "the transcript of a seat is shown when the match is over", 403)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("viewer", [*OTHERS, OWN])
async def test_after_the_end_all_see_the_transcript_of_each_role(
    scrambled: WrittenMatch, viewer: Principal | None
) -> None:
    await answer_badly(scrambled)
    await scrambled.finish()
    lines = await transcript(scrambled, MATCH, "b", viewer)
    assert [(line["role"], line["direction"], line["step"]) for line in lines] == [
        ("b", direction, step) for step in (0, 0, 1) for direction in ("sent", "answered")
    ]
    assert await refused(scrambled, "z" * 200, viewer) == (
        "unknown_seat", f"the match has no role '{'z' * 100}'", 404,
    )  # fmt: skip
