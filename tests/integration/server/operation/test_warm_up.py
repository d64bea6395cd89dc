"""The kernels are put on disk by a child process."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from gdl.compiler.kernel_loading import NOTICE
from server.operation import warm_up
from server.operation.warm_up import fill_cache


async def test_that_kernels_have_to_be_compiled_is_said_when_the_first_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    said: asyncio.Queue[str] = asyncio.Queue()
    filling = asyncio.create_task(fill_cache(said.put_nowait))
    try:
        assert await asyncio.wait_for(said.get(), 120) == NOTICE
    finally:
        filling.cancel()
        with suppress(asyncio.CancelledError):
            await filling


async def test_the_child_comes_after_others_where_none_waits_for_it_alone_and_all_that_it_says_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warm_up, "_WORK", "print('first')\nprint(os.nice(0))")
    said: list[str] = []
    await fill_cache(said.append)
    await fill_cache(said.append, niceness=1)
    own = os.nice(0)
    assert said == ["first", str(own), "first", str(own + 1)]


@pytest.mark.exhaustive
async def test_nothing_is_said_where_all_kernels_are_on_disk() -> None:
    await fill_cache()  # whatever other tests have compiled until now
    said: list[str] = []
    await fill_cache(said.append)
    assert said == []
