"""The file of a network: written in one step, read with limits and without running anything that it holds."""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray

from gdl.errors import CallerError
from gdl.files import replacing
from gdl.game import Game
from players.environments.vector import VectorGame
from players.learning.forest import Evaluate, Forest
from players.learning.networks import (
    Network,
    NetworkShape,
    best_device,
    check_learnable,
    evaluator,
    parts_of,
    shape_from,
)

VERSION: Final = 1
MAX_BYTES: Final = 256_000_000
MAX_STRUCTURE_BYTES: Final = 16_000_000
"""How large all of a file may be but the numbers that are learned."""
_COPIES: Final = 5
"""How often a file of learning has the weights: players', learners', the last rung's, and two of the optimiser."""
_AROUND_BYTES: Final = 1_000_000
"""How large at most all else in such a file is."""
_MARK: Final = "ggp network"
_NO_NETWORK: Final = "it is no file of a network; `ggp train` writes them"


class NetworkFileError(CallerError):
    """A file holds no network that could be used."""

    template: ClassVar[str] = "{path}: {reason}"
    path: str
    reason: str


class NetworkTooLargeError(CallerError):
    """A network would not fit into its file."""

    template: ClassVar[str] = (
        "a network of width {width} takes a file of {megabytes} MB, more than can be read again: choose a smaller width"
    )
    width: int
    megabytes: int


@dataclass
class Checkpoint:
    """A network and how far its learning has come.

    Attributes:
        game: the name of the game, for people.
        shape: what the network is made of.
        weights: what players play with, by name.
        training: what learning goes on from: weights, state of the optimiser, and more; empty in a file for players.
        report: figures of the learning, for people.
    """

    game: str
    shape: NetworkShape
    weights: dict[str, torch.Tensor]
    training: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)

    def network(self) -> Network:
        """Return the network, to be asked. Raises RuntimeError where weights do not fit the shape."""
        network: Network = Network(self.shape).to(memory_format=torch.channels_last)
        network.load_state_dict(self.weights)
        return network


def write_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write *checkpoint* to *path* in one step: a process that is killed leaves the file of before.

    Raises:
        OSError: the file cannot be written.
        NetworkTooLargeError: it would be larger than one that can be read.
    """
    fields = {
        "mark": _MARK,
        "version": VERSION,
        "game": checkpoint.game,
        "shape": checkpoint.shape.as_json(),
        "weights": checkpoint.weights,
        "training": checkpoint.training,
        "report": checkpoint.report,
    }
    with replacing(path) as passing:
        torch.save(fields, passing)
        _check_fits(checkpoint.shape, passing.stat().st_size)


def check_fits(shape: NetworkShape) -> None:
    """Raise NetworkTooLargeError where the file of a network that learns would be too large."""
    n_numbers = sum(math.prod(size) for size, _ in parts_of(shape).values())
    _check_fits(shape, _COPIES * 4 * n_numbers + _AROUND_BYTES)


def _check_fits(shape: NetworkShape, n_bytes: int) -> None:
    if n_bytes > MAX_BYTES:
        raise NetworkTooLargeError(shape.width, -(-n_bytes // 10**6))


def read_checkpoint(path: Path) -> Checkpoint:
    """Return what `write_checkpoint` wrote.

    Raises:
        NetworkFileError: it is not there, too large, no such file, damaged, or of another version.
    """
    wrong = _wrong_from_outside(path)
    if wrong:
        raise NetworkFileError(str(path), wrong)
    try:
        fields = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever reading a pickle leads to, of which nothing is run
        raise NetworkFileError(str(path), _NO_NETWORK) from error
    if not isinstance(fields, dict) or fields.get("mark") != _MARK:
        raise NetworkFileError(str(path), _NO_NETWORK)
    if fields.get("version") != VERSION:
        raise NetworkFileError(str(path), f"it is of version {fields.get('version')}, and this is for {VERSION}")
    try:
        return _checkpoint(fields)
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        raise NetworkFileError(str(path), f"it is damaged: {error}") from error


def _checkpoint(fields: dict[str, Any]) -> Checkpoint:
    """Return what *fields* say; sizes are compared before anything is built. Raises where they are damaged."""
    found = Checkpoint(
        str(fields["game"]), shape_from(fields["shape"]), fields["weights"], fields["training"], fields["report"]
    )
    if not all(isinstance(each, dict) for each in (found.weights, found.training, found.report)):
        raise TypeError("a part of it is no dictionary")
    wanted = parts_of(found.shape)
    if {name: (part.shape, part.dtype) for name, part in found.weights.items()} != wanted:
        raise ValueError("its weights are not those of its shape")
    if sum(math.prod(size) * dtype.itemsize for size, dtype in wanted.values()) > MAX_BYTES:
        raise ValueError("its weights are larger than the file")
    if not all(bool(part.isfinite().all()) for part in found.weights.values()):
        raise ValueError("a weight is no finite number")
    found.network()
    return found


def _wrong_from_outside(path: Path) -> str:
    """Return what is wrong with a file before anything in it is read as values; empty where nothing is."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return f"the file is larger than {MAX_BYTES // 10**6} MB"
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
                return f"what it holds is larger than {MAX_BYTES // 10**6} MB"
            structure = [info.file_size for info in archive.infolist() if info.filename.endswith(".pkl")]
            if sum(structure) > MAX_STRUCTURE_BYTES:
                return f"what it holds beside numbers is larger than {MAX_STRUCTURE_BYTES // 10**6} MB"
    except (zipfile.BadZipFile, NotImplementedError, ValueError):  # the last ones for versions and names that are odd
        return _NO_NETWORK
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    return ""


def numbers_in(checkpoint: Checkpoint, games: VectorGame, path: Path) -> tuple[list[int], list[int]]:
    """Return where the network's fluents and actions are among those of *games*.

    Raises:
        NetworkFileError: they are those of another game, or of one whose names were scrambled.
    """
    shape = checkpoint.shape
    found = []
    for names, ours in ((shape.fluents, games.fluents), (shape.actions, games.actions[0])):
        numbers = {str(term): number for number, term in enumerate(ours)}
        if set(numbers) != set(names):
            raise NetworkFileError(str(path), f"it is of another game, {checkpoint.game}, or names are scrambled")
        found.append([numbers[name] for name in names])
    if shape.players != tuple(map(str, games.players)):
        raise NetworkFileError(str(path), f"it is of another game, {checkpoint.game}")
    return found[0], found[1]


def match_forest(game: Game, path: Path, batch: int, max_nodes: int, edges_a_node: int) -> Forest:
    """Return a forest of one tree, whose batches have *batch* walks, with the network of the file at *path*.

    Raises:
        NetworkFileError: the file cannot be used, or is of another game.
        NotLearnableError: there is chance in the game, or several choose at once, or not all is seen.
    """
    torch.set_num_threads(1)  # batches are small: a second thread costs more than it saves, and is the opponent's
    checkpoint = read_checkpoint(path)
    lanes = VectorGame(game, batch, auto_reset=False)
    check_learnable(lanes)
    fluents, actions = numbers_in(checkpoint, lanes, path)
    device = best_device()
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
