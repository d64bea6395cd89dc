"""Chess beside python-chess: the same moves, positions and ends in random plays."""

from __future__ import annotations

import random

import chess
import pytest

from gdl.game import State
from gdl.language.kif import read_term
from tests.kit.players.games import compiled

CASTLING = {
    chess.BB_H1: "(may_castle white kingside)",
    chess.BB_A1: "(may_castle white queenside)",
    chess.BB_H8: "(may_castle black kingside)",
    chess.BB_A8: "(may_castle black queenside)",
}
N_PLAYS = 6
MAX_STEPS = 250
"""Of a play; most of what is special happens before."""

BEGINNINGS = {
    "the first position": chess.STARTING_FEN,
    "all kinds of moves": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "pawns before promotion": "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "pawns that take in passing": "4k3/p1p1p1p1/8/1P1P1P1P/p1p1p1p1/8/1P1P1P1P/4K3 w - - 0 1",
    "pins and checks": "3rkr2/8/2b3b1/q7/3QN3/2R1B1R1/5N2/4K3 w - - 0 1",
    "few pieces": "8/8/4k3/8/2p1n3/8/1P2K3/8 w - - 90 1",
}


def facts_of(board: chess.Board) -> frozenset[str]:
    """Return the facts of our state where *board* stands."""
    pieces = {
        f"(cell {' '.join(chess.square_name(square))} {_colour(piece.color)}_{chess.piece_name(piece.piece_type)})"
        for square, piece in board.piece_map().items()
    }
    rights = {fact for corner, fact in CASTLING.items() if board.castling_rights & corner}
    passing = set() if board.ep_square is None else {f"(en_passant {chess.square_name(board.ep_square)[0]})"}
    quiet = f"(quiet {min(board.halfmove_clock, 100)})"
    return frozenset({*pieces, *rights, *passing, f"(control {_colour(board.turn)})", quiet})


def term_of(move: chess.Move) -> str:
    """Return how our rules name *move*."""
    cells = " ".join(chess.square_name(move.from_square) + chess.square_name(move.to_square))
    return f"(promote {cells} {chess.piece_name(move.promotion)})" if move.promotion else f"(move {cells})"


def goals_of(board: chess.Board) -> list[int] | None:
    """Return the goals of white and black where the play is over on *board* by our decisions, else None."""
    if board.is_checkmate():
        return [0, 100] if board.turn == chess.WHITE else [100, 0]
    is_dead = board.is_insufficient_material() and len(board.piece_map()) <= 3
    return [50, 50] if board.is_stalemate() or board.halfmove_clock >= 100 or is_dead else None


def _colour(colour: chess.Color) -> str:
    return chess.COLOR_NAMES[colour]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_random_plays_go_as_in_python_chess(beginning: str) -> None:
    game, rng = compiled("chess"), random.Random(beginning)
    white, black = game.roles
    for _ in range(N_PLAYS):
        board = chess.Board(BEGINNINGS[beginning])
        state: State = game.state(frozenset(map(read_term, facts_of(board))))
        for _ in range(MAX_STEPS):
            assert frozenset(map(str, state.facts)) == facts_of(board)
            assert state.is_terminal == (goals_of(board) is not None), board.fen()
            if state.is_terminal:
                assert [state.goal(white), state.goal(black)] == goals_of(board), board.fen()
                break
            moves = {term_of(move): move for move in board.legal_moves}
            mover, waiting = (white, black) if board.turn == chess.WHITE else (black, white)
            assert {str(move) for move in state.legal_moves(mover)} == set(moves), board.fen()
            assert [str(move) for move in state.legal_moves(waiting)] == ["noop"]
            chosen = rng.choice(sorted(moves))
            joint = {mover: read_term(chosen), waiting: read_term("noop")}
            state = state.next_state([joint[role] for role in game.roles])
            board.push(moves[chosen])
