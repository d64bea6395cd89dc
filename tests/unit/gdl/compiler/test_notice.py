"""Who compiles a kernel is told so, once."""

from __future__ import annotations

from numba.core import event

from gdl.compiler.compilation import NOTICE, told_of_compilation


def test_the_first_compilation_is_told_and_no_other() -> None:
    told: list[str] = []
    with told_of_compilation(told.append):
        assert told == []
        for _ in range(2):
            with event.trigger_event("numba:compile", data={}):
                pass
    with event.trigger_event("numba:compile", data={}):
        pass
    assert told == [NOTICE]
