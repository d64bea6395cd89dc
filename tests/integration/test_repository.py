"""What must hold of every file of the repository, so that it stays clean without a review."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# Written in pieces, so that this file may hold what no file may.
OF_ONE_MACHINE = re.compile(
    "|".join([r"/ro" r"ot/\w", r"/wo" r"rk/\w", r"/ho" r"me/\w", r"/Us" r"ers/\w", r"/opt/wh" r"eels"])
)
OF_A_REGISTRY = re.compile(
    "|".join([r"pypi\." r"org", r"python" r"hosted", r"registry\." r"npmjs", r"deb\." r"debian", r"index" r"-url"])
)
SILENCED = re.compile(r"#\s*(?:noqa|type:\s*ignore|fmt:|pragma)")
SILENCED_WITH_REASON = re.compile(
    r"#\s*(?:noqa: [A-Z0-9, ]+ -- \S|type:\s*ignore\[[a-z0-9, -]+\]\s+# \S|fmt: (?:skip|off|on)|pragma)"
)


@cache
def tracked() -> tuple[Path, ...]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git checkout: the list of tracked files is not known")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    return tuple(path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file())


def lines_with(pattern: re.Pattern[str], suffix: str = "") -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in tracked()
        if path.name.endswith(suffix)
        for number, line in enumerate(path.read_bytes().decode("latin-1").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_path_of_one_machine() -> None:
    assert lines_with(OF_ONE_MACHINE) == []


def test_no_file_names_the_address_of_a_package_registry() -> None:
    assert lines_with(OF_A_REGISTRY) == []


def test_every_silenced_check_gives_its_reason() -> None:
    silenced = lines_with(SILENCED, ".py")
    assert [line for line in silenced if not SILENCED_WITH_REASON.search(line)] == []


def test_every_rule_of_the_linter_that_is_off_gives_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ignores = re.search(r"^ignore = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert ignores is not None
    assert [line for line in ignores[1].splitlines() if "# " not in line] == []


def test_tests_are_in_folders_that_say_how_long_they_take_and_then_as_the_code_is() -> None:
    found = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    packages = {Path(*folder.parts[1:]) for folder in found}
    assert {folder.parts[0] for folder in found} == {"unit", "integration", "browser", "postgresql", "corpus"}
    assert {package for package in packages if not (ROOT / package).is_dir()} == set()


def test_no_file_is_larger_than_a_reviewer_can_read() -> None:
    assert [(path.name, size) for path in tracked() if (size := path.stat().st_size) > 1_000_000] == []


def test_no_module_is_a_drawer_for_anything() -> None:
    drawers = {"base", "common", "helper", "helpers", "lib", "manager", "misc", "tools", "util", "utils"}
    assert [path.name for path in tracked() if path.suffix == ".py" and path.stem in drawers] == []


def collected(*command: str) -> set[str]:
    """Return the tests of tic-tac-toe that *command* would run, but for those of public rule files."""
    variables = os.environ | {"GGP_CONFORM": "all", "PYTHON": sys.executable}
    words = [*command, "-q", "--collect-only", "-n", "0"]
    done = subprocess.run(words, cwd=ROOT, env=variables, check=True, capture_output=True, text=True)
    return {line for line in done.stdout.splitlines() if "::" in line and not line.startswith("tests/corpus/")}


@pytest.mark.exhaustive
def test_the_tests_of_one_game_are_found_without_those_of_others() -> None:
    found = collected("scripts/test-game", "tictactoe")
    assert found == collected(sys.executable, "-m", "pytest", "-k", "[tictactoe] or [tictactoe_")
    assert found
