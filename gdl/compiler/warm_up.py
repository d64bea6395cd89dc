"""A game that is over before it begins, with which every kernel of the engine runs once, so that it is loaded."""

from typing import Final

import numpy as np

from gdl.compiler.circuit import Circuit
from gdl.compiler.gates import TRUE
from gdl.compiler.kernels import expansion, policies, scalar
from gdl.compiler.kernels.batches import Batch
from gdl.compiler.kernels.playouts import LanePlayer
from gdl.compiler.kernels.scalar import Walker
from gdl.compiler.pipeline import rules_of
from gdl.compiler.tables import CompiledRules
from gdl.language.terms import Constant

_NOTHING: Final = Circuit(
    roles=(Constant("player"),),
    fluents=(Constant("always"),),
    moves=(Constant("wait"),),
    moves_of=(range(1),),
    initial=frozenset({0}),
    gates=(None, None, None),
    loops=(),
    next=(TRUE,),
    legal=(TRUE,),
    terminal=TRUE,
    goals=((("100", TRUE),),),
    sees=((),),
)
"""A game that is over before it begins."""


def tiny_rules() -> CompiledRules:
    """Return the rules of a game that is over before it begins, for what has to run once with some rules."""
    return rules_of(_NOTHING)


def run_play_kernels() -> None:
    """Run every kernel of plays, looks and steps once: numba loads it from its cache on disk, or compiles it."""
    rules = tiny_rules()
    LanePlayer(rules).play_each(np.array([[128]], np.uint8), 1, 0)
    Batch(rules).next_and_sees(np.array([[128]], np.uint8), np.array([[0]]))
    walker = Walker(rules.single)
    walker.next_and_legal(b"\x80", [0])
    walker.legal_and_terminal(b"\x80")
    walker.step(b"\x80", [0])
    values, _, _ = scalar.legal_and_terminal(rules.single, np.array([1], np.uint8))
    scalar.goals(rules.single, values)
    scalar.step(rules.single, values, np.array([0], np.int64))


def run_plan_kernels() -> None:
    """Run every kernel that searches for plans once, as above."""
    rules = tiny_rules().single
    policies.run_each(rules, *expansion.run_each(rules))
