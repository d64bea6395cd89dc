"""What can go wrong where games are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdl.errors import CallerError

if TYPE_CHECKING:
    from server.validating.validation import Validation


class GameNameError(CallerError):
    """A name that no uploaded game may have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"no game can be called {self.name[:100]!r}: a name has up to 60 small letters, digits, - and _"


class GameTakenError(CallerError):
    """There is a game of that name already, of the library or of somebody else."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"there is a game called {self.name[:100]!r} already, which is not yours: choose another name"


class RulesUnfitError(CallerError):
    """Rules that are not kept because they are not fit to play; `validation` says why."""

    def __init__(self, name: str, validation: Validation) -> None:
        super().__init__(name, validation)
        self.name, self.validation = name, validation

    def __str__(self) -> str:
        return f"these rules are not fit to play: {self.validation.limit or 'the validator finds errors'}"
