"""What all tests share."""

import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

# A machine that is busy is no fault of the code: examples may take what they take.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Hundreds of tests start Python: without bytecode on disk, each of them compiles the packages anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests compile what they are about, and leave nothing in the user's cache; those of the cache have folders of their
# own.
os.environ["GGP_GAME_CACHE"] = "off"


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
