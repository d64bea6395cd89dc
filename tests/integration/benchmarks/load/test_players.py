"""The process with the players of the load, over a real socket."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp
import pytest

from benchmarks.load.players import Seats
from benchmarks.load.processes import Child, child


async def test_a_seat_answers_in_time_and_the_figures_tell_of_it(tmp_path: Path) -> None:
    arguments = ["benchmarks.load.players", "--shortest", "0.01", "--longest", "0.02"]
    async with child(arguments, tmp_path / "log") as players, aiohttp.ClientSession() as session:
        for message in ("(START m x ((role x)) 10 10)", "(PLAY m nil)"):
            for role in ("x", "o"):
                async with session.post(f"{players.url}/3/{role}", data=message) as response:
                    assert await response.text() in ("ready", "noop") or role == "x"
        async with session.get(f"{players.url}/figures") as response:
            figures = await response.json(content_type=None)
        assert players.memory_bytes() > 1_000_000
    assert figures["requests"] == 4
    assert len(figures["shares_s"]) == 1
    assert 0.01 <= figures["longest_answer_s"] < 10


def test_a_share_ends_with_the_last_request_of_a_step() -> None:
    seats = Seats(0.5, 1.5, seed=1)
    for seat in ("/1/x", "/1/o"):
        seats.answer(seat, "(START m x () 10 10)")
        seats.note_reply(seat, 0.7)
    seats.answer("/1/x", "(PLAY m nil)")
    seats.answer("/2/x", "(PLAY m nil)")
    assert seats.figures.shares_s == []
    seats.answer("/1/o", "(PLAY m nil)")
    assert len(seats.figures.shares_s) == 1


async def test_a_process_that_does_not_listen_is_reported_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(ChildProcessError, match="No module named"):
        async with child(["benchmarks.load.nothing"], tmp_path / "log"):
            raise AssertionError("no process listens")


async def test_a_process_is_seen_from_outside(tmp_path: Path) -> None:
    assert sys.platform == "linux"
    async with child(["benchmarks.load.players"], tmp_path / "log") as players:
        assert isinstance(players, Child)
        assert 0 < players.work_s() < 60
    assert players.process.returncode is not None


async def test_matches_that_are_held_begin_together(tmp_path: Path) -> None:
    arguments = ["benchmarks.load.players", "--shortest", "0.01", "--longest", "0.02"]
    async with child(arguments, tmp_path / "log") as players, aiohttp.ClientSession() as session:

        async def told(errand: str) -> object:
            async with session.get(f"{players.url}/{errand}") as response:
                return await response.json(content_type=None)

        assert await told("hold") == 0
        message = session.post(f"{players.url}/3/x", data="(START m x ((role x)) 10 10)")
        starting = asyncio.create_task(message.__aenter__())
        while not await told("hold"):
            assert not starting.done()
        assert await told("release") == 1
        assert await (await starting).text() == "ready"
