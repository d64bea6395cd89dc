"""`ggp train` without PyTorch: what it refuses, and what becomes of it at Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from server.commands import train
from tests.kit.server.commands.fixtures import Ggp


def test_ctrl_c_keeps_what_was_learned(ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def learn() -> Iterator[object]:
        raise KeyboardInterrupt

    path, saved = tmp_path / "net.pt", list[str]()
    report = SimpleNamespace(seconds=0.0)
    learner = SimpleNamespace(path=path, report=report, learn=learn, save=lambda: saved.append("saved"))
    monkeypatch.setattr(train, "check_extra", lambda *_: None)
    monkeypatch.setattr(train, "_learner", lambda *_: learner)
    told = f"interrupted: {path} has what was learned; the same command goes on\n"
    assert (ggp("train", "tictactoe", "--minutes", 1, "-o", path), saved) == ((130, "", told), ["saved"])


@pytest.mark.parametrize("words", [("--minutes", "nan"), ("--minutes", "1", "--play-clock", "nan")])
def test_what_is_no_number_is_refused(ggp: Ggp, words: tuple[str, ...]) -> None:
    ended = ggp("train", "tictactoe", "-o", "net.pt", *words)
    assert (ended.exit_code, "nan is no finite number." in ended.errors) == (2, True)
