"""The static checks agree with the hand-checked verdict on public rule files.

All of those with a defect are checked always, and a sample of the others; all with GGP_CONFORM=all (`make conform`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from gdl.checks import check
from gdl.diagnostics import Source
from tests.kit.gdl.public_rules import sampled

ROOT: Final = Path(__file__).resolve().parents[4]
CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance"
TABLE: Final = CORPUS / "verdicts.tsv"

pytestmark = pytest.mark.skipif(
    not TABLE.is_file(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent"
)


def verdicts() -> dict[str, str]:
    """Return `pass`, `warn` or `fail` for every file."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:] if TABLE.is_file() else []
    return {file: verdict for file, verdict, *_ in (line.split("\t") for line in lines)}


def checked() -> dict[str, str]:
    """Return the verdicts of the files that are checked."""
    passing = set(sampled([file for file, verdict in verdicts().items() if verdict == "pass"]))
    return {file: verdict for file, verdict in verdicts().items() if verdict != "pass" or file in passing}


def test_the_table_names_every_public_file() -> None:
    files = (path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("*/*.kif"))
    assert sorted(verdicts()) == sorted(files)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("file", "verdict"), checked().items(), ids=checked())
def test_a_file_has_an_error_where_the_table_says_fail(file: str, verdict: str) -> None:
    found = check(Source(file, (CORPUS / file).read_text(encoding="utf-8-sig", errors="replace")))
    errors = [f"{one.span.place}: {one.message} [{one.code.name}]" for one in found if one.is_error]
    assert bool(errors) == (verdict == "fail"), "\n".join(errors)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file", [file for file, verdict in verdicts().items() if verdict == "warn"])
def test_a_file_has_a_warning_where_the_table_says_warn(file: str) -> None:
    assert check(Source(file, (CORPUS / file).read_text(encoding="utf-8-sig", errors="replace"))) != []
