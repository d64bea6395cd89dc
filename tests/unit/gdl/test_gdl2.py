"""GDL-II: percepts worked out by hand, as data in `gdl2/`, and GDL-I as a special case of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gdl.game import Game, State
from gdl.games.library import find_game
from gdl.interpreter import InterpretedGame
from gdl.language.rules import read_rules
from gdl.language.terms import Compound, Term
from tests.kit.rules.sample import sampled_games
from tests.kit.scripts import game_of, read_script, replay

FOLDER = Path(__file__).parent / "gdl2"
EVERYONE_SEES_EVERYTHING = "\n(<= (sees ?r (move ?p ?m)) (role ?r) (does ?p ?m))\n"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_role_perceives_exactly_what_was_worked_out_by_hand(path: Path) -> None:
    script = read_script(path)
    assert replay(script, game_of(script, FOLDER)) == script


def test_every_rule_file_has_a_script() -> None:
    played = {read_script(path).rules for path in FOLDER.glob("*.toml")}
    assert played == {path.name for path in FOLDER.glob("*.kif")}


def games_of_gdl1() -> list[str]:
    return [name for name in sampled_games() if not find_game(name).seems_gdl2()]


def with_everyone_seeing_everything(name: str) -> Game:
    return InterpretedGame(read_rules(find_game(name).read().source.text + EVERYONE_SEES_EVERYTHING))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", games_of_gdl1())
def test_a_game_equals_itself_with_everyone_seeing_every_move(name: str) -> None:
    plain: Game = InterpretedGame(find_game(name).read())
    seen = with_everyone_seeing_everything(name)
    assert (plain.has_imperfect_information, seen.has_imperfect_information) == (False, True)
    rng, left, right = random.Random(name), plain.initial_state, seen.initial_state
    while not left.is_terminal:
        moves = tuple(rng.choice(left.legal_moves(role)) for role in plain.roles)
        assert snapshot(plain, left) == snapshot(seen, right)
        assert [wrapped(plain, left.percepts(role, moves)) for role in plain.roles] == [
            right.percepts(role, moves) for role in seen.roles
        ]
        left, right = left.next_state(moves), right.next_state(moves)
    assert snapshot(plain, left) == snapshot(seen, right)


def snapshot(game: Game, state: State) -> tuple[object, ...]:
    """Return all that the rules say of a state."""
    of_roles = [(role, state.legal_moves(role), state.goal(role)) for role in game.roles]
    return (state.facts, state.is_terminal, of_roles)


def wrapped(game: Game, moves: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the percepts that tell every role the joint move."""
    told = (Compound("move", (role, move)) for role, move in zip(game.roles, moves, strict=True))
    return tuple(sorted(told, key=str))
