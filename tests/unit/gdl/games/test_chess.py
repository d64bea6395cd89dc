"""Chess from a position: FEN read, refused, and written as rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.engines import make_game
from gdl.errors import FenError
from gdl.games.chess import FIRST_FEN, chess_metadata, chess_rules, read_fen
from gdl.games.library import GameFile, find_game

MIDGAME = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -"


def written(folder: Path, fen: str) -> GameFile:
    path = folder / "position.kif"
    path.write_text(chess_rules(read_fen(fen)), encoding="utf-8")
    path.with_suffix(".toml").write_text(chess_metadata(read_fen(fen)), encoding="utf-8")
    return GameFile("position", path)


def test_the_first_position_is_that_of_the_library(tmp_path: Path) -> None:
    found, library = (make_game(file.read()) for file in (written(tmp_path, FIRST_FEN), find_game("chess")))
    assert found.initial_state.facts == library.initial_state.facts


def test_any_other_position_has_its_own_moves(tmp_path: Path) -> None:
    game = make_game(written(tmp_path, MIDGAME).read())
    assert [len(game.initial_state.legal_moves(role)) for role in game.roles] == [48, 1]


def test_the_description_is_the_librarys_without_counts(tmp_path: Path) -> None:
    about = written(tmp_path, MIDGAME).metadata()
    assert about is not None
    assert (about.title, about.counts.perft) == ("Chess from a position", ())


def test_a_pawn_that_may_be_taken_in_passing_and_the_clock_are_facts() -> None:
    position = read_fen("4k3/8/8/8/4P3/8/8/4K3 b - e3 7 20")
    assert set(position.facts()) == {
        "(cell e 8 black_king)", "(cell e 4 white_pawn)", "(cell e 1 white_king)",
        "(control black)", "(en_passant e)", "(quiet 7)",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("", "other fields"),
        ("4k3/8/8/8/8/8/8/4K3 w", "other fields"),
        ("4k3/8/8/8/8/8/4K3 w - -", "7 rows"),
        ("4k3/8/8/8/8/8/9/4K3 w - -", "row 2"),
        ("4x3/8/8/8/8/8/8/4K3 w - -", "row 8"),
        ("8/8/8/8/8/8/8/4K3 w - -", "one king"),
        ("4k2P/8/8/8/8/8/8/4K3 b - -", "a pawn stands"),
        ("4k3/8/8/8/8/8/8/4K3 w K -", "castle K"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6", "two cells"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 101 1", "clock"),
        ("4k3/8/8/8/8/8/8/4R1K1 w - -", "take the king"),
        ("4k3/3P4/8/8/8/8/8/6K1 w - -", "take the king"),
    ],
)
def test_what_is_no_position_is_refused(fen: str, reason: str) -> None:
    with pytest.raises(FenError, match=reason):
        read_fen(fen)
