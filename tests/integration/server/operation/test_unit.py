"""The systemd unit: what systemd itself says of it. Without systemd on this machine these tests are skipped."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from server.storage.address import DEFAULT_DATABASE

UNIT = Path(__file__).resolve().parents[4] / "packaging/ggp.service"
MOST_EXPOSED = 2.0
"""Of ten, in the words of `systemd-analyze security`; a service without any protection has 9.6."""

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="no systemd-analyze: THE SYSTEMD UNIT IS NOT CHECKED"
)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """Return the unit with a program that is there, as systemd wants one."""
    text = UNIT.read_text(encoding="utf-8")
    (tmp_path / "ggp.service").write_text(re.sub(r"/opt/ggp/bin/ggp", "/bin/true", text), encoding="utf-8")
    return tmp_path / "ggp.service"


def analyzed(*arguments: str | Path) -> str:
    done = subprocess.run(["systemd-analyze", *arguments], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@needs_systemd
def test_systemd_has_nothing_to_say_against_it(unit: Path) -> None:
    assert str(unit) not in analyzed("verify", unit)


@needs_systemd
def test_it_is_well_protected(unit: Path) -> None:
    said = analyzed("security", "--offline=yes", unit)
    found = re.search(r"Overall exposure level for ggp.service: ([0-9.]+)", said)
    assert found is not None, said
    assert float(found[1]) <= MOST_EXPOSED


def test_the_database_lands_in_the_folder_that_systemd_keeps() -> None:
    text = UNIT.read_text(encoding="utf-8")
    assert "\nStateDirectory=ggp\n" in text
    assert "\nWorkingDirectory=/var/lib/ggp\n" in text
    assert DEFAULT_DATABASE == "sqlite:///ggp.sqlite"
