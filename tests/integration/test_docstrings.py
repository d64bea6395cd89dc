"""Examples in docstrings and on pages print what they show; only modules that have examples are imported."""

import doctest
import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2]
PACKAGES = ("gdl", "players", "server")


def with_examples(*patterns: str) -> list[str]:
    """Return the files of *patterns* that have an example, as paths in the repository."""
    found = sorted(path for pattern in patterns for path in FOLDER.glob(pattern))
    return [path.relative_to(FOLDER).as_posix() for path in found if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("path", with_examples(*(f"{package}/**/*.py" for package in PACKAGES)))
def test_a_docstring_s_examples_print_what_is_shown(path: str) -> None:
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("path", with_examples("README.md", "docs/*.md"))
def test_a_page_s_examples_print_what_is_shown(path: str) -> None:
    assert doctest.testfile(str(FOLDER / path), module_relative=False, encoding="utf-8").failed == 0
