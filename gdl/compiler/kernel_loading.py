"""Kernels made ready: loaded from numba's cache on disk, or, the first time on a machine, compiled and so announced."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

NOTICE: Final = "compiling kernels that are not kept here yet: a minute, or two, for all of them"
_ANNOUNCED_EVERY_S: Final = 10.0
"""How often it is announced how many kernels have been compiled."""
_LOG: Final = logging.getLogger(__name__)
_LOCK: Final = threading.Lock()
_LOADED: Final[set[Callable[[], None]]] = set()
"""What has run each of its kernels."""


@contextmanager
def announcing_compilation(
    announce: Callable[[str], None], clock: Callable[[], float] = time.monotonic
) -> Iterator[None]:
    """Call *announce* with NOTICE when the first kernel is compiled in here, and now and then with how many have been.

    What is kept on disk is not compiled again.
    """
    announced_s: list[float] = []

    def on_start() -> None:
        if not announced_s:
            announced_s.append(clock())
            announce(NOTICE)

    def on_kernel(n_compiled: int, n_kernels: int) -> None:
        if clock() - announced_s[-1] >= _ANNOUNCED_EVERY_S:
            announced_s.append(clock())
            announce(f"compiling the kernels: {n_compiled} of at most {n_kernels}")

    with watching_kernels(on_kernel, on_start):
        yield


@contextmanager
def watching_kernels(
    on_kernel: Callable[[int, int], None], on_start: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Call *on_kernel* for every kernel that is compiled in here: how many that are, and how many kernels there are.

    *on_start* is called before anything is compiled.
    """
    from numba.core import event  # noqa: PLC0415 -- it takes a second to import, and few commands need it

    compiled: dict[int, None] = {}

    class _Listener(event.Listener):
        def on_start(self, _event: Any) -> None:
            on_start()

        def on_end(self, found: Any) -> None:
            from gdl.compiler.kernels import jit  # noqa: PLC0415 -- as above

            done = id((found.data or {}).get("dispatcher"))
            if done not in compiled and done in map(id, jit.KERNELS):
                compiled[done] = None
                on_kernel(len(compiled), len(jit.KERNELS))

    with event.install_listener("numba:compile", _Listener()):
        yield


def load_kernels(*, of_plans: bool = True) -> None:
    """Return as soon as plays, looks and steps take no longer the first time than any other time.

    The first time on a machine this takes a minute or two, which is logged, and from then on less than a second. The
    kernels *of_plans* are a quarter of it, which games of several roles do without.
    """
    with _LOCK, announcing_compilation(_LOG.warning):
        from gdl.compiler.warm_up import run_plan_kernels, run_play_kernels  # noqa: PLC0415 -- large libraries

        for run in (run_play_kernels, run_plan_kernels) if of_plans else (run_play_kernels,):
            if run not in _LOADED:
                run()
                _LOADED.add(run)
