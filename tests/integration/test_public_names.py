"""What packages export: the names of docs/python.md and no others, imported when they are first used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gdl
import players
import players.environments
import server.notebook

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "python.md"


def _listed(package: str) -> list[str]:
    section = PAGE.read_text("utf-8").split(f"\n## {package}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| \S", section, re.MULTILINE)


@pytest.mark.parametrize("package", [gdl, players, players.environments, server.notebook])
def test_the_page_lists_exactly_the_names_that_a_package_exports(package: ModuleType) -> None:
    assert sorted(_listed(package.__name__)) == sorted(package.__all__)


@pytest.mark.parametrize("package", [gdl, players])
def test_every_exported_name_is_there_and_has_no_other_meaning(package: ModuleType) -> None:
    assert {*package.__all__} <= {*dir(package)}
    assert [name for name in package.__all__ if getattr(package, name) is None] == []


def test_a_name_that_is_not_exported_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'gdl' has no attribute 'play_chess'"):
        gdl.play_chess  # type: ignore[attr-defined]  # noqa: B018 -- the test is that mypy sees it as well


@pytest.mark.exhaustive
def test_the_libraries_of_the_compiler_are_imported_when_a_game_is_compiled() -> None:
    program = """
import sys
def loaded(): return sorted({"clingo", "numba", "numpy"} & set(sys.modules))
import gdl
assert [name for name in sys.modules if name.startswith("gdl.")] == []
for name in gdl.__all__: getattr(gdl, name)
game = gdl.make_game(gdl.find_game("tictactoe").read())
game.initial_state.legal_moves(game.roles[0])
assert not {"gdl.boards", "pydantic"} & set(sys.modules), "what draws is imported when something is drawn"
print(loaded())
game.playouts(game.initial_state, 10, seed=1)
print(loaded())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)

    assert done.stdout.splitlines() == ["[]", "['clingo', 'numba', 'numpy']"]
