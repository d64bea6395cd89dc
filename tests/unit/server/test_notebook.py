"""Widgets of a notebook: matches and records step by step, and matches that a person plays by clicking."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import UnknownNameError
from gdl.extras import MissingExtraError
from gdl.game import Game, Role, State
from gdl.games.library import find_game
from gdl.language.terms import Constant, Term
from players.deadline import Deadline
from players.kit.local_match import LocalMatch
from players.player import Player
from players.stock import LegalPlayer
from server.errors import NoRoleError
from server.notebook import MAX_BUTTONS, counted, play, read_record, step_through
from server.records.entries import entry_of
from server.records.errors import MatchRecordError, RecordDiffersError
from server.records.journal import write_record
from server.records.record import record_of
from tests.kit.players.games import game, game_of
from tests.kit.server.scripted import CIRCUMSTANCES, TURNS_MOVES, events, turns

pytest.importorskip("ipywidgets", reason="the extra `notebook` is not installed: its widgets are not tried")


def test_a_game_of_chance_alone_has_no_role_to_play() -> None:
    rules = "(role random) (init (at 1)) (<= (next (at 2)) (true (at 1))) (<= terminal (true (at 2)))"
    with pytest.raises(NoRoleError):
        play(game_of(f"{rules} (legal random wait) (goal random 0)"))


def test_the_game_to_play_may_be_a_path_and_the_role_a_term() -> None:
    tables = [
        play("tictactoe", "o", opponent="legal"),
        play(find_game("tictactoe").path, Constant("o"), opponent="legal"),
    ]
    assert words(tables[0]) == words(tables[1])
    with pytest.raises(UnknownNameError, match="no role 'z'; did you mean x or o"):
        play("tictactoe", Constant("z"))


def played(name: str) -> LocalMatch:
    rules: Game = game(name)
    match = LocalMatch(rules, {role: LegalPlayer() for role in rules.roles}, seed=1)
    list(match.play())
    return match


def recorded(path: Path, **changed: Any) -> Path:
    whole = record_of(entry_of(event, CIRCUMSTANCES) for event in events(turns(), TURNS_MOVES)).as_json()
    write_record(whole | changed, path)
    return path


def slider(stepper: Any) -> Any:
    return stepper.children[0].children[1]


def words(widget: Any) -> str:
    """Return the words of a stepper or a table, a line each."""
    texts = [child.value for child in widget.children if not child.__class__.__name__.endswith("Box")]
    (told,) = [text for text in texts if "<svg" not in text and text]
    return html.unescape(str(told)).replace("<br>", "\n")


def title(widget: Any) -> str:
    (found,) = [
        re.findall("<title>(.*?)</title>", child.value)
        for child in widget.children
        if "<svg" in getattr(child, "value", "")
    ]
    return str(found[0])


def test_a_match_is_stepped_through_from_its_first_state_to_the_goals() -> None:
    stepper = step_through(played("tictactoe"))
    told = [(title(stepper), words(stepper))]
    for step in (1, 7):
        slider(stepper).value = step
        told.append((title(stepper), words(stepper)))
    assert told == [
        ("Tic-tac-toe, step 0", "step 0"),
        ("Tic-tac-toe, step 1", "step 1; x: (mark 1 1); o: noop"),
        ("Tic-tac-toe, step 7", "step 7; x: (mark 3 1); o: noop; result: x=100 o=0"),
    ]
    assert slider(stepper).max == 7


@pytest.mark.parametrize("form", [str, Path, read_record])
def test_a_record_is_stepped_through_whatever_form_it_comes_in(form: Any, tmp_path: Path) -> None:
    stepper = step_through(form(recorded(tmp_path / "match.json")))
    slider(stepper).value = 2
    assert words(stepper) == "step 2; a: noop; b: (jump 1); result: a=100 b=0"


def test_a_record_that_differs_from_its_rules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordDiffersError):
        step_through(recorded(tmp_path / "match.json", states=["( ( at 7 ) )"] * 3))
    with pytest.raises(MatchRecordError, match="no rules"):
        step_through(recorded(tmp_path / "match.json", **{"x-rules": None}))


def choices(table: Any) -> list[Any]:
    return list(table.children[2].children)


def test_a_person_plays_by_clicking_on_legal_moves() -> None:
    table = play("tictactoe", opponent="legal")
    assert words(table) == "You are x."
    assert [button.description for button in choices(table)[:2]] == ["(mark 1 1)", "(mark 1 2)"]
    choices(table)[0].click()
    assert words(table) == "You are x.\nx: (mark 1 1); o: noop\nx: noop; o: (mark 1 2)"
    while choices(table):
        choices(table)[0].click()
    assert words(table).splitlines()[-1] == "result: x=100 o=0"


@pytest.mark.parametrize("name", ["tictactoe", "hex"])
def test_a_click_on_what_was_replaced_makes_no_move(name: str) -> None:
    table = play(name, opponent="legal")
    old = [choice for choice in choices(table) if hasattr(choice, "click")]
    old[-1].click()
    told = words(table)
    for button in (old[-1], old[0]):
        button.click()
    assert words(table) == told
    choices(table)[-1].click()
    assert words(table) != told


def test_the_second_role_waits_for_the_first_move() -> None:
    table = play(game("tictactoe"), "o", opponent="legal")
    assert words(table) == "You are o.\nx: (mark 1 1); o: noop"


def test_in_a_hidden_game_the_person_sees_percepts_alone() -> None:
    table = play("kuhnpoker", "bob", opponent="legal", seed=1)
    told = words(table).splitlines()
    assert told[0] == "You are bob."
    assert all(line.startswith("you perceive: ") for line in told[1:])
    assert "alice" not in "".join(line for line in told if "deal" in line)


def test_many_moves_are_a_list() -> None:
    table = play("hex", opponent="legal")
    chooser, button = choices(table)
    assert len(chooser.options) > MAX_BUTTONS
    button.click()
    assert words(table).count("\n") == 2


class Cheat(Player):
    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        return role


class Broken(Player):
    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        raise KeyError("<plan>")


@pytest.mark.parametrize(
    ("player", "reason"),
    [(Cheat, "right is not a legal move of right in this state"), (Broken, "KeyError: '<plan>'")],
)
def test_the_person_learns_that_the_opponent_failed(
    player: type[Player], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.notebook.find_player", lambda _: player)
    table = play("rockpaperscissors")
    button = choices(table)[0]
    for _ in range(2):
        button.click()
    assert words(table) == f"the match cannot go on: {reason}"


def test_a_role_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownNameError) as caught:
        play("montyhall", "random")
    assert caught.value.suggestions == ("candidate",)


@pytest.mark.parametrize("make", [lambda: play("nim"), lambda: step_through(played("nim"))])
def test_without_ipywidgets_the_error_names_the_extra(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(MissingExtraError) as caught:
        make()
    assert caught.value.extra == "notebook"


def test_what_is_counted_is_what_was_given() -> None:
    assert list(counted(range(5), "counting")) == [0, 1, 2, 3, 4]
