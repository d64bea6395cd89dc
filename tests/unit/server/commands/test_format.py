"""`ggp format`: what it writes, what it only tells, and the exit code."""

from __future__ import annotations

import io
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.kit.server.commands.fixtures import Ggp

LOOSE = "( role   x )   ; the only one\r\n\r\n\r\n(<= terminal (true (at 2)))"
FORMAT = (sys.executable, "-m", "server", "format")
NEAT = "(role x) ; the only one\n\n(<= terminal\n    (true (at 2)))\n"


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    path = tmp_path / "loose.kif"
    path.write_bytes(LOOSE.encode())
    return path


@pytest.fixture
def neat(tmp_path: Path) -> Path:
    path = tmp_path / "neat.kif"
    path.write_bytes(NEAT.encode())
    return path


def test_files_are_laid_out_in_place_and_those_that_change_are_named(ggp: Ggp, loose: Path, neat: Path) -> None:
    assert ggp("format", loose, neat) == (0, f"{loose}: formatted\n", "")
    assert [path.read_bytes() for path in (loose, neat)] == [NEAT.encode()] * 2


def test_a_description_stays_as_it_is(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "mine"\n', encoding="utf-8")
    ended = ggp("format", path)
    assert (ended.exit_code, path.read_text(encoding="utf-8")) == (2, 'title = "mine"\n')
    assert ended.errors == (
        f"ggp: {path} describes a game; its rules are in another file: name that, as in {path.with_suffix('.kif')}\n"
    )


def test_check_writes_nothing_and_exits_with_1_if_a_file_would_change(ggp: Ggp, loose: Path, neat: Path) -> None:
    assert ggp("format", "--check", loose, neat) == (1, f"{loose}: would be formatted\n", "")
    assert ggp("format", "--check", neat) == (0, "", "")
    assert loose.read_bytes() == LOOSE.encode()


def test_diff_writes_nothing_and_shows_the_lines_that_would_change(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "one.kif"
    path.write_text("(role x)\n( role o)\n", encoding="utf-8")
    shown = f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n (role x)\n-( role o)\n+(role o)\n"
    assert ggp("format", "--diff", path) == (0, shown, "")
    assert ggp("format", "--diff", "--check", path) == (1, shown, f"{path}: would be formatted\n")
    assert path.read_text(encoding="utf-8") == "(role x)\n( role o)\n"


@pytest.mark.parametrize("apply", [("patch", "-p0", "--binary"), ("git", "apply", "-p0")], ids=["patch", "git"])
def test_a_diff_is_a_patch_that_lays_files_out(tmp_path: Path, apply: tuple[str, ...]) -> None:
    if shutil.which(apply[0]) is None:
        pytest.skip(f"no {apply[0]}: THE PATCHES OF `ggp format --diff` ARE NOT APPLIED")
    raws = {
        "plain": b"(role x)\n( role o)\n",
        "unended": LOOSE.encode(),
        "latin": b"(role x)\n; caf\xe9\n( p)",
        "marked": "\ufeff(role x)\n( role ö)\n".encode(),
    }
    for name, raw in raws.items():
        (tmp_path / f"{name}.kif").write_bytes(raw)
    files = [f"{name}.kif" for name in raws]
    patch = subprocess.run([*FORMAT, "--diff", *files], cwd=tmp_path, capture_output=True, check=True).stdout
    subprocess.run(apply, cwd=tmp_path, input=patch, capture_output=True, check=True)
    assert subprocess.run([*FORMAT, "--check", *files], cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert [(tmp_path / file).read_bytes() for file in files] == [
        b"(role x)\n(role o)\n",
        NEAT.encode(),
        b"(role x)\n; caf\xe9\n(p)\n",
        "\ufeff(role x)\n(role ö)\n".encode(),
    ]


def test_a_diff_on_a_terminal_sends_it_no_bytes_of_the_file(
    ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.kif"
    path.write_text("; \x1b[2J\n( p)\t\n", encoding="utf-8")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = click.unstyle(ggp("format", "--diff", path).output).splitlines()
    assert lines[3:] == [" ; \\x1b[2J", "-( p)\t", "+(p)"]


def test_standard_input_is_laid_out_to_standard_output(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOOSE.encode()), encoding="utf-8"))
    assert ggp("format", "-") == (0, NEAT, "")


def test_a_file_that_does_not_balance_stays_as_it_is_and_the_others_are_laid_out(
    ggp: Ggp, loose: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.kif"
    broken.write_text("(role x", encoding="utf-8")
    ended = ggp("format", broken, loose)
    assert (ended.exit_code, ended.output) == (1, f"{loose}: formatted\n")
    assert ended.errors.startswith(f"ggp: {broken}:1:1: this parenthesis is never closed")
    assert (broken.read_text(encoding="utf-8"), loose.read_bytes()) == ("(role x", NEAT.encode())


@pytest.mark.parametrize("raw", ["\ufeff( p)".encode(), b"( p) ; caf\xe9"], ids=["byte order mark", "Latin-1"])
def test_a_file_keeps_its_encoding(ggp: Ggp, tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "old.kif"
    path.write_bytes(raw)
    assert ggp("format", path).exit_code == 0
    assert path.read_bytes() == raw.replace(b"( p)", b"(p)") + b"\n"


def test_a_file_keeps_its_mode_and_the_link_that_leads_to_it(ggp: Ggp, loose: Path, tmp_path: Path) -> None:
    loose.chmod(0o640)
    link = tmp_path / "link.kif"
    link.symlink_to(loose)
    assert ggp("format", link).exit_code == 0
    assert (link.is_symlink(), loose.read_bytes(), stat.S_IMODE(loose.stat().st_mode)) == (True, NEAT.encode(), 0o640)


def test_a_file_is_as_it_was_when_writing_fails(ggp: Ggp, loose: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert ggp("format", loose).exit_code == 2
    assert (loose.read_bytes(), list(loose.parent.iterdir())) == (LOOSE.encode(), [loose])


def test_a_file_that_is_not_there_is_wrong_usage(ggp: Ggp, tmp_path: Path) -> None:
    assert ggp("format", tmp_path / "absent.kif").exit_code == 2


@pytest.mark.parametrize("command", ["format", "lint", "validate"])
def test_standard_input_is_named_once(ggp: Ggp, command: str) -> None:
    ended = ggp(command, "-", "-")
    told = "Error: - is standard input, which can be read once: name it once"
    assert (ended.exit_code, ended.output, ended.errors.splitlines()[-1]) == (2, "", told)
