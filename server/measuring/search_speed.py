"""How fast a player searches: what it says itself of the first move for which a role has a choice.

It is measured in a fresh process, by processor time.
"""

import time
from dataclasses import dataclass
from typing import Final

from gdl.engines import make_compiled_game
from gdl.errors import IllegalMoveError, StuckPlayError
from gdl.game import Game, JointMove, Role, State, played_roles
from gdl.games.library import GameFile
from gdl.language.rules import read_file
from gdl.language.terms import Term
from gdl.wire.replies import find_move
from gdl.worker import ChildLimits, run_limited
from players.deadline import Deadline, by_processor_time
from players.player import Player
from players.registry import PlayerMaker
from server.errors import NoChoiceError
from server.match.chance import move_by_chance
from server.measuring.accuracy import MAX_MEMORY_MB, PATIENCE, tell_step
from server.measuring.engine_speed import SET_UP_S

_START_S: Final = 30.0
_WARM_UP_S: Final = 0.5
_INSTANT_S: Final = 0.001
"""A search that takes less was none."""
_SEED: Final = 1
"""By which the player chooses, and chance before it."""
_MOST_FORCED: Final = 1_000
"""How many steps without a choice a search may wait for."""


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """What a player says of its search, None where it says nothing of it; no rate where it knew its move at once.

    `depth` is the mean length of the ways from the position to a leaf, `value` the goal that the role expects.
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

    @property
    def is_instant(self) -> bool:
        """Whether the player knew its move at once, as it does where the value of the position is proven."""
        return self.leaves_per_s is None and self.value is not None


def measure_search(file: GameFile, maker: PlayerMaker, seconds: float) -> SearchFigures:
    """Return how fast the player of *maker* searches for *seconds* of processor time, for a first move of a game.

    It is that of the first role with a choice; where chance moves first, its moves are drawn by a seed.

    Raises:
        NoChoiceError: no role has a choice.
        IllegalMoveError: the player returns what is no legal move.
        LimitExceeded: the player takes far longer than its clock by the time of day, or more memory than there is.
        GdlError: the rules are refused, or the player cannot be made.
    """
    limits = ChildLimits(SET_UP_S + PATIENCE * (_START_S + seconds), MAX_MEMORY_MB)
    return run_limited(search_figures, (file, maker, seconds), limits)


def search_figures(file: GameFile, maker: PlayerMaker, seconds: float) -> SearchFigures:
    """Return what the player of *maker* says of a move, thought about in this process. Raises: as `measure_search`."""
    game = make_compiled_game(read_file(file.path))
    role, forced = _first_choice(game)
    player = maker()
    player.warm_up()
    player.join(game, role, seed=_SEED)
    player.start(Deadline.after(_START_S))
    for state, moves in forced:
        tell_step(player, state, moves)
    _think(player, _WARM_UP_S)
    begun_s = time.process_time()
    move = _think(player, seconds)
    used_s = time.process_time() - begun_s
    found = player.insight()
    player.abort()
    rated = found if used_s >= _INSTANT_S else None
    return SearchFigures(
        game=file.name,
        player=maker.spec,
        role=str(role),
        leaves_per_s=None if rated is None else round(rated.n_leaves / used_s, 1),
        playouts_per_s=None if rated is None else round(rated.n_playouts / used_s, 1),
        depth=None if found is None else found.depth,
        value=None if found is None else found.value,
        move=str(move),
        line=() if found is None else found.line,
        used_s=round(used_s, 3),
    )


def _think(player: Player, seconds: float) -> Term:
    state, role = player.worlds.state, player.role
    moves = state.legal_moves(role)
    player.prepare_move(moves[0], lambda _: None)
    said = player.move(state, role, by_processor_time(seconds))
    found = find_move(said, moves)
    if found is None:
        raise IllegalMoveError(str(role), str(said))
    return found


def _first_choice(game: Game) -> tuple[Role, list[tuple[State, JointMove]]]:
    """Return the first role of a player that has a choice, and the steps before: states, and the moves made in them.

    Raises:
        NoChoiceError: a play ends without one, or goes on so for too long.
    """
    state, players, forced = game.initial_state, played_roles(game), list[tuple[State, JointMove]]()
    while not state.is_terminal and len(forced) < _MOST_FORCED:
        legal = {role: state.legal_moves(role) for role in game.roles}
        chooser = next((role for role in players if len(legal[role]) > 1), None)
        if chooser is not None:
            return chooser, forced
        if not all(legal.values()):
            raise StuckPlayError
        forced.append((state, [move_by_chance(legal[role], _SEED, len(forced), role) for role in game.roles]))
        state = state.next_state(forced[-1][1])
    raise NoChoiceError(len(forced))
