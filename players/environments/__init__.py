"""Games as environments for learning: arrays of plays, PettingZoo, Gymnasium and OpenSpiel."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from gdl.extras import check_extra

if TYPE_CHECKING:
    from players.environments.gymnasium_games import gym, vector_gym
    from players.environments.openspiel_games import openspiel
    from players.environments.pettingzoo_games import aec, parallel
    from players.environments.vector import Outcome, Snapshot, VectorGame

__all__ = ["Outcome", "Snapshot", "VectorGame", "aec", "gym", "openspiel", "parallel", "vector_gym"]

_MODULES: Final = {
    **dict.fromkeys(("Outcome", "Snapshot", "VectorGame"), "players.environments.vector"),
    **dict.fromkeys(("aec", "parallel"), "players.environments.pettingzoo_games"),
    **dict.fromkeys(("gym", "vector_gym"), "players.environments.gymnasium_games"),
    "openspiel": "players.environments.openspiel_games",
}
"""The module of each name: what one environment needs is not imported for another."""
_LIBRARIES: Final = {
    **dict.fromkeys(("aec", "parallel"), "pettingzoo"),
    **dict.fromkeys(("gym", "vector_gym"), "gymnasium"),
    "openspiel": "pyspiel",
}
"""The library that each name needs, if it needs one, of the extra `learn`."""

if not TYPE_CHECKING:  # a type checker that saw it would take every name for one of this package

    def __getattr__(name: str) -> object:
        """Import *name* of `__all__` from its module (PEP 562).

        Raises:
            MissingExtraError: the library that it needs is not installed.
        """
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name in _LIBRARIES:
            check_extra(_LIBRARIES[name], "learn", f"{__name__}.{name}")
        return getattr(import_module(_MODULES[name]), name)
