"""Kernels that have to be compiled are announced, once."""

from __future__ import annotations

import pytest
from numba.core import event

from gdl.compiler.kernel_loading import NOTICE, announcing_compilation
from gdl.compiler.kernels import jit


def test_the_first_compilation_is_announced_and_no_other() -> None:
    announced: list[str] = []
    with announcing_compilation(announced.append):
        assert announced == []
        for _ in range(2):
            with event.trigger_event("numba:compile", data={}):
                pass
    with event.trigger_event("numba:compile", data={}):
        pass
    assert announced == [NOTICE]


def test_a_long_compilation_is_reported_as_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [object(), object(), object()]
    monkeypatch.setattr(jit, "KERNELS", kernels)
    announced: list[str] = []
    times_s = iter([0.0, 4.0, 12.0, 12.0, 100.0, 100.0])
    with announcing_compilation(announced.append, lambda: next(times_s)):
        for dispatcher in (kernels[0], object(), kernels[1], kernels[1], kernels[2]):
            with event.trigger_event("numba:compile", data={"dispatcher": dispatcher}):
                pass
    assert announced == [NOTICE, "compiling the kernels: 2 of at most 3", "compiling the kernels: 3 of at most 3"]
