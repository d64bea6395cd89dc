"""What can go wrong where players are registered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdl.errors import CallerError

if TYPE_CHECKING:
    pass


class PlayerNameError(CallerError):
    """A player may not be called so."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name, self.reason = name, reason

    def __str__(self) -> str:
        return f"no player can be called {self.name[:100]!r}: {self.reason}"


class PlayerTakenError(CallerError):
    """Another player has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"there is a player {self.name!r} already"


class UnknownPlayerError(CallerError):
    """No player of that name is registered."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"no player {self.name[:100]!r} is registered"


class NotDialInError(CallerError):
    """The player has an address, so that its letters are sent there and wait nowhere."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"the player {self.name!r} has an address, and does not dial in"


class TooManyPlayersError(CallerError):
    """Somebody has as many registered players as anybody may have."""

    def __init__(self, owner: str, max_players: int) -> None:
        super().__init__(owner, max_players)
        self.owner, self.max_players = owner, max_players

    def __str__(self) -> str:
        return f"{self.owner} has {self.max_players} players, and nobody may have more"
