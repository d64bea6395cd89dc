"""Plans in games of one role: found, followed, given up; and each of the searches alone."""

from __future__ import annotations

from random import Random

import pytest

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.engines import make_game
from gdl.game import Game, State
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import compiled_game_of
from players.search.planning.answersets import AnswerSetSearch
from players.search.planning.circuits import Moves, has_clock
from players.search.planning.conditions import ConditionSearch
from players.search.planning.graphs import GraphSearch
from players.search.planning.plans import OneRoleSearch, Plan, PlanSearch, checked_plan
from players.search.planning.policy_adaptation import PolicySearch
from players.stock import MctsPlayer, NestedPlayer, PlannerPlayer
from tests.kit.players.games import COIN, FOUR_WAYS, compiled, game_of, interpreted, iterations, role
from tests.kit.players.puzzles import LIGHTS, SQUARE, TWO_ENDS

FOREVER = Deadline(float("inf"))


def compiled_of(rules: str) -> CompiledGame:
    return compiled_game_of(make_game(read_rules(rules), "compiled"))


def first(game: CompiledGame) -> CompiledState:
    assert isinstance(game.initial_state, CompiledState)
    return game.initial_state


def goal_after(game: Game, moves: Moves) -> int | None:
    """Return the goal after the moves of those numbers, where they end the play."""
    compiled_game, state = compiled_game_of(game), game.initial_state
    for move in moves:
        state = state.next_state((compiled_game.moves[move],))
    return state.goal(game.roles[0]) if state.is_terminal else None


def follow(search: PlanSearch, budget: SearchBudget) -> State:
    """Return the last state of a play by *search*, with *budget* for every move."""
    state: State = first(search.game)
    while not state.is_terminal:
        assert isinstance(state, CompiledState)
        state = state.next_state((search.think(state, budget),))
    return state


def puzzle(name: str) -> CompiledGame:
    rules = {"lights": LIGHTS, "square": SQUARE}
    return compiled_of(rules[name]) if name in rules else compiled_game_of(compiled(name))


@pytest.mark.parametrize("name", ["eightpuzzle", "lights", "square"])
def test_a_plan_is_found_and_followed(name: str) -> None:
    game = puzzle(name)
    search = PlanSearch(game, Random(1))
    assert follow(search, SearchBudget(deadline=FOREVER)).goal(game.roles[0]) == 100


def test_a_plan_is_followed_without_another_search() -> None:
    game = compiled_of(LIGHTS)
    search = PlanSearch(game, Random(1))
    move = search.think(first(game), SearchBudget(deadline=FOREVER))
    n_moves = len(search.plan.moves)
    state = first(game).next_state((move,))
    assert isinstance(state, CompiledState)
    search.think(state, SearchBudget(deadline=FOREVER))
    assert (search.n_iterations, len(search.plan.moves)) == (0, n_moves - 1)


def test_a_plan_is_given_up_in_a_state_that_it_does_not_lead_to() -> None:
    game = compiled_of(LIGHTS)
    search = PlanSearch(game, Random(1))
    planned = search.think(first(game), SearchBudget(deadline=FOREVER))
    other = next(move for move in first(game).legal_moves(game.roles[0]) if move != planned)
    state = first(game).next_state((other,))
    while not state.is_terminal:
        assert isinstance(state, CompiledState)
        state = state.next_state((search.think(state, SearchBudget(deadline=FOREVER)),))
    assert state.goal(game.roles[0]) == 100


def test_the_best_end_is_taken_where_the_best_goal_cannot_be_reached() -> None:
    search = PlanSearch(compiled_of(TWO_ENDS), Random(1))
    assert follow(search, SearchBudget(deadline=FOREVER)).goal(search.game.roles[0]) == 60


def test_no_time_still_gives_a_legal_move() -> None:
    game = compiled_of(SQUARE)
    over = SearchBudget(deadline=Deadline(0.0, lambda: 1.0))
    search = PlanSearch(game, Random(1))
    assert search.think(first(game), over) in first(game).legal_moves(game.roles[0])
    assert search.n_iterations == 0


def test_the_search_ends_with_its_clock() -> None:
    ticks = iter(range(10_000))
    clock = Deadline(200.0, lambda: float(next(ticks)))
    search = PlanSearch(compiled_of(TWO_ENDS.replace("(go ?y)) (true", "(go ?y)) (true (at start)) (true")), Random(1))
    search.think(first(search.game), SearchBudget(deadline=clock))
    assert next(ticks) < 300


def test_iterations_bound_the_search_and_equal_seeds_give_equal_moves() -> None:
    def moves() -> list[str]:
        search = PlanSearch(compiled_game_of(compiled("eightpuzzle")), Random(1))
        found = [str(search.think(first(search.game), iterations(200)))]
        assert 200 <= search.n_iterations < 1_000
        return found

    assert moves() == moves()


def test_better_plans_are_reported_on_the_way() -> None:
    game = compiled_of(TWO_ENDS)
    reported: list[Term] = []
    PlanSearch(game, Random(1)).think(first(game), SearchBudget(deadline=FOREVER), reported.append)
    assert [str(move) for move in reported][-1] == "(go right)"


def test_a_plan_that_does_not_end_the_play_is_none() -> None:
    game = compiled_of(LIGHTS)
    assert checked_plan(game, first(game).packed, (0,)) is None


def test_what_is_left_of_a_plan_that_comes_back_to_a_state_leaves_out_the_way_round() -> None:
    assert Plan(100, (0, 1, 2, 3), [b"a", b"b", b"a", b"c"]).rest_from(b"a") == Plan(100, (2, 3), [b"a", b"c"])


def reachable(game: Game) -> set[frozenset[object]]:
    """Return the facts of every state that the interpreter reaches."""
    met, todo = {game.initial_state.facts}, [game.initial_state]
    while todo:
        state = todo.pop()
        for move in () if state.is_terminal else state.legal_moves(game.roles[0]):
            following = state.next_state((move,))
            if following.facts not in met:
                met.add(following.facts)
                todo.append(following)
    return set(met)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rules", [LIGHTS.replace("(goal player 100)", "(goal player 0)"), FOUR_WAYS, TWO_ENDS])
def test_a_graph_has_every_state_that_the_interpreter_reaches(rules: str) -> None:
    game = compiled_of(rules.replace("(<= (goal player 100) (not dark))", "").replace("100", "20"))
    search = GraphSearch(game, first(game).packed, is_timeless=False, max_mb=10)
    search._target = 101
    while not search.is_done:
        search.advance(1)
    n_states = len(reachable(make_game(game.description, "interpreter")))
    assert (search.has_seen_all, search.n_nodes) == (True, n_states)


def test_a_counter_of_steps_runs_by_itself_and_does_not_tell_states_apart() -> None:
    game = compiled_of(LIGHTS)
    timeless = GraphSearch(game, first(game).packed, is_timeless=True, max_mb=10)
    while not timeless.is_done:
        timeless.advance(1)
    assert (has_clock(game), has_clock(compiled_of(SQUARE))) == (True, False)
    assert timeless.n_nodes <= 32


def test_a_graph_without_room_says_that_it_is_done_but_not_that_it_has_seen_all() -> None:
    game = compiled_game_of(compiled("eightpuzzle"))
    search = GraphSearch(game, first(game).packed, is_timeless=False, max_mb=0)
    search.advance(100)
    assert (search.is_done, search.has_seen_all) == (True, False)


def test_answer_sets_find_a_plan() -> None:
    game = compiled_of(LIGHTS)
    search = AnswerSetSearch(game, first(game).packed)
    while not search.is_done:
        search.advance(1)
    assert (search.goal, goal_after(game, search.plan)) == (100, 100)


def test_answer_sets_refute_a_goal_that_no_play_reaches() -> None:
    rules = LIGHTS.replace("(<= (goal player 100) (not dark))", "(<= (goal player 100) (not dark) (true (step 1)))")
    game = compiled_of(rules)
    search = AnswerSetSearch(game, first(game).packed)
    while not search.is_done:
        search.advance(1)
    assert (search.goal, search.is_refuted) == (-1, True)


def test_answer_sets_find_a_plan_to_a_goal_above_100() -> None:
    game = compiled_of(LIGHTS.replace("(goal player 100)", "(goal player 150)"))
    search = AnswerSetSearch(game, first(game).packed)
    while not search.is_done:
        search.advance(1)
    assert (search.goal, goal_after(game, search.plan), search.is_refuted) == (150, 150, False)


def test_the_solver_can_be_stopped_at_work() -> None:
    game = compiled_of(SQUARE)
    search = AnswerSetSearch(game, first(game).packed)
    for _ in range(20):
        search.advance(1)
    search.close()
    assert (search.is_done, search.advance(1)) == (True, False)


def test_conditions_are_fulfilled_one_by_one() -> None:
    game = compiled_of(SQUARE)
    search = ConditionSearch(game, first(game).packed)
    while not search.is_done:
        search.advance(1)
    assert (goal_after(game, search.plan), len(search.plan)) == (100, 16)


def test_conditions_that_no_single_move_fulfils_are_left_to_other_searches() -> None:
    game = compiled_of(TWO_ENDS)
    search = ConditionSearch(game, first(game).packed)
    search.advance(10)
    assert (search.is_done, search.plan) == (True, ())


def test_a_policy_learns_to_solve_a_puzzle() -> None:
    game = compiled_game_of(compiled("eightpuzzle"))
    search = PolicySearch(game, first(game).packed, Random(1))
    search.advance(1)
    before = search.goal
    while not search.is_done and search.n_iterations < 2_000_000:
        search.advance(1)
    assert (before, search.goal, goal_after(game, search.plan)) == (before, 100, 100)


def test_plays_by_a_policy_repeat_themselves_for_the_same_seed() -> None:
    game = compiled_of(SQUARE)
    searches = [PolicySearch(game, first(game).packed, Random(1)) for _ in range(2)]
    for search in searches:
        search.advance(3)
    assert searches[0].plan == searches[1].plan
    assert goal_after(game, searches[0].plan) == searches[0].goal


def test_an_interpreted_game_is_searched_by_nested_search() -> None:
    puzzle = interpreted("eightpuzzle")
    search = OneRoleSearch(puzzle, Random(1))
    search.think(puzzle.initial_state, iterations(5))
    assert (search.plans, search.nested.n_iterations) == (None, 5)


@pytest.mark.parametrize("player", [MctsPlayer(), PlannerPlayer()])
def test_players_plan_in_the_start_clock(player: MctsPlayer) -> None:
    puzzle = make_game(read_rules(LIGHTS))
    player.join(puzzle, role("player"), seed=1)
    player.start(FOREVER)
    assert player.plans is not None
    assert player.plans.plans is not None
    assert player.plans.plans.plan.goal == 100
    player.stop()


def test_only_games_of_one_role_without_chance_are_planned() -> None:
    players = MctsPlayer(), NestedPlayer()
    for player in players:
        player.join(game_of(FOUR_WAYS), role("player"), seed=1)
    chance = MctsPlayer()
    chance.join(game_of(COIN), role("player"), seed=1)
    assert [player.plans is None for player in (*players, chance)] == [False, True, True]
