"""THREATS.md says which test holds each defence: the tests are there, and every defence has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "THREATS.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ROWS = [row for row in re.findall(r"^\| .* \|$", TEXT, re.MULTILINE) if not row.startswith("| threat ")]


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED.findall(TEXT))))
def test_every_test_that_is_named_is_there(path: str, name: str) -> None:
    assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:50])
def test_every_defence_names_a_test(row: str) -> None:
    _, threat, defence, tests, _ = (cell.strip() for cell in row.split("|"))
    assert threat
    assert defence
    assert NAMED.search(tests)


def test_the_readme_leads_there() -> None:
    assert "(THREATS.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
