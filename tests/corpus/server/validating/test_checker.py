"""The checker judges uploads by processor time: it reports slow ones, and plays them at length behind the first answer.

Two good public games are tried always, and all of a sample with GGP_EXHAUSTIVE=all (`make exhaustive`).
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gdl.simulation import SimulationBudget
from server.hosting.uploads import Upload, keep_game
from server.sanitization import game_name_of
from server.storage.database import Database
from server.storage.games import GameStore
from server.validating.checker import Checker
from server.validating.validation import Validation
from tests.kit.exhaustive import sampled

ROOT: Final = Path(__file__).resolve().parents[4]
CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance" / "rules"
SAMPLE: Final = sampled(("ticTacToe", "chess_200", "speedChess", "skirmish", "merrills"), "ticTacToe")
SHORT: Final = SimulationBudget(plays=2, seconds=30.0, states=0)


@pytest.mark.parametrize(
    ("name", "valid"),
    [("TicTacToe.kif", "tictactoe"), ("chess_200", "chess_200"), (" My game 2.GDL", "my-game-2"), ("a.b", "a-b")],
)
def test_the_name_of_a_file_becomes_one_of_a_game(name: str, valid: str) -> None:
    assert game_name_of(name) == valid


@pytest.fixture
def busy() -> Iterator[None]:
    """Keep every core of this machine at work."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for spinner in spinners:
        spinner.kill()
        spinner.wait()


@pytest.mark.exhaustive
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent")
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("name", SAMPLE)
async def test_a_good_public_game_is_kept_however_busy_the_machine_is(name: str, tmp_path: Path) -> None:
    async with asyncio.timeout(600):
        database = await Database.open(str(tmp_path / "games.sqlite"))
        games, checker = GameStore(database), Checker(long=SHORT)
        rules = (CORPUS / f"{name}.kif").read_text(encoding="utf-8-sig", errors="replace")
        version = await keep_game(games, checker, Upload(name.lower(), rules, "me"))
        assert version.verdict in ("ok", "unknown")
        await checker.close()
        await database.close()


@pytest.mark.exhaustive
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent")
async def test_a_slow_game_is_played_by_the_compiled_engine_behind_the_first_answer() -> None:
    checker, told = Checker(long=SHORT), asyncio.get_running_loop().create_future()
    first = await checker.validation(
        (CORPUS / "speedChess.kif").read_text(encoding="utf-8-sig", errors="replace"), "speedchess", is_played=True
    )

    async def done(long: Validation) -> None:
        told.set_result(long)

    checker.follow("key", first, done)
    assert checker.n_plays("key") == 0
    async with asyncio.timeout(600):
        long = await told
    assert (first.is_wrong, long.verdict, long.figures and long.figures["plays"]) == (False, "ok", 2)
