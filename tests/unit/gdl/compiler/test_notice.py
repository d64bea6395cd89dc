"""The notice says once that kernels are compiled."""

from __future__ import annotations

import pytest
from numba.core import event

from gdl.compiler.compilation import NOTICE, told_of_compilation
from gdl.compiler.kernels import jit


def test_the_first_compilation_is_announced_and_no_other() -> None:
    told: list[str] = []
    with told_of_compilation(told.append):
        assert told == []
        for _ in range(2):
            with event.trigger_event("numba:compile", data={}):
                pass
    with event.trigger_event("numba:compile", data={}):
        pass
    assert told == [NOTICE]


def test_a_long_compilation_is_reported_as_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [object(), object(), object()]
    monkeypatch.setattr(jit, "KERNELS", kernels)
    told: list[str] = []
    times_s = iter([0.0, 4.0, 12.0, 12.0, 100.0, 100.0])
    with told_of_compilation(told.append, lambda: next(times_s)):
        for dispatcher in (kernels[0], object(), kernels[1], kernels[1], kernels[2]):
            with event.trigger_event("numba:compile", data={"dispatcher": dispatcher}):
                pass
    assert told == [NOTICE, "compiling the kernels: 2 of at most 3", "compiling the kernels: 3 of at most 3"]
