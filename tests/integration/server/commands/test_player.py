"""`ggp player` as a process: it says where it listens, plays, and leaves no process behind however it ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from players.player import ListenError
from server.commands.player import command
from tests.kit.players.peers import start_text
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import player

GGP = (sys.executable, "-c", "from server.commands.main import main; main()", "player")


def test_what_is_no_address_of_a_game_manager_is_wrong_usage(ggp: Ggp) -> None:
    said = "ggp: foo: expected the address of a game manager, as in http://host:9148\n"
    assert ggp("player", "legal", "--connect", "foo") == (2, "", said)


def say(url: str, text: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, text.encode()), timeout=20) as answer:
        said: str = answer.read().decode()
    return said


def left_of(session: int, timeout_s: float = 5.0) -> list[str]:
    """Return the processes of a session that are still there after *timeout_s*."""
    end_s = time.monotonic() + timeout_s
    while (left := list(_members(session))) and time.monotonic() < end_s:
        time.sleep(0.05)
    return left


def _members(session: int) -> Iterator[str]:
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                fields = process.joinpath("stat").read_text().rpartition(")")[2].split()
                command_line = process.joinpath("cmdline").read_text()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                yield command_line


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "SIGKILL", "end of input"])
def test_no_process_is_left_however_it_ends(how: str) -> None:
    with player("tests.kit.players.odd_players:Endless", "--until-eof") as (process, url):
        assert say(url, start_text(play_s=60)) == "ready"
        with pytest.raises(TimeoutError):
            urllib.request.urlopen(urllib.request.Request(url, b"(PLAY m NIL)"), timeout=0.3)
        assert len(list(_members(process.pid))) >= 3
        if how == "end of input":
            assert process.stdin is not None
            process.stdin.close()
        else:
            os.kill(process.pid, getattr(signal, how))
        process.wait(5)
        assert left_of(process.pid) == []


def test_a_player_of_a_file_plays(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import players\n"
        "class Last(players.Player):\n"
        "    def move(self, state, role, deadline):\n"
        "        return state.legal_moves(role)[-1]\n"
    )
    with player(f"{path}:Last", "--name", "mine") as (_, url):
        said = [say(url, text) for text in ("(INFO)", start_text(play_s=10), "(PLAY m NIL)")]
    assert said == ["((name mine) (status available))", "ready", "(mark 3 3)"]


CHATTY = (
    "import players\n"
    "print('listening to the engine at http://127.0.0.1:1/api', flush=True)\n"
    "class Last(players.Player):\n"
    "    def move(self, state, role, deadline):\n"
    "        return state.legal_moves(role)[-1]\n"
)


def test_what_a_file_prints_when_it_is_imported_is_no_reply(tmp_path: Path) -> None:
    path = tmp_path / "chatty.py"
    path.write_text(CHATTY)
    lines = "\n".join((start_text(), "(PLAY m NIL)", "(STOP m NIL)"))
    done = subprocess.run([*GGP, path, "--stdio"], input=lines, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.splitlines() == ["ready", "(mark 3 3)", "done"]
    assert "listening to the engine" in done.stderr


@pytest.mark.exhaustive
def test_what_a_file_prints_when_it_is_imported_is_no_address(tmp_path: Path) -> None:
    path = tmp_path / "chatty.py"
    path.write_text(CHATTY)
    with player(str(path)) as (_, url):
        assert say(url, start_text(play_s=10)) == "ready"


@pytest.mark.exhaustive
def test_messages_that_are_not_read_hold_nothing_up() -> None:
    with subprocess.Popen(
        [*GGP, "legal", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().removeprefix("listening on ").strip()
            for _ in range(300):
                with pytest.raises(urllib.error.HTTPError):
                    say(url, f"({'x' * 400}")
            assert say(url, "(INFO)") == "((name legal) (status available))"
            process.terminate()
            process.wait(20)
        finally:
            process.kill()


def test_a_script_that_runs_its_player_plays(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        "import players\n"
        "class Last(players.Player):\n"
        "    def move(self, state, role, deadline):\n"
        "        return state.legal_moves(role)[-1]\n"
        "players.run(Last, port=0)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().removeprefix("listening on ").strip()
            said = [say(url, text) for text in ("(INFO)", start_text(play_s=10), "(PLAY m NIL)")]
        finally:
            process.terminate()
    assert said == ["((name Last) (status available))", "ready", "(mark 3 3)"]


@pytest.mark.exhaustive
def test_a_misspelt_name_is_wrong_usage_with_a_suggestion() -> None:
    done = subprocess.run([*GGP, "mimimax"], capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stderr) == (2, "ggp: no player 'mimimax'; did you mean minimax?\n")


@pytest.mark.exhaustive
def test_a_port_that_is_taken_is_wrong_usage() -> None:
    with player("legal") as (_, url):
        result = CliRunner().invoke(command, ["legal", "--port", url.rpartition(":")[2]])
    assert (type(result.exception), "cannot listen on 127.0.0.1" in str(result.exception)) == (ListenError, True)


def test_a_file_that_cannot_be_made_is_no_port_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/gone")

    monkeypatch.setattr("players.kit.http_transport.prepare_workers", fail)
    result = CliRunner().invoke(command, ["legal", "--port", "0"])
    assert str(result.exception) == "[Errno 2] No such file or directory: '/gone'"
