"""Random rule files on both engines, as far as both take them."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.compiler.compiled import CompiledGame
from gdl.errors import GdlError
from gdl.game import EvaluationLimits
from gdl.interpreter import InterpretedGame
from tests.kit.exhaustive import IS_EXHAUSTIVE
from tests.kit.gdl.compiler.engines import both
from tests.kit.gdl.programs import rule_file

_LIMITS = EvaluationLimits(max_rows=20_000, max_term_depth=50, max_term_symbols=1_000)
_MAX_GROUND_RULES = 20_000
_NO_GAME = "(<= (legal right ?m) (does left ?m))\n"
"""A rule of the random files that no game can have: what is legal depends on what is done."""


def random_games(block: int, size: int, more: str = "") -> Iterator[tuple[int, InterpretedGame, CompiledGame]]:
    """Yield the numbers of random rule files, and their games with *more* rules, but those that an engine refuses.

    Every block has *size* of them, or half of them in a sample.
    """
    step = 1 if IS_EXHAUSTIVE else 2
    for seed in range(size * block + step - 1, size * (block + 1), step):
        try:
            interpreted, compiled = both(rule_file(seed).replace(_NO_GAME, "") + more, _LIMITS, _MAX_GROUND_RULES)
        except GdlError:
            continue
        yield seed, interpreted, compiled
