"""The table of `make bench`: it reads what others reach, scales ours, and says what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from benchmarks.field import MEASURED_THERE, Peers, Row, page, read_peers
from server.measuring.engine_speed import EngineFigures

TABLE: Final = """\
# what the columns mean
game\trbg_playouts_s\trbg_monotonic_playouts_s\tggpbase_playouts_s\tbest_playouts_s\tbest_setup_s
ticTacToe\t2.81e+06\t3.44e+06\t1253\t6.324e+05\t1.60
chess\t-\t-\t0\t0\tNone
"""
TICTACTOE: Final = Peers("ticTacToe", 632_400, 1.6, 2_810_000, 3_440_000)
CHESS: Final = Peers("chess", 0, 0, 0, 0)
AT_HALF_SPEED: Final = {game: speed / 2 for game, speed in MEASURED_THERE.items()}


def figures(game: str, playouts_per_s: float, setup_s: float) -> EngineFigures:
    return EngineFigures(game, "compiled", setup_s, playouts_per_s, 10 * playouts_per_s, 150)


def test_peers_are_read_by_the_names_of_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "peers.tsv"
    path.write_text(TABLE)
    assert read_peers(path) == [TICTACTOE, CHESS]


def test_set_up_may_take_a_fifth_of_the_fields_or_four_tenths_of_a_second() -> None:
    slow = Peers("slow", 1, 30, 0, 0)
    assert [peers.allowed_setup_s for peers in (TICTACTOE, slow, CHESS)] == [0.4, 6.0, float("inf")]


def test_our_speed_is_scaled_by_what_plain_c_reaches_beside_it() -> None:
    row = Row(TICTACTOE, figures("ticTacToe", 12_648_000, 0.3), AT_HALF_SPEED)
    assert row.scaled == pytest.approx(25_296_000)
    assert row.of_c == 6_250_000


def test_the_page_has_a_line_for_each_game_and_what_follows() -> None:
    rows = [
        Row(TICTACTOE, figures("ticTacToe", 12_648_000, 0.5), AT_HALF_SPEED, released=20_236_800),
        Row(CHESS, figures("chess", 5_000, 50), AT_HALF_SPEED),
    ]
    assert list(page(rows)) == [
        "| game | plays/s | scaled | of the last release | best of the field | times | rbg | times "
        "| set-up s | may take s | peak MB |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
        "| ticTacToe | 12.6 M | 25.3 M | 1.25 | 632 k | 40.0 | 2.81 M | 9.0 | 0.50 | 0.40 | 150 |",
        "| chess | 5000 | 10 k | - | - | - | - | - | 50.00 | - | 150 |",
        "",
        "- 40.0 times the best engine of the field in the geometric mean of 1 games.",
        "- The least is 40.0 times, in ticTacToe.",
        "- 1.25 times our last release in the geometric mean of 1 games.",
        "- ticTacToe: 2.02 times plain C, which made 6.25 M plays/s beside it.",
        "- Regular Boardgames: ticTacToe 9.00 times.",
        "- Its monotonic variant: ticTacToe 7.35 times.",
        "- Set-up takes longer than it may in ticTacToe.",
    ]
