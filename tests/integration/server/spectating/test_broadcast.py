"""What spectators see of a match where its broadcast is delayed, and where every role knows everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gdl.language.rules import read_rules
from server.match.exchange import MoveOrigin
from server.records.entries import Entry, StateEntry, StepEntry, entry_of
from server.refusals import RequestError
from server.spectating.broadcast import Delay, delay_of, read_delay
from server.spectating.overview import page
from server.spectating.public_journal import n_common, public_events
from server.spectating.public_record import as_broadcast, public_record
from server.spectating.state import state_at
from server.storage.match_queries import MatchFilter
from server.storage.rows import MatchRow, MatchStatus
from server.visibility import Secrecy
from tests.kit.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, library, start_of, turns
from tests.kit.server.spectating.guesses import DEAL, GUESS, PERCEPTS, SAY, delayed, journal, positions
from tests.kit.server.spectating.written_match import MATCH, written_match

IMPERFECT = Secrecy(is_imperfect=True, is_scrambled=False, has_ended=False)
COMMON = {
    "each sees all": [True, True, True],
    "each sees the others": [True, True, True],
    "one sees no deal": [True, False, False],
    "no say is seen": [True, True, False],
}


@pytest.mark.parametrize("percepts", PERCEPTS)
def test_a_state_is_common_as_long_as_every_role_can_tell_what_was_done(percepts: str) -> None:
    rules = read_rules(GUESS + PERCEPTS[percepts])
    assert [found.is_common for found in positions(rules, DEAL, SAY)] == COMMON[percepts]


def test_in_zion_everything_is_common_and_in_poker_nothing_after_the_deal() -> None:
    zion = positions(library("zionsmall"), ("(move up)", "noop"), ("noop", "(go left)"))
    poker = positions(library("kuhnpoker"), ("noop", "noop", "(deal queen king)"))
    assert [[found.is_common for found in each] for each in (zion, poker)] == [[True] * 3, [True, False]]


def test_what_is_not_found_out_in_time_is_not_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.match.position.MAX_COMPARING_S", -1.0)
    rules = read_rules(GUESS + PERCEPTS["each sees all"])
    assert [found.is_common for found in positions(rules, DEAL)] == [True, False]


def test_what_there_is_too_much_of_to_compare_is_not_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.match.position.MAX_ALTERNATIVES", 1)
    rules = read_rules(GUESS + PERCEPTS["each sees all"])
    assert [found.is_common for found in positions(rules, DEAL)] == [True, False]


def told(entries: list[Entry]) -> list[Any]:
    """Return of each state whether it is shown, and the joint move that is shown with it."""
    return [
        ("state" in event.data, event.data.get("moves"))
        for event in public_events(entries, IMPERFECT)
        if event.kind == "state"
    ]


@pytest.mark.parametrize("percepts", ["each sees all", "no say is seen", "one sees no deal"])
def test_states_and_moves_are_shown_as_long_as_all_know_them(percepts: str) -> None:
    n = sum(COMMON[percepts])
    deal = ["( deal ace )", "noop", "noop"]
    say = ["noop", "( say ace )", "( say king )"]
    assert told(journal(percepts)) == [
        (k < n, moves if 0 < k < n else None) for k, moves in enumerate((None, deal, say))
    ]


def test_a_role_that_gets_percepts_alone_does_not_know_a_move_made_in_its_place() -> None:
    entries = journal("each sees the others")
    assert n_common(entries) == 3
    first = start_of(entries)
    seats = (first.seats[0], replace(first.seats[1], dialect="gdl2-percepts"), first.seats[2])
    entries[0] = replace(first, seats=seats)
    said = max(n for n, entry in enumerate(entries) if isinstance(entry, StepEntry))
    step = entries[said]
    assert isinstance(step, StepEntry)
    assert step.moves == ("noop", "( say ace )", "( say king )")
    entries[said] = replace(step, origins=(step.origins[0], MoveOrigin.SUBSTITUTE, step.origins[2]))
    assert n_common(entries) == 2
    assert [is_told for is_told, _ in told(entries)] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "delay", "shown"),
    [
        ("3 steps", Delay(steps=3), "3 steps"), ("1 step", Delay(steps=1), "1 step"), ("2steps", Delay(2), "2 steps"),
        ("60 s", Delay(seconds=60), "60 s"), ("end", Delay(is_to_end=True), "end"), ("live", Delay(), "live"),
        ("", Delay(), "live"), ("0 s", Delay(), "live"),
    ],
)  # fmt: skip
def test_a_delay_is_read(text: str, delay: Delay, shown: str) -> None:
    assert (read_delay(text), str(read_delay(text))) == (delay, shown)


@pytest.mark.parametrize("text", ["soon", "-1 s", "3", "1e9 s", "3 steps later", "\u0663 steps"])
def test_what_is_no_delay_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a delay is written `3 steps`, `60 s`, `end`, or `live`$"):
        read_delay(text)


@pytest.mark.parametrize("unit", ["s", "steps"])
def test_a_broadcast_is_a_day_late_at_most(unit: str) -> None:
    assert max(read_delay(f"86400 {unit}").seconds, read_delay(f"86400 {unit}").steps) == 86_400
    with pytest.raises(ValueError, match=r"^a broadcast is at most 86,400 steps or seconds late$"):
        read_delay(f"86401 {unit}")


def test_a_match_whose_delay_is_damaged_is_shown_at_its_end() -> None:
    order = {"text": {"broadcastDelay": "3 rteps", "players": {}, "startClock": 1, "playClock": 1}}
    assert delay_of(MatchRow("m", "tiny", "5ha", order, 0, MatchStatus.RUNNING)) == Delay(is_to_end=True)


def kinds(entries: Sequence[Entry]) -> list[str]:
    return [entry.kind for entry in entries]


def test_a_broadcast_is_a_number_of_states_behind() -> None:
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)]
    states = [n for n, entry in enumerate(entries) if isinstance(entry, StateEntry)]
    running = entries[: states[2] + 1]
    assert [len(Delay(steps=n).broadcast(running, 0)) for n in (1, 2, 3)] == [states[1] + 1, states[0] + 1, 1]
    assert Delay(steps=3).broadcast(entries, 0) == entries


def test_a_broadcast_is_some_seconds_behind() -> None:
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)][:10]
    at_ms = entries[4].at_ms
    assert Delay(seconds=60).broadcast(entries, at_ms + 60_000) == entries[:5]
    assert Delay(seconds=60).broadcast(entries, entries[0].at_ms) == entries[:1]


def test_a_broadcast_after_the_end_begins_with_the_start_alone() -> None:
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)]
    assert kinds(Delay(is_to_end=True).broadcast(entries[:10], 10**15)) == ["started"]
    assert Delay(is_to_end=True).broadcast(entries, 0) == entries


@pytest.mark.parametrize("delay", [Delay(), Delay(steps=1), Delay(seconds=60), Delay(is_to_end=True)])
def test_a_broadcast_of_nothing_new_is_nothing(delay: Delay) -> None:
    assert list(delay.broadcast([], 0)) == []


def test_after_the_seconds_of_its_delay_all_is_shown() -> None:
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)][:10]
    assert Delay(seconds=60).broadcast(entries, entries[-1].at_ms + 60_000) == entries


def test_a_broadcast_goes_on_where_it_was_before() -> None:
    entries = [entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)][:10]
    assert Delay(seconds=60).broadcast(entries[5:], entries[7].at_ms + 60_000) == entries[5:8]
    assert Delay(is_to_end=True).broadcast(entries[1:], 10**15) == []


def test_public_events_are_numbered_as_the_entries_of_the_journal() -> None:
    entries = journal("each sees all")
    assert [event.number for event in public_events(entries, IMPERFECT)] == list(range(len(entries)))


@pytest.mark.parametrize(("text", "n_steps"), [("end", 0), ("1 step", 1), ("3 steps", 0), ("60 s", 1), ("live", 2)])
async def test_steps_and_errors_are_late_wherever_matches_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, n_steps: int
) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        await delayed(played, text)
        await played.write("state", 3)
        times = [entry.at_ms for entry in played.journal if isinstance(entry, StateEntry)]
        row = await played.matches.find(MATCH)
        assert row is not None
        wrong = replace(row, n_errors=2)
        monkeypatch.setattr("server.spectating.public_record.now_ms", lambda: times[2] + 59_999)
        (shown,) = await as_broadcast(played.journals, [wrong])
        assert (shown.n_steps, shown.n_errors) == (n_steps, 2 if text == "live" else 0)
        over = replace(wrong, status=MatchStatus.COMPLETED)
        assert await as_broadcast(played.journals, [over]) == [over]


async def test_before_any_state_is_old_enough_no_step_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        await delayed(played, "60 s")
        await played.write("state", 3)
        first = next(entry.at_ms for entry in played.journal if isinstance(entry, StateEntry))
        row = await played.matches.find(MATCH)
        assert row is not None
        monkeypatch.setattr("server.spectating.public_record.now_ms", lambda: first + 59_999)
        assert [each.n_steps for each in await as_broadcast(played.journals, [replace(row, n_steps=2)])] == [0]


async def test_lists_do_not_tell_the_steps_of_a_match_that_is_shown_at_its_end(tmp_path: Path) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        await delayed(played, "end")
        await played.write("state", 3)
        (line,), _ = await page(played, MatchFilter())
        assert line["steps"] == 0


async def test_records_and_states_are_late_until_the_end(tmp_path: Path) -> None:
    async with written_match(tmp_path, turns(), TURNS_MOVES) as played:
        await delayed(played, "1 step")
        await played.write("state", 3)
        record = await public_record(played, MATCH)
        assert (len(record["states"]), record["x-delay"]) == (2, "1 step")
        with pytest.raises(RequestError, match="no state of step 2"):
            await state_at(played, MATCH, 2)
        assert (await state_at(played, MATCH, 1)).moves is None
        await played.finish()
        assert len((await public_record(played, MATCH))["states"]) == 3
