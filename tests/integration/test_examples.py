"""Every program of examples/ runs as its first lines say, and its players play whole matches without a single error."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.request import Request, urlopen

import pytest

from gdl.engines import make_game
from gdl.game import RANDOM
from gdl.games.library import find_game
from server.access.settings import AccessSettings
from tests.kit.server.web.live_site import live_site

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
MOVES = [
    "( mark 1 1 ) noop", "noop ( mark 1 2 )", "( mark 1 3 ) noop", "noop ( mark 2 1 )", "( mark 2 2 ) noop",
    "noop ( mark 2 3 )", "( mark 3 1 ) noop",
]  # fmt: skip
"""Tic-tac-toe where both players always make their first legal move."""
DIAGNOSTICS = """\
robot.kif:2:5: error: no condition gives a value to the variable ?y of the head [gdl/unsafe-variable]
2 | (<= (next (at ?y)) (true (at ?x)) (does robot stay))
        ^^^^^^^^^^^^^^
hint: add a condition that lists the values of ?y, as (role ?r) lists roles
diagnostics: 1, errors: 1
"""


def javascript(_folder: Path) -> str:
    if shutil.which("node") is None:
        pytest.skip("node is not installed: the JavaScript sample is not tried")
    return f"cmd+legal:node '{EXAMPLES / 'random_player.js'}'"


def cpp(folder: Path) -> str:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed: the C++ sample is not tried")
    program = folder / "random_player"
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    subprocess.run(["g++", "-std=c++17", *warnings, "-o", program, EXAMPLES / "random_player.cpp"], check=True)
    return f"cmd+legal:'{program}'"


def ten_lines(_folder: Path) -> str:
    return str(EXAMPLES / "my_player.py")


def kit(_folder: Path) -> str:
    return f"cmd:{sys.executable} -m server player legal --stdio"


@pytest.mark.sampled(9)
@pytest.mark.parametrize("player_of", [javascript, cpp, kit, ten_lines])
@pytest.mark.parametrize("game", ["tictactoe", "montyhall"])
def test_a_player_plays_a_match_without_errors(player_of: Callable[[Path], str], game: str, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    roles = [role for role in make_game(find_game(game).read()).roles if role != RANDOM]
    player = player_of(tmp_path)
    seats = [word for role in roles for word in ("--player", f"{role}={player}")]
    clocks = ("--start-clock", "10", "--play-clock", "5")
    subprocess.run(
        [sys.executable, "-m", "server", "match", game, *seats, *clocks, "--record", record],
        check=True, capture_output=True, timeout=100,
    )  # fmt: skip
    played = json.loads(record.read_text())
    assert played["isCompleted"]
    assert {error for errors in played["errors"] for error in errors} == {""}


def run(name: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the program *name* of examples/ with *words*, and return what it printed."""
    command = [sys.executable, str(EXAMPLES / name), *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environment)


def test_the_readme_of_the_examples_lists_them_all() -> None:
    listed = re.findall(r"^\| \[(.+?)\]\(\1\) \|", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(listed) | {"README.md"} == {path.name for path in EXAMPLES.iterdir() if path.is_file()}


def test_every_example_says_first_how_it_is_run() -> None:
    for path in (path for path in EXAMPLES.iterdir() if path.is_file() and path.name != "README.md"):
        text = path.read_text(encoding="utf-8")
        lines = "".join(json.loads(text)["cells"][0]["source"]) if path.suffix == ".ipynb" else text
        first_lines = lines.splitlines()[:6]
        assert any(re.search(rf"(python|ggp|g\+\+|jupyter lab) .*{path.name}", line) for line in first_lines), path


def test_the_player_in_ten_lines_is_that_of_the_readme() -> None:
    of_the_readme = re.search(
        r"^# my_player.py\n(.+?)^```$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert of_the_readme is not None
    assert (EXAMPLES / "my_player.py").read_text("utf-8").endswith(f'"""\n\n{of_the_readme[1]}')


@pytest.mark.sampled(3)
@pytest.mark.parametrize("game", ["tictactoe", "rockpaperscissors", "montyhall"])
def test_a_game_is_played_from_python(game: str) -> None:
    ended = run("play_from_python.py", game)
    assert ended.returncode == 0, ended.stderr
    roles = [str(role) for role in make_game(find_game(game).read()).roles]
    lines = ended.stdout.splitlines()
    assert [line.split()[0] for line in lines[: len(roles)]] == roles
    goals = dict(re.findall(r"^(\S+), played by \w+: goal (\d+)$", ended.stdout, re.MULTILINE))
    assert list(goals) == [role for role in roles if role != str(RANDOM)]


@pytest.mark.exhaustive
def test_a_policy_is_learnt_by_arrays() -> None:
    ended = run("learn_breakthrough.py", "breakthrough", "128", "10")
    assert ended.returncode == 0, ended.stderr
    before, after = (
        int(n) for n in re.findall(r"^round \d+: wins (\d+)% against random moves$", ended.stdout, re.MULTILINE)
    )
    assert before < 70
    assert after > 90


def test_the_diagnostics_of_a_rule_text_have_place_picture_and_hint() -> None:
    ended = run("validate_rules.py")
    assert (ended.returncode, ended.stdout) == (1, DIAGNOSTICS)


def test_a_good_rule_file_is_validated_without_diagnostics() -> None:
    ended = run("validate_rules.py", find_game("tictactoe").path)
    assert (ended.returncode, ended.stdout) == (0, "diagnostics: 0, errors: 0\n")


def test_a_match_of_a_running_server_is_followed_to_its_end(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        order = {"game": "tictactoe", "players": {"x": "legal", "o": "legal"}, "startClock": 5, "playClock": 5}
        request = Request(f"{url}/api/v1/matches", json.dumps(order).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=20) as response:
            match_id = json.load(response)["id"]
        ended = run("watch_match.py", url, match_id)
        again = run("watch_match.py", url, match_id)
        unknown = run("watch_match.py", url, "unknown")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [
        f"{match_id}: tictactoe, players legal legal",
        *(f"step {step}: {moves}" for step, moves in enumerate(MOVES, 1)),
        "goals: 100 0",
    ]
    assert again.stdout == ended.stdout
    assert (unknown.returncode, unknown.stderr) == (1, f"{url} refuses to show unknown: no match 'unknown'\n")


def test_following_says_how_it_is_called() -> None:
    ended, misspelt = run("watch_match.py"), run("watch_match.py", "127.0.0.1:9148", "match")
    assert (ended.returncode, "MATCH_ID [TOKEN]" in ended.stderr) == (1, True)
    told = "127.0.0.1:9148 is no address of a server, as http://127.0.0.1:9148 is\n"
    assert (misspelt.returncode, misspelt.stderr) == (1, told)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run `ggp serve` in *folder*; yield its address."""
    words = ["serve", "--port", "0", "--no-warm-up"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-P", "-m", "server", *words], cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        ) as server,
    ):  # fmt: skip
        assert server.stdout is not None
        try:
            yield server.stdout.readline().removeprefix("serving on ").strip()
        finally:
            server.terminate()


def dial_in(*words: str) -> tuple[int, str]:
    """Return how the player that dials in ends, and what it says."""
    ended = run("dial_in_player.py", *words)
    assert ended.stdout == ""
    return ended.returncode, ended.stderr


def test_the_player_that_dials_in_says_that_there_is_no_server() -> None:
    assert dial_in("http://127.0.0.1:1", "deep") == (
        1, "http://127.0.0.1:1 cannot be reached: [Errno 111] Connection refused\n"
    )  # fmt: skip


@pytest.mark.parametrize("words", [(), ("http://127.0.0.1:1",), ("a", "b", "c", "d")])
def test_the_player_that_dials_in_says_how_it_is_called(words: tuple[str, ...]) -> None:
    code, said = dial_in(*words)
    assert (code, "python dial_in_player.py http://127.0.0.1:9148 NAME [TOKEN]" in said) == (1, True)


def test_the_player_that_dials_in_says_that_it_is_refused(tmp_path: Path) -> None:
    with live_site(tmp_path, AccessSettings(is_loopback=False)) as site:
        for words in ((), ("ggp_wrong",)):
            code, said = dial_in(site.url, "deep", *words)
            assert (code, said.count("\n")) == (1, 1)
            assert said.startswith(f"{site.url} refuses the player deep: ")


def test_the_player_that_dials_in_ends_when_its_player_is_anothers(tmp_path: Path) -> None:
    with live_site(tmp_path) as site:
        site.ask(lambda: site.manager.registry.register("deep", "ada", "http://127.0.0.1:1"))
        code, said = dial_in(site.url, "deep")
    assert (code, said.count("\n")) == (1, 1)
    assert said.startswith(f"{site.url} refuses the player deep: ")


class Unsteady(BaseHTTPRequestHandler):
    """A game manager that registers a player, gives it two streams and two broken lines, and then refuses it."""

    answers = iter(("stream", "nothing", "nothing", "stream", "refusal"))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()

    def do_GET(self) -> None:
        match next(self.answers):
            case "stream":
                self.send_response(200)
                self.end_headers()
            case "refusal":
                self.send_error(403)

    def log_message(self, *_words: object) -> None:
        return


def test_the_player_that_dials_in_says_once_that_a_connection_is_lost_or_there_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with HTTPServer(("127.0.0.1", 0), Unsteady) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr("sys.argv", ["dial_in_player.py", url, "deep"])
        monkeypatch.setattr("time.sleep", lambda _s: None)
        with pytest.raises(SystemExit, match="refuses the player deep: HTTP status 403"):
            runpy.run_path(str(EXAMPLES / "dial_in_player.py"))
        server.shutdown()
    lost = "Remote end closed connection without response; dialling again"
    assert capsys.readouterr().err.splitlines() == ["connected", lost, "connected"]
