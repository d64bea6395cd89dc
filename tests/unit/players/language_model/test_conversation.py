"""Which move the answer of a language model names."""

from __future__ import annotations

import pytest

from gdl.language.kif import read_term
from players.language_model.completions import Completion
from players.language_model.conversation import named_move

LEGAL = [read_term(f"(mark {row} {column})") for row in (1, 2, 3) for column in (1, 2, 3)]


def named(text: str, *, is_whole: bool = True) -> str | None:
    move = named_move(Completion(text=text, is_whole=is_whole), LEGAL)
    return None if move is None else str(move)


@pytest.mark.parametrize(
    "text",
    [
        "My move is clear. MOVE: (mark 2 2)\nGood luck",
        "The opponent's last move is (mark 1 1), so I think of the centre.\nMOVE: (mark 2 2)",
        "MOVE: (mark 2 2)\nThe opponent's last MOVE: (mark 1 1)",
        "MOVE: (mark 1 1)\nNo, better:\n- **Move:** `mark 2 2`\nGood luck",
        "MOVE: unclear MOVE: (mark 2 2)\n",
        "So my move is (mark 2 2).\nGood luck",
        "  > move = mark 2 2",
        "**Final move:** mark 2 2\nGood luck",
        '{"why": "the opponent\'s move is (mark 1 1)", "move": "(mark 2 2)"}',
    ],
)
def test_the_move_that_is_meant_is_found(text: str) -> None:
    assert named(text) == "(mark 2 2)"


@pytest.mark.parametrize(
    "text",
    [
        "The opponent's last move is (mark 1 1), so I\nwonder",
        "The opponent's move: (mark 1 1)\nHm",
        "MOVE: (mark 9 9)",
        "Remove: (mark 1 1)\nHm",
    ],
)
def test_what_names_no_move_of_ours_is_none(text: str) -> None:
    assert named(text) is None


@pytest.mark.parametrize(("text", "move"), [("MOVE: mark 2 2\nbe", "(mark 2 2)"), ("MOVE: mark 2 2", None)])
def test_of_a_text_that_was_cut_off_only_whole_lines_count(text: str, move: str | None) -> None:
    assert named(text, is_whole=False) == move


def test_the_end_of_an_answer_alone_is_read() -> None:
    assert named("MOVE: (mark 2 2)\n" + "MOVE: (mark 9 9)\n" * 10) is None
    assert named("MOVE: (mark 2 2)\n" + "." * 20_000) is None
    assert named("." * 20_000 + "\nMOVE: (mark 2 2)") == "(mark 2 2)"
