"""Child processes as players: real ones, good and bad."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gdl.wire.insights import MAX_INSIGHT
from server.links.child_player import (
    MAX_COMMENT_BYTES,
    MAX_COMPLAINT_BYTES,
    ChildPlayer,
    _Child,
    _OwedLine,
    to_stderr,
)
from server.links.errors import PlayerSpecError, RemotePlayerError
from server.links.player_spec import open_link
from server.match.driver import MatchDriver
from server.match.exchange import Completed, Event, StepFinished
from server.match.link import PlayerLink, PlayerRequest, ReplyBuffer
from server.match.profiles import Profile
from server.match.referee import LocalReferee
from server.match.setup import Seat
from tests.kit.polling import until
from tests.kit.server.plays import LEFT, RIGHT, setup, two_steps
from tests.kit.server.processes import oom_score_of
from tests.kit.tracing import lines_of

ECHO = "import sys\nfor line in sys.stdin: print(line.strip(), flush=True)"
DEAF = "import time\ntime.sleep(999)"


@asynccontextmanager
async def child(program: str, complaints: list[bytes] | None = None) -> AsyncIterator[ChildPlayer]:
    kept: list[bytes] = [] if complaints is None else complaints
    # Without `-E` a variable of the environment decides whether the output is buffered.
    player = ChildPlayer([sys.executable, "-E", "-c", program], kept.append)
    try:
        yield player
    finally:
        await player.close()


async def ask(player: PlayerLink, text: str) -> str:
    reply = ReplyBuffer()
    await player.deliver(PlayerRequest(text), reply)
    return reply.raw.decode()


async def give_up_asking(player: PlayerLink, text: str) -> None:
    asking = asyncio.create_task(ask(player, text))
    await until(lambda: getattr(player, "_child", None))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def test_lines_go_in_and_lines_come_out() -> None:
    async with child(ECHO) as player:
        assert [await ask(player, text) for text in ("(a b)", "c", "(d)")] == ["(a b)", "c\n", "(d)"]


@pytest.mark.parametrize(
    ("written", "hint"), [("print('ready')", "does the program flush its output?"), ("print(end='re', flush=True)", "")]
)
async def test_a_child_from_which_nothing_ever_came_may_not_flush(written: str, hint: str, tmp_path: Path) -> None:
    reply, was_asked = ReplyBuffer(), tmp_path / "was-asked"
    program = f"import pathlib, sys\nfor line in sys.stdin: {written}; pathlib.Path({str(was_asked)!r}).touch()"
    async with child(program) as player:
        asking = asyncio.create_task(player.deliver(PlayerRequest("(START)"), reply))
        await until(lambda: was_asked.exists() and (reply.raw or hint))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    assert reply.hint == hint


async def test_one_child_serves_one_match() -> None:
    async with child("import os\nwhile input(): print(os.getpid())") as player:
        assert await ask(player, "x") == await ask(player, "y")


async def test_rest_of_a_line_blank_lines_and_carriage_returns_do_not_count() -> None:
    program = "import sys\nfor line in sys.stdin: print('\\n\\r\\n(ok) (said', line.strip(), ')\\r\\n', flush=True)"
    async with child(program) as player:
        assert [await ask(player, text) for text in "abc"] == ["(ok)"] * 3


async def test_comments_are_no_answers_and_one_may_tell_what_the_player_thinks() -> None:
    thought = '; GGP-Player-Insight: {"value": 60}'
    program = f"input()\nprint('; GGP-Player-Insight', {thought!r}, '; ' + 'x' * 9999, '(ok)', sep='\\n')"
    reply = ReplyBuffer()
    async with child(program) as player:
        await player.deliver(PlayerRequest("x"), reply)
    assert (reply.raw.decode(), reply.insight) == ("(ok)", '{"value": 60}')


async def test_a_comment_that_comes_in_bytes_is_none_of_the_answer() -> None:
    program = "import sys\ninput()\nfor c in '; (no)\\r\\n(yes)\\n': sys.stdout.write(c), sys.stdout.flush()"
    async with child(program) as player:
        assert (await ask(player, "x")).strip() == "(yes)"


async def test_children_learn_that_thoughts_are_taken() -> None:
    async with child("import os\ninput()\nprint(os.environ['GGP_TAKES_INSIGHT'])") as player:
        assert await ask(player, "x") == "1\n"


async def test_a_late_line_is_not_taken_for_the_next_answer() -> None:
    program = "import sys\nfor line in sys.stdin:\n  if 'flush' in line: print('late\\nlate\\n(now)', flush=True)"
    async with child(program) as player:
        await give_up_asking(player, "first")
        await give_up_asking(player, "second")
        assert await ask(player, "flush") == "(now)"


async def test_who_has_ended_is_reported_with_its_exit_code() -> None:
    async with child("input(); print('bye'); raise SystemExit(7)") as player:
        assert await ask(player, "x") == "bye\n"
        for _ in range(2):
            with pytest.raises(RemotePlayerError, match="the child process ended with exit code 7"):
                await ask(player, "y")


async def test_who_closes_its_output_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.links.child_player.EXIT_LIMIT_S", 0.01)
    async with child("import os, time\ninput()\nos.close(1)\ntime.sleep(999)") as player:
        with pytest.raises(RemotePlayerError, match=r"^the child process has closed its output$"):
            await ask(player, "x")


async def test_who_closes_its_standard_error_plays_on() -> None:
    async with child("import os\nos.close(2)\nwhile input(): print('ok')") as player:
        assert [await ask(player, text) for text in "xy"] == ["ok\n"] * 2


async def test_a_system_without_memory_ends_a_child_before_its_game_manager() -> None:
    async with child("import os\ninput()\nprint(os.getpid(), flush=True)\ninput()") as player:
        score = oom_score_of(int(await ask(player, "x")))
    assert score == min(1000, oom_score_of(os.getpid()) + 300)


async def test_a_program_that_is_not_there_raises() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        await ask(ChildPlayer("/no-such-program"), "x")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "a program and its arguments expected"),
        ("  ", "a program and its arguments expected"),
        ("'unbalanced", "No closing quotation"),
        ("a\0b", "a program and its arguments expected"),
    ],
)
def test_what_is_no_command_is_refused(command: str, reason: str) -> None:
    with pytest.raises(PlayerSpecError) as caught:
        ChildPlayer(command)
    assert (caught.value.spec, caught.value.reason) == (command, reason)


async def test_a_player_that_does_not_read_is_reported_and_delays_no_other() -> None:
    async with child(DEAF) as player:
        await give_up_asking(player, "x" * 2_000_000)
        with pytest.raises(RemotePlayerError, match="does not read"):
            await ask(player, "y")


async def test_floods_are_cut_and_take_no_memory() -> None:
    complaints: list[bytes] = []
    program = "import sys\ninput()\nwhile True:\n  sys.stdout.write('(a' * 9999)\n  sys.stderr.write('oh' * 9999)"
    async with child(program, complaints) as player:
        assert len(await ask(player, "x")) == 65_536
    assert sum(map(len, complaints)) <= MAX_COMPLAINT_BYTES


class Pipes(asyncio.SubprocessTransport):
    """The pipes of a child whose output the test makes up."""

    def get_pipe_transport(self, fd: int) -> asyncio.BaseTransport:
        return asyncio.WriteTransport() if fd == 0 else Pipe()


class Pipe(asyncio.ReadTransport):
    def is_reading(self) -> bool:
        return False


def running_child(n_owed: int, complaints: list[bytes] | None = None) -> tuple[_Child, list[ReplyBuffer]]:
    """Return a child that owes lines, and what is to take them."""
    kept: list[bytes] = [] if complaints is None else complaints
    running, replies = _Child(kept.append), [ReplyBuffer() for _ in range(n_owed)]
    running.connection_made(Pipes())
    running._owed.extend(map(_OwedLine, replies))
    return running, replies


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a\rb\r", [("a", ""), ("b", "")]),
        (b"a\r\n\r\nb\n", [("a", ""), ("b", "")]),
        (b"; GGP-Player-Insight: 5\na\nb\n", [("a", "5"), ("b", "")]),
        (b"a\n; GGP-Player-Insight: 5\r\n;\n b\n", [("a", ""), ("b", "5")]),
        (b"; GGP-Player-Insight: 5\n; GGP-Player-Insight: 6\na\nb\n", [("a", "6"), ("b", "")]),
        (b"; GGP-Player-Insight: caf\xe9\na\nb\n", [("a", "caf\ufffd"), ("b", "")]),
        (b"a ; GGP-Player-Insight: 5\nb\n", [("a", ""), ("b", "")]),
        (b"; GGP-Player-Insight: " + b"5" * MAX_INSIGHT + b"\na\nb\n", [("a", "5" * MAX_INSIGHT), ("b", "")]),
        (b"; GGP-Player-Insight: " + b"5" * 9_999 + b"\na\nb\n", [("a", ""), ("b", "")]),
    ],
)
async def test_how_output_is_cut_on_its_way_does_not_matter(
    data: bytes, told: list[tuple[str, str]], size: int
) -> None:
    running, replies = running_child(2)
    for start in range(0, len(data), size):
        running.pipe_data_received(1, data[start : start + size])
    assert [(reply.raw.decode().strip(), reply.insight) for reply in replies] == told


async def test_of_a_comment_without_end_only_so_much_is_kept() -> None:
    running, _ = running_child(1)
    for _ in range(100):
        running.pipe_data_received(1, b";" * 1_000)
    assert running._comment == bytearray(b";" * MAX_COMMENT_BYTES)


async def test_as_much_of_standard_error_is_passed_on_as_its_limit_says() -> None:
    complaints: list[bytes] = []
    running, _ = running_child(0, complaints)
    for n_bytes in (MAX_COMPLAINT_BYTES - 1, 5, 5):
        running.pipe_data_received(2, b"x" * n_bytes)
    assert [*map(len, complaints)] == [MAX_COMPLAINT_BYTES - 1, 1]


def test_what_is_passed_on_may_be_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    to_stderr(b"caf\xc3\xa9 \xff\n")
    assert capsys.readouterr().err == "café \ufffd\n"


@pytest.mark.parametrize("is_owed", [False, True])
@pytest.mark.parametrize("piece", [b"\n", b"\r", b"\r\n", b" \n", b"a\n", b"a", b"(", b"()", b"(a)\n", b";\n", b";"])
async def test_the_work_for_a_flood_of_lines_is_bounded(piece: bytes, is_owed: bool) -> None:
    running, _ = running_child(1 if is_owed else 0)
    data = (piece * 65_536)[:65_536]
    assert lines_of(lambda: running.pipe_data_received(1, data)) < 500


async def test_standard_error_is_passed_on() -> None:
    complaints: list[bytes] = []
    async with child("import sys\ninput(); print('oh', file=sys.stderr); print('ok')", complaints) as player:
        await ask(player, "x")
    assert b"".join(complaints) == b"oh\n"


async def test_close_ends_the_child_and_its_own_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
input()
os.fork()
with open({str(pids)!r}, "a") as file: file.write(f"{{os.getpid()}}\\n")
print("ok", flush=True)
time.sleep(999)
"""
    async with child(program) as player:
        await ask(player, "x")
        await until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    for pid in pids.read_text().split():
        await until(partial(is_gone, Path("/proc") / pid / "stat"))


async def test_a_child_that_may_not_be_ended_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("server.links.child_player.EXIT_LIMIT_S", 0.01)
    program = "import os, time\ninput()\nprint(os.getpid(), flush=True)\ntime.sleep(999)"
    player = ChildPlayer([sys.executable, "-c", program])
    process_id = int(await ask(player, "x"))
    with monkeypatch.context() as patch:
        patch.setattr("os.killpg", refuse)
        patch.setattr("subprocess.Popen.kill", refuse)
        await asyncio.wait_for(player.close(), 5)
    os.kill(process_id, signal.SIGKILL)
    assert player._child is not None
    await player._child._has_exited.wait()  # a transport that is collected before it knows of the end warns


def is_gone(stat: Path) -> bool:
    """Return whether the process is dead; it may still wait to be counted by its new parent."""
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_close_without_a_message_starts_nothing() -> None:
    await ChildPlayer([sys.executable]).close()


LEGAL_FIRST = """
import sys
for line in sys.stdin:
    if line.startswith("(LEGAL"):
        move = line[line.index("(", line.index("(", 1) + 1):line.index(")") + 1]
    else:
        print(move if line.startswith("(PLAY") else "ready", flush=True)
"""


async def test_children_play_a_match_one_of_them_silent(tmp_path: Path) -> None:
    good, silent = tmp_path / "good.py", tmp_path / "silent.py"
    good.write_text(LEGAL_FIRST)
    silent.write_text(DEAF)
    left, left_seat = open_link(f"cmd+legal:{sys.executable} {good}", Seat(LEFT))
    right, right_seat = open_link(f"cmd:{sys.executable} {silent}", Seat(RIGHT, profile=Profile(grace_s=-0.9)))
    terms = replace(setup(left_seat.profile, right_seat.profile), start_clock_s=1, play_clock_s=1)
    events: list[Event] = []
    outcome = await MatchDriver(LocalReferee(two_steps()), terms, {LEFT: left, RIGHT: right}, [events.append]).run()
    assert isinstance(outcome, Completed)
    assert outcome.goals[0] == 100
    steps = [event for event in events if isinstance(event, StepFinished)]
    assert [step.errors for step in steps] == [("", "TO")] * 3
    hint = "s; nothing had come: does the program flush its output?"
    assert [(left, right.endswith(hint)) for left, right in (step.details for step in steps)] == [("", True)] * 3
