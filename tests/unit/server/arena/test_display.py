"""The standings in terminals of any width: a figure is whole, or its column is left out."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from server.arena.report import LiveTable, standings_table
from server.tournament.plan import SprtPlan
from server.tournament.ratings import Rating
from server.tournament.table import TableRow
from tests.kit.server.tournament import lopsided_progress

RATING = Rating("legal_player", 1500.0, 1177.0, 1823.0, 150)
ROW = TableRow(1, "legal_player", 150, 100.5, 100, 1, 49, 0, 67.0, RATING, 0.5, 0, 3.0, 100, None)


def columns(width: int) -> list[list[str]]:
    console = Console(file=io.StringIO(), width=width)
    console.print(standings_table([ROW], width))
    assert isinstance(console.file, io.StringIO)
    return [line.split() for line in console.file.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("width", "heading", "figures"),
    [
        (100, "player matches score W-D-L Elo 95 % LOS errors s a move",
         "1 legal_player 150 100.5 100-1-49 1500 1177 to 1823 50.0% 0 0.03"),
        (60, "player matches score W-D-L Elo", "1 legal_player 150 100.5 100-1-49 1500"),
        (35, "player matches score", "1 legal_player 150 100.5"),
    ],
)  # fmt: skip
def test_columns_are_left_out_before_figures_are_cut(width: int, heading: str, figures: str) -> None:
    assert columns(width) == [heading.split(), figures.split()]


@pytest.mark.parametrize(
    ("sprt", "headline"),
    [(None, "3 matches over, 1 left"), (SprtPlan(), "3 matches over, at most 1 more, until the test decides")],
)
def test_a_sequential_test_may_end_before_all_is_played(sprt: SprtPlan | None, headline: str) -> None:
    whole = lopsided_progress()
    console = Console(file=io.StringIO(), width=100)
    LiveTable(console)(replace(whole, plan=whole.plan.model_copy(update={"sprt": sprt}), ended=whole.ended[:3]))
    assert isinstance(console.file, io.StringIO)
    assert headline in console.file.getvalue()
