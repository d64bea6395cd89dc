"""The notebooks of examples/ run from top to bottom in a real Jupyter kernel, and are kept without outputs.

That of a first player always runs, the others with GGP_EXHAUSTIVE=all (`make exhaustive`).
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.exhaustive import sampled
from tests.kit.players.notebooks import kernel

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")

SAID = {
    "learn_with_arrays": r"wins against random moves: \d\d%, \d\d%, (9\d|100)%",
    "measure_a_player": r"greedy: [\d.]+ of 10, Elo",
    "solve_poker": r" 1000 rounds: value -0\.055\d\d chips, gain 0\.000",
    "write_a_player": r"result: x=\d+ o=\d+",
}
"""What each prints when it works."""
FIRST = ROOT / "examples/write_a_player.ipynb"


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.fixture
def path_to_ggp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cells find `ggp`, as they do where its environment is active."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.mark.parametrize("path", sampled(NOTEBOOKS, FIRST), ids=lambda path: path.stem)
async def test_every_cell_runs(path: Path, path_to_ggp: None, tmp_path: Path) -> None:
    pytest.importorskip("ipywidgets", reason="the extra `notebook` is not installed: the notebooks are not run")
    async with kernel(tmp_path) as notebook:
        for cell in cells(path, "code"):
            ended = await notebook.run(source(cell))
            assert ended == "ok", f"{source(cell)}\n{notebook.output}"
    assert re.search(SAID[path.stem], notebook.output), notebook.output


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_outputs_are_kept(path: Path) -> None:
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells(path, "code")] == [([], None)] * len(
        cells(path, "code")
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_link_of_a_notebook_finds_its_file(path: Path) -> None:
    links = [link for cell in cells(path, "markdown") for link in LINK.findall(source(cell))]
    assert [link for link in links if not (path.parent / link).is_file()] == []
