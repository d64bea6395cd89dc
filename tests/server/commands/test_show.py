"""`ggp show --rules`: the rules as they are, and in colour where somebody looks at them."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from gdl.games.library import find_game
from server.commands.show import print_rules
from tests.server.commands.conftest import Ggp

RULES = "; a comment\n(<= terminal\n\n    (true (step 7)))\n"


def printed_on_a_terminal(rules: str) -> str:
    terminal = io.StringIO()
    print_rules(rules, Console(file=terminal, force_terminal=True, color_system="standard", width=20, _environ={}))
    return terminal.getvalue()


def test_where_nobody_looks_the_rules_are_as_in_the_file(ggp: Ggp) -> None:
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
