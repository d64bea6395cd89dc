"""Public rule files come in as games: a sample always, all with GGP_CONFORM=all (`make conform-import`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from gdl.games.library import find_game
from server.importing.intake import ImportOutcome, ImportRow, import_games
from server.importing.sources import FoundFiles, ImportLimits, files_of_path
from tests.kit.exhaustive import IS_CONFORM

ROOT: Final = Path(__file__).resolve().parents[4]
CORPUS: Final = ROOT / os.environ.get("GGP_SHARED", "../shared") / "conformance" / "rules"
SAMPLE: Final = (
    "3pConnectFour", "alexChess", "factoringGeorgeForman", "gt_staghunt", "hanoi", "nim1",
)  # fmt: skip
REFUSED: Final = {
    "alexChess.kif": "nextrank and nextRank differ only in upper and lower case",
    "factoringGeorgeForman.kif": "a play can go round in a circle for ever",
    "pentago.kif": "`black` has several goal values: 0, 100",
    "wargame02.kif": "timeout and timeOut differ only in upper and lower case",
    "wargame03.kif": "timeout and timeOut differ only in upper and lower case",
}
"""The public rule files that are not fit to play, and why; docs/games.md has them, too."""

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason=f"no conformance material at {CORPUS}; GGP_SHARED names its parent"
)


def files() -> FoundFiles:
    found = files_of_path(CORPUS, ImportLimits())
    if not IS_CONFORM:
        found.files = {name: raw for name, raw in found.files.items() if Path(name).stem in SAMPLE}
        assert len(found.files) == len(SAMPLE)
    return found


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[ImportRow]:
    into = tmp_path_factory.mktemp("games")
    found = import_games(files(), into, "public", ImportLimits())
    for row in found:
        if row.outcome is ImportOutcome.IMPORTED:
            about = find_game(str(into / row.name)).metadata()
            assert about is not None, row
            assert (about.title, about.roles) == (row.title, row.roles)
    return found


def test_all_come_in_but_those_that_are_known_not_to_be_fit(rows: list[ImportRow]) -> None:
    refused = {row.path: row.reason for row in rows if row.outcome is not ImportOutcome.IMPORTED}
    assert refused.keys() == REFUSED.keys() & {row.path for row in rows}
    assert [path for path, reason in refused.items() if REFUSED[path] not in reason] == []


def test_each_has_figures_and_a_board_unless_its_plays_are_too_slow(rows: list[ImportRow]) -> None:
    games = [row for row in rows if row.outcome is ImportOutcome.IMPORTED]
    assert all(row.figures["plays"] > 0 or row.warnings for row in games)
    assert {row.board for row in games} <= {"grid", "heaps", "stacks", "facts"}
