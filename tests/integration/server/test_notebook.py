"""What a real Jupyter kernel shows: boards, a match while it is played, bars, widgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.players.notebooks import kernel

MATCH = """
from gdl import find_game, make_game
from players.kit.local_match import LocalMatch
from players.stock import LegalPlayer
from server.notebook import counted, play, read_record, step_through, watch
from server.terminal.progress import progress

game = make_game(find_game("tictactoe").read())
match = LocalMatch(game, {role: LegalPlayer() for role in game.roles}, seed=1)
"""


@pytest.mark.exhaustive
async def test_a_match_that_is_watched_is_drawn_again_after_each_step(tmp_path: Path) -> None:
    async with kernel(tmp_path) as notebook:
        assert await notebook.run(MATCH) == "ok"
        assert await notebook.run("watch(match);") == "ok"
        pictures = [shown["image/svg+xml"] for shown in notebook.shown]
    assert len(pictures) == len(set(pictures)) == 8


async def test_long_work_has_a_bar_that_is_gone_at_the_end(tmp_path: Path) -> None:
    async with kernel(tmp_path) as notebook:
        assert await notebook.run(MATCH) == "ok"
        cell = "with progress('thinking <hard>', 3, delay_s=0) as advance:\n    advance()"
        assert await notebook.run(cell) == "ok"
        bars = [shown["text/html"] for shown in notebook.shown]
    bar = '<label>thinking &lt;hard&gt; <progress value="1" max="3"></progress> 1/3</label>'
    assert bars == [bar, ""]


@pytest.mark.exhaustive
async def test_widgets_are_shown_where_they_are_installed(tmp_path: Path) -> None:
    pytest.importorskip("ipywidgets", reason="the extra `notebook` is not installed: its widgets are not tried")
    async with kernel(tmp_path) as notebook:
        assert await notebook.run(MATCH) == "ok"
        assert await notebook.run("for _ in match.play(): pass\nstep_through(match)") == "ok"
        assert await notebook.run("play('nim', opponent='legal')") == "ok"
    widget = "application/vnd.jupyter.widget-view+json"
    assert [widget in shown for shown in notebook.shown] == [True, True]
