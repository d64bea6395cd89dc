"""How a compiled search searches: what its caller may set, and what suits the game where that is left open."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from gdl.compiler.compiled import CompiledGame
from players.search.kernel_calls import TURN_S
from players.search.tree.choices import marking_share

MEMORY_MB: Final = 512.0
_EXPLORATION: Final = 0.5
_AMAF_EXPLORATION: Final = 0.1
"""The exploration where what plays say of moves is used as well, which finds out about moves by itself."""
_AMAF_BIAS: Final = 0.001
_MANY_MOVES: Final = 40.0
"""With fewer moves in the mean each is soon known by its own walks, and what plays say only misleads."""
_LASTING: Final = 2.0
"""How many times the moves that are legal at once a role has at most on boards that are filled: a move means the same
there from state to state.
"""
_MARKING: Final = 0.9
"""The share of moves that leave a mark, at least: elsewhere it matters when a move is made, or by which role."""
_LEAST_WALKS: Final = 32
_MOST_WALKS: Final = 512
_NODES_PER_WALK: Final = 4
"""Walks at once are few while the tree is small, since the choice of a leaf ignores the results of its batch; with so
few that lanes are left, each leaf has several plays.
"""
SIMULTANEOUS: Final = "ucb"
"""How roles choose where several do: by upper confidence bounds."""
MAX_STEPS: Final = 1_000
"""A random play that lasts longer counts as even."""


class Knobs(NamedTuple):
    """How a search walks: how many walks at once, and walks before for each of these.

    `exploration` is that of UCB1, `amaf_bias` how soon an edge's own walks count more than what plays say of its move,
    `minimax_share` how much what minimax says of an edge counts beside the mean of its walks. Where a search
    `looks_ahead`, new nodes are judged by their moves, not by plays, and edges that no walk has taken by minimax.
    """

    exploration: float
    amaf_bias: float
    minimax_share: float
    looks_ahead: int
    least_walks: int
    most_walks: int
    nodes_per_walk: int
    max_steps: int


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a compiled search searches. *Units*: megabytes, seconds.

    Attributes:
        memory_mb: the room of the tree.
        exploration: the weight of UCB1's bound; None for that which suits the game.
        simultaneous: how roles choose where several do, one of `RULES`.
        decisive: whether plays look a move ahead, where the rules have tables for that.
        amaf: whether what plays say of moves counts; None for what the number of moves suggests.
        weights: whether plays are cut and judged by weights, where the game has some that help.
        minimax: whether what minimax says by these weights counts as well.
        lookahead: whether moves are judged by weights, in place of plays; None for what matches in the start clock say.
        mast: whether plays prefer moves that do well; None for what matches in the start clock say.
        turn_s: how long a call of the kernel takes, with nothing but a look at the clock between two of them.
    """

    memory_mb: float = MEMORY_MB
    exploration: float | None = None
    simultaneous: str = SIMULTANEOUS
    decisive: bool = True
    amaf: bool | None = None
    weights: bool = True
    minimax: bool = True
    lookahead: bool | None = None
    mast: bool | None = None
    turn_s: float = TURN_S

    @property
    def may_learn(self) -> bool:
        """Whether matches in the start clock can say more of them."""
        return self.weights or self.mast is None

    def uses_amaf(self, game: CompiledGame, n_moves: float) -> bool:
        """Return whether what plays say of moves counts in a game in which *n_moves* are legal at once in the mean."""
        if self.amaf is not None:
            return self.amaf
        are_many, are_lasting = n_moves >= _MANY_MOVES, max(map(len, game.rules.moves_of)) <= _LASTING * n_moves
        return are_many and are_lasting and marking_share(game) >= _MARKING

    def knobs(self, *, uses_amaf: bool, n_threads: int = 1) -> Knobs:
        """Return how each of some threads walks the tree, without weights."""
        exploration = self.exploration
        if exploration is None:
            exploration = _AMAF_EXPLORATION if uses_amaf else _EXPLORATION
        return Knobs(
            exploration=exploration,
            amaf_bias=_AMAF_BIAS,
            minimax_share=0.0,
            looks_ahead=0,
            least_walks=_LEAST_WALKS,
            most_walks=_MOST_WALKS,
            nodes_per_walk=n_threads * _NODES_PER_WALK,
            max_steps=MAX_STEPS,
        )


DEFAULT: Final = SearchSettings()
