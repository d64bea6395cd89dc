"""What is said beside a board: a few lines at a glance, the others in a table to unfold."""

from __future__ import annotations

from markupsafe import Markup

from server.web.boards import Picture

BOARD = Markup("<svg></svg>")
MANY = ("white to move", "step 4 of 50", *(f"count of {name}: {name} 1" for name in "abcd"))


def test_a_few_lines_are_shown_below_the_board() -> None:
    few = Picture(BOARD, ("white to move", "captured: black 2", "long " * 20))
    assert (few.shown, few.table) == (("white to move", "captured: black 2"), (("", "long " * 20),))


def test_of_many_lines_those_that_list_facts_are_a_table() -> None:
    picture = Picture(BOARD, MANY)
    assert picture.shown == ("white to move", "step 4 of 50")
    assert picture.table == tuple((f"count of {name}", f"{name} 1") for name in "abcd")


def test_without_a_board_all_lines_are_shown() -> None:
    assert (Picture(None, MANY).shown, Picture(None, MANY).table) == (MANY, ())
