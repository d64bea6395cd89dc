"""The player `net`: a tree search that asks a learned network, in batches, within the clock."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gdl.errors import GdlError
from gdl.extras import check_extra
from gdl.game import Game, Role, State
from gdl.language.terms import Term
from players.deadline import Deadline
from players.player import Insight, Player, check_at_least_one, check_not_terminal
from players.search.background_task import BackgroundTask
from players.search.evaluator import compiled_game_of, wait_for_compilation
from players.search.positions import has_two_sides
from players.search.proof.prover import Prover

if TYPE_CHECKING:
    from players.learning.forest import Forest

BATCH: Final = 32
"""How many leaves a batch asks the network for."""
_LEAST_BATCHES: Final = 8
"""How many batches a small number of walks is made in: later ones know what earlier ones found."""
_MAX_NODES: Final = 400_000
_EDGES_A_NODE: Final = 32
_TABLE_MB: Final = 32
_PATIENCE_S: Final = 3_600.0
_LEARNING: Final = "players.learning.checkpoints"
"""The module that imports PyTorch, which takes seconds."""
_SUGGESTION_S: Final = 0.2
"""How often a search names its best move."""


class NetPlayer(Player):
    """Searches with the network of the file *file*, which `ggp train` wrote, until the clock ends.

    With *simulations* each move has about as many walks, in batches of 32 at most, and is the same on any machine of a
    kind; else positions of two roles are also tried to be solved, as `mcts` does.

    Raises:
        MissingExtraError: PyTorch is not installed.
        ValueError: it may make no simulation.
    """

    preloaded = (_LEARNING,)

    def __init__(self, file: str, simulations: int | None = None) -> None:
        check_extra("torch", "learn", "this player")
        check_at_least_one("simulations", simulations)
        self.batch = BATCH if simulations is None else max(1, min(BATCH, simulations // _LEAST_BATCHES))
        self.path, self.simulations = Path(file), simulations
        self._forest: BackgroundTask[Forest | GdlError | None]
        self._prover: BackgroundTask[Prover] | None = None
        self._insight: Insight | None = None

    def join(self, game: Game, role: Role, seed: int) -> None:
        """Prepare for a match, with no tree yet; what is slow at first is made in a thread from now on."""
        super().join(game, role, seed)
        # While PyTorch loads, no alarm gets through, which the kit takes for a hang once the match has begun.
        importlib.import_module(_LEARNING)
        self._prover = self._insight = None
        self._forest = BackgroundTask(self._made, "network")

    def _made(self) -> Forest | GdlError | None:
        """Return room for the search once the game is compiled, None where it cannot be, or what is wrong."""
        from players.learning.checkpoints import match_forest  # noqa: PLC0415 -- `join` has loaded it

        wait_for_compilation(self.game, Deadline.after(_PATIENCE_S))
        if self.game.engine != "compiled":
            return None
        game = compiled_game_of(self.game)
        if self.simulations is None and has_two_sides(game):
            self._prover = BackgroundTask(partial(Prover, game, _TABLE_MB), "proof search")
        try:
            forest = match_forest(game, self.path, self.batch, _MAX_NODES, _EDGES_A_NODE)
            forest.plant(forest.lanes.save())
            forest.walk()
        except GdlError as error:
            return error
        return forest

    def start(self, deadline: Deadline) -> None:
        """Wait for the engine and the network, and look for proofs.

        Raises:
            NetworkFileError: the file cannot be used, or is of another game.
            NotLearnableError: there is chance in the game, several choose at once, or not all is seen.
        """
        self._ready(deadline.remaining_s)
        prover = None if self._prover is None else self._prover.get(deadline.remaining_s)
        if prover is not None:
            prover.begin(deadline)

    def _ready(self, patience_s: float) -> Forest | None:
        """Return room for the search, None where it is not there in time. Raises as `start`."""
        found = self._forest.get(patience_s)
        if isinstance(found, GdlError):
            raise found
        return found

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:
        """Return the best move found before *deadline*; any where network or engine are not ready by then.

        Raises:
            NetworkFileError: as `start`.
            NotLearnableError: as `start`.
        """
        check_not_terminal(state)
        legal = state.legal_moves(role)
        self._insight = None
        if len(legal) == 1:
            return legal[0]
        forest = self._ready(deadline.remaining_s / 2)
        if forest is None:
            return self.random.choice(legal)
        found = self._proven(state, role, deadline) or self._searched(forest, state, deadline)
        return found if found in legal else self.best_so_far or legal[0]

    def _proven(self, state: State, role: Role, deadline: Deadline) -> Term | None:
        prover = None if self._prover is None else self._prover.get(0.0)
        if prover is None:
            return None
        found = prover.think(state, role, deadline)
        if found.move is not None:
            self._insight = prover.insight(found)
        return found.move

    def _searched(self, forest: Forest, state: State, deadline: Deadline) -> Term:
        """Return the move that walks from *state* find best, telling the best one so far now and then."""
        _begin_at(forest, state)
        actions, clock = forest.lanes.actions[0], deadline.clock
        n_walks, longest_s = 0, 0.0
        begun_s = suggested_s = clock()
        while forest.has_room and not forest.is_solved and deadline.remaining_s > 2 * longest_s:
            if self.simulations is not None and n_walks >= self.simulations:
                break
            forest.walk()
            n_walks += self.batch
            now_s = clock()
            longest_s, begun_s = max(longest_s, now_s - begun_s), now_s
            if now_s - suggested_s > _SUGGESTION_S:
                self.suggest(actions[forest.best_action()])
                suggested_s = now_s
        best = actions[forest.best_action()]
        self._insight = self._insight_of(forest, n_walks, best)
        return best

    def _insight_of(self, forest: Forest, n_walks: int, best: Term) -> Insight:
        player = forest.lanes.players.index(self.role)
        return Insight(
            n_leaves=n_walks,
            n_playouts=0,
            depth=forest.mean_depth,
            value=round(50 * (forest.value_of(player) + 1), 2),
            line=(str(best),),
            is_proven=forest.is_solved,
        )

    def insight(self) -> Insight | None:
        """Return what the search for the last move found; None where there was none."""
        return self._insight


def _begin_at(forest: Forest, state: State) -> None:
    """Have the first tree of *forest* begin at *state*: with what is known of it, else anew."""
    forest.lanes.reset()
    forest.lanes.place(state)
    here = forest.lanes.save()
    if not forest.follow(here):
        forest.plant(here)
