"""`ggp train`: it learns, says how it stands, goes on, and compares what was learned with another player."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.server.commands.fixtures import Ggp

torch = pytest.importorskip("torch", reason="PyTorch is not installed (the extra `learn`)")


def lines_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def test_it_learns_compares_and_goes_on(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    words = ("train", "tictactoe", "-o", str(path), "--games", "32", "--width", "8", "--threads", "1", "--json")
    first = ggp(*words, "--minutes", "0.02")
    assert first.exit_code == 0
    learned = lines_of(first.output)[-1]
    assert (learned["event"], learned["seconds"] >= 1.2, learned["moves"] > 0) == ("learned", True, True)

    compared = ggp(*words, "--minutes", "0.001", "--matches", "2", "--against", "random", "--play-clock", "0.02")
    assert (compared.exit_code, "has learned for" in compared.errors) == (0, True)
    *so_far, figures = lines_of(compared.output)
    assert [(each["event"], each["matches"]) for each in so_far] == [("match", 1), ("match", 2)]
    assert (figures["event"], figures["matches"]) == ("compared", 2)
    assert figures["won"] + figures["drawn"] + figures["lost"] == 2

    again = ggp(*words, "--minutes", "0.04")
    assert lines_of(again.output)[-1]["moves"] > learned["moves"]


def test_figures_are_a_line_for_people(ggp: Ggp, tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    ended = ggp("train", "tictactoe", "-o", str(path), "--games", "16", "--width", "8", "--minutes", "0.01")
    assert (ended.exit_code, ended.output.startswith(f"{path}: minutes 0.")) == (0, True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("rockpaperscissors", "-o", "net.pt"), "several roles choose at once"),
        (("tictactoe", "-o", "none/net.pt"), "there is no folder none"),
        (("tictactoe", "-o", "bad.pt"), "it is no file of a network"),
        (("tictactoe", "-o", "net.pt", "--matches", "2", "--against", "mtcs"), "no player 'mtcs'"),
        (("eightpuzzle", "-o", "net.pt", "--matches", "2"), "players are compared by games of two roles"),
        (("tictactoe", "-o", "net.pt", "--minutes", "0"), "0.0 is not in the range 0<x<=100000"),
        (("connectfour", "-o", "net.pt", "--width", "640"), "a network of width 640 takes a file of "),
    ],
)
def test_what_cannot_be_done_is_said(
    words: tuple[str, ...], reason: str, ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.pt").write_text("bad")
    ended = ggp("train", "--minutes", "1", *words)
    assert (ended.exit_code, reason in ended.errors, Path("net.pt").exists()) == (2, True, False)
