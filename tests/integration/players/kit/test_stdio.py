"""A player on standard input and output."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from gdl.wire.insights import insight_comment, insight_text
from players import Player
from players.kit import forking, worker
from players.kit.player_server import PlayerServer, answer_lines
from tests.kit.players import odd_players
from tests.kit.players.peers import settings, start_text

LINES = ("(INFO)", "", start_text(), "(LEGAL m ((mark 1 1)))", "(PLAY m NIL)", "garbage", "(STOP m NIL)")
ANSWERS = ["((name tested) (status available))", "ready", "(mark 1 1)", "nil", "done"]


async def test_each_line_has_one_line_as_its_answer() -> None:
    lines = [*(f"{line}\n".encode() for line in LINES), b""]
    said: list[str] = []
    await answer_lines(PlayerServer(odd_players.First, settings()), iter(lines).__next__, said.append)
    assert said == ANSWERS


async def test_a_player_that_no_process_can_be_given_says_so(caplog: pytest.LogCaptureFixture) -> None:
    lines, said = [*(f"{line}\n".encode() for line in (start_text(), "(PLAY m NIL)")), b""], list[str]()
    lock = threading.Lock()  # nothing that holds one can be pickled

    def make() -> Player:
        with lock:
            return odd_players.First()

    player_server = PlayerServer(make, settings())
    await answer_lines(player_server, iter(lines).__next__, said.append)
    assert said[1:] == ["nil"]
    assert "no process for match m: " in caplog.text


async def test_a_player_that_no_process_is_given_at_first_plays_as_soon_as_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusals = iter([OSError(errno.EAGAIN, "Resource temporarily unavailable"), EOFError("unexpected EOF")])
    start = forking.start

    def refuse_at_first(process: ForkServerProcess) -> None:
        for refusal in refusals:
            raise refusal
        start(process)

    monkeypatch.setattr(forking, "start", refuse_at_first)
    monkeypatch.setattr(worker, "REFUSAL_PAUSE_S", 0.01)
    lines, said = [*(f"{line}\n".encode() for line in (start_text(), "(PLAY m NIL)", "(STOP m NIL)")), b""], list[str]()
    await answer_lines(PlayerServer(odd_players.First, settings()), iter(lines).__next__, said.append)
    assert said == ["ready", "(mark 1 1)", "done"]


async def test_thoughts_are_comments_before_moves_where_the_game_manager_takes_them() -> None:
    lines, said = [*(f"{line}\n".encode() for line in (start_text(), "(PLAY m NIL)")), b""], list[str]()
    player_server = PlayerServer(odd_players.Telling, settings())
    await answer_lines(player_server, iter(lines).__next__, said.append, tells_insight=True)
    assert said == ["ready", insight_comment(insight_text(odd_players.THOUGHT)), "(mark 1 1)"]


SCRIPT = """
import players
print("(mark 3 3)", flush=True)
class Loud(players.Player):
    def move(self, state, role, deadline):
        print("thinking aloud")
        return state.legal_moves(role)[0]
players.run_stdio(Loud, players.Settings("tested"))
"""


def played(lines: Iterable[str], *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return what Python with *arguments* says to *lines*, run in *folder*."""
    return subprocess.run(
        [sys.executable, *arguments], input="\n".join(lines), capture_output=True, text=True, timeout=30, check=True,
        cwd=folder, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip


def test_a_script_that_prints_and_has_no_guard_is_a_player_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(SCRIPT)
    done = played(LINES, "loud.py", folder=tmp_path)
    assert done.stdout.splitlines() == ["(mark 3 3)", *ANSWERS]  # what it prints before it is a player, but no worker


LARGE_SCRIPT = """
import sys
import players
import beside
print("imported as", __name__, sys.argv[1:], file=sys.stderr)
class First(players.Player):
    def move(self, state, role, deadline):
        return state.legal_moves(role)[0]
{end}
"""
GUARDED = 'if __name__ == "__main__":\n    players.run_stdio(First)'
TWO_MATCHES = [
    line for match_id in "ab" for line in (start_text(match_id), f"(PLAY {match_id} NIL)", f"(STOP {match_id} NIL)")
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [("scripts/large.py", "1"), ("-m", "scripts.large", "1")])
def test_a_script_is_imported_once_for_all_its_matches(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "large.py").write_text(LARGE_SCRIPT.format(end=GUARDED))
    (scripts / "beside.py").touch()
    (tmp_path / "beside.py").touch()
    done = played(TWO_MATCHES, *arguments, folder=tmp_path)
    assert done.stdout.splitlines() == ["ready", "(mark 1 1)", "done"] * 2
    assert done.stderr.splitlines() == ["imported as __main__ ['1']", "imported as __mp_main__ ['1']"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("end", ["raise ValueError('no weights')", "sys.exit('no weights')"])
def test_a_script_that_no_process_can_import_says_so_in_each_match(tmp_path: Path, end: str) -> None:
    (tmp_path / "large.py").write_text(LARGE_SCRIPT.format(end=f"{GUARDED}\nelse:\n    {end}"))
    (tmp_path / "beside.py").touch()
    done = played(TWO_MATCHES, "large.py", folder=tmp_path)
    assert done.stdout.splitlines() == ["ready", "nil", "done"] * 2
    assert [f"a worker of match {match_id} was lost" in done.stderr for match_id in "ab"] == [True, True]
    assert ("ValueError: no weights" in done.stderr) == end.startswith("raise")
