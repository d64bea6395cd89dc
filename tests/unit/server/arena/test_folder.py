"""The folder of a tournament: what is kept comes back, whatever a crash cut off."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from server.arena.folder import PLAN as PLAN_FILE
from server.arena.folder import RESULTS, SCHEDULE, TournamentFolder
from server.arena.plan_file import plan_of
from server.errors import TournamentFolderError
from server.tournament.fixtures import MatchResult, ScheduledMatch
from server.tournament.plan import MAX_FORFEIT_ERRORS
from server.tournament.progress import PlayedMatch
from tests.kit.server.locks import without_locks

PLAN = plan_of({"games": ["tictactoe"], "players": {"a": "random", "b": "legal"}}, Path("plan"))
MATCHES = tuple(
    ScheduledMatch(f"t{n}.1", "tictactoe", ("a", "b"), n, n + 1, 1, f"p{n}", f"t{n}", attempt=1) for n in range(3)
)
PLAYED = PlayedMatch(MatchResult("tictactoe", ("a", "b"), (100, 0), (0, 2), "t0.1"), (10, 20), (3, 2), 5, 99, 0.5)


@pytest.fixture
def folder(tmp_path: Path) -> TournamentFolder:
    found = TournamentFolder(tmp_path)
    with found.held():
        found.keep_plan(PLAN, {"tictactoe": "0" * 64}, {"a": "1" * 64})
    found.add_matches(MATCHES[:2])
    found.add_matches(MATCHES[2:])
    found.add_result(PLAYED)
    return found


def test_what_is_kept_comes_back(folder: TournamentFolder) -> None:
    assert folder.plan() == (PLAN, {"tictactoe": "0" * 64})
    assert folder.player_hashes() == {"a": "1" * 64}
    assert (folder.schedule(), folder.results()) == (MATCHES, (PLAYED,))


def test_a_plan_of_a_version_that_bound_no_errors_is_read(folder: TournamentFolder) -> None:
    fields = json.loads((folder.path / PLAN_FILE).read_text())
    fields["plan"]["forfeit_errors"] = 10**12
    (folder.path / PLAN_FILE).write_text(json.dumps(fields))
    assert folder.plan()[0] == PLAN.model_copy(update={"forfeit_errors": MAX_FORFEIT_ERRORS})


def test_hashes_of_players_that_are_none_are_told_as_a_plan_that_cannot_be_read(folder: TournamentFolder) -> None:
    fields = json.loads((folder.path / PLAN_FILE).read_text()) | {"players": 7}
    (folder.path / PLAN_FILE).write_text(json.dumps(fields))
    with pytest.raises(TournamentFolderError, match=r"plan\.json cannot be read"):
        folder.player_hashes()


@pytest.mark.parametrize("n_bytes", [1, 10, 100])
def test_a_batch_that_a_crash_cut_off_is_dropped_as_a_whole(folder: TournamentFolder, n_bytes: int) -> None:
    path = folder.path / SCHEDULE
    path.write_bytes(path.read_bytes()[:-n_bytes])
    with folder.held():
        assert folder.schedule() == MATCHES[:2]
        folder.add_matches(MATCHES[2:])
        assert folder.schedule() == MATCHES


def test_a_line_that_another_process_is_just_writing_is_left_to_it(folder: TournamentFolder) -> None:
    path, whole = folder.path / SCHEDULE, (folder.path / SCHEDULE).read_bytes()
    path.write_bytes(whole[:-10])
    assert TournamentFolder(folder.path).schedule() == MATCHES[:2]
    with path.open("ab") as file:
        file.write(whole[-10:])
    assert folder.schedule() == MATCHES


@pytest.mark.parametrize("name", ["Ann\u2028e", "Ann\x85e", "Ann\x1ce", "Ann\ne"])
def test_names_may_hold_what_elsewhere_ends_a_line(tmp_path: Path, name: str) -> None:
    folder, match = TournamentFolder(tmp_path), replace(MATCHES[0], players=(name, "b"))
    folder.add_matches([match])
    assert folder.schedule() == (match,)


@pytest.mark.parametrize("line", ["nonsense", "[]", "{}", '{"result": {"game": 1}}', "1", '{"result": {}, "x": 1}'])
def test_a_line_that_is_no_result_is_named(folder: TournamentFolder, line: str) -> None:
    with (folder.path / RESULTS).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(TournamentFolderError, match=r"line 2 of results\.jsonl cannot be read"):
        folder.results()


def test_a_disk_that_is_full_is_told_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "schedule.jsonl").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        TournamentFolder(tmp_path).add_matches(MATCHES)
    assert caught.value.filename == str(tmp_path / "schedule.jsonl")


def test_a_folder_is_held_by_one_process(folder: TournamentFolder) -> None:
    refused = pytest.raises(TournamentFolderError, match="another process plays this tournament")
    with folder.held(), refused, TournamentFolder(folder.path).held():
        pass


def test_an_empty_folder_has_no_tournament(tmp_path: Path) -> None:
    with pytest.raises(TournamentFolderError, match="there is no tournament in this folder"):
        TournamentFolder(tmp_path).plan()


def test_a_file_system_without_locks_is_no_other_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", without_locks)
    with pytest.raises(TournamentFolderError, match="No locks available"), TournamentFolder(tmp_path).held():
        pass
