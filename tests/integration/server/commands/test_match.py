"""`ggp match`: whole matches with real players in processes of their own, over real sockets and pipes."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gdl.games.library import find_game
from server.records.stored_record import read_stored
from tests.kit.polling import wait_until
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import children_of, is_running, running

QUICK = ("--start-clock", 5, "--play-clock", 5)
SULKING = """
import sys
for line in sys.stdin:
    if line.startswith("(PLAY"):
        break
    print("ready", flush=True)
sys.stdin.read()
"""
"""A program that never answers PLAY, and ends with its input."""

NAIVE = """
import sys
moves = "nil"
for line in sys.stdin:
    if line.startswith("(LEGAL"):
        moves = line
        continue
    first = moves.split("(")[3].split(")")[0] if moves.count("(") > 2 else "noop"
    print(f"({first})" if line.startswith("(PLAY") and " " in first else "noop", flush=True)
"""
"""A program that cannot read rules and plays the first move that it receives."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def slow_player() -> Iterator[str]:
    """Return the address of a player that says yes to START and then only listens."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            text = self.request.recv(1_000_000)
            if b"(START" in text or b"(ABORT" in text:
                self.request.sendall(b"HTTP/1.0 200 OK\r\n\r\nready ")
            else:
                self.request.recv(1)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def program(folder: Path, text: str, kind: str = "cmd") -> str:
    path = folder / "program.py"
    path.write_text(text)
    return f"{kind}:{sys.executable} {path}"


def test_two_players_of_ours_play_to_the_end(ggp: Ggp, folder: Path) -> None:
    ended = ggp("match", "tictactoe", "--player", "x=legal", *QUICK, "--seed", 3)
    assert ended.exit_code == 0
    *steps, result, record = ended.output.splitlines()
    assert steps[0] == "x: legal  o: random"
    assert steps[1].startswith("step 1  x: (mark 1 1)  o: noop")
    assert re.fullmatch(r"result: x=(100|50|0) o=(100|50|0)", result)
    path = folder / record.removeprefix("record: ")
    assert path.parent == folder / "records"
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert ggp("replay", path).exit_code == 0


def test_a_seed_makes_the_same_match_of_players_that_count(ggp: Ggp, folder: Path) -> None:
    words = ("--player", "white=mcts:playouts=5,engine=compiled", *QUICK, "--seed", 3)
    for name in ("one", "two"):
        assert ggp("match", "breakthrough", *words, "--record", name).exit_code == 0
    one, two = (json.loads((folder / name).read_text())["moves"] for name in ("one", "two"))
    assert one == two


def test_the_summary_as_json_names_the_record(ggp: Ggp, folder: Path) -> None:
    words = ("--player", "candidate=legal", "--record", "here.json", "--json")
    ended = ggp("match", "montyhall", *words, *QUICK)
    found = json.loads(ended.output)
    whole: dict[str, Any] = json.loads((folder / "here.json").read_text())
    assert (ended.exit_code, found) == (
        0,
        {
            "matchId": whole["matchId"],
            "game": "montyhall",
            "how": "completed",
            "result": {"candidate": whole["goalValues"][0], "random": whole["goalValues"][1]},
            "steps": 3,
            "errors": {"candidate": [], "random": []},
            "failures": {"candidate": [], "random": []},
            "record": "here.json",
        },
    )


def test_the_board_is_drawn_when_asked_for(ggp: Ggp, folder: Path) -> None:
    words = ("--player", "x=legal", "--player", "o=legal", "--draw")
    output = ggp("match", "tictactoe", *words, *QUICK).output
    assert output.count("\n  1 2 3\n") == output.count("step") + 1


def test_rules_with_a_long_name_have_a_record(ggp: Ggp, folder: Path) -> None:
    (folder / f"{'棋' * 83}.kif").write_bytes(find_game("tictactoe").path.read_bytes())
    ended = ggp("match", f"{'棋' * 83}.kif", *QUICK)
    assert (ended.exit_code, [path.name[:70] for path in (folder / "records").iterdir()]) == (0, ["棋" * 70])


def test_scrambled_names_are_the_game_s_own_in_the_record(ggp: Ggp, folder: Path) -> None:
    ended = ggp("match", "tictactoe", "--scramble", "--record", "m.json", *QUICK)
    record = read_stored(folder / "m.json")
    assert (ended.exit_code, ggp("replay", "m.json").exit_code) == (0, 0)
    assert record.errors == (("", ""),) * len(record.states)
    played = [line for line in record.wire if line.message == "PLAY"]
    assert not [line for line in played if "mark" in line.text]
    assert {line.move.split()[1] for line in played if line.move and line.move.startswith("(")} == {"mark"}


@pytest.mark.exhaustive
def test_what_players_think_is_in_the_record_in_the_game_s_own_names(ggp: Ggp, folder: Path) -> None:
    words = ("--player", "x=mcts:playouts=20", "--player", "o=legal", "--scramble", "--record", "m.json")
    assert ggp("match", "tictactoe", *words, *QUICK).exit_code == 0
    first, second, *_ = read_stored(folder / "m.json").insights
    assert (second, first[1]) == ((None, None), None)
    assert first[0] is not None
    assert [move.split()[1] for move in first[0].line] == ["mark"]


def test_a_profile_for_one_player(ggp: Ggp, folder: Path) -> None:
    words = ("--grace", 3, "--profile", "x=upper,scrambled,grace:2", "--record", "m.json")
    ended = ggp("match", "tictactoe", *words, *QUICK)
    record = read_stored(folder / "m.json")
    assert ended.exit_code == 0
    ways = [(seat["case"], seat["graceMs"], seat["isScrambled"]) for seat in record.raw["x-seats"]]
    assert ways == [("upper", 2000, True), ("as is", 3000, False)]
    assert record.errors == (("", ""),) * len(record.states)


def test_a_program_as_a_player_gets_its_legal_moves(ggp: Ggp, folder: Path) -> None:
    player = program(folder, NAIVE, "cmd+legal")
    ended = ggp("match", "tictactoe", "--player", f"x={player}", "--record", "m.json", *QUICK)
    record = read_stored(folder / "m.json")
    assert ended.exit_code == 0
    assert [step[0] for step in record.errors] == [""] * len(record.errors)
    assert record.player_names == ("program.py", "random")


def test_a_late_move_is_replaced_and_reported(ggp: Ggp, folder: Path) -> None:
    words = ("--player", f"candidate={program(folder, SULKING)}", "--grace", 0, "--start-clock", 3, "--play-clock", 1)
    ended = ggp("match", "montyhall", *words, "--record", "m.json")
    assert ended.exit_code == 0
    assert [line for line in ended.output.splitlines() if line.startswith("  candidate: TO (")]
    assert [step[0] for step in read_stored(folder / "m.json").errors] == ["", "TO", "TO", "TO"]
    assert "played instead:" in ggp("replay", "m.json", "--seat", "candidate").output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("tictacto",), "did you mean tictactoe or phantomtictactoe or biddingtictactoe?"),
        (("tictactoe", "--player", "z=legal"), "no role to play 'z'; did you mean x or o?"),
        (("tictactoe", "--player", "x=legl"), "no player 'legl'; did you mean legal?"),
        (("tictactoe", "--player", "x"), "as in --player white=mcts"),
        (("tictactoe", "--profile", "x"), "as in --profile white=upper,grace:2"),
        (("tictactoe", "--profile", "x=uper"), "did you mean upper?"),
        (("tictactoe", "--profile", "x=grace:-1"), "grace is a number of seconds from 0 to 60"),
        (("tictactoe", "--profile", "x=grace:nan"), "grace is a number of seconds from 0 to 60"),
        (("tictactoe", "--profile", "y=upper"), "no role to play 'y'"),
        (("tictactoe", "--player", "x=human"), "a person plays with `ggp play`"),
        (("tictactoe", "--player", "x=http://"), "http://host:port"),
        (("tictactoe", "--player", "x=cmd:"), "no player at 'cmd:': a program and its arguments expected"),
        (("tictactoe", "--player", "x=cmd:./nothing --deep"), "there is no program ./nothing"),
        (("tictactoe", "--player", "x=cmd+legal:./file"), "./file may not be executed: try chmod +x ./file"),
        (("tictactoe", "--player", "x=localhost:9147"), "an address begins with http://, as in http://localhost:9147"),
        (("tictactoe", "--player", "x=legal", "--player", "x=random"), "two players for x; each role has one"),
        (("montyhall", "--player", "random=legal"), "no role to play 'random'; did you mean candidate?"),
        (("tictactoe", "--record", "file/m.json"), "no record can be written in file"),
        (("tictactoe", "--play-clock", "0"), "--play-clock"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_says_what_to_do(
    ggp: Ggp, folder: Path, words: tuple[str, ...], says: str
) -> None:
    (folder / "file").touch()
    ended = ggp("match", *words)
    assert (ended.exit_code, says in ended.errors) == (2, True)
    assert not (folder / "records").exists() or not list((folder / "records").iterdir())


def test_a_player_that_does_not_start_leaves_neither_record_nor_process(ggp: Ggp, folder: Path) -> None:
    guard = folder / "guard.py"
    guard.write_text(
        "import sys\nfrom players import Player\nclass Guard(Player):\n  move = None\n"
        + "if 'pytest' not in sys.modules:\n  raise SystemExit(3)\n"
    )
    ended = ggp("match", "tictactoe", "--player", f"x={guard}", *QUICK)
    assert (ended.exit_code, "could not be started" in ended.errors) == (1, True)
    assert list((folder / "records").iterdir()) == []


def test_a_disk_that_is_full_ends_the_match_and_what_was_written_stays(
    ggp: Ggp, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        if '"message":"PLAY"' in (folder / "m.json.journal").read_text():
            raise OSError(errno.ENOSPC, "No space left on device")

    before = children_of(os.getpid())
    monkeypatch.setattr(os, "fsync", fail)
    ended = ggp("match", "tictactoe", "--record", "m.json", *QUICK)
    says = "the match cannot be recorded in m.json: No space left on device"
    assert (ended.exit_code, says in ended.errors) == (1, True)
    assert read_stored(folder / "m.json").moves == ()
    assert children_of(os.getpid()) <= before


def test_a_game_of_many_roles_is_played_only_if_that_is_wanted(ggp: Ggp, folder: Path) -> None:
    roles = " ".join(f"(role r{i})" for i in range(17))
    play = "(init on) (<= (legal ?r go) (role ?r)) (next off) (<= terminal (true off)) (<= (goal ?r 50) (role ?r))"
    (folder / "many.kif").write_text(f"{roles} {play}")
    refused = ggp("match", "many.kif")
    assert (refused.exit_code, "17 roles, and no more than 16 may be played here (--max-roles)" in refused.errors) == (
        2,
        True,
    )
    assert ggp("match", "many.kif", "--max-roles", 17).exit_code == 0


@pytest.mark.exhaustive
def test_ctrl_c_ends_the_match_and_the_record_says_so(folder: Path, slow_player: str) -> None:
    words = ("match", "tictactoe", "-p", f"x={slow_player}", "-p", "o=greedy", "--play-clock", 60, "--record", "m.json")
    with running(*words, folder=folder) as child:
        journal = folder / "m.json.journal"
        wait_until(lambda: journal.exists() and '"message":"PLAY"' in journal.read_text())
        started = children_of(child.pid)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=30)
        assert (child.returncode, output.splitlines()[-2:]) == (
            130,
            ["aborted: interrupted", "record: m.json"],
        )
    assert len(started) == 1
    assert not any(map(is_running, started))
    record = read_stored(folder / "m.json")
    assert (record.is_completed, record.is_aborted) == (False, True)


def test_what_was_answered_survives_kill_and_no_process_does(ggp: Ggp, folder: Path, slow_player: str) -> None:
    words = ("match", "tictactoe", "-p", f"x={slow_player}", "-p", "o=greedy", "--play-clock", 60, "--record", "m.json")
    with running(*words, folder=folder) as child:
        journal = folder / "m.json.journal"
        wait_until(lambda: journal.exists() and '"move":"noop"' in journal.read_text())
        started = children_of(child.pid)
        child.kill()
    assert len(started) == 1
    wait_until(lambda: not any(map(is_running, started)))
    record = read_stored(folder / "m.json")
    assert (record.is_completed, record.is_aborted, record.pending) == (False, False, {"o": "noop"})
    ended = ggp("replay", "m.json")
    assert (ended.exit_code, ended.output.splitlines()[-1]) == (0, "agrees with the rules: 0 steps")
    assert "received noop" in ggp("replay", "m.json", "--seat", "o").output


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("sink", "told"),
    [("/dev/full", "ggp: standard output: No space left on device; the match goes on\n"), ("gone", "")],
)
def test_a_match_is_recorded_although_its_lines_cannot_be_written(sink: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    command = [sys.executable, "-m", "server", "match", "nim", "--record", str(path), "--no-draw"]
    reader, pipe = os.pipe()
    os.close(reader)
    with open(sink if sink.startswith("/") else pipe, "w") as output:  # noqa: PTH123 -- one of both is a number
        ran = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, told)
    assert read_stored(path).is_completed
