"""A course plays a Swiss of six rounds, with bad players, a killed server and an annulled match.

It has 9 students and clocks of 3 s; with GGP_EXHAUSTIVE=all (`make exhaustive`) 40 and 5 s.
"""

from __future__ import annotations

import asyncio
import csv
import json
import os
import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

import aiohttp
import pytest

from gdl.compiler.cache import VARIABLE
from tests.kit.exhaustive import IS_EXHAUSTIVE, sampled
from tests.kit.polling import until
from tests.kit.server.course.students import Habit, Student, playing
from tests.kit.server.processes import GGP

TRIO: Final = Path(__file__).resolve().parents[2] / "kit/server/course/trio.kif"
NAMES: Final = tuple(f"student{number:02}" for number in sampled(range(1, 41), 1, 2, 3, 4, 12, 22, 31, 37, 38))
HABITS: Final = {
    "student03": Habit.CRASHING, "student07": Habit.CRASHING, "student12": Habit.SLOW, "student19": Habit.SLOW,
    "student22": Habit.ILLEGAL, "student28": Habit.ILLEGAL, "student31": Habit.VANISHING, "student36": Habit.VANISHING,
}  # fmt: skip
HELPED: Final = sampled(("student37", "student38", "student39", "student40"), "student37", "student38")
"""Students who have no player yet, for whom one of the server's plays."""
CLOCK_S: Final = 5 if IS_EXHAUSTIVE else 3
CUP: Final = {
    "name": "cup", "format": "swiss", "rounds": 6, "forfeitErrors": 1, "startClock": CLOCK_S, "playClock": CLOCK_S,
    "grace": 0.5,
    "games": ["tictactoe", "nim", "rockpaperscissors", "kuhnpoker", "trio"], "absenceLimit": 3,
}  # fmt: skip
LIMIT_S: Final = 600


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def ggp(folder: Path, *words: str) -> str:
    """Return what a command prints."""
    return subprocess.run(
        [*GGP, *words], cwd=folder, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT_S
    ).stdout


class Server:
    """`ggp serve` in *folder*, which can be killed and started again."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder, self._port = folder, port
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    async def start(self) -> None:
        """Return once the server can be reached."""
        kept = {name: value for name, value in os.environ.items() if name == VARIABLE or not name.startswith("GGP_")}
        with (self._folder / "log").open("a") as log:
            self._process = await asyncio.create_subprocess_exec(
                *GGP, "serve", "--port", str(self._port), "--no-warm-up", "--rate-requests", "100000/minute",
                cwd=self._folder, stdout=subprocess.PIPE, stderr=log, env=kept,
            )  # fmt: skip
        assert self._process.stdout is not None
        assert await self._process.stdout.readline(), (self._folder / "log").read_text()

    async def kill(self) -> None:
        """End the server without a warning, by SIGKILL."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()


class Teacher:
    """Who hosts the tournament, over the API."""

    def __init__(self, session: aiohttp.ClientSession, token: str) -> None:
        self._session, self._headers = session, {"Authorization": f"Bearer {token}"}

    async def send(self, path: str, body: object, *, method: str = "POST", status: int = 200) -> Any:
        """Return the answer to a request, which must have *status*."""
        async with self._session.request(method, f"/api/v1{path}", json=body, headers=self._headers) as answer:
            told = await answer.json()
        assert answer.status == status, told
        return told

    async def cup(self) -> dict[str, Any]:
        """Return the tournament as it is."""
        async with self._session.get("/api/v1/tournaments/cup", headers=self._headers) as answer:
            found: dict[str, Any] = await answer.json()
        assert answer.status == 200, found
        return found

    async def until(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the tournament as soon as *holds* of it."""

        async def looked_at() -> dict[str, Any] | None:
            found = await self.cup()
            return found if holds(found) else None

        return await until(looked_at, LIMIT_S, pause_s=0.5)


async def opened(teacher: Teacher, students: Mapping[str, Student], session: aiohttp.ClientSession) -> None:
    """Upload the game of three, order the tournament, have all enter it, and start it."""
    await teacher.send("/games/trio", {"rules": TRIO.read_text("utf-8")}, method="PUT", status=201)
    helped = [{"name": name, "player": "random" if place % 2 else "legal"} for place, name in enumerate(HELPED)]
    await teacher.send("/tournaments", CUP | {"players": helped}, status=201)
    for student in students.values():
        status, told = await student.ask(session, "/tournaments/cup/entries", {"player": student.name})
        assert status == 201, told
    await teacher.send("/tournaments/cup/start", {})


def has_come_to_round(number: int) -> Callable[[dict[str, Any]], bool]:
    """Return whether a match of a round, or of a later one, is played or over: a round may last for a moment only."""
    begun = ("running", "completed", "aborted")
    return lambda cup: any(one["round"] >= number and one["status"] in begun for one in cup["matches"])


def first_good(cup: dict[str, Any], round_number: int) -> dict[str, Any]:
    """Return a match of a round, between good players, that was played to its end."""
    return next(
        one
        for one in cup["matches"]
        if one["round"] == round_number and one["status"] == "completed" and not HABITS.keys() & set(one["players"])
    )


@pytest.fixture
def course(tmp_path: Path) -> tuple[str, dict[str, Student]]:
    """Import the course from CSV; return the teacher's token and the students who have a player."""
    teacher = json.loads(ggp(tmp_path, "token", "issue", "teacher", "--role", "admin", "--json"))["token"]
    (tmp_path / "course.csv").write_text("name,note\n" + "".join(f"{name},2026\n" for name in NAMES))
    ggp(tmp_path, "token", "import", "course.csv", "--out", "tokens.csv")
    lines = (tmp_path / "tokens.csv").read_text("utf-8-sig").splitlines()
    tokens = {row["name"]: row["token"] for row in csv.DictReader(lines)}
    assert list(tokens) == list(NAMES)
    own = {name: Student(name, tokens[name], HABITS.get(name, Habit.GOOD)) for name in NAMES if name not in HELPED}
    return teacher, own


async def test_a_course_plays_a_swiss_to_its_end(tmp_path: Path, course: tuple[str, dict[str, Student]]) -> None:
    token, students = course
    port = free_port()
    async with Server(tmp_path, port) as server, playing(f"http://127.0.0.1:{port}", [*students.values()]) as session:
        teacher = Teacher(session, token)
        await opened(teacher, students, session)
        second = await teacher.until(has_come_to_round(2))
        annulled = first_good(second, 1)["match"]
        words = {"reason": "the projector failed", "replay": True}
        await teacher.send(f"/tournaments/cup/matches/{annulled}/annul", words)
        await teacher.until(has_come_to_round(3))
        await server.kill()
        await server.start()
        cup = await teacher.until(lambda cup: cup["status"] not in ("open", "running"))
    assert (cup["status"], cup.get("reason")) == ("over", None)
    check_schedule(cup)
    check_annulment(cup, annulled)
    check_standings(cup)


def check_schedule(cup: dict[str, Any]) -> None:
    """Check that every round was played: twice as many seats for each pair, three times as many for each three."""
    sizes = {(one["round"], len(one["players"])) for one in cup["matches"]}
    assert sizes == {(1, 2), (2, 2), (3, 2), (4, 2), (5, 3), (6, 2)}
    assert all("goals" in one for one in cup["matches"] if "annulled" not in one)


def replays(cup: dict[str, Any]) -> set[str]:
    """Return the matches that were played in place of annulled ones."""
    seen, found = set(), set()
    for one in cup["matches"]:
        key = one["round"], one["game"], tuple(one["players"])
        if key in seen:
            found.add(one["match"])
        seen.add(key)
    return found


def check_annulment(cup: dict[str, Any], annulled: str) -> None:
    """Check that one match does not count, and was played again."""
    told = [(one["match"], one["annulled"], one["replayed"]) for one in cup["matches"] if "annulled" in one]
    assert told == [(annulled, "the projector failed", True)]
    assert len(replays(cup)) == 1


def check_standings(cup: dict[str, Any]) -> None:
    """Check that all are in the table, that the good ones made no error, and that others gain nothing by errors."""
    rows = {row["player"]: row for row in cup["standings"]}
    assert len(rows) == len(NAMES)
    assert {row["errors"] for name, row in rows.items() if name not in HABITS} == {0}
    bad = {name for name, habit in HABITS.items() if habit in (Habit.ILLEGAL, Habit.VANISHING)}
    for one in cup["matches"]:
        if one["status"] == "completed" and not bad >= set(one["players"]):
            gained = {
                name: goal for name, goal in zip(one["players"], one["goals"], strict=True) if name in bad and goal
            }
            assert gained == {}, one
