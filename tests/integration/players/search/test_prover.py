"""The prover: how much of a player's time proofs get, and what they tell it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from random import Random
from typing import Final

import pytest

from gdl.compiler.compiled import CompiledGame, CompiledState
from gdl.compiler.kernels.packing import words_of
from gdl.game import Role, State
from players.deadline import Deadline, SearchBudget, by_processor_time
from players.search.perfect_information import PerfectInformationSearch, TreeOptions
from players.search.proof import lines
from players.search.proof import prover as prover_module
from players.search.proof.prover import BackgroundProof, ExpectedState, ProofFinding, Prover, log_effort
from players.search.tree.memory import ProvenState
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from tests.integration.players.search.test_proof import COUNTDOWN, ENDLESS, UNLIMITED, after, compiled, of_text, states
from tests.kit.polling import wait_until

LATE: Final = "2243415476246"
"""Connect four, of which a proof takes some 30,000 states."""
COUNTER: Final = """
(role a) (role b) (init (bit 1 0)) (init (bit 2 0)) (init (bit 3 0)) (init (bit 4 0)) (init (bit 5 0))
(init (bit 6 0)) (init (bit 7 0)) (init (bit 8 0)) (init (bit 9 0)) (init (bit 10 0)) (init (bit 11 0))
(init (bit 12 0)) (init (bit 13 0)) (init (bit 14 0)) (init (bit 15 0))
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9) (succ 9 10) (succ 10 11)
(succ 11 12) (succ 12 13) (succ 13 14) (succ 14 15)
(carried 1) (<= (carried ?m) (carried ?n) (true (bit ?n 1)) (succ ?n ?m))
(<= (next (bit ?n 1)) (true (bit ?n 0)) (carried ?n)) (<= (next (bit ?n 0)) (true (bit ?n 1)) (carried ?n))
(<= (next (bit ?n ?b)) (true (bit ?n ?b)) (not (carried ?n)))
(<= open (true (bit ?n 0))) (<= terminal (not open))
(legal a wait) (legal b wait) (goal a 100) (goal b 0)
"""
"""It ends after 32,767 steps."""
UNLEARNED: Final = SearchSettings(weights=False, mast=False)
WINNING: Final = {"(drop 3)", "(drop 4)", "(drop 5)"}


def test_a_prover_solves_tictactoe_in_the_start_clock_and_plays_what_it_proves() -> None:
    game = compiled("tictactoe")
    prover, (x, o) = Prover(game), game.roles
    prover.begin(Deadline.after(600.0))
    known = SearchBudget(max_iterations=200)
    assert [prover.search.solve(game.initial_state, role, known) is not None for role in (x, o)] == [True, True]
    found = prover.think(game.initial_state, x, Deadline.after(60.0))
    assert (found.value, found.move in game.initial_state.legal_moves(x)) == (50, True)


def test_a_prover_that_finds_nothing_takes_less_and_one_that_does_takes_more() -> None:
    game = compiled("connectfour")
    prover = Prover(game)
    first = prover.share
    prover.think(game.initial_state, game.roles[0], Deadline.after(0.1))
    assert prover.share < first
    late = next(states(game, 1, 37, 37))
    mine = next(role for role in game.roles if len(late.legal_moves(role)) > 1)
    prover.think(late, mine, Deadline.after(600.0))
    assert prover.share == first


def test_proofs_are_left_where_the_goals_have_no_common_sum() -> None:
    assert compiled("connectfour").goal_sum == 100
    assert of_text(COUNTDOWN).goal_sum == 100
    assert of_text(COUNTDOWN.replace("(goal ?p 30)", "(goal ?p 20)")).goal_sum == 90
    assert of_text(ENDLESS).goal_sum is None


def test_proofs_are_left_where_plays_are_too_long_to_see_what_the_goals_add_up_to() -> None:
    assert of_text(COUNTER).goal_sum is None


def test_a_tree_takes_over_what_is_proven() -> None:
    game = compiled("tictactoe")
    tree, prover, x = CompiledSearch(game, 1, SearchSettings(memory_mb=8.0)), Prover(game), game.roles[0]
    state = next(states(game, 1, 4, 4))
    prover.search.solve(state, x, UNLIMITED)
    for move, words, goal in prover.search.proven_moves():
        tree.take_proofs([ProvenState(words, (goal, 100 - goal))])
        following = state.next_state([move if one == x else state.legal_moves(one)[0] for one in game.roles])
        assert tree.has_solved(following)


def shares(monkeypatch: pytest.MonkeyPatch, name: str, columns: str, seconds: float) -> list[float]:
    """Return the shares of *seconds* that a prover which finds nothing takes at three moves in the same state."""
    game = compiled(name)
    prover, found = Prover(game), list[float]()

    def solve(_state: object, _role: object, budget: SearchBudget, _expected: float | None) -> None:
        assert budget.deadline is not None
        found.append(budget.deadline.remaining_s / seconds)

    monkeypatch.setattr(prover.search, "solve", solve)
    state = after(game, columns)
    for _ in range(3):
        prover.think(state, game.roles[len(columns) % 2], Deadline(seconds, lambda: 0.0))
    return found


def test_a_proof_that_seems_possible_has_half_of_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shares(monkeypatch, "connectfour", LATE, 8.0) == [1 / 2, 1 / 2, 1 / 2]


def test_where_ends_are_far_a_prover_that_finds_nothing_takes_ever_less(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shares(monkeypatch, "breakthrough", "", 8.0) == [1 / 8, 1 / 16, 1 / 32]


def test_a_proof_that_seems_to_take_ten_times_as_long_has_half_of_that(monkeypatch: pytest.MonkeyPatch) -> None:
    def ten_times(_game: object, _state: object, limit: float) -> float:
        return limit + log(10)

    monkeypatch.setattr(prover_module, "log_effort", ten_times)
    found = shares(monkeypatch, "connectfour", "", 8.0)
    assert found == [pytest.approx(1 / 4, abs=0.002)] * 3


def effort_of(game: CompiledGame, state: State, limit: float) -> float:
    assert isinstance(state, CompiledState)
    return log_effort(game, state, limit)


def test_the_effort_of_a_proof_falls_as_plays_get_shorter() -> None:
    game = compiled("connectfour")
    efforts = [effort_of(game, after(game, LATE[:n]), limit=20.0) for n in (4, 8, 12)]
    assert efforts == sorted(efforts, reverse=True)


def test_the_effort_is_half_of_the_exponent_of_all_lines() -> None:
    game = compiled("nim")
    state = next(states(game, 1, 0, 0))
    plays = game.playouts(state, 512, 1)
    n_moves = max(len(state.legal_moves(role)) for role in game.roles)
    assert effort_of(game, state, limit=30.0) == log(n_moves) / 2 * plays.n_steps / 512


def test_guesses_learn_from_the_proofs_that_there_were() -> None:
    game = compiled("connectfour")
    prover, state, yellow = Prover(game), after(game, LATE), game.roles[1]
    limit = log(prover_module._NODES_PER_S * 1.0)
    guess = prover.log_excess(state, 1.0) + limit
    prover.prove(state, yellow, UNLIMITED)
    needed = log(prover.search.n_nodes)
    later_limit = log(prover._nodes_per_s * 1.0)
    assert prover.log_excess(state, 1.0) + later_limit == pytest.approx((guess + needed) / 2)


def test_a_play_that_lasts_too_long_says_that_the_end_is_far() -> None:
    game = compiled("breakthrough")
    assert effort_of(game, game.initial_state, limit=10.0) == inf


def test_what_was_proven_before_is_known_at_once() -> None:
    game = compiled("connectfour")
    prover, state, yellow = Prover(game), after(game, LATE), game.roles[1]
    assert prover.known(state, yellow).move is None
    found = prover.think(state, yellow, Deadline.after(600.0))
    assert prover.known(state, yellow).value == found.value == 100


def test_a_proof_in_a_thread_finds_what_the_prover_finds() -> None:
    game = compiled("connectfour")
    state, yellow = after(game, LATE), game.roles[1]
    proof = BackgroundProof(Prover(game), [(state, None)], yellow, Deadline.after(600.0))
    wait_until(lambda: proof.has_ended, 600)
    found = proof.stop()
    assert (str(found.move) in WINNING, found.value) == (True, 100)


def test_a_proof_in_a_thread_ends_when_it_is_stopped() -> None:
    game = compiled("connectfour")
    endless = Deadline(1.0, lambda: 0.0)
    proof = BackgroundProof(Prover(game), [(game.initial_state, None)], game.roles[0], endless)
    assert proof.stop().move is None


@pytest.mark.exhaustive
def test_with_several_threads_proofs_are_looked_for_while_the_trees_search(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compiled("connectfour")
    state, yellow, begun = after(game, LATE), game.roles[1], watched(monkeypatch)
    search = PerfectInformationSearch(game, yellow, Random(1), TreeOptions(n_threads=2, settings=UNLEARNED))
    ready(search)
    move = search.think(state, SearchBudget(deadline=Deadline.after(600.0)))
    assert begun == [(state, yellow)]
    assert str(move) in WINNING
    assert search.insight is not None
    assert (search.insight.is_proven, search.insight.value) == (True, 100.0)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("columns", "move", "is_near"), [(LATE, "(drop 4)", True), ("", "(drop 4)", False)])
def test_proofs_are_looked_for_while_others_move_where_ends_are_near(
    monkeypatch: pytest.MonkeyPatch, columns: str, move: str, is_near: bool
) -> None:
    game = compiled("connectfour")
    state, role, begun = after(game, columns), game.roles[len(columns) % 2], watched(monkeypatch)
    search = PerfectInformationSearch(game, role, Random(1), TreeOptions(ponders=True, settings=UNLEARNED))
    ready(search)
    search.think(state, SearchBudget(deadline=Deadline.after(0.5)))
    if is_near:
        monkeypatch.setattr(Prover, "log_excess", lambda *_: 0.0)
    search.ponder(state, next(each for each in state.legal_moves(role) if str(each) == move))
    search.rest()
    assert begun == ([(after(game, columns + "4"), role)] if is_near else [])


def test_while_another_role_chooses_proofs_are_of_the_state_in_which_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compiled("connectfour")
    state, red, begun = after(game, LATE), game.roles[0], watched(monkeypatch)
    search = PerfectInformationSearch(game, red, Random(1), TreeOptions(ponders=True, settings=UNLEARNED))
    ready(search)
    monkeypatch.setattr(Prover, "log_excess", lambda *_: 0.0)
    search.think(after(game, LATE[:-1]), SearchBudget(deadline=by_processor_time(0.5)))
    search.ponder(state, state.legal_moves(red)[0])
    search.rest()
    assert begun == [(state, red)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_where_a_proof_is_too_far_the_tree_learns_what_follows_is_worth(
    monkeypatch: pytest.MonkeyPatch, n_threads: int
) -> None:
    game = compiled("connectfour")
    red, begun = game.roles[0], asked(monkeypatch)
    state = after(game, LATE[:-1])
    monkeypatch.setattr(Prover, "log_excess", lambda _, at, __: 2.0 - (n_discs(at) - n_discs(state)))
    search = PerfectInformationSearch(game, red, Random(1), TreeOptions(settings=UNLEARNED, n_threads=n_threads))
    ready(search)
    search.think(state, SearchBudget(deadline=by_processor_time(4.0 * n_threads)))
    assert search.background is not None
    tree = search.background.get(0.0)
    assert isinstance(tree, CompiledSearch)
    assert n_discs(begun[0]) == n_discs(state) + 2
    assert tree.has_solved(begun[0])


def test_while_others_move_proofs_come_up_from_the_end_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    game = compiled("connectfour")
    state, red, begun = after(game, LATE[:-1]), game.roles[0], asked(monkeypatch)
    search = PerfectInformationSearch(game, red, Random(1), TreeOptions(ponders=True, settings=UNLEARNED))
    ready(search)
    monkeypatch.setattr(Prover, "log_excess", lambda _, at, __: 3.0 - (n_discs(at) - n_discs(state)))
    search.think(state, SearchBudget(deadline=by_processor_time(0.5)))
    begun.clear()
    search.ponder(state, next(move for move in state.legal_moves(red) if str(move) == "(drop 6)"))
    wait_until(lambda: search._proof is not None and search._proof.has_ended)
    search.rest()
    assert [n_discs(each) - n_discs(state) for each in begun] == [3, 2, 1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("columns", "goals", "moves"), [(LATE, (0, 100), WINNING), (LATE + "3", (0, 100), None)])
def test_where_a_value_is_known_without_a_move_the_move_is_looked_for(
    columns: str, goals: tuple[int, int], moves: set[str] | None
) -> None:
    game = compiled("connectfour")
    state, role = after(game, columns), game.roles[len(columns) % 2]
    search = PerfectInformationSearch(game, role, Random(1), TreeOptions(settings=UNLEARNED))
    ready(search)
    assert search.background is not None
    tree = search.background.get(0.0)
    assert isinstance(tree, CompiledSearch)
    assert isinstance(state, CompiledState)
    tree.take_proofs([ProvenState(words_of(state.packed, len(game.fluents)), goals)])
    move = search.think(state, SearchBudget(deadline=by_processor_time(2.0)))
    assert search.insight is not None
    if moves is None:  # all is lost: the tree says what is hardest to see
        assert search.insight.n_leaves > 0
    else:
        assert (str(move) in moves, search.insight.is_proven, search.insight.value) == (True, True, 100.0)


def n_discs(state: State) -> int:
    """Return how many discs lie on a board of connect four."""
    return sum(str(fact).startswith("(cell ") for fact in state.facts)


def asked(monkeypatch: pytest.MonkeyPatch) -> list[State]:
    """Return the states of which a prover is asked what they are worth, beside what is known at once."""
    begun: list[State] = []
    prove = Prover.prove

    def watched_prove(
        prover: Prover, state: State, role: Role, budget: SearchBudget, expected: float | None = None
    ) -> ProofFinding:
        begun.append(state)
        return prove(prover, state, role, budget, expected)

    monkeypatch.setattr(Prover, "prove", watched_prove)
    return begun


def watched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[State, Role]]:
    """Return the states and roles for which proofs are begun in threads."""
    begun: list[tuple[State, Role]] = []

    class Watched(BackgroundProof):
        def __init__(self, prover: Prover, states: Sequence[ExpectedState], role: Role, deadline: Deadline) -> None:
            begun.append((states[0][0], role))
            super().__init__(prover, states, role, deadline)

    monkeypatch.setattr(lines, "BackgroundProof", Watched)
    return begun


def ready(search: PerfectInformationSearch) -> None:
    """Return when the search and its prover are made."""
    search.renew()
    assert search.background is not None
    assert search.prover is not None
    search.background.get(600.0)
    search.prover.get(600.0)


def test_a_game_that_has_no_proofs_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    game = of_text(ENDLESS)
    prover = Prover(game)
    monkeypatch.setattr(prover, "search", None)
    a = game.roles[0]
    assert prover.think(game.initial_state, a, Deadline.after(600.0)) == ProofFinding()
    assert (prover.known(game.initial_state, a), prover.share) == (ProofFinding(), 0.0)


def test_a_proof_in_a_thread_that_is_stopped_leaves_the_share_as_it_is() -> None:
    game = compiled("connectfour")
    prover = Prover(game)
    before = prover.share
    BackgroundProof(prover, [(game.initial_state, None)], game.roles[0], Deadline(1.0, lambda: 0.0)).stop()
    assert prover.share == before


def test_a_lost_state_is_solved_and_names_no_move() -> None:
    game = compiled("connectfour")
    red, lost = game.roles[0], after(game, LATE + "3")
    found = Prover(game).prove(lost, red, UNLIMITED)
    assert (found.move, found.solved and found.solved.goals) == (None, (0, 100))


def test_what_a_move_tells_counts_all_that_was_searched_for_it() -> None:
    game = compiled("connectfour")
    search = PerfectInformationSearch(game, game.roles[0], Random(1), TreeOptions(settings=UNLEARNED))
    ready(search)
    search.think(game.initial_state, SearchBudget(deadline=Deadline.after(0.5)))
    assert search.background is not None
    tree = search.background.get(0.0)
    assert isinstance(tree, CompiledSearch)
    assert search.insight is not None
    assert search.insight.n_leaves == tree.counts["walks"]
