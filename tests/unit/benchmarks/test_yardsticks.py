"""Yardsticks without processes: translations, the dialogue of an engine, openings and figures."""

from __future__ import annotations

import doctest
import io
from random import Random

import pytest

from benchmarks.yardsticks.engines import go, reversi, translations, uci
from benchmarks.yardsticks.engines.dialogue import Dialogue, DisagreementError, converse
from benchmarks.yardsticks.engines.uci import Board
from benchmarks.yardsticks.games import AbsentError, program
from benchmarks.yardsticks.matches import OURS, THEIRS, Outcome, Played, draw_opening
from gdl.engines import make_game
from gdl.games.library import find_game
from server.tournament.fixtures import MatchResult
from tests.kit.benchmarks.stand_in import TicTacToe

START = "(START m x ((role x) (role o) (init (control x))) 1 1)"
MOVES = "g1f3 a7a5 e2e4 a5a4 f1e2 a4a3 e1g1 a3b2 e4e5 d7d5 e5d6 b2a1n f1e1"
ALL = "(mark 1 1) (mark 1 2) (mark 1 3) (mark 2 1) (mark 2 2) (mark 2 3) (mark 3 1) (mark 3 2) (mark 3 3)"


@pytest.mark.parametrize("module", [translations, uci, go, reversi])
def test_examples_print_what_is_shown(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]  # a module


def test_a_board_names_pieces_castling_promotions_and_pawns_taken_in_passing() -> None:
    board, words = Board(), []
    for move in MOVES.split():
        words.append(board.words(move))
        board.make(move)
    assert words[6:] == [
        "castleKingside",
        "(move pawn a 3 b 2)",
        "(move pawn e 4 e 5)",
        "(move pawn d 7 d 5)",
        "(move pawn e 5 d 6)",
        "(move knight b 2 a 1)",
        "(move rook f 1 e 1)",
    ]
    assert board.n_pieces == 32 - 3


def answers(*lines: str, random_share: float = 0.0) -> list[str | None]:
    dialogue = Dialogue(TicTacToe(), random_share)
    return [dialogue.answer(line) for line in lines]


def test_a_match_is_followed_to_its_end() -> None:
    rest = " ".join(f"(mark {cell})" for cell in ("1 3", "2 1", "2 2", "2 3", "3 1", "3 2", "3 3"))
    said = {
        "(INFO)": "((name stand-in) (status available))",
        START: "ready",
        f"(LEGAL m ({ALL}))": None,
        "(PLAY m NIL)": "(mark 1 1)",
        "(LEGAL m (noop))": None,
        "(PLAY m ((mark 1 1) noop))": "noop",
        f"(LEGAL m ({rest}))": None,
        "(PLAY m (noop (mark 1 2)))": "(mark 1 3)",
        "(ABORT m)": "aborted",
    }
    assert answers(*said) == list(said.values())


def test_moves_of_the_opening_are_answered_without_thinking() -> None:
    backwards = " ".join(reversed([f"({move}" for move in ALL.split("(")[1:]])).replace(") )", ")")
    assert answers("(OPENING m 1)", START, f"(LEGAL m ({backwards}))", "(PLAY m NIL)")[-1] == "(mark 3 3)"


def test_other_legal_moves_are_a_disagreement() -> None:
    with pytest.raises(DisagreementError, match=r"after 0 steps, .* alone: none; .* alone: \(mark 1 1\)"):
        answers(START, f"(LEGAL m ({ALL.removeprefix('(mark 1 1) ')}))", "(PLAY m NIL)")


def test_after_an_error_there_is_no_other_reply() -> None:
    replies = io.StringIO()
    lines = io.StringIO(f"{START}\n(LEGAL m (noop))\n(PLAY m NIL)\n(LEGAL m ({ALL}))\n")
    converse(Dialogue(TicTacToe()), lines, replies)
    ready, *errors = replies.getvalue().splitlines()
    assert ready == "ready"
    assert len(set(errors)) == 1
    assert errors[0].startswith('(error "DisagreementError: after 0 steps')


def test_openings_do_not_end_the_game() -> None:
    game = make_game(find_game("tictactoe").read(), "interpreter")
    openings = {draw_opening(game, 6, Random(seed)) for seed in range(20)}
    assert {len(opening) for opening in openings} == {6}
    assert len(openings) > 10
    with pytest.raises(ValueError, match="lasts for 10 steps"):
        draw_opening(game, 10, Random(0))


def played(first: str, second: str, goal: int) -> Played:
    return Played(MatchResult("", (first, second), (goal, 100 - goal)), 8, 0.4, 4, 0.6, 3)


def test_figures_count_points_and_say_what_was_used() -> None:
    matches = (
        played(OURS, THEIRS, 100),
        played(THEIRS, OURS, 50),
        played(OURS, THEIRS, 100),
        played(THEIRS, OURS, 100),
    )
    figures = Outcome("tictactoe", "mcts", "openspiel", "1 times", 0.1, matches).figures()
    assert figures.pop("llr") == pytest.approx(0.1, abs=0.3)
    assert figures == {
        "game": "tictactoe", "player": "mcts", "yardstick": "openspiel", "level": "1 times", "seconds": 0.1,
        "matches": 4, "won": 2, "drawn": 1, "lost": 1, "share": 0.625, "interval": [0.2194, 0.9081], "steps": 8,
        "used_s": 0.1, "yardstick_used_s": 0.2,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "package"), [("gtp-rhino", "grhino"), ("gnugo", "gnugo")])
def test_a_program_that_is_absent_is_named_by_its_package(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_args, **_options: None)
    with pytest.raises(AbsentError) as caught:
        program(name)
    assert (caught.value.what, caught.value.advice) == (
        f"the program {name}",
        f"install it, such as by apt-get install {package}",
    )
