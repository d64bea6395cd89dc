"""A mistake that an author of rules makes is told once, where it is, with what mends it: `mistakes.toml` has them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from gdl.checks import check
from gdl.diagnostics import Source, escaped

FOLDER: Final = Path(__file__).parent
RIGHT: Final = (FOLDER / "tictactoe.kif").read_text("utf-8")
MISTAKES: Final = tomllib.loads((FOLDER / "mistakes.toml").read_text("utf-8"))["mistake"]


def said_of(text: str) -> list[str]:
    found = check(Source("game.kif", text))
    shown = [(one, escaped(one.span.text.partition("\n")[0])) for one in found]
    return [
        f"{one.span.line}:{one.span.column} {text}: {one.code.name.removeprefix('gdl/')}: {one.hint}"
        for one, text in shown
    ]


def test_of_the_right_rules_nothing_is_said() -> None:
    assert said_of(RIGHT) == []


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["name"])
def test_a_mistake_is_told_where_it_is_with_what_mends_it(mistake: dict[str, Any]) -> None:
    assert mistake["old"] in RIGHT
    times = -1 if mistake.get("everywhere") else 1
    assert said_of(RIGHT.replace(mistake["old"], mistake["new"], times)) == mistake["says"]
