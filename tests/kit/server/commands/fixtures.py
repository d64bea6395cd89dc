"""`ggp` as a script would call it: words in, exit code and both outputs out."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import pytest
import structlog

from server.commands.main import main


class Ended(NamedTuple):
    """How a call of `ggp` ended."""

    exit_code: int
    output: str
    errors: str


Ggp: TypeAlias = Callable[..., Ended]


@pytest.fixture
def ggp(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Ggp]:
    """Call `ggp` in this process, and send its logs afterwards where they went before."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    monkeypatch.setattr(gc, "disable", lambda: None)  # this process goes on, and its garbage is looked for as before

    def call(*words: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["ggp", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0 if code is None else 1, captured.out, captured.err)

    yield call
    root.handlers = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()
