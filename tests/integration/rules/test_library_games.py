"""What holds for every game of the library, on the compiled engine; a test compares it with the interpreter.

What takes a compiled game is asked of a sample of the games, and of all with GGP_CONFORM=all (`make conform`).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

import pytest

from gdl.boards.boards import board_of
from gdl.boards.metadata import GameMetadata
from gdl.boards.text import text_of
from gdl.engines import make_game
from gdl.game import RANDOM, Game, Role, State, played_roles
from gdl.games.library import find_game, game_names
from gdl.language.syntax import Atom, Rule
from gdl.language.terms import Compound, Term, signature
from server.hosting.game_finder import of_library
from tests.kit.exhaustive import IS_CONFORM
from tests.kit.players.games import compiled, interpreted
from tests.kit.rules.counting import Tree, count
from tests.kit.rules.sample import sampled_games

MAX_STEPS = 1000
N_PLAYS = 5 if IS_CONFORM else 2
MAX_EXPANSIONS = 20_000

every_game = pytest.mark.parametrize("name", game_names())
sampled_game = pytest.mark.parametrize("name", sampled_games())


@dataclass(frozen=True)
class Play:
    """The states of a play and the joint moves between them."""

    states: tuple[State, ...]
    moves: tuple[tuple[Term, ...], ...]


@cache
def game(name: str) -> Game:
    return compiled(name)


@cache
def about(name: str) -> GameMetadata:
    found = find_game(name).metadata()
    assert found is not None, f"{name} has no TOML description"
    return found


@cache
def tree(name: str) -> Tree:
    counts = about(name).counts
    return count(game(name), MAX_EXPANSIONS, None if counts.states else len(counts.perft))


@cache
def plays(name: str) -> tuple[Play, ...]:
    rng = random.Random(name)
    return tuple(random_play(game(name), rng) for _ in range(N_PLAYS))


def random_play(game: Game, rng: random.Random) -> Play:
    states: list[State] = [game.initial_state]
    moves: list[tuple[Term, ...]] = []
    while not states[-1].is_terminal and len(moves) < MAX_STEPS:
        moves.append(tuple(rng.choice(states[-1].legal_moves(role)) for role in game.roles))
        states.append(states[-1].next_state(moves[-1]))
    return Play(tuple(states), tuple(moves))


@pytest.mark.sampled(3)
@sampled_game
def test_random_plays_end(name: str) -> None:
    assert [play.states[-1].is_terminal for play in plays(name)] == [True] * N_PLAYS


@pytest.mark.sampled(3)
@sampled_game
def test_the_interpreter_plays_the_same(name: str) -> None:
    reference, (play, *_) = interpreted(name), plays(name)
    for state in (play.states[0], play.states[len(play.moves) // 2], play.states[-1]):
        same = reference.state(state.facts)
        assert [same.is_terminal, *map(same.goal, game(name).roles)] == [
            state.is_terminal, *map(state.goal, game(name).roles)
        ]  # fmt: skip
        assert same.is_terminal or [set(same.legal_moves(role)) for role in game(name).roles] == [
            set(state.legal_moves(role)) for role in game(name).roles
        ]


@sampled_game
def test_every_role_has_exactly_one_goal_at_the_end(name: str) -> None:
    goals = [play.states[-1].goal(role) for play in plays(name) for role in game(name).roles]
    assert [goal for goal in goals if goal is None or not 0 <= goal <= 100] == []


@sampled_game
def test_every_fact_met_is_covered_by_base(name: str) -> None:
    met = {fact for play in plays(name) for state in play.states for fact in state.facts}
    assert sorted(map(str, met - declared(name, "base"))) == []


@sampled_game
def test_every_legal_move_met_is_covered_by_input(name: str) -> None:
    roles = game(name).roles
    states = {state for play in plays(name) for state in play.states[:-1]}
    met = {Compound("input", (role, move)) for state in states for role in roles for move in state.legal_moves(role)}
    assert sorted(map(str, met - declared(name, "input"))) == []


@cache
def declared(name: str, relation: str) -> frozenset[Term]:
    """Return what `base` declares, or all of `input`: the first state of a game that begins with it."""
    description = find_game(name).read()
    others = (rule for rule in description.rules if signature(rule.head.term)[0] not in ("init", "base", "input"))
    begins = (_as_init(rule) for rule in description.rules if signature(rule.head.term)[0] == relation)
    return make_game(replace(description, rules=(*others, *begins))).initial_state.facts


def _as_init(rule: Rule) -> Rule:
    term = rule.head.term
    assert isinstance(term, Compound)
    inner = term.arguments[0] if term.functor == "base" else term
    return replace(rule, head=Atom(Compound("init", (inner,)), rule.head.span))


@pytest.mark.sampled(3)
@every_game
def test_the_description_names_the_roles_of_the_rules(name: str) -> None:
    assert about(name).roles == tuple(str(role) for role in interpreted(name).roles)


def test_every_game_is_found_by_tags_that_others_share() -> None:
    tags = {name: about(name).tags for name in game_names()}
    n_games = Counter(tag for of_game in tags.values() for tag in of_game)
    assert [name for name, of_game in tags.items() if not of_game] == []
    assert [tag for tag, n in n_games.items() if n < 2] == []


@pytest.mark.sampled(3)
@every_game
def test_a_server_keeps_the_game_as_its_rules_have_it(name: str) -> None:
    kept, description = of_library(name), find_game(name).read()
    assert (kept.rules, kept.sha256, kept.roles, kept.is_gdl2) == (
        description.source.text, description.sha256, tuple(map(str, interpreted(name).roles)), description.is_gdl2,
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in sampled_games() if about(name).information == "perfect"])
def test_where_information_is_perfect_what_a_role_perceives_tells_the_state(name: str) -> None:
    told: dict[tuple[Role, int], State] = {}
    for play in (random_play(game(name), random.Random(seed)) for seed in range(20)):
        for role in played_roles(game(name)):
            place, history = game(name).roles.index(role), 0
            for state, moves, after in zip(play.states, play.moves, play.states[1:], strict=False):
                history = hash((history, moves[place], state.percepts(role, moves)))
                assert told.setdefault((role, history), after).facts == after.facts


@pytest.mark.sampled(4)
@every_game
def test_rules_with_chance_or_percepts_are_gdl2(name: str) -> None:
    heads = {signature(rule.head.term) for rule in interpreted(name).description.rules}
    assert interpreted(name).has_imperfect_information == (RANDOM in interpreted(name).roles or ("sees", 2) in heads)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in sampled_games() if about(name).counts.perft])
def test_known_perft_counts_hold_as_far_as_they_are_walked(name: str) -> None:
    known, found = about(name).counts.perft, tree(name).perft
    assert known[: len(found)] == found


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("amazons", (80, 2176)),
        ("breakthrough", (22, 484)),
        ("connectfour", (7, 49, 343, 2401, 16807, 117649)),
        ("rockpaperscissors", (3 * 3,)),
        ("tictactoe", (9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872)),
    ],
)
def test_the_counts_of_the_field_are_reached(name: str, known: tuple[int, ...]) -> None:
    assert tree(name).perft[: len(known)] == known


@pytest.mark.parametrize("name", [name for name in sampled_games() if about(name).counts.states])
def test_games_whose_states_are_counted_hold_all_their_counts(name: str) -> None:
    known, found = about(name).counts, tree(name)
    assert found == Tree(
        perft=known.perft,
        plays=known.plays or 0,
        states=known.states or 0,
        shortest_play=known.shortest_play,
        longest_play=known.longest_play,
        is_whole=True,
    )


@sampled_game
def test_no_play_is_shorter_or_longer_than_the_known_ones(name: str) -> None:
    counts = about(name).counts
    lengths = {len(play.moves) for play in plays(name)}
    assert (counts.shortest_play or 0) <= min(lengths)
    assert max(lengths) <= (counts.longest_play or MAX_STEPS)


@every_game
def test_known_numbers_of_first_moves_hold(name: str) -> None:
    found = {str(role): len(interpreted(name).initial_state.legal_moves(role)) for role in interpreted(name).roles}
    known = about(name).counts.legal
    assert known == (found if known else {})


@pytest.mark.sampled(3)
@sampled_game
def test_every_position_is_drawn_within_a_terminal(name: str) -> None:
    states = (state for play in plays(name) for state in play.states)
    pictures = [text_of(board_of(about(name).board, game(name).description, state.facts)) for state in states]
    assert all(pictures) or about(name).board.kind == "facts"
    assert max(len(line) for picture in pictures for line in picture.splitlines()) <= 100
    assert all(picture.isascii() for picture in pictures)


@pytest.mark.sampled(3)
@every_game
def test_keys_stand_for_declared_moves(name: str) -> None:
    moves = {str(term.arguments[1]) for term in declared(name, "input") if isinstance(term, Compound)}
    assert sorted(set(about(name).keys.values()) - moves) == []
