"""Several trees in threads: what they find counts together, they keep to clocks and memory, and leave no thread."""

from __future__ import annotations

import threading

import pytest

from gdl.compiler.compiled import CompiledGame
from gdl.engines import make_game
from gdl.errors import StuckPlayError
from gdl.game import State
from gdl.language.rules import read_rules
from gdl.language.terms import Term
from players.deadline import Deadline, SearchBudget
from players.search.evaluator import compiled_game_of
from players.search.figures import chosen_among, joined
from players.search.threads import Crew, Exchange, IsWanted, ThreadedSearch
from players.search.tree.background import BackgroundSearch
from players.search.tree.search import CompiledSearch
from players.search.tree.settings import SearchSettings
from players.stock import MctsPlayer
from tests.integration.players.test_compiled_search import MATCHING, STUCK
from tests.kit.players.games import compiled
from tests.kit.players.plain import TreePlayer

SMALL = SearchSettings(memory_mb=16.0)


def connectfour() -> CompiledGame:
    return compiled_game_of(compiled("connectfour"))


def searching_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name in {"tree search", "pondering"}]


def after_moves(game: CompiledGame, *columns: int) -> State:
    state = game.initial_state
    for column in columns:
        moves = [state.legal_moves(role) for role in game.roles]
        state = state.next_state(tuple(each[column] if len(each) > 1 else each[0] for each in moves))
    return state


def test_what_trees_find_counts_together_and_once() -> None:
    """Rounds are shared out; after the search each tree has its own walks alone, whatever it was told."""
    of = connectfour()
    state, role = of.initial_state, of.roles[0]
    several = ThreadedSearch(of, 7, SMALL, 2)
    several.think(state, role, SearchBudget(max_rounds=3_001))
    figures = [search.figures(search.keep(state), role) for search in several.searches]
    assert [sum(each.n_walks for each in found) for found in figures] == [1_501, 1_500]
    assert several.figures(role) == joined(figures)
    found, each = several.insight(state, role), [search.insight(state, role) for search in several.searches]
    assert found.n_leaves == sum(told.n_leaves for told in each) == 3_001
    assert found.n_playouts == sum(told.n_playouts for told in each)
    assert found.line[0] == str(chosen_among(joined(figures), is_decision=True))


def test_trees_learn_from_each_other_while_they_search() -> None:
    """A tree that is searched by another's walks alone takes the move that these found."""
    of = connectfour()
    state, role = of.initial_state, of.roles[0]
    several, exchange = ThreadedSearch(of, 1, SMALL, 2), Exchange(len(of.roles))
    first, second = several.searches
    first.think(state, role, SearchBudget(max_rounds=3_000))
    second.think(state, role, SearchBudget(max_rounds=2))
    roots = [search.keep(state) for search in several.searches]
    exchange.meet(0, first, roots[0])
    exchange.meet(1, second, roots[1])
    assert second.best_move(roots[1], role) == first.best_move(roots[0], role)
    assert sum(each.n_walks for each in second.figures(roots[1], role)) == 3_002
    exchange.part(1, second)
    assert sum(each.n_walks for each in second.figures(roots[1], role)) == 2


def test_one_thread_is_a_search_as_it_is_without_the_option() -> None:
    found = []
    for player in (TreePlayer(), TreePlayer(threads=1)):
        player.join(compiled("connectfour"), compiled("connectfour").roles[0], seed=3)
        player.start(Deadline.after(600.0))
        assert player.perfect.background is not None
        search = player.perfect.background.get(600.0)
        assert isinstance(search, CompiledSearch)
        search.think(player.worlds.state, player.role, SearchBudget(max_rounds=5_000))
        found.append(search.figures(search.keep(player.worlds.state), player.role))
        player.stop()
    assert found[0] == found[1]


def test_the_memory_is_shared_out() -> None:
    of = connectfour()
    alone, several = CompiledSearch(of, 1, SMALL), ThreadedSearch(of, 1, SMALL, 4)
    n_nodes = [search.tree.max_nodes for search in several.searches]
    assert n_nodes == [pytest.approx(alone.tree.max_nodes / 4, rel=1e-3)] * 4


def test_trees_draw_differently() -> None:
    several = ThreadedSearch(connectfour(), 1, SMALL, 4)
    assert len({search.seed for search in several.searches}) == 4


def test_a_win_that_one_tree_has_proven_is_played() -> None:
    """Red has three in a column; the last tree alone may walk, and the first one has seen nothing."""
    of = connectfour()
    state = after_moves(of, 0, 1, 0, 1, 0, 1)
    several = ThreadedSearch(of, 1, SMALL, 2)
    several.searches[1].think(state, of.roles[0], SearchBudget(max_rounds=2_000))
    best = several.think(state, of.roles[0], SearchBudget(max_rounds=1))
    assert best == state.legal_moves(of.roles[0])[0]
    assert (several.insight(state, of.roles[0]).value, several.insight(state, of.roles[0]).is_proven) == (100.0, True)


def test_roles_that_choose_at_once_are_counted_together() -> None:
    of = compiled_game_of(make_game(read_rules(MATCHING), "compiled"))
    several = ThreadedSearch(of, 1, SMALL, 2)
    n_walks = []
    for role in of.roles:
        several.think(of.initial_state, role, SearchBudget(max_rounds=4_000))
        n_walks.append(sum(each.n_walks for each in several.figures(role)))
    assert n_walks == [4_000, 8_000]


def test_no_thread_is_left_after_a_move() -> None:
    of = connectfour()
    several = ThreadedSearch(of, 1, SMALL, 3)
    before = len(searching_threads())
    several.think(of.initial_state, of.roles[0], SearchBudget(deadline=Deadline.after(0.1)))
    several.rest()
    assert len(searching_threads()) == before == 0


@pytest.mark.parametrize("ending", ["stop", "abort", "perceive"])
def test_no_thread_is_left_when_what_it_thinks_about_is_over(ending: str) -> None:
    player = TreePlayer(threads=2, ponder=True)
    player.join(compiled("connectfour"), compiled("connectfour").roles[0], seed=3)
    player.start(Deadline.after(600.0))
    player.move(player.worlds.state, player.role, Deadline.after(0.1))
    while len(searching_threads()) < 2:  # the first tree is searched by the thread that ponders
        pass
    if ending == "perceive":
        player.perceive(None, ())
    else:
        getattr(player, ending)()
    assert searching_threads() == []


def test_all_trees_are_searched_while_others_move() -> None:
    of = connectfour()
    background = BackgroundSearch(lambda: ThreadedSearch(of, 1, SMALL, 2))
    search = background.get(600.0)
    assert isinstance(search, ThreadedSearch)
    background.ponder(of.initial_state)
    while min(each.counts["walks"] for each in search.searches) < 100:
        pass
    background.stop()
    n_walks = [each.counts["walks"] for each in search.searches]
    assert background.get(0.0) is search
    assert [each.counts["walks"] for each in search.searches] == n_walks


def test_a_role_without_a_legal_move_is_reported() -> None:
    of = compiled_game_of(make_game(read_rules(STUCK), "compiled"))
    several = ThreadedSearch(of, 1, SMALL, 2)
    with pytest.raises(StuckPlayError):
        several.think(of.initial_state, of.roles[0], SearchBudget(max_rounds=1_000))
    several.rest()
    assert searching_threads() == []


def test_what_fails_in_a_thread_is_raised_by_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    of = connectfour()
    several = ThreadedSearch(of, 1, SMALL, 2)

    def fail(root: int, n_walks: int = 0) -> int:
        raise ZeroDivisionError("in a thread")

    monkeypatch.setattr(several.searches[1], "work", fail)
    with pytest.raises(ZeroDivisionError, match="in a thread"):
        several.think(of.initial_state, of.roles[0], SearchBudget(deadline=Deadline.after(600.0)))
    with pytest.raises(ZeroDivisionError, match="in a thread"):
        several.ponder(of.initial_state, None, None, lambda: True)


def test_what_fails_after_a_search_was_given_up_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    of = connectfour()
    several, goes_on = ThreadedSearch(of, 1, SMALL, 2), threading.Event()

    def late(_: IsWanted) -> bool:
        goes_on.wait()
        raise ZeroDivisionError

    several._crew = Crew([late])
    several._crew.dismiss()
    several._crew.wait(0.0)
    assert not several._crew.is_at_rest(0)
    goes_on.set()
    several.rest()
    assert "a tree has failed after the end of its search" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_a_tree_that_is_late_does_not_hold_the_move_up(monkeypatch: pytest.MonkeyPatch) -> None:
    of = connectfour()
    several, goes_on = ThreadedSearch(of, 1, SMALL, 2), threading.Event()
    background = BackgroundSearch(lambda: several)
    assert background.get(600.0) is several
    real = several.searches[1].begin

    def late(state: State, budget: SearchBudget) -> int:
        goes_on.wait()
        return real(state, budget)

    monkeypatch.setattr(several.searches[1], "begin", late)
    move = several.think(of.initial_state, of.roles[0], SearchBudget(deadline=Deadline.after(0.1)))
    insight = several.insight(of.initial_state, of.roles[0])
    background.ponder(of.initial_state, of.roles[0], move)
    assert insight.line[0] == str(move)
    goes_on.set()
    background.stop()
    assert searching_threads() == []


def test_the_best_move_so_far_is_reported() -> None:
    of = connectfour()
    reported: list[Term] = []
    several = ThreadedSearch(of, 1, SMALL, 2)
    several.think(of.initial_state, of.roles[0], SearchBudget(deadline=Deadline.after(0.1)), reported.append)
    assert reported
    assert set(reported) <= set(of.initial_state.legal_moves(of.roles[0]))


def test_proofs_of_another_search_are_known_to_all_trees() -> None:
    of = connectfour()
    several = ThreadedSearch(of, 1, SMALL, 2)
    root = several.searches[0].keep(of.initial_state)
    several.settle(several.searches[0].tree.words[root].copy(), (100, 0))
    roots = [search.keep(of.initial_state) for search in several.searches]
    assert [search.is_solved(root) for search, root in zip(several.searches, roots, strict=True)] == [True, True]


@pytest.mark.parametrize("n_threads", [0, 65])
def test_there_are_threads_but_not_too_many(n_threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads are from 1 to 64, not {n_threads}"):
        MctsPlayer(threads=n_threads)
