"""`ggp play`: a person plays in the terminal against our players, without any server."""

import io
import random
import sys
from contextlib import AbstractContextManager, nullcontext

import click

from gdl.diagnostics import escaped
from gdl.engines import make_game
from gdl.errors import UnknownNameError
from gdl.game import RANDOM, Game, Role, played_roles
from gdl.games.library import find_game
from gdl.language.terms import Constant
from players.human import HumanPlayer, Streams
from players.kit.local_match import LocalMatch, WhileThinking
from players.player import GaveUpError
from players.registry import PLAYERS, find_player
from server.errors import NoRoleError
from server.terminal.command_line import FiniteRange
from server.terminal.progress import progress

_COMPUTER = "mcts"
_REPEATABLE_COMPUTER = "mcts:playouts=400"
"""With a budget instead of the clock it moves the same each time."""


@click.command(name="play", epilog=f"Our players: {', '.join(PLAYERS)}.")
@click.argument("name", metavar="GAME")
@click.option("--as", "--role", "role_name", metavar="ROLE", help="The role that you play; the first one by default.")
@click.option("--opponent", show_default=f"{_COMPUTER}; with --seed {_REPEATABLE_COMPUTER}", metavar="SPEC",
              help="Who plays the other roles.")  # fmt: skip
@click.option("--play-clock", "clock_s", type=FiniteRange(0.1), default=5.0, show_default=True,
              help="Seconds that the computer may think about a move.")  # fmt: skip
@click.option("--seed", type=int, help="Makes chance and the computer's moves repeatable.")
def command(name: str, role_name: str | None, opponent: str | None, clock_s: float, seed: int | None) -> None:
    """Play GAME in the terminal against our players.

    Type a move's number, its text, or the beginning of its text; some games have keys of their own, and moves that are
    numbers have no others. `q` quits, `c` lets the computer choose. You are shown only what your role may know.
    """
    file = find_game(name)
    metadata = file.metadata()
    with progress(f"deriving the first position of {file.name}"):
        game = make_game(file.read())
        game.initial_state.legal_moves(game.roles[0])
    mine = _role(game, role_name)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a byte that is no UTF-8 is a move that is not legal
    screen = Streams(sys.stdin, sys.stdout)
    computer = _COMPUTER if seed is None else _REPEATABLE_COMPUTER
    players = {role: find_player(opponent or computer)() for role in game.roles if role not in (RANDOM, mine)}
    person = HumanPlayer(screen, metadata, find_player(_REPEATABLE_COMPUTER)(), clock_s)
    players[mine] = person

    def thinking(role: Role) -> AbstractContextManager[object]:
        return nullcontext() if role == mine else progress(escaped(f"{role} thinks"))

    seed = random.randrange(2**32) if seed is None else seed
    screen.say(f"{metadata.title if metadata else file.name}. q quits, c lets the computer choose.")
    _play(LocalMatch(game, players, seed, clock_s), person, thinking)


def _play(match: LocalMatch, person: HumanPlayer, while_thinking: WhileThinking) -> None:
    """Play the match to the end or until the person quits, and print the result."""
    try:
        for _ in match.play(while_thinking):
            pass
    except (GaveUpError, KeyboardInterrupt):
        person.screen.say("You quit.")
        return
    if person.worlds.is_certain:
        person.screen.say(person.draw(match.state.facts))
    goals = ((role, match.state.goal(role)) for role in match.game.roles if role != RANDOM)
    result = " ".join(f"{role}={'none' if goal is None else goal}" for role, goal in goals)
    person.screen.say(escaped(f"result: {result}"))


def _role(game: Game, name: str | None) -> Role:
    roles = played_roles(game)
    if not roles:
        raise NoRoleError
    if name is None:
        return roles[0]
    if Constant(name) not in roles:
        raise UnknownNameError("role", name, [role.name for role in roles])
    return Constant(name)
