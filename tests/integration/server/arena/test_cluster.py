"""Tournaments on a Dask cluster: a real scheduler, real workers in processes of their own, one of which is killed."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from server.arena import cluster
from server.arena.folder import RESULTS, SCHEDULE
from tests.kit.polling import wait_until
from tests.kit.server.commands.fixtures import Ggp
from tests.kit.server.processes import GGP, ROOT, children_of

pytest.importorskip("distributed")
StartProcess = Callable[..., "subprocess.Popen[bytes]"]
PLAYER = """
from players import Player

class Last(Player):
    def move(self, state, role, deadline):
        return state.legal_moves(role)[-1]
"""
CUP = ("--game", "kuhnpoker", "--game", "tictactoe", "-p", "first=legal", "-p", "last=last.py", "--seed", 7)
CLOCKS = ("--start-clock", 30, "--play-clock", 30)


@pytest.fixture
def start() -> Iterator[StartProcess]:
    """Start a module of `distributed`, whose words are the command's, in a process that ends with the test."""
    with ExitStack() as processes:

        def started(module: str, *words: object, folder: Path) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-P", "-m", module, *map(str, words)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(message)s"}
            log = processes.enter_context((folder / f"{words[-1]}.log").open("wb"))
            child = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
            processes.enter_context(child)
            processes.callback(child.kill)
            return child

        yield started


@pytest.fixture
def scheduler_process(start: StartProcess, tmp_path: Path) -> subprocess.Popen[bytes]:
    """Start a scheduler, which writes its address to a file."""
    process = start(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard",
        "--scheduler-file", tmp_path / "scheduler", folder=tmp_path,
    )  # fmt: skip
    wait_until(lambda: (tmp_path / "scheduler").is_file() and "address" in (tmp_path / "scheduler").read_text(), 60)
    return process


@pytest.fixture
def scheduler(scheduler_process: subprocess.Popen[bytes], tmp_path: Path) -> str:
    """Return the address of a scheduler."""
    return str(json.loads((tmp_path / "scheduler").read_text())["address"])


def start_workers(start: StartProcess, scheduler: str, folder: Path, n: int) -> list[subprocess.Popen[bytes]]:
    words = (scheduler, "--no-nanny", "--nthreads", 1, "--no-dashboard", "--local-directory", folder, "--name")
    workers = [start("distributed.cli.dask_worker", *words, f"worker{i}", folder=folder) for i in range(n)]
    wait_until(lambda: all(re.search("Registered to", log(folder, i)) for i in range(n)), 120)
    return workers


def log(folder: Path, number: int) -> str:
    return (folder / f"worker{number}.log").read_text()


def results_of(folder: Path) -> dict[str, Any]:
    """Return the results that do not depend on clocks, by match."""
    played = map(json.loads, (folder / RESULTS).read_text().splitlines())
    return {each["result"]["match_id"]: (each["result"], each["n_moves"], each["n_steps"]) for each in played}


def test_a_worker_that_is_killed_loses_no_match(
    ggp: Ggp, start: StartProcess, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = start_workers(start, scheduler, tmp_path, 2)
    (tmp_path / "last.py").write_text(PLAYER)
    monkeypatch.chdir(tmp_path)
    words = [*CUP, *CLOCKS, "--rounds", 4, "--json", "--out"]
    command = [*GGP, "tournament", "run", *map(str, words), str(tmp_path / "far"), "--dask", scheduler]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        playing = workers[0].pid
        wait_until(lambda: bool(children_of(playing)) and (tmp_path / "far" / RESULTS).exists(), 120)
        players = children_of(playing)
        os.kill(playing, signal.SIGKILL)
        output, _ = running.communicate()
    assert (running.returncode, json.loads(output)["matches"]) == (0, 16)
    assert ggp("tournament", "run", *words, tmp_path / "near").exit_code == 0
    assert (tmp_path / "far" / SCHEDULE).read_text() == (tmp_path / "near" / SCHEDULE).read_text()
    assert results_of(tmp_path / "far") == results_of(tmp_path / "near")
    assert len((tmp_path / "far" / RESULTS).read_text().splitlines()) == 16
    left = [*players, *(child for worker in workers for child in children_of(worker.pid))]
    wait_until(lambda: not any(Path(f"/proc/{process_id}/cmdline").exists() for process_id in left), 60)


@pytest.mark.exhaustive
def test_a_player_that_a_worker_does_not_have_is_named(
    ggp: Ggp, start: StartProcess, scheduler: str, tmp_path: Path
) -> None:
    start_workers(start, scheduler, tmp_path, 1)
    words = ("--game", "tictactoe", "-p", "mine=nowhere.py", "-p", "first=legal", "--out", tmp_path / "cup")
    ended = ggp("tournament", "run", *words, "--dask", scheduler)
    assert ended.exit_code == 2
    assert f"there is no file {Path.cwd() / 'nowhere.py'}" in ended.errors
    assert "must be on the machines of all workers, under the same path" in ended.errors


@pytest.mark.exhaustive
def test_a_scheduler_that_is_killed_ends_the_tournament_which_goes_on_later(
    ggp: Ggp, start: StartProcess, scheduler: str, scheduler_process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    start_workers(start, scheduler, tmp_path, 1)
    words = ("-p", "a=legal", "-p", "b=legal", "--game", "tictactoe", "--rounds", "100", "--seed", "1")
    command = [*GGP, "tournament", "run", *words, "--out", str(tmp_path / "cup"), "--dask", scheduler]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True
    ) as running:
        wait_until((tmp_path / "cup" / RESULTS).exists, 120)
        scheduler_process.kill()
        _, errors = running.communicate()
    assert (running.returncode, "the scheduler is gone" in errors) == (2, True)
    n_before = len(results_of(tmp_path / "cup"))
    ended = ggp("tournament", "run", "--out", tmp_path / "cup", "--json")
    assert (ended.exit_code, json.loads(ended.output)["matches"], n_before < 200) == (0, 200, True)


def test_without_a_scheduler_the_address_is_named(ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECTING_S", 0.5)
    ended = ggp("tournament", "run", *CUP, "--out", tmp_path / "cup", "--dask", "tcp://127.0.0.1:1")
    assert (ended.exit_code, "the Dask cluster at tcp://127.0.0.1:1: no scheduler" in ended.errors) == (2, True)


def test_without_the_extra_the_command_says_what_to_install(
    ggp: Ggp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    ended = ggp("tournament", "run", *CUP, "--out", tmp_path / "cup", "--dask", "tcp://127.0.0.1:1")
    assert (ended.exit_code, "--dask needs distributed, which is not installed: pip install" in ended.errors) == (
        2,
        True,
    )
    assert "[dask]" in ended.errors
    assert not (tmp_path / "cup").exists()


@pytest.mark.parametrize(
    ("spec", "on_a_worker"),
    [
        ("mine.py", "{here}/mine.py"),
        ("sub/mine.py:Mine:depth=2", "{here}/sub/mine.py:Mine:depth=2"),
        ("/srv/mine.py:Mine", "/srv/mine.py:Mine"),
        ("mcts:playouts=20", "mcts:playouts=20"),
        ("package.module:Mine", "package.module:Mine"),
        ("my.python/mine.py:Mine", "{here}/my.python/mine.py:Mine"),
        ("net:four.pt", "net:{here}/four.pt"),
        ("http://host.py:9147", "http://host.py:9147"),
        ("cmd:python3 mine.py", "cmd:python3 mine.py"),
    ],
)
def test_files_are_named_by_their_whole_paths(spec: str, on_a_worker: str) -> None:
    assert cluster.located(spec) == on_a_worker.format(here=Path.cwd())
