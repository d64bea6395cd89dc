"""The kernels of play and search, loaded from numba's cache on disk, or compiled the first time ever."""

from __future__ import annotations

import logging
import threading
from typing import Final

import numpy as np

from gdl.compiler import scalar
from gdl.compiler.building import rules_of
from gdl.compiler.circuit import TRUE, Circuit
from gdl.compiler.notice import told_of_compilation
from gdl.compiler.playouts import LanePlayer
from gdl.compiler.walker import Walker
from gdl.terms import Constant

_LOG: Final = logging.getLogger(__name__)
_LOCK: Final = threading.Lock()
_LOADED: Final = threading.Event()
_NOTHING: Final = Circuit(
    roles=(Constant("nobody"),),
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


def load_kernels() -> None:
    """Return as soon as plays, looks and steps take no longer the first time than any other time.

    The first time on a machine this takes some fifteen seconds, which is logged, and from then on less than one.
    """
    with _LOCK, told_of_compilation(_LOG.warning):
        if _LOADED.is_set():
            return
        rules = rules_of(_NOTHING)
        LanePlayer(rules).play_each(np.array([[128]], np.uint8), 1, 0)
        walker = Walker(rules.single)
        walker.visit(b"\x80", [0])
        walker.look(b"\x80")
        walker.step(b"\x80", [0])
        values, _, _ = scalar.look(rules.single, np.array([1], np.uint8))
        scalar.goals(rules.single, values)
        scalar.step(rules.single, values, np.array([0], np.int64))
        _LOADED.set()
