"""States and matches told to people: boards, facts, lines."""

from __future__ import annotations

from pathlib import Path

from gdl.engines import make_game
from gdl.games.library import GameFile, find_game
from server.match.exchange import Aborted, Failed
from server.terminal.commentary import Commentary, coloured, drawer, moves_text, plain, result_line
from tests.kit.server.scripted import TURNS, TURNS_MOVES, events, library, turns


def test_a_game_with_a_layout_is_drawn() -> None:
    description = library("tictactoe")
    draw = drawer(description, find_game("tictactoe"))
    assert draw(make_game(description).initial_state.facts) == "1 . . .\n2 . . .\n3 . . .\n  1 2 3\nx to move"


def test_of_a_game_without_a_board_the_facts_are_listed(tmp_path: Path) -> None:
    rules = tmp_path / "turns.kif"
    rules.write_text(TURNS)
    facts = make_game(turns()).initial_state.facts
    assert [drawer(turns(), game)(facts) for game in (None, GameFile("turns", rules))] == ["at: 0\ncontrol: a"] * 2


def test_of_a_game_without_a_description_the_board_is_guessed() -> None:
    description = library("tictactoe")
    draw = drawer(description, None)
    assert draw(make_game(description).initial_state.facts) == "3 . . .\n2 . . .\n1 . . .\n  1 2 3\nx to move"


def test_colours_take_no_room_and_unknown_ones_are_left_out() -> None:
    assert (plain("W", "red"), coloured("W", None), coloured("W", "no colour")) == ("W", "W", "W")
    assert coloured("W", "red") == "\x1b[31mW\x1b[0m"


def told(*more: Aborted | Failed, draws: bool = False) -> list[str]:
    lines: list[str] = []
    commentary = Commentary(lines.append, drawer(turns(), None) if draws else None)
    for event in [*events(turns(), TURNS_MOVES), *more]:
        commentary(event)
    return lines


def test_a_match_is_printed_step_by_step() -> None:
    assert told() == [
        "a: a-player  b: b-player",
        "step 1  a: go  b: noop",
        "  a: TO (late)",
        "step 2  a: noop  b: (jump 1)",
    ]


def test_a_match_is_printed_with_its_states() -> None:
    assert told(draws=True)[1:3] == ["\nat: 0\ncontrol: a\n", "step 1  a: go  b: noop"]


def test_why_a_match_ended_early() -> None:
    assert told(Aborted(1, 0, "interrupted"))[-1] == "aborted: interrupted"
    assert told(Failed(1, 0, "LimitExceeded", "too much"))[-1] == "aborted: too much"


def test_moves_and_results_for_scripts() -> None:
    assert moves_text(("a", "b"), ("go", "noop")) == "a: go  b: noop"
    assert result_line([("white", 100), ("black", 0), ("random", None)]) == "result: white=100 black=0"
