"""What all tests share."""

import gc
import importlib
import os
import sys
import tempfile
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.kit.exhaustive import IS_EXHAUSTIVE, chosen

# A machine that is busy is no fault of the code: examples may take what they take.
# `make exhaustive` tries more of them.
settings.register_profile("patient", deadline=None, max_examples=100 if IS_EXHAUSTIVE else 10)
settings.load_profile("patient")

# Hundreds of tests start Python: without bytecode on disk, each of them compiles the packages anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Several processes share the cores: where NumPy multiplies with a thread for each core, most of the time goes into
# threads that wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# `pytest.approx` asks the module for types as soon as it is there, be it half imported by a thread that compiles.
importlib.import_module("numpy")

# Each game is compiled once in a run, by whichever process needs it first, and nothing is left in the user's cache.
# Processes of pytest-xdist and children of tests inherit the folder; tests of the cache have folders of their own.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _games = tempfile.TemporaryDirectory(prefix="ggp-games-", ignore_cleanup_errors=True)
    os.environ["GGP_GAME_CACHE"] = _games.name

# What is collected lasts: looking for garbage among it takes a seventh of the time of collecting it.
gc.disable()


@pytest.hookimpl(tryfirst=True)  # whatever runs the tests: this process, or others that it waits for
def pytest_runtestloop() -> None:
    """Look for garbage from now on, among what tests make alone, and seldom: else it takes a tenth of their time."""
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases of long tests but for a sample, before they are handed out to processes."""
    kept = chosen(items)
    left = set(items).difference(kept)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = kept


def encodable(text: str) -> str:
    """Return *text* with what UTF-8 has no bytes for (lone surrogates) written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make the report of a failure one that a worker of pytest-xdist can send, whatever text the test was about."""
    report = yield
    if (
        report.longrepr is not None
        and not isinstance(report.longrepr, tuple)
        and encodable(said := str(report.longrepr)) != said
    ):
        report.longrepr = encodable(said)
    report.sections = [(encodable(title), encodable(text)) for title, text in report.sections]
    return report
