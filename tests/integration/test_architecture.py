"""The structure of the packages, and what docs/architecture.md says of it."""

from __future__ import annotations

import ast
import re
from functools import cache

from tools.structure import PACKAGES, ROOT, Module, between_packages, circles, imports_of, read_modules

FOLDERS = (*PACKAGES, "benchmarks", "tests", "tools")
PAGE = ROOT / "docs" / "architecture.md"


@cache
def modules() -> tuple[Module, ...]:
    return read_modules()


def test_the_page_lists_every_package_and_no_other() -> None:
    listed = re.findall(r"^- `([a-z_.]+)`: ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    there = {module.name for module in modules() if module.path.name == "__init__.py"} - set(PACKAGES)
    assert set(listed) == there


def test_every_module_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`((?:\w+/)+\w+\.\w+)`", PAGE.read_text(encoding="utf-8")))
    folders = [ROOT, *(ROOT / package for package in PACKAGES)]
    assert {name for name in named if not any((folder / name).is_file() for folder in folders)} == set()


def test_every_stage_of_the_compiler_is_a_module() -> None:
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    table = text.partition("\n## The stages\n")[2].partition("\n## ")[0]
    stages = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert stages
    assert stages - {module.path.stem for module in modules() if module.name.startswith("gdl.")} == set()


def test_a_program_runs_only_after_all_of_its_module_is_defined() -> None:
    texts = {path: path.read_text(encoding="utf-8") for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    guarded = {path: ast.parse(text).body for path, text in texts.items() if "\nif __name__ == " in text}
    assert {path for path, body in guarded.items() if "__name__" not in ast.unparse(body[-1])} == set()


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(imports_of(modules())) == []


def test_no_packages_import_each_other_in_a_circle() -> None:
    assert circles(between_packages(imports_of(modules()))) == []
