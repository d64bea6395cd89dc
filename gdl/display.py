"""How games and states show themselves in a notebook: as the board that the layout of the game describes.

Jupyter asks an object at the end of a cell for `_repr_svg_`. What draws is imported then, and not before.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gdl.errors import MetadataError
from gdl.language.rules import METADATA_SUFFIX, RULES_SUFFIX

if TYPE_CHECKING:
    from gdl.boards import GameMetadata
    from gdl.game import State
    from gdl.language.rules import Description
    from gdl.language.terms import Term


def board_svg(description: Description, facts: Iterable[Term], metadata: GameMetadata | None = None) -> str:
    """Return the board of a state as SVG that carries its own style.

    Its layout is that of *metadata*, else of the TOML file beside the rule file that *description* was read from; where
    neither is given it is guessed from the rules.
    """
    from gdl.boards import picture  # noqa: PLC0415 -- it is slow to load, and drawing alone needs it

    return picture(description, metadata or metadata_beside(description), facts, standalone=True)


def metadata_beside(description: Description) -> GameMetadata | None:
    """Return what the TOML file beside the rules says; None where there is none, or it is wrong.

    `ggp validate` says what is wrong with it.
    """
    from gdl.boards import read_metadata  # noqa: PLC0415 -- as above

    rules = Path(description.source.name)
    if rules.suffix != RULES_SUFFIX:
        return None
    try:
        return read_metadata(rules.with_suffix(METADATA_SUFFIX))
    except (OSError, MetadataError):
        return None


class _HasFirstState(Protocol):
    @property
    def description(self) -> Description: ...
    @property
    def initial_state(self) -> State: ...


class DisplayedGame:
    """Shows a game in a notebook by its first position."""

    def _repr_svg_(self: _HasFirstState) -> str:
        return board_svg(self.description, self.initial_state.facts)


class DisplayedState:
    """Shows a state in a notebook by its board."""

    __slots__ = ()

    def _repr_svg_(self: State) -> str:
        return board_svg(self.description, self.facts)
