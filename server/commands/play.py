"""`ggp play`: a person plays in the terminal against our players, without any server."""

from __future__ import annotations

import random
import sys
from contextlib import AbstractContextManager, nullcontext

import click

from gdl.about import About
from gdl.boards import board_of
from gdl.drawing import text_of
from gdl.engines import make_game
from gdl.errors import UnknownNameError
from gdl.game import RANDOM, Game, Role
from gdl.layout import Layout
from gdl.library import find_game
from gdl.terms import Constant, Term
from players.errors import GaveUpError
from players.human import HumanPlayer, Picture, Streams
from players.player import Player
from players.registry import PLAYERS, find_player
from players.table import Table
from server.progress import progress

_COMPUTER = "mcts:playouts=400"


@click.command(name="play", epilog=f"Our players: {', '.join(PLAYERS)}.")
@click.argument("name", metavar="GAME")
@click.option("--as", "role_name", metavar="ROLE", help="The role that you play; the first one by default.")
@click.option("--opponent", default=_COMPUTER, show_default=True, metavar="SPEC", help="Who plays the other roles.")
@click.option("--play-clock", "clock_s", type=click.FloatRange(0.1), default=5.0, show_default=True,
              help="Seconds that the computer may think about a move.")  # fmt: skip
@click.option("--seed", type=int, help="Makes chance and the computer's moves repeatable.")
def command(name: str, role_name: str | None, opponent: str, clock_s: float, seed: int | None) -> None:
    """Play GAME in the terminal against our players.

    Type a move's number, its text, or the beginning of its text; some games have keys of their own. `q` quits, `c`
    lets the computer choose. You are shown only what your role may know.
    """
    file = find_game(name)
    about = file.about()
    with progress(f"deriving the first position of {file.name}"):
        game = make_game(file.read())
        game.initial_state.legal_moves(game.roles[0])
    mine = _role(game, role_name)
    screen = Streams(sys.stdin, sys.stdout)
    players: dict[Role, Player] = {role: find_player(opponent)() for role in game.roles if role not in (RANDOM, mine)}
    adviser = find_player(_COMPUTER)()
    players[mine] = HumanPlayer(screen, _picture(about), about.keys if about else {}, adviser, clock_s)

    def thinking(role: Role) -> AbstractContextManager[object]:
        return nullcontext() if role == mine else progress(f"{role} thinks")

    seed = random.randrange(2**32) if seed is None else seed
    screen.say(f"{about.title if about else file.name}. q quits, c lets the computer choose.")
    table = Table(game, players, seed, clock_s)
    table.while_thinking = thinking
    _play(table, mine, _picture(about), screen)


def _play(table: Table, mine: Role, picture: Picture, screen: Streams) -> None:
    try:
        for _ in table.play():
            pass
    except (GaveUpError, KeyboardInterrupt):
        screen.say("You quit.")
        return
    if table.players[mine].worlds.is_certain:
        screen.say(picture(table.game, table.state.facts))
    goals = ((role, table.state.goal(role)) for role in table.game.roles if role != RANDOM)
    screen.say("result: " + " ".join(f"{role}={'none' if goal is None else goal}" for role, goal in goals))


def _role(game: Game, name: str | None) -> Role:
    roles = [role for role in game.roles if role != RANDOM]
    if name is None and roles:
        return roles[0]
    if Constant(name or "") not in roles:
        raise UnknownNameError("role", name or "", [role.name for role in roles])
    return Constant(name or "")


def _picture(about: About | None) -> Picture:
    """Return what draws the facts by the layout of the game, in colours where standard output is a terminal."""
    layout = about.board if about else Layout()

    def draw(game: Game, facts: frozenset[Term]) -> str:
        board = board_of(layout, game.description, facts)
        return text_of(board, _painted) if sys.stdout.isatty() else text_of(board)

    return draw


def _painted(symbol: str, colour: str | None) -> str:
    return click.style(symbol, fg=colour, bold=True) if colour else symbol
