"""The order in which the whole server comes up."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest

from players.kit.request_heads import StrictRunner
from server import app
from server.commands.serve import command
from server.hosting.supervisor import MatchSupervisor
from server.operation.options import ServeOptions


class ComesUpError(Exception):
    """The server would listen now."""


async def test_matches_that_broke_off_go_on_when_all_is_ready_but_the_listening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    set_up = StrictRunner.setup

    async def setting_up(runner: StrictRunner) -> None:
        await set_up(runner)
        done.append("all is ready")

    async def take_over(_: MatchSupervisor) -> None:
        done.append("matches go on")

    async def listen(*_: Any) -> NoReturn:
        raise ComesUpError

    monkeypatch.setattr(StrictRunner, "setup", setting_up)
    monkeypatch.setattr(MatchSupervisor, "take_over", take_over)
    monkeypatch.setattr(app, "listen", listen)
    given = command.make_context("serve", ["--database", f"sqlite:///{tmp_path}/ggp.sqlite", "--no-warm-up"]).params
    with pytest.raises(ComesUpError):
        await app.serve(ServeOptions(**given), print)
    assert done[:2] == ["all is ready", "matches go on"]
