"""One play of a game, seen and shown as Gymnasium and PettingZoo want it; both step through one."""

from __future__ import annotations

import secrets
from operator import index
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from gdl.boards.boards import board_of
from gdl.boards.guessing import layout_of
from gdl.boards.text import text_of
from gdl.game import Game
from players.environments.vector import VectorGame

Observed: TypeAlias = Literal["bits", "planes"]
RenderMode: TypeAlias = Literal["ansi", "human"]
RENDER_MODES: Final = ("ansi", "human")


class SingleGame:
    """A play of a game. *observed* says what is seen of it: `bits` (`VectorGame.observe`), or `planes`.

    *render_mode* says how it is shown to people: as text (`ansi`), printed (`human`), or not at all.

    Attributes:
        games: the one copy.
        agents: names of the players as PettingZoo wants them: the role and its number.
        sees_all: whether all players see the same.
    """

    def __init__(
        self,
        game: str | Path | Game,
        observed: Observed = "bits",
        render_mode: RenderMode | None = None,
        *,
        is_flat: bool | None = None,
    ) -> None:
        """Begin a play.

        Raises:
            ValueError: as `VectorGame`; *observed* is no way of seeing, or shows more than a player may know;
                *render_mode* is no way of showing.
        """
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(f"render_mode is None, {' or '.join(RENDER_MODES)}, not {render_mode!r}")
        self.games = VectorGame(game, 1, seed=entropy(), is_flat=is_flat, auto_reset=False)
        self.sees_all = not self.games.is_hidden
        self.observed, self.render_mode = observed, render_mode
        check_observed(observed, self.games)
        self.agents = [f"{role}_{number}" for number, role in enumerate(self.games.players)]
        self.shape: tuple[int, ...] = self.observation(0).shape

    def reset(self, seed: int | None) -> None:
        """Begin the play anew, and the randomness where there is a *seed*."""
        self.games.reset(seed=seed)

    def observation(self, player: int) -> NDArray[np.int8]:
        """Return what a player sees, 0 and 1."""
        if self.observed == "planes":
            return np.asarray(self.games.planes()[0], np.int8)
        seen = self.games.observe()[0]
        return np.array(seen if self.sees_all else seen[player], np.int8)

    def mask(self, player: int) -> NDArray[np.int8]:
        """Return which actions are legal for a player, 0 and 1; none where it is not to move."""
        legal = self.games.legal[0]
        if self.games.is_flat:
            return np.array(legal & (self.to_move == player), np.int8)
        return np.array(legal[player], np.int8)

    @property
    def to_move(self) -> int:
        """The player whose turn it is."""
        return int(self.games.to_move[0])

    @property
    def n_actions(self) -> int:
        """How many actions there are, legal or not."""
        return max(map(len, self.games.actions))

    def is_legal(self, player: int, action: Any) -> bool:
        """Return whether a player may take an action.

        Raises:
            TypeError: it is no whole number.
        """
        return 0 <= index(action) < self.n_actions and bool(self.mask(player)[index(action)])

    def text(self) -> str:
        """Return the board as text."""
        description = self.games.game.description
        layout = layout_of(description, self.games.metadata)
        return text_of(board_of(layout, description, self.games.states()[0].facts))

    def shown(self) -> str | None:
        """Return the board, or print it, as the render mode wants it."""
        if self.render_mode == "human":
            print(self.text())  # noqa: T201 -- what the mode is for
        return self.text() if self.render_mode == "ansi" else None


def entropy() -> int:
    """Return a seed for chance until `reset` is given one, another for each environment."""
    return secrets.randbits(64)


def check_observed(observed: Observed, games: VectorGame) -> None:
    """Raise ValueError where *observed* is no way of seeing, or shows more than a player may know."""
    if observed not in get_args(Observed):
        raise ValueError(f"observed is {' or '.join(get_args(Observed))}, not {observed!r}")
    if observed == "planes" and games.is_hidden:
        raise ValueError("planes show the whole state, and players do not see all of it")
