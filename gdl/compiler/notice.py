"""Tells that kernels are being compiled: it happens once on a machine, and takes longer than one waits in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

NOTICE: Final = "compiling the kernel, once, about 15 s"


@contextmanager
def told_of_compilation(tell: Callable[[str], None]) -> Iterator[None]:
    """Call *tell* with NOTICE when the first kernel is compiled in here; what is kept on disk is not compiled again."""
    from numba.core import event  # noqa: PLC0415 -- it takes a second to import, and few commands need it

    class _Listener(event.Listener):
        has_told = False

        def on_start(self, _event: Any) -> None:
            if not self.has_told:
                self.has_told = True
                tell(NOTICE)

        def on_end(self, _event: Any) -> None:
            pass

    with event.install_listener("numba:compile", _Listener()):
        yield
