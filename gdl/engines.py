"""The engines by name, and the choice of one for a game."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Final

from gdl.errors import UnknownNameError
from gdl.game import Game
from gdl.interpreter import InterpretedGame
from gdl.limits import DEFAULT_LIMITS, EvaluationLimits
from gdl.rules import Description

ENGINES: Final[dict[str, Callable[[Description, EvaluationLimits], Game]]] = {"interpreter": InterpretedGame}
DEFAULT_ENGINE: Final = "interpreter"


def make_game(
    description: Description, engine: str = DEFAULT_ENGINE, limits: EvaluationLimits = DEFAULT_LIMITS
) -> Game:
    """Return the game that *description* defines, run by the engine of that name.

    Raises:
        UnknownNameError: there is no such engine.
        RuleFileError: the rules have no meaning: not safe, not stratified, without roles.
        LimitExceeded: the rules are too large for *limits*.
    """
    make = ENGINES.get(engine)
    if make is None:
        raise UnknownNameError("engine", engine, difflib.get_close_matches(engine, ENGINES))
    return make(description, limits)
