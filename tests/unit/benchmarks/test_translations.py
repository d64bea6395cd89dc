"""Translations of OpenSpiel's moves, by plays of OpenSpiel that a file keeps: each is a play of our rule file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks.yardsticks.engines.dialogue import NOOP
from benchmarks.yardsticks.engines.translations import MAX_STEPS, TURNS
from benchmarks.yardsticks.games import GAMES
from gdl.engines import make_game

PLAYS: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("openspiel_plays.toml").read_text("utf-8"))
OWN_GAMES: Final = [game.name for game in GAMES.values() if game.openspiel and not game.rules.startswith("public/")]


@dataclass(frozen=True)
class RecordedState:
    """A state of OpenSpiel in which the one legal action is that of a play which was made next."""

    left: tuple[str, ...]

    def __str__(self) -> str:
        return self.left[0]

    def legal_actions(self) -> list[int]:
        return [0]

    def action_to_string(self, action: int) -> str:
        return self.left[action].rpartition("! ")[2]

    def child(self, action: int) -> RecordedState:
        return RecordedState(self.left[action + 1 :])


def translated(name: str) -> Iterator[tuple[int, str]]:
    """Yield the moves of the play of the game *name*, each with the number of the role that makes it."""
    play, n_made = PLAYS[name], 0
    while n_made < len(play["actions"]):
        ((actions, move),) = TURNS[GAMES[name].openspiel or ""](RecordedState(tuple(play["actions"][n_made:])))
        yield int(play["players"][n_made]), move
        n_made += len(actions)


@pytest.mark.parametrize("name", OWN_GAMES)
def test_a_play_of_openspiel_is_one_of_our_rule_file(name: str) -> None:
    game = make_game(GAMES[name].file.read(), "interpreter")
    state = game.initial_state
    for number, move in translated(name):
        legal = [{str(each): each for each in state.legal_moves(role)} for role in game.roles]
        moves = [move if i == number else NOOP for i in range(len(legal))]
        assert [text in found for text, found in zip(moves, legal, strict=True)] == [True, True], moves
        state = state.next_state(tuple(found[text] for text, found in zip(moves, legal, strict=True)))
    assert (state.is_terminal, [state.goal(role) for role in game.roles]) == (True, PLAYS[name]["goals"])


def test_what_is_translated_is_what_can_be_played() -> None:
    assert set(TURNS) == {game.openspiel for game in GAMES.values()} - {None}
    assert set(MAX_STEPS) <= set(TURNS)
