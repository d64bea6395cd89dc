"""The network: from the bits of a state to what each player may expect, and how good each action looks.

Games with a board of rows and columns have convolutions over its planes, others dense layers over the bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gdl.errors import CallerError
from gdl.game import RANDOM
from players.environments.observations import planes_of
from players.environments.vector import VectorGame
from players.learning.forest import Evaluate

CHANNELS: Final = 32
WIDTH: Final = 256
BLOCKS: Final = 2
MAX_WIDTH: Final = 1024
MAX_BLOCKS: Final = 64
MAX_SIDE: Final = 10_000
"""How many planes, rows or columns there are at most."""
MAX_LOGIT: Final = 1e9
_POLICY_CHANNELS: Final = 8
_VALUE_CHANNELS: Final = 4
_VALUE_WIDTH: Final = 64


class NotLearnableError(CallerError):
    """A game cannot be learned by this self-play."""

    template: ClassVar[str] = "the game cannot be learned: {reason}"
    reason: str


@dataclass(frozen=True)
class NetworkShape:
    """What a network is made of, and what its numbers mean.

    Attributes:
        fluents: the fluents that the bits of a state stand for, as text.
        actions: the actions, as text.
        players: the roles that are no chance, as text.
        board: planes, rows and columns; none where the network is dense.
        sources: which fluent each place of the planes shows, one list for each that a place shows at once; the number
            of fluents for none.
        width: channels of a convolution, or units of a dense layer.
        blocks: how many residual blocks there are.
    """

    fluents: tuple[str, ...]
    actions: tuple[str, ...]
    players: tuple[str, ...]
    board: tuple[int, ...]
    sources: tuple[tuple[int, ...], ...]
    width: int
    blocks: int

    def as_json(self) -> dict[str, Any]:
        """Return what `shape_from` reads."""
        return asdict(self)


def shape_from(fields: dict[str, Any]) -> NetworkShape:
    """Return the shape that `as_json` wrote. Raises TypeError, KeyError or ValueError where it is none."""
    names = ("fluents", "actions", "players", "board")
    rest = {name: tuple(fields[name]) for name in names}
    sources = tuple(tuple(each) for each in fields["sources"])
    shape = NetworkShape(**rest, sources=sources, width=fields["width"], blocks=fields["blocks"])
    _check_names(shape)
    _check_sizes(shape)
    return shape


def _check_names(shape: NetworkShape) -> None:
    for what in ("fluents", "actions", "players"):
        names = getattr(shape, what)
        if not names or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"its {what} are not names that differ")


def _check_sizes(shape: NetworkShape) -> None:
    if not _are_whole((shape.width,), 1, MAX_WIDTH) or not _are_whole((shape.blocks,), 0, MAX_BLOCKS):
        raise ValueError(f"its width is not 1 to {MAX_WIDTH}, or its blocks are not 0 to {MAX_BLOCKS}")
    if len(shape.board) not in {0, 3} or not _are_whole(shape.board, 1, MAX_SIDE):
        raise ValueError("its board is not planes, rows and columns")
    n_places, n_fluents = math.prod(shape.board) if shape.board else 0, len(shape.fluents)
    if bool(shape.sources) != bool(shape.board) or any(len(layer) != n_places for layer in shape.sources):
        raise ValueError("its sources are not those of its board")
    if not all(_are_whole(layer, 0, n_fluents) for layer in shape.sources):
        raise ValueError("its sources are not among its fluents")


def _are_whole(numbers: Sequence[object], least: int, most: int) -> bool:
    return all(isinstance(number, int) and least <= number <= most for number in numbers)


def parts_of(shape: NetworkShape) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """Return the size and type of each part of a network's weights, by name, without making them."""
    with torch.device("meta"):
        return {name: (part.shape, part.dtype) for name, part in Network(shape).state_dict().items()}


def shape_of(games: VectorGame, width: int | None = None, blocks: int = BLOCKS) -> NetworkShape:
    """Return the shape of a network for a game.

    Raises:
        NotLearnableError: the game is none of turns, without chance, in which everything is seen.
        ValueError: *width* or *blocks* are beyond `MAX_WIDTH` and `MAX_BLOCKS`.
    """
    check_learnable(games)
    try:
        planes = planes_of(games.game, games.fluents, games.metadata)
    except ValueError:
        board: tuple[int, ...] = ()
        sources: tuple[tuple[int, ...], ...] = ()
    else:
        board = planes.shape
        sources = _sources(planes.fluent, planes.start, planes.place, int(np.prod(board)), len(games.fluents))
    shape = NetworkShape(
        fluents=tuple(map(str, games.fluents)),
        actions=tuple(map(str, games.actions[0])),
        players=tuple(map(str, games.players)),
        board=board,
        sources=sources,
        width=width or (CHANNELS if board else WIDTH),
        blocks=blocks,
    )
    _check_sizes(shape)
    return shape


def check_learnable(games: VectorGame) -> None:
    """Raise NotLearnableError where self-play has no search for the game."""
    if RANDOM in games.game.roles:
        raise NotLearnableError("there is chance in it")
    if games.game.has_imperfect_information:
        raise NotLearnableError("players do not see everything in it")
    if not games.is_flat:
        raise NotLearnableError("several roles choose at once in it")


def _sources(
    fluent: NDArray[np.int32], start: NDArray[np.int32], place: NDArray[np.int32], n_places: int, n_fluents: int
) -> tuple[tuple[int, ...], ...]:
    shown: list[list[int]] = [[] for _ in range(n_places)]
    for i, number in enumerate(fluent.tolist()):
        for where in place[start[i] : start[i + 1]].tolist():
            shown[where].append(number)
    layers = max(1, *map(len, shown))
    return tuple(tuple(each[i] if i < len(each) else n_fluents for each in shown) for i in range(layers))


class Network(nn.Module):
    """A network of a shape; `forward` takes bits (B, F) and returns values (B, R) and logits (B, A)."""

    sources: torch.Tensor
    others: torch.Tensor

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape = shape
        n_fluents, n_actions, n_players, width = len(shape.fluents), len(shape.actions), len(shape.players), shape.width
        shown = {number for layer in shape.sources for number in layer}
        others = [i for i in range(n_fluents) if i not in shown] if shape.board else []
        self.register_buffer("sources", torch.tensor(shape.sources, dtype=torch.int64), persistent=False)
        self.register_buffer("others", torch.tensor(others, dtype=torch.int64), persistent=False)
        self.blocks: nn.ModuleList
        if shape.board:
            planes, cells = shape.board[0], shape.board[1] * shape.board[2]
            self.stem: nn.Module = nn.Conv2d(planes, width, 3, padding=1)
            self.blocks = nn.ModuleList(
                _ResidualBlock(nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1))
                for _ in range(shape.blocks)
            )
            self.to_policy: nn.Module = nn.Conv2d(width, _POLICY_CHANNELS, 1)
            self.to_value: nn.Module = nn.Conv2d(width, _VALUE_CHANNELS, 1)
            policy_size, value_size = _POLICY_CHANNELS * cells + len(others), _VALUE_CHANNELS * cells + len(others)
        else:
            self.stem = nn.Linear(n_fluents, width)
            self.blocks = nn.ModuleList(
                _ResidualBlock(nn.Linear(width, width), nn.Linear(width, width)) for _ in range(shape.blocks)
            )
            self.to_policy = self.to_value = nn.Identity()
            policy_size = value_size = width
        self.policy = nn.Linear(policy_size, n_actions)
        self.value = nn.Sequential(
            nn.Linear(value_size, _VALUE_WIDTH), nn.ReLU(), nn.Linear(_VALUE_WIDTH, n_players), nn.Tanh()
        )

    def forward(self, bits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return values (B, R) and logits (B, A) of the states with these bits (B, F), which are floats."""
        x = self.stem(self._planes(bits) if self.shape.board else bits).relu()
        for block in self.blocks:
            x = block(x)
        policy, value = self.to_policy(x), self.to_value(x)
        if self.shape.board:
            policy, value = policy.relu().flatten(1), value.relu().flatten(1)
            if len(self.others):
                rest = bits[:, self.others]
                policy, value = torch.cat([policy, rest], 1), torch.cat([value, rest], 1)
        return self.value(value), self.policy(policy)

    def _planes(self, bits: torch.Tensor) -> torch.Tensor:
        padded = nn.functional.pad(bits, (0, 1))
        planes = padded[:, self.sources[0]]
        for layer in self.sources[1:]:
            planes = torch.maximum(planes, padded[:, layer])
        return planes.view(len(bits), *self.shape.board).contiguous(memory_format=torch.channels_last)

    @property
    def n_parameters(self) -> int:
        """How many numbers are learned."""
        return sum(parameter.numel() for parameter in self.parameters())


class _ResidualBlock(nn.Module):
    """Two layers, what they find being added to what they are given."""

    def __init__(self, first: nn.Linear | nn.Conv2d, second: nn.Linear | nn.Conv2d) -> None:
        super().__init__()
        self.first, self.second = first, second
        nn.init.zeros_(second.weight)  # a block begins as the identity, which learns well without normalisation
        nn.init.zeros_(second.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x and what is added to it."""
        found: torch.Tensor = (x + self.second(self.first(x).relu())).relu()
        return found


def best_device() -> torch.device:
    """Return what evaluates the most positions a second here."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def evaluator(network: Network, device: torch.device) -> Evaluate:
    """Return what asks *network*, which is on *device*, for many states at once.

    What is no number counts as 0, and no logit is beyond `MAX_LOGIT`: the search counts on it.
    """

    def evaluate(bits: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        with torch.inference_mode():
            values, logits = network(torch.from_numpy(bits.astype(np.float32)).to(device))
            values, logits = values.nan_to_num(0.0), logits.nan_to_num(0.0).clamp(-MAX_LOGIT, MAX_LOGIT)
        return values.cpu().numpy(), logits.cpu().numpy()

    return evaluate
