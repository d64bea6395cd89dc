"""The engines by name, and the choice of one for a game."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Final, TypeAlias

from gdl.best import BestGame
from gdl.compiler.compilation import DEFAULT_COMPILE_LIMITS, CompileLimits, compile_game
from gdl.errors import UnknownNameError
from gdl.game import Game
from gdl.interpreter import InterpretedGame
from gdl.limits import DEFAULT_LIMITS, EvaluationLimits
from gdl.rules import Description

MakeGame: TypeAlias = Callable[[InterpretedGame, CompileLimits], Game]

ENGINES: Final[dict[str, MakeGame]] = {
    "best": BestGame,
    "compiled": compile_game,
    "interpreter": lambda interpreted, _limits: interpreted,
}
"""What each makes of an interpreted game: `best` interprets until it has compiled, where it can."""
DEFAULT_ENGINE: Final = "best"


def make_game(
    description: Description,
    engine: str = DEFAULT_ENGINE,
    limits: EvaluationLimits = DEFAULT_LIMITS,
    compile_limits: CompileLimits = DEFAULT_COMPILE_LIMITS,
) -> Game:
    """Return the game that *description* defines, run by the engine of that name.

    *limits* hold where rules are interpreted, *compile_limits* for compiling them.

    Raises:
        UnknownNameError: there is no such engine.
        RuleFileError: the rules have no meaning: not safe, not stratified, without roles.
        LimitExceeded: the rules are too large for *limits*.
        CannotCompileError: the engine is `compiled`, and the rules are beyond it.
    """
    make = ENGINES.get(engine)
    if make is None:
        raise UnknownNameError("engine", engine, difflib.get_close_matches(engine, ENGINES))
    return make(InterpretedGame(description, limits), compile_limits)
