"""Known numbers of ways in which the library's games go, as data in `counts/`: joint moves by depth, or whole turns.

Those of a sample of the games always, all with GGP_CONFORM=all (`make conform`).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from gdl.language.kif import read_term
from players.search.evaluator import compiled_game_of
from server.measuring.perft import BatchCounting, counts
from tests.kit.players.games import compiled
from tests.kit.rules.sample import sampled_games

FOLDER = Path(__file__).parent / "counts"
PATHS = [path for path in sorted(FOLDER.glob("*.toml")) if path.stem in sampled_games()]


class Known(BaseModel):
    """How many nodes there are at depths 1, 2, ... from the first state, or from that in which *facts* are true.

    A depth is a step, or a turn, which may take several steps.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()
    source: str = ""


def known(path: Path) -> list[Known]:
    return [Known.model_validate(each) for each in tomllib.loads(path.read_text())["counts"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_counts_are_the_known_ones(path: Path) -> None:
    game = compiled_game_of(compiled(path.stem))
    for expected in known(path):
        by_turns = bool(expected.turns)
        state = game.state(frozenset(map(read_term, expected.facts))) if expected.facts else game.initial_state
        found = counts(BatchCounting(game, by_turns, 2), state, len(expected.turns or expected.steps))
        assert [each.nodes for each in found] == list(expected.turns or expected.steps)
