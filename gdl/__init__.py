"""The language, the engines and the wire messages, without any input or output.

What `__all__` names is what programs build on (docs/python.md). Each name is imported when it is first used, and numba,
clingo and numpy only when a game is compiled.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gdl.engines import make_game
    from gdl.errors import (
        CallerError,
        CannotCompileError,
        GdlError,
        IllegalMoveError,
        JointMoveError,
        LimitExceeded,
        RuleFileError,
        StuckPlayError,
        TerminalStateError,
        UnknownNameError,
        UnknownRoleError,
    )
    from gdl.game import Game, JointMove, Role, State
    from gdl.games.library import find_game
    from gdl.language.kif import read_term
    from gdl.language.rules import read_file, read_rules
    from gdl.language.terms import Compound, Constant, Term, Variable

__all__ = [
    "CallerError",
    "CannotCompileError",
    "Compound",
    "Constant",
    "Game",
    "GdlError",
    "IllegalMoveError",
    "JointMove",
    "JointMoveError",
    "LimitExceeded",
    "Role",
    "RuleFileError",
    "State",
    "StuckPlayError",
    "Term",
    "TerminalStateError",
    "UnknownNameError",
    "UnknownRoleError",
    "Variable",
    "find_game",
    "make_game",
    "read_file",
    "read_rules",
    "read_term",
]

_MODULES: Final = {
    "find_game": "gdl.games.library",
    "make_game": "gdl.engines",
    "read_file": "gdl.language.rules",
    "read_rules": "gdl.language.rules",
    "read_term": "gdl.language.kif",
    **dict.fromkeys(("Game", "JointMove", "Role", "State"), "gdl.game"),
    **dict.fromkeys(("Compound", "Constant", "Term", "Variable"), "gdl.language.terms"),
}
"""The module of each name; what is not listed is an error."""

if not TYPE_CHECKING:  # a type checker that saw it would take every name for one of this package

    def __getattr__(name: str) -> object:
        """Import *name* of `__all__` from its module (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_MODULES.get(name, "gdl.errors")), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
