"""`ggp show`: rules as they are, and in colour on a terminal; the first position as a picture."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.text import Text

from gdl.games.library import find_game
from server.commands.show import print_rules
from tests.kit.gdl.boards.drawn import cells, texts
from tests.kit.server.commands.fixtures import Ggp

RULES = "; a comment\n(<= terminal\n\n    (true (step 7)))\n"


def printed_on_a_terminal(rules: str) -> str:
    terminal = io.StringIO()
    print_rules(rules, Console(file=terminal, force_terminal=True, color_system="standard", width=20, _environ={}))
    return terminal.getvalue()


def test_without_a_terminal_the_rules_are_as_in_the_file(ggp: Ggp) -> None:
    ended = ggp("show", "tictactoe", "--rules")
    assert ended.output.endswith("\n\n" + find_game("tictactoe").path.read_text(encoding="utf-8"))


def test_on_a_terminal_the_rules_are_in_colour_and_otherwise_the_same() -> None:
    printed = printed_on_a_terminal(RULES)
    colours = {span.style for span in Text.from_ansi(printed).spans}
    assert len(colours) > 2
    assert Text.from_ansi(printed).plain.rstrip("\n") == f"\n{RULES}".rstrip("\n")


def test_on_a_terminal_rules_cannot_control_it() -> None:
    printed = printed_on_a_terminal("; \x1b[2J clears the screen\r\n(p)\n")
    assert Text.from_ansi(printed).plain.split("\n")[1:3] == [";  [2J clears the screen ", "(p)"]


def test_the_first_position_is_printed_as_a_picture(ggp: Ggp) -> None:
    ended = ggp("show", "tictactoe", "--svg")
    assert (ended.exit_code, texts(ended.output, "title")[0], len(cells(ended.output))) == (0, "Tic-tac-toe", 9)


def test_unicode_is_drawn_where_it_is_asked_for(ggp: Ggp) -> None:
    assert "1 ♙ ♙ ♙ ♙ ♙ ♙ ♙ ♙" in ggp("show", "breakthrough", "--unicode").output
    assert ggp("show", "breakthrough", "--plain").output == ggp("show", "breakthrough").output


def test_the_picture_goes_to_a_file(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("show", "nim", "--svg", "-o", tmp_path / "nim.svg")
    assert (ended.exit_code, ended.output) == (0, "")
    assert (tmp_path / "nim.svg").read_text(encoding="utf-8") == ggp("show", "nim", "--svg").output


def test_a_file_that_cannot_be_written_is_reported(ggp: Ggp, tmp_path: Path) -> None:
    ended = ggp("show", "nim", "--svg", "-o", tmp_path / "no" / "nim.svg")
    assert (ended.exit_code, "nim.svg cannot be written: No such file" in ended.errors) == (2, True)
    ended = ggp("show", "nim", "-o", tmp_path / "nim.svg")
    assert (ended.exit_code, "add --svg" in ended.errors) == (2, True)


def test_a_game_without_a_description_is_drawn_by_a_guessed_layout(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "mine.kif").write_text(find_game("tictactoe").read().source.text)
    assert "3 . . .\n2 . . .\n1 . . .\n  1 2 3\nx to move\n" in ggp("show", tmp_path / "mine.kif").output


def test_a_folder_is_drawn_on_one_page(ggp: Ggp, tmp_path: Path) -> None:
    (tmp_path / "a.kif").write_text("(role me) (init (cell 1 1 x)) (init (cell 2 2 x))", encoding="utf-8")
    (tmp_path / "b.kif").write_text("(role me) (init (p", encoding="utf-8")
    ended = ggp("show", "--sheet", tmp_path, "-o", tmp_path / "sheet.html")
    assert (ended.exit_code, ended.output) == (1, "2 games: none 1, squares 1\n")
    assert ended.errors.splitlines()[0].startswith("b: ")
    assert (r"\n" in ended.errors, "(role me) (init (p" in ended.errors) == (False, True)
    assert (tmp_path / "sheet.html").read_text(encoding="utf-8").count("<figure>") == 2


def test_a_sheet_needs_a_file_and_a_game_a_name(ggp: Ggp, tmp_path: Path) -> None:
    assert "-o FILE" in ggp("show", "--sheet", tmp_path).errors
    assert "name a GAME" in ggp("show").errors
    assert ggp("show", "nim", "--sheet", tmp_path).exit_code == 2
    of_none = ggp("show", "--sheet", tmp_path, "-o", tmp_path / "all.html")
    assert (of_none.exit_code, f"no rule file (.kif) is in {tmp_path}" in of_none.errors) == (2, True)
    assert list(tmp_path.iterdir()) == []
