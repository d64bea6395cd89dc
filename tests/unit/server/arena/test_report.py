"""The files that show a tournament."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

from server.arena.report import csv_text, html, markdown, write_reports
from server.tournament.summary import summary
from server.tournament.table import table_of
from tests.kit.server.tournament import lopsided_progress


def test_no_name_becomes_a_formula_markup_or_an_element(tmp_path: Path) -> None:
    found = lopsided_progress()
    write_reports(found, tmp_path)
    assert "'=1+1" in csv_text(found)
    assert ",=1+1" not in csv_text(found)
    assert "\\<b\\>" in markdown(found)
    assert "&lt;b&gt;" in html(found)
    assert "<b>" not in html(found)
    assert json.loads((tmp_path / "standings.json").read_text()) == summary(found)


def test_the_first_role_of_a_match_is_number_one() -> None:
    lines = list(csv.DictReader(io.StringIO(csv_text(lopsided_progress()))))
    assert [(line["role"], line["player"]) for line in lines[:4]] == [
        ("1", "'=1+1"), ("2", "<b>"), ("1", "<b>"), ("2", "'=1+1"),
    ]  # fmt: skip


def test_a_tournament_that_has_not_begun_has_a_page() -> None:
    empty = replace(lopsided_progress(), ended=(), scheduled=())
    assert [(row.player, row.rating) for row in table_of(empty)] == [("=1+1", None), ("<b>", None)]
    assert "<h2>Standings</h2>" in html(empty)


def test_the_page_draws_the_ratings_of_each_player() -> None:
    page = html(lopsided_progress())
    assert (page.count("<polyline"), page.count('class="key"'), "after 4 matches" in page) == (2, 2, True)


def test_roles_have_their_names_on_the_page() -> None:
    page = html(lopsided_progress(), {"tictactoe": ("x", "o")})
    assert "<td>x</td>" in page
    assert "<td>o</td>" in page


def test_what_substitutes_won_for_a_player_counts_for_the_other_in_ratings_and_tests_too() -> None:
    found = lopsided_progress()
    # The first player, who makes no error, has lost all matches.
    plan = found.plan.model_copy(update={"forfeit_errors": 1})
    turned = tuple(
        replace(each, result=replace(each.result, goals=(0, 100) if each.result.players[0] == "=1+1" else (100, 0),
                                     errors=tuple(int(player == "<b>") for player in each.result.players)))
        for each in found.ended
    )  # fmt: skip
    found = replace(found, plan=plan, ended=turned)
    first, second = table_of(found)
    assert (first.player, first.score, second.score) == ("=1+1", 4.0, 0.0)
    assert first.rating is not None is not second.rating
    assert first.rating.elo > second.rating.elo
    assert summary(found)["sprt"]["pentanomial"] == [0, 0, 0, 0, 2]
    assert html(found).count("forfeited by &lt;b&gt;") == 4
