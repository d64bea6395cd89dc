"""The players of the load play by the rules."""

from __future__ import annotations

import random

from benchmarks.load.players import ROLES, Board, Seats
from gdl.engines import make_game
from gdl.games.library import find_game
from gdl.language.kif import read_term


def test_their_moves_are_legal_to_the_end_of_a_match() -> None:
    game = make_game(find_game("tictactoe").read(), "interpreter")
    chance = random.Random(1)
    boards = [Board(role) for role in ROLES]
    for board in boards:
        assert board.answer(f"(START m {board.role} ((role x)) 10 10)", chance) == "ready"
    state, told = game.initial_state, "nil"
    while not state.is_terminal:
        texts = [board.answer(f"(PLAY m {told})", chance) for board in boards]
        moves = [read_term(text) for text in texts]
        assert all(move in state.legal_moves(role) for role, move in zip(game.roles, moves, strict=True))
        state, told = state.next_state(moves), f"({' '.join(texts)})"


def test_a_seat_that_starts_again_has_an_empty_board() -> None:
    board, chance = Board("x"), random.Random(1)
    board.answer("(PLAY m ((mark 1 1) noop))", chance)
    board.answer("(START m x ((role x)) 10 10)", chance)
    assert len(board.free) == 9


def test_messages_other_than_play_are_answered_by_the_book() -> None:
    board, chance = Board("x"), random.Random(1)
    messages = ["(INFO)", "( STOP m (noop noop))", "(ABORT m)", "nonsense"]
    assert [board.answer(message, chance) for message in messages] == ["available", "done", "done", "done"]


def test_a_path_without_a_role_plays_many_matches_in_the_roles_that_their_starts_say() -> None:
    seats = Seats(0, 0, seed=1)
    texts = [
        "(START m1 x ((role x)) 9 9)",
        "(START m2 o ((role x)) 9 9)",
        "(PLAY m1 nil)",
        "(PLAY m2 nil)",
        "(STOP m2 nil)",
    ]
    replies = [seats.answer("/one", text)[0] for text in texts]
    assert (replies[:2], replies[2][:6], replies[3:]) == (["ready", "ready"], "(mark ", ["noop", "done"])
    assert seats.answer("/one", "(PLAY m2 nil)")[0] == "available"


def test_the_most_seats_that_play_at_once_are_counted_from_start_to_stop() -> None:
    seats = Seats(0, 0, seed=1)
    texts = [
        ("/1/x", "(START m x ((role x)) 9 9)"),
        ("/1/o", "(START m o ((role x)) 9 9)"),
        ("/1/x", "(STOP m (noop noop))"),
        ("/2/x", "(START n x ((role x)) 9 9)"),
        ("/1/o", "(STOP m (noop noop))"),
    ]
    for seat, text in texts:
        seats.answer(seat, text)
    assert [seats.take_figures()["most_seats"] for _ in range(2)] == [2, 1]
