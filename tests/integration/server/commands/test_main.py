"""`ggp` itself: its version, its help, and what it says to a misspelt command."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import click
import pytest

import server.commands
from server.commands.main import COMMANDS
from tests.kit.disks import no_file_beyond
from tests.kit.server.commands.fixtures import Ggp


def test_the_version_is_that_of_the_package(ggp: Ggp) -> None:
    assert ggp("--version") == (0, f"ggp, version {version('ggp')}\n", "")


def test_help_lists_every_command_with_what_it_does(ggp: Ggp) -> None:
    listed = re.findall(r"^  (\S+)  +(\S.*)", ggp("--help").output.partition("Commands:")[2], re.MULTILINE)
    assert [name for name, _ in listed] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_is_listed_is_there(name: str) -> None:
    module = importlib.import_module(f"server.commands.{name.replace('-', '_')}")
    assert isinstance(module.command, click.Command)


def test_every_module_of_a_command_is_listed() -> None:
    modules = Path(server.commands.__file__).parent.glob("[a-z]*.py")
    assert {module.stem.replace("_", "-") for module in modules} - {"main"} == set(COMMANDS)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_no_library_that_only_commands_need(option: str) -> None:
    code = f"import sys; from server.commands.main import main; sys.argv = ['ggp', {option!r}]; main()"
    ran = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines()}
    assert loaded & {"numpy", "numba", "sqlalchemy", "aiohttp", "pydantic", "pyparsing", "rich", "asyncio"} == set()


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    ("name", "libraries"),
    [
        ("serve", ("clingo", "networkx", "numba")),
        *((name, ("clingo", "numba", "numpy")) for name in ("backup", "export", "restore", "token")),
        *((name, ("aiohttp", "sqlalchemy")) for name in ("bench", "compile", "conform")),
        *((name, ("numba", "sqlalchemy")) for name in ("games", "ratings", "tournament")),
        *((name, ("aiohttp", "numba", "sqlalchemy")) for name in ("check_player", "match", "play")),
    ],
)
def test_a_command_loads_no_library_that_only_others_need(name: str, libraries: tuple[str, ...]) -> None:
    code = f"import sys, server.commands.{name}; print([one for one in {libraries} if one in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_where_there_is_no_linux_it_says_what_to_do(platform: str) -> None:
    code = (
        "import sys; sys.modules.update(fcntl=None, resource=None); from server.commands.main import main; "
        f"sys.platform = {platform!r}; sys.argv = ['ggp', 'serve']; main()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = "ggp: ggp runs on Linux; on Windows use WSL, on macOS a container (docker)\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", said)


@pytest.mark.parametrize("name", ["generate", "token", "tournament"])
def test_help_tells_what_the_commands_of_a_command_do_without_cutting_it_short(ggp: Ggp, name: str) -> None:
    listed = ggp(name, "--help").output.partition("Commands:")[2].splitlines()[1:]
    assert len(listed) >= 3
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


def test_a_misspelt_command_gets_a_suggestion_and_the_code_of_wrong_usage(ggp: Ggp) -> None:
    ended = ggp("vaildate", "tictactoe")
    assert ended.exit_code == 2
    assert "did you mean validate?" in ended.errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("token lst", "no command 'lst'; did you mean list?"),
        ("generate tetris", "no command 'tetris'; `ggp generate --help` lists them"),
        ("tournament cup.toml", "no command 'cup.toml'; `ggp tournament --help` lists them"),
    ],
)
def test_a_misspelt_command_of_a_command_gets_a_way_to_find_the_right_one(ggp: Ggp, words: str, said: str) -> None:
    ended = ggp(*words.split())
    assert (ended.exit_code, ended.errors.splitlines()[-1]) == (2, f"Error: {said}")


def test_a_name_that_resembles_none_gets_a_way_to_find_the_right_one(ggp: Ggp) -> None:
    ended = ggp("show", "qqqq")
    assert (ended.exit_code, ended.output) == (2, "")
    assert "`ggp games` lists" in ended.errors


def test_a_name_that_is_longer_than_a_path_may_be_is_of_no_game(ggp: Ggp) -> None:
    name = "q" * 300
    ended = ggp("show", name)
    said = f"ggp: no game '{name[:100]}'"
    assert (ended.exit_code, ended.output, ended.errors.startswith(said)) == (2, "", True)


def test_a_path_in_a_folder_that_may_not_be_read_gets_a_hint(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    is_dir = Path.is_dir

    def refuse(path: Path) -> bool:
        if path == Path("far/away.kif"):
            raise PermissionError(13, "Permission denied", str(path))
        return is_dir(path)

    monkeypatch.setattr(Path, "is_dir", refuse)
    said = "ggp: no game 'far/away.kif': if it is the path of a file, you have no permission to look into its folder\n"
    assert ggp("show", "far/away.kif") == (2, "", said)


def test_a_file_that_cannot_be_written_is_reported_in_one_line(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("trace", "tictactoe", "-o", tmp_path / "absent" / "trace.json")
    assert (ended.exit_code, ended.errors.count("\n")) == (2, 1)


@pytest.mark.parametrize("words", ["trace tictactoe", "generate nim 3"])
def test_a_disk_that_is_full_is_told_with_the_file(ggp: Ggp, tmp_path: Path, words: str) -> None:
    path = tmp_path / "out.kif"
    path.symlink_to("/dev/full")
    assert ggp(*words.split(), "-o", path) == (2, "", f"ggp: {path}: No space left on device\n")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "words",
    ["trace tictactoe --plays 20", "show chess --svg", "show chess --png", "generate hex --side 9"],
)
def test_a_write_that_fails_leaves_the_file_that_was_there(ggp: Ggp, tmp_path: Path, words: str) -> None:
    path = tmp_path / "out.kif"
    path.write_text("good")
    with no_file_beyond(1024):
        ended = ggp(*words.split(), "-o", path)
    assert (ended.exit_code, ended.errors.endswith("File too large\n"), path.read_text()) == (2, True, "good")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("refusal", "what", "limit"),
    [(MemoryError(), "memory", "ulimit -v"), (RuntimeError("can't start new thread"), "threads", "ulimit -u")],
    ids=["memory", "threads"],
)
def test_what_the_system_has_no_more_of_is_told_in_one_line(
    ggp: Ggp, monkeypatch: pytest.MonkeyPatch, refusal: Exception, what: str, limit: str
) -> None:
    def refuse(*_arguments: object) -> None:
        raise refusal

    monkeypatch.setattr("server.commands.trace.trace_game", refuse)
    says = f"ggp: the system gives no more {what}: end other programs, or raise the limit ({limit}, or a container's)\n"
    assert ggp("trace", "tictactoe") == (2, "", says)


def test_where_no_temporary_file_can_be_made_it_says_what_to_do(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc/1"])
    said = (
        "no folder for temporary files can be written: name one that can, and that has room, with the variable TMPDIR"
    )
    words = "tournament run --game tictactoe --player a=random --player b=random"
    assert ggp(*words.split()) == (2, "", f"ggp: {said}\n")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        ("games", ">&-", 0),
        ("show nim", ">&- 2>&-", 0),
        ("validate -", "<&-", 1),
        ("format -", "<&-", 0),
        ("player random --stdio", "<&-", 0),
    ],
)
def test_streams_that_are_closed_are_empty(words: str, closed: str, code: int) -> None:
    program = f"{shlex.quote(sys.executable)} -m server {words} {closed}"
    ran = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "settings",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}],
    ids=["encoding", "locale"],
)
def test_what_an_encoding_lacks_is_a_question_mark(settings: dict[str, str]) -> None:
    environment = os.environ | settings
    ran = subprocess.run(
        [sys.executable, "-m", "server", "games"], capture_output=True, text=True, check=True, env=environment
    )
    assert "EinStein w?rfelt nicht!" in ran.stdout


@pytest.mark.exhaustive
def test_a_width_of_nothing_is_a_width_that_is_not_known() -> None:
    """Terminals without a size, as in some containers and editors, say that it is 0."""
    command = (sys.executable, "-m", "server", "show", "tictactoe")
    said = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": width}).stdout
        for width in ("0", "80")
    ]
    assert said[0] == said[1] != ""


@pytest.mark.parametrize(
    ("words", "option", "number"),
    [
        ("validate nim --seconds", "--seconds", "nan"),
        ("serve --lease", "--lease", "nan"),
        ("match nim --grace", "--grace", "nan"),
        ("compile nim --seconds", "--seconds", "nan"),
        ("player random --margin", "--margin", "inf"),
    ],
)
def test_a_number_is_finite(ggp: Ggp, words: str, option: str, number: str) -> None:
    ended = ggp(*words.split(), number)
    message = f"Error: Invalid value for '{option}': {number} is no finite number.\n"
    assert (ended.exit_code, ended.output, ended.errors.endswith(message)) == (2, "", True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("validate nim --json --sarif", "--json and --sarif exclude each other; choose one of them"),
        ("validate nim --evidence plays", "--evidence needs --simulate"),
        ("show nim --json --svg", "--json and --svg exclude each other; choose one of them"),
        ("show nim --svg --png -o nim.png", "--svg and --png exclude each other; choose one of them"),
        ("show --sheet . -o sheet.html --json", "--json and --sheet exclude each other; choose one of them"),
        ("replay m.json --seat a --json", "--seat and --json exclude each other; choose one of them"),
        ("replay m.json --seat a --svg pictures", "--seat and --svg exclude each other; choose one of them"),
        ("replay m.json --seat a --step 0", "--seat and --step exclude each other; choose one of them"),
        ("serve --tls-key key.pem", "ggp: key.pem: a key needs its certificate: --tls-cert"),
    ],
)
def test_options_that_do_not_go_together_are_refused(ggp: Ggp, words: str, message: str) -> None:
    ended = ggp(*words.split())
    assert (ended.exit_code, ended.output, message in ended.errors) == (2, "", True)


@pytest.mark.parametrize("name", ["perft", "train"])
def test_examples_of_help_have_lines_of_their_own(ggp: Ggp, name: str) -> None:
    lines = [line.strip() for line in ggp(name, "--help").output.splitlines()]
    assert sum(line.startswith(f"ggp {name} ") for line in lines) >= 2
    assert "\\b" not in lines


def test_a_folder_in_place_of_a_rule_file_is_called_one(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("validate", tmp_path)
    message = (
        f"ggp: no game {str(tmp_path)!r}: that is a folder without a rule file of its name; name one of its files\n"
    )
    assert (ended.exit_code, ended.output, ended.errors) == (2, "", message)


def test_ctrl_c_is_no_verdict(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    command = importlib.import_module("server.commands.validate").command
    monkeypatch.setattr(command, "callback", interrupted)
    assert ggp("validate", "tictactoe") == (130, "", "ggp: interrupted\n")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", ["games", "diff nim tictactoe", "validate nim", "show nim --svg"])
def test_a_reader_that_is_gone_is_no_verdict(words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-m", "server", *words.split()], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (141, "")


def test_garbage_is_looked_for_once_a_command_is_loaded() -> None:
    code = (
        "import atexit, gc, sys; from server.commands.main import main; sys.argv = ['ggp', 'games', '--help'];"
        "atexit.register(lambda: print(gc.isenabled(), gc.get_freeze_count() > 10_000)); main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout.splitlines()[-1] == "True True"
