"""How fast a player searches: what it says of one move at the first position of a game, in a process of its own."""

import time
from dataclasses import dataclass
from typing import Final

from gdl.engines import BestGame, make_game
from gdl.game import Game, Role
from gdl.games.library import GameFile
from gdl.language.rules import read_file
from gdl.worker import ChildLimits, run_limited
from players.deadline import Deadline
from players.player import Player
from players.registry import PlayerMaker
from server.accuracy import by_processor_time

_START_S: Final = 30.0
_WARM_UP_S: Final = 0.5
_SET_UP_S: Final = 600.0
_PATIENCE: Final = 20
"""How many times its clock a player may take by the time of day: the machine may be busy."""
_MAX_MEMORY_MB: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """What a player says of its search, None where it says nothing of it.

    `depth` is the mean length of the ways from the first position to a leaf, `value` the goal that the role expects.
    *Units*: per second of processor time; percent.
    """

    game: str
    player: str
    role: str
    leaves_per_s: float | None
    playouts_per_s: float | None
    depth: float | None
    value: float | None
    move: str
    line: tuple[str, ...]
    used_s: float


def measure_search(file: GameFile, maker: PlayerMaker, seconds: float) -> SearchFigures:
    """Return how fast the player of *maker* searches at the first position of a game, for *seconds* of processor time.

    Raises:
        LimitExceeded: the player takes far longer than its clock by the time of day, or more memory than there is.
        GdlError: the rules are refused, or the player cannot be made.
    """
    limits = ChildLimits(_SET_UP_S + _PATIENCE * (_START_S + seconds), _MAX_MEMORY_MB)
    return run_limited(search_figures, (file, maker, seconds), limits)


def search_figures(file: GameFile, maker: PlayerMaker, seconds: float) -> SearchFigures:
    """Return what the player of *maker* says of a move, thought about in this process. Raises: as `measure_search`."""
    game = make_game(read_file(file.path))
    if isinstance(game, BestGame):
        game.wait()
    role = _chooser(game)
    player = maker()
    player.warm_up()
    player.join(game, role, seed=1)
    player.start(Deadline.after(_START_S))
    _think(player, game, role, _WARM_UP_S)
    begun_s = time.process_time()
    move = _think(player, game, role, seconds)
    used_s = max(time.process_time() - begun_s, 1e-9)
    found = player.insight()
    player.abort()
    return SearchFigures(
        game=file.name,
        player=maker.spec,
        role=str(role),
        leaves_per_s=None if found is None else round(found.n_leaves / used_s, 1),
        playouts_per_s=None if found is None else round(found.n_playouts / used_s, 1),
        depth=None if found is None else found.depth,
        value=None if found is None else found.value,
        move=str(move),
        line=() if found is None else found.line,
        used_s=round(used_s, 3),
    )


def _think(player: Player, game: Game, role: Role, seconds: float) -> object:
    state = game.initial_state
    player.prepare_move(state.legal_moves(role)[0], lambda _: None)
    return player.move(state, role, by_processor_time(seconds))


def _chooser(game: Game) -> Role:
    """Return the first role with a choice in the first position."""
    state = game.initial_state
    return next((role for role in game.roles if len(state.legal_moves(role)) > 1), game.roles[0])
