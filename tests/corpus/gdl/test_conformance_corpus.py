"""Every public trace agrees with the interpreter: a sample always, all with GGP_CONFORM=all (`make conform`)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

import pytest

from gdl.engines import make_game
from gdl.language.rules import read_file
from gdl.traces import conform, read_trace
from tests.kit.exhaustive import IS_CONFORM

ROOT: Final = Path(__file__).resolve().parents[3]
CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance"

SAMPLE: Final = (
    "3pConnectFour", "3pttc", "4pttc", "blocker", "blocksWorld", "breakthrough", "chineseCheckers1", "chomp",
    "connectFour", "cubicup_3player", "eightPuzzle", "factoringGeorgeForman", "gt_two_thirds_2p",
    "hanoi", "kalaha5x2x3", "knightsTour", "lightsOut", "nim1", "pentago", "reversi",
    "roshambo2", "ruleDepthLinear", "snake2p", "sudokuGrade1", "switches", "ticTacToe", "tron_10x10",
    "twisty-passages", "wallmaze",
)  # fmt: skip
WITH_LISTS: Final = "laikLee_hex"
"""A game with more lists than can be derived, which makes the interpreter derive them on demand."""

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent"
)

FIRST_MOVES_S: Final = 20.0
"""How long the first legal moves may take, from the text of the rules; of the processor's time."""


def chosen(files: str) -> tuple[str, ...]:
    every = tuple(sorted(path.stem for path in CORPUS.glob(files)))
    return every if every and IS_CONFORM else SAMPLE


def test_the_corpus_is_there_and_holds_the_sample() -> None:
    assert [name for name in SAMPLE if not (CORPUS / "rules" / f"{name}.kif").is_file()] == []


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", dict.fromkeys([*chosen("traces/*.json"), WITH_LISTS]))
def test_states_moves_ends_and_goals_equal_those_of_the_reference(name: str) -> None:
    trace = read_trace((CORPUS / "traces" / f"{name}.json").read_text(encoding="utf-8"))
    difference = conform(make_game(read_file(CORPUS / "rules" / f"{name}.kif"), "interpreter"), trace)
    assert difference is None, str(difference)


@pytest.mark.parametrize("name", chosen("rules/*.kif"))
def test_the_first_legal_moves_come_soon(name: str) -> None:
    began_s = time.process_time()
    game = make_game(read_file(CORPUS / "rules" / f"{name}.kif"), "interpreter")
    moves = [game.initial_state.legal_moves(role) for role in game.roles]
    assert time.process_time() - began_s < FIRST_MOVES_S
    assert all(moves)
