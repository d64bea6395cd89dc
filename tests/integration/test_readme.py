"""What the README says is so: its commands exist, its console examples run and print what they show.

So it is for the tutorials and two pages more, and for all pages with GGP_EXHAUSTIVE=all (`make exhaustive`).

Its `>>>` examples are run by pytest itself. A block whose first line is a file name in a comment is written to the
folder in which the console examples of its page run, one after the other. The ports that pages name are free ones
there, and what a page leaves running is ended after it.
"""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import pytest

from server.commands.main import COMMANDS
from tests.kit.exhaustive import sampled

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FIRST_PAGES = [page for page in PAGES if page.stem.partition("-")[0] in ("README", "tutorial", "validate", "traces")]
"""Those that are read first, whose examples always run; the commands of the other pages have tests of their own."""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]+\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)")
MODULE = re.compile(r"`(\w+(?:/\w+)+\.py)`")
PICTURE = re.compile(r"!\[[^\]]*\]\(images/([\w-]+\.svg)\)")
FILE = re.compile(r"(?:#|;) (\w+\.(?:kif|py|toml))\n")
RESULTS = re.compile(r"^<!-- results: .*?^<!-- end of results -->$", re.DOTALL | re.MULTILINE)
PORTS = ("9147", "9148")
"""The ports of `ggp player` and `ggp serve`."""
AS_SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Example:
    """A command of a console block with the output shown under it."""

    command: str
    output: str


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def examples(block: str) -> Iterator[Example]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        n_command = 1 + next(i for i, line in enumerate(lines) if not line.endswith("\\\n"))
        yield Example("".join(lines[:n_command]), "".join(lines[n_command:]))


def calls(page: Path) -> Iterator[list[str]]:
    """Yield every call of `ggp` in the page's shell blocks, as words."""
    for language, block in blocks(page):
        if language in ("console", "sh"):
            commands = [example.command for example in examples(block)] if language == "console" else [block]
            for line in "".join(commands).replace("\\\n", " ").splitlines():
                for words in _commands(line):
                    if words and Path(words[0]).name == "ggp":
                        yield words[1:]


def _commands(line: str) -> Iterator[list[str]]:
    words: list[str] = []
    for word in shlex.split(line, comments=True):
        if word in ("&&", "||", ";", "|", "&"):
            yield words
            words = []
        else:
            words.append(word)
    yield words


@cache
def command_named(name: str) -> click.Command:
    found = importlib.import_module(f"server.commands.{name.replace('-', '_')}").command
    assert isinstance(found, click.Command)
    return found


class Shell:
    """Runs the commands of a page in a folder, and ends what they leave behind."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._groups = folder, list[int]()
        self._ports = dict(zip(PORTS, _free_ports(len(PORTS)), strict=True))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        settings = {"COLUMNS": "100", "NO_COLOR": "1", "GGP_PORT": self._ports["9148"]}
        self._environment = os.environ | settings | {"PATH": path}

    def here(self, text: str) -> str:
        """Return *text* with the ports that are free here."""
        return re.sub("|".join(PORTS), lambda port: self._ports[port[0]], text)

    def write(self, block: str) -> None:
        """Write a block that begins with the name of a file."""
        if name := FILE.match(block):
            (self.folder / name[1]).write_text(block, encoding="utf-8")

    def run(self, command: str) -> tuple[int, str, str]:
        """Return how a command ends, and what it prints on either stream."""
        with subprocess.Popen(
            ["bash", "-c", self.here(command)], cwd=self.folder, env=self._environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        ) as process:  # fmt: skip
            self._groups.append(process.pid)
            output, errors = process.communicate(timeout=120)
        return process.returncode, output, errors

    def close(self) -> None:
        """End all that is still running."""
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def _free_ports(n: int) -> list[str]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(n)]
        return [str(one.getsockname()[1]) for one in sockets]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with closing(Shell(tmp_path)) as found:
        yield found


@pytest.mark.parametrize("page", sampled(PAGES, *FIRST_PAGES), ids=lambda page: page.name)
def test_every_console_example_prints_what_is_shown(page: Path, shell: Shell) -> None:
    for language, block in blocks(page):
        shell.write(block)
        for example in examples(block) if language == "console" else ():
            if "curl " in example.command and shutil.which("curl") is None:
                pytest.skip(f"curl is not installed: the rest of {page.name} is not tried")
            code, output, errors = shell.run(example.command)
            assert code == 0, f"{example.command}{output}{errors}"
            # A slow machine reports progress, which is no part of what is shown.
            printed = (output, output + errors)
            assert not example.output or any(
                doctest.OutputChecker().check_output(shell.here(example.output), text, AS_SHOWN) for text in printed
            ), f"{example.command}shown:\n{example.output}\nprinted:\n{output}{errors}"
    text = page.read_text(encoding="utf-8")
    made = [name for name in PICTURE.findall(text) if (shell.folder / name).exists()]
    assert [
        name for name in made if (shell.folder / name).read_bytes() != (page.parent / "images" / name).read_bytes()
    ] == []


def test_the_player_of_the_readme_passes_the_check_of_players(tmp_path: Path) -> None:
    source = next(block for language, block in blocks(PAGES[0]) if language == "python")
    (tmp_path / "my_player.py").write_text(source, encoding="utf-8")
    ggp = Path(sys.executable).parent / "ggp"
    with subprocess.Popen(
        [ggp, "player", tmp_path / "my_player.py", "--port", "0", "--until-eof"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as player:  # fmt: skip
        assert player.stdout is not None
        url = player.stdout.readline().removeprefix("listening on ").strip()
        checked = subprocess.run([ggp, "check-player", url], check=False, capture_output=True, text=True, timeout=120)
        player.communicate(timeout=30)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_call_of_ggp_names_a_command_and_options_that_exist(page: Path) -> None:
    for words in calls(page):
        if words[0] == "--version":
            continue
        assert words[0] in COMMANDS, words
        called = command_named(words[0])
        if isinstance(called, click.Group) and len(words) > 1 and not words[1].startswith("-"):
            assert words[1] in called.commands, words
            called = called.commands[words[1]]
        known = {option for parameter in called.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
            "--help"
        }
        assert {word for word in words[1:] if re.match(r"--?[a-z]", word)} <= known, words


def test_every_command_has_its_row_in_the_table() -> None:
    readme = PAGES[0].read_text(encoding="utf-8")
    assert re.findall(r"^\| `ggp ([a-z-]+)", readme, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_in_one_line_what_it_does(name: str) -> None:
    assert command_named(name).get_short_help_str(limit=200).rstrip(".")


def test_every_target_of_make_that_the_readme_names_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    readme = PAGES[0].read_text(encoding="utf-8")
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", readme, re.MULTILINE)) <= targets


def test_every_target_of_make_is_listed_by_make_help() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"^([a-z]+):.*## \S", makefile, re.MULTILINE)) == targets


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_link_to_a_file_finds_it(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_path_of_a_module_is_that_of_one(page: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    named = MODULE.findall(page.read_text(encoding="utf-8"))
    assert [path for path in named if not any(f"/{each}".endswith(f"/{path}") for each in listed)] == []


def test_every_page_of_the_docs_is_linked_from_the_readme() -> None:
    links = LINK.findall(PAGES[0].read_text(encoding="utf-8"))
    assert {f"docs/{page.name}" for page in PAGES[1:]} - set(links) == set()


def test_every_folder_is_in_the_layout() -> None:
    readme = PAGES[0].read_text(encoding="utf-8")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    folders = {line.split("/")[0] for line in listed.splitlines() if "/" in line}
    assert {folder for folder in folders if f"`{folder}/" not in readme} == set()


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert first is not None
    assert first[1] == version[1]


def results(page: Path) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table of the engine's speed, and what is said below them."""
    found = RESULTS.search(page.read_text(encoding="utf-8"))
    assert found is not None
    lines = found[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return rows[2:], [line for line in lines if line.startswith("- ")]


def test_the_speed_of_the_engine_is_that_of_its_page() -> None:
    shown, said = results(ROOT / "README.md")
    measured, told = results(ROOT / "docs" / "engine.md")
    of_the_field = [row for row in measured if not row[0].startswith("rules/")]
    assert shown == [[row[column] for column in (0, 2, 4, 5, 7, 8)] for row in of_the_field]
    assert set(said) <= set(told)


def test_the_comparison_has_the_figures_of_the_engine() -> None:
    _, told = results(ROOT / "docs" / "engine.md")
    mean, least = (re.search(r"[\d.]+(?= times)", line) for line in told[:2])
    assert mean
    assert least
    said = " ".join((ROOT / "docs" / "comparison.md").read_text("utf-8").split())
    assert f"makes {mean[0]} times the plays of the best of them" in said
    assert f"at least {least[0]} times" in said


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"], ids=lambda page: page.name)
def test_extras_are_installed_from_the_clone(page: Path) -> None:
    assert "pip install 'ggp[" not in page.read_text("utf-8")
