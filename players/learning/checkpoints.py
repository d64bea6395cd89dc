"""The file of a network: written in one step, read with limits and without running anything that it holds."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

import torch

from gdl.errors import CallerError
from gdl.replacement import replacing
from players.environments.vector import VectorGame
from players.learning.networks import Network, NetworkShape, shape_from

VERSION: Final = 1
MAX_BYTES: Final = 256_000_000
_MARK: Final = "ggp network"
_NO_NETWORK: Final = "it is no file of a network; `ggp train` writes them"


class NetworkFileError(CallerError):
    """A file holds no network that could be used."""

    template: ClassVar[str] = "{path}: {reason}"
    path: str
    reason: str


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


def read_checkpoint(path: Path) -> Checkpoint:
    """Return what `write_checkpoint` wrote.

    Raises:
        NetworkFileError: it is not there, too large, no such file, or of another version.
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
        checkpoint = Checkpoint(
            fields["game"], shape_from(fields["shape"]), fields["weights"], fields["training"], fields["report"]
        )
        checkpoint.network()
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError, AttributeError) as error:
        raise NetworkFileError(str(path), f"it is damaged: {error}") from error
    return checkpoint


def _wrong_from_outside(path: Path) -> str:
    """Return what is wrong with a file before anything in it is read as values; empty where nothing is."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return f"the file is larger than {MAX_BYTES // 10**6} MB"
        with zipfile.ZipFile(path) as archive:
            if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
                return f"what it holds is larger than {MAX_BYTES // 10**6} MB"
    except zipfile.BadZipFile:
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
