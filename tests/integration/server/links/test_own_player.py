"""Our own players as processes and workers: programs that stand in for `ggp player` do what a player may do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from gdl.language.kif import read_term
from gdl.wire.messages import Message, Play
from players.kit.player_server import PlayerReply, PlayerServer
from players.kit.session import OpenRequest
from players.kit.worker import WorkerLimits
from server.links import own_player
from server.links.errors import PlayerStartError, RemotePlayerError
from server.links.own_player import OwnPlayer, WorkerPlayer, package_environment, start_own_player
from server.match.link import PlayerRequest, ReplyBuffer
from tests.kit.polling import until
from tests.kit.server.peers import deaf, listening, replying
from tests.kit.server.processes import children_of, is_running, oom_score_of

LISTENS = "import os, subprocess, sys, time\nprint('listening on {url}', flush=True)\n"
INFO = PlayerRequest("(INFO)")
ONE_MB = "1,048,576"


def stand_in(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Have *program* started instead of `ggp player`."""
    monkeypatch.setattr(own_player, "_command", lambda: (sys.executable, "-c", program))


@asynccontextmanager
async def started(
    monkeypatch: pytest.MonkeyPatch, program: str, *, url: str = "http://127.0.0.1:1", **how: Any
) -> AsyncIterator[OwnPlayer]:
    """Yield the player that *program* is, which says that it listens at *url*."""
    stand_in(monkeypatch, LISTENS.format(url=url) + program)
    player = await start_own_player("legal", **how)
    try:
        yield player
    finally:
        await player.stop()


@pytest.mark.parametrize(("n", "words"), [(None, []), (3, ["--max-matches", "3"])])
async def test_a_player_is_started_as_by_its_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, n: int | None, words: list[str]
) -> None:
    told = tmp_path / "told"
    program = (
        f"import json; print('x' * 1_000_000, flush=True)\nwith open({str(told)!r}, 'x') as file: "
        "json.dump([sys.argv[1:], os.environ['PYTHONPATH'], os.getpgid(0) == os.getpid()], file)\ninput()"
    )
    async with started(monkeypatch, program, max_matches=n):
        await until(lambda: told.exists() and told.read_text().endswith("]"))
    said = ["player", "legal", "--port", "0", "--until-eof", *words]
    assert json.loads(told.read_text()) == [said, package_environment()["PYTHONPATH"], True]


async def test_a_player_runs_on_the_cores_that_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    all_cores = os.sched_getaffinity(0)
    one = frozenset({min(all_cores)})
    async with started(monkeypatch, "input()", cores=one) as pinned, started(monkeypatch, "input()") as free:
        cores = [os.sched_getaffinity(player.process_id) for player in (pinned, free)]
    assert cores == [one, all_cores]


def test_a_process_that_has_ended_is_kept_on_no_cores() -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    own_player._pin(ended.pid, frozenset({0}))


@pytest.mark.parametrize(("path", "added"), [(None, ""), ("", ""), ("/other", f"{os.pathsep}/other")])
def test_a_child_process_finds_the_packages_and_all_that_this_one_finds(
    monkeypatch: pytest.MonkeyPatch, path: str | None, added: str
) -> None:
    if path is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", path)
    root = Path(own_player.__file__).parents[2]
    assert package_environment() == os.environ | {"PYTHONPATH": f"{root}{added}"}


@pytest.mark.parametrize(
    ("program", "limit_s", "reason"),
    [
        ("import time; time.sleep(999)", 0.05, "it did not listen within 0.05 s"),
        (
            "import time; print('x' * 5_000_000, flush=True); time.sleep(999)",
            60.0,
            f"it printed a line of more than {ONE_MB} bytes",
        ),
        ("raise SystemExit(3)", 60.0, "its process ended with exit code 3"),
    ],
)
async def test_a_player_that_does_not_say_where_it_listens_is_given_up_and_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch, program: str, limit_s: float, reason: str
) -> None:
    before = children_of(os.getpid())
    monkeypatch.setattr(own_player, "START_LIMIT_S", limit_s)
    stand_in(monkeypatch, program)
    with pytest.raises(PlayerStartError) as caught:
        await start_own_player("legal")
    assert (caught.value.spec, caught.value.reason) == ("legal", reason)
    assert children_of(os.getpid()) <= before


async def test_a_system_without_memory_ends_our_player_before_its_game_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    async with started(monkeypatch, "input()") as player:
        scores = [oom_score_of(pid) for pid in (os.getpid(), player.process_id)]
    assert scores[1] == min(1000, scores[0] + 300)


async def test_only_the_line_that_says_so_has_the_address_of_a_player(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "print('asks http://127.0.0.1:1/api\\nlistening on http://127.0.0.1:2', flush=True); input()")
    player = await start_own_player("legal")
    await player.stop()
    assert player.url == "http://127.0.0.1:2"


async def test_a_start_that_is_cancelled_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    before = children_of(os.getpid())
    stand_in(monkeypatch, "import time; time.sleep(999)")
    starting = asyncio.create_task(start_own_player("legal"))
    await until(lambda: children_of(os.getpid()) - before)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    assert children_of(os.getpid()) <= before


async def test_a_player_is_asked_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = ReplyBuffer()
    async with (
        listening(replying(lambda body: body)) as url,
        started(monkeypatch, "input()", url=url) as player,
    ):
        await player.deliver(INFO, reply)
    assert (bytes(reply.raw), player.url) == (b"(INFO)", url)
    assert "\r\nReceiver: legal\r\n" in player._head


async def test_a_failure_of_a_player_that_runs_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async with deaf() as url, started(monkeypatch, "input()", url=url) as player:
        with pytest.raises(ConnectionRefusedError):
            await player.deliver(INFO, ReplyBuffer())
        assert not player.has_ended


async def test_a_failure_of_a_player_that_is_just_ending_is_told_as_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_player, "_END_KNOWN_S", 60.0)
    async with deaf() as url, started(monkeypatch, "time.sleep(0.2); sys.exit(7)", url=url) as player:
        with pytest.raises(RemotePlayerError) as caught:
            await player.deliver(INFO, ReplyBuffer())
        assert (str(caught.value), player.has_ended) == ("its process ended with exit code 7", True)


async def test_what_a_player_prints_never_holds_it_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = f"print('x' * 5_000_000, flush=True)\nopen({str(tmp_path / 'done')!r}, 'x').close()\ninput()"
    async with started(monkeypatch, program):
        await until((tmp_path / "done").exists)


async def test_a_player_that_does_not_end_is_killed_with_all_that_it_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(own_player._end, "__defaults__", (0.05,))
    program = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"os.fork()\nopen({str(tmp_path)!r} + f'/{{os.getpid()}}', 'x').close()\ntime.sleep(999)"
    )
    async with started(monkeypatch, program):
        await until(lambda: len([*tmp_path.iterdir()]) == 2)
    await until(lambda: not any(is_running(int(path.name)) for path in tmp_path.iterdir()))


async def test_a_player_has_a_moment_to_end_by_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun, done = tmp_path / "begun", tmp_path / "done"
    program = (
        f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); open({str(begun)!r}, 'x').close()\n"
        f"sys.stdin.read(); time.sleep(0.05); open({str(done)!r}, 'x').close()"
    )
    async with started(monkeypatch, program):
        await until(begun.exists)
    assert done.exists()


async def test_a_player_is_told_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with started(monkeypatch, "time.sleep(999)") as player:
        await player.stop()
        assert player._child.returncode == -signal.SIGTERM


def leaving(left: Path, then: str) -> str:
    """Return a program that starts a process which leaves it, writes the number of that one to *left*, and does *then*.

    The process holds what the program reads and prints open.
    """
    return (
        "import signal, subprocess, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "one = subprocess.Popen(['sleep', '999'], start_new_session=True)\n"
        f"with open({str(left)!r}, 'x') as file: print(one.pid, file=file)\n{then}"
    )


@pytest.mark.parametrize("then", ["input()", "time.sleep(999)"], ids=["ends by itself", "is killed"])
async def test_a_process_that_left_the_player_holds_up_no_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, then: str
) -> None:
    monkeypatch.setattr(own_player._end, "__defaults__", (0.05,))
    left = tmp_path / "left"
    stand_in(monkeypatch, LISTENS.format(url="http://127.0.0.1:1") + leaving(left, then))
    player = await start_own_player("legal")
    await until(lambda: left.exists() and left.read_text().endswith("\n"))
    try:
        await asyncio.wait_for(player.stop(), 20)
    finally:
        os.kill(int(left.read_text()), signal.SIGKILL)


async def test_a_process_that_left_a_player_which_does_not_listen_holds_up_no_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left = tmp_path / "left"
    stand_in(monkeypatch, leaving(left, f"print('x' * {2 * own_player.MAX_LINE_BYTES}, flush=True); time.sleep(999)"))
    try:
        with pytest.raises(PlayerStartError, match="it printed a line of more than"):
            await asyncio.wait_for(start_own_player("legal"), 20)
    finally:
        os.kill(int(left.read_text()), signal.SIGKILL)


@dataclass
class Answers:
    """Stands in for the server of a player: it notes what it is asked, and answers *reply*."""

    reply: PlayerReply
    asked: list[tuple[Message, int | None, str | None]] = field(default_factory=list)

    async def answer(self, message: Message, received_s: float, step: int | None, answered: str | None) -> PlayerReply:
        assert received_s <= asyncio.get_running_loop().time()
        self.asked.append((message, step, answered))
        return self.reply


def worker_answering(reply: PlayerReply) -> tuple[WorkerPlayer, Answers]:
    """Return a player whose server answers *reply*."""
    player, answers = WorkerPlayer("greedy", WorkerLimits()), Answers(reply)
    player._server = cast(PlayerServer, answers)
    return player, answers


@pytest.mark.parametrize("text", ["(PLAY m (a b))", "(LEGAL m (c d))\n(PLAY m (a b))"])
async def test_a_worker_is_asked_what_the_message_says(text: str) -> None:
    player, answers = worker_answering(PlayerReply("(é \ud800)"))
    reply = ReplyBuffer()
    await player.deliver(PlayerRequest(text, "m", 3, answered="c"), reply)
    assert answers.asked == [(Play("m", (read_term("a"), read_term("b"))), 3, "c")]
    assert (reply.raw.decode(), reply.failure, reply.insight) == ("(é ?)", "", "")


async def test_what_a_worker_tells_beside_its_reply_is_kept_and_that_the_reply_has_come() -> None:
    question = OpenRequest(0, 0.0, failure="it fell", insight="value 5")
    player, _ = worker_answering(PlayerReply("a", question))
    reply = ReplyBuffer()
    await player.deliver(PlayerRequest("(PLAY m NIL)", "m"), reply)
    assert (reply.failure, reply.insight, question.is_delivered) == ("it fell", "value 5", True)


@pytest.mark.parametrize(
    ("n_characters", "threads"), [(own_player.LARGE_CHARACTERS - 1, 0), (own_player.LARGE_CHARACTERS, 1)]
)
async def test_large_messages_are_read_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, n_characters: int, threads: int
) -> None:
    n_threads = 0

    async def in_own_thread(read: Any) -> Any:
        nonlocal n_threads
        n_threads += 1
        return read()

    monkeypatch.setattr(own_player, "in_own_thread", in_own_thread)
    player, answers = worker_answering(PlayerReply("ready"))
    name = "a" * (n_characters - len("(PLAY m ())"))
    await player.deliver(PlayerRequest(f"(PLAY m ({name}))", "m"), ReplyBuffer())
    assert (n_threads, [message for message, *_ in answers.asked]) == (threads, [Play("m", (read_term(name),))])
