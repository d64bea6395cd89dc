"""What a search in a match asks: the network of a file, in the order of the match's own fluents and actions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gdl.game import Game
from players.environments.vector import VectorGame
from players.learning.checkpoints import numbers_in, read_checkpoint
from players.learning.forest import Evaluate, Forest
from players.learning.networks import check_learnable, evaluator


def match_forest(game: Game, path: Path, batch: int, max_nodes: int, edges_a_node: int) -> Forest:
    """Return a forest of one tree, whose rounds have *batch* walks, with the network of the file at *path*.

    Raises:
        NetworkFileError: the file cannot be used, or is of another game.
        NotLearnableError: there is chance in the game, or several choose at once, or not all is seen.
    """
    torch.set_num_threads(1)  # batches are small: a second thread costs more than it saves, and is the opponent's
    checkpoint = read_checkpoint(path)
    lanes = VectorGame(game, batch, auto_reset=False)
    check_learnable(lanes)
    fluents, actions = numbers_in(checkpoint, lanes, path)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    evaluate = evaluator(checkpoint.network().to(device), device)
    if fluents != sorted(fluents) or actions != sorted(actions):
        evaluate = _reordered(evaluate, fluents, actions)
    return Forest(lanes, evaluate, 1, max_nodes, edges_a_node)


def _reordered(evaluate: Evaluate, fluents: list[int], actions: list[int]) -> Evaluate:
    """Return *evaluate* for bits and actions in the order of a match; the arguments say where the network's are."""
    from_match, to_match = np.array(fluents), np.argsort(np.array(actions))

    def ask(bits: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        values, logits = evaluate(bits[:, from_match])
        return values, np.ascontiguousarray(logits[:, to_match])

    return ask
