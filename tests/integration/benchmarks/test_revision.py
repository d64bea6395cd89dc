"""Players of another revision: its code is checked out once, and its players play as ours would."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.superiority import Comparison, file_of
from benchmarks.yardsticks import revision
from benchmarks.yardsticks.child import ROOT, YardstickError
from benchmarks.yardsticks.revision import RevisionError, check_out, commit_of, revision_child


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a repository with the packages of players in one commit, tagged `first`."""
    for package in ("gdl", "players", "rules", "server"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"# {package}\n")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "-c", "user.name=N", "-c", "user.email=n@example.org", "commit", "-q", "-m", "Begin")
    _git(tmp_path, "tag", "first")
    monkeypatch.setattr(revision, "ROOT", tmp_path)
    monkeypatch.setattr(revision, "CHECKOUTS", tmp_path / ".revisions")
    return tmp_path


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def test_a_revision_is_checked_out_once_with_what_players_need(repository: Path) -> None:
    folder = check_out(commit_of("first"))
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py")) == [
        "gdl/__init__.py", "players/__init__.py", "rules/__init__.py",
    ]  # fmt: skip
    (folder / "mark").touch()
    assert (check_out(commit_of("HEAD")) / "mark").exists()
    assert repository in folder.parents


def test_several_may_check_the_same_revision_out_at_once(repository: Path) -> None:
    with ThreadPoolExecutor() as pool:
        folders = set(pool.map(check_out, [commit_of("first")] * 8))
    assert folders == set((repository / ".revisions").iterdir())


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("name", ["second", "", "--all", "first:gdl"])
def test_what_names_no_commit_is_refused(name: str) -> None:
    with pytest.raises(RevisionError, match="there is no revision"):
        commit_of(name)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Name a commit that is checked out: it is this code, whose kernels there are."""
    monkeypatch.setattr(revision, "CHECKOUTS", tmp_path)
    (tmp_path / "here").symlink_to(ROOT)
    yield "here"
    revision_child.cache_clear()


def test_a_player_of_a_revision_plays_the_matches_that_ours_would(here: str) -> None:
    rules = file_of("tictactoe").read().source.text
    with revision_child(here, "random", rules, "x"):
        ours, theirs = (
            Comparison("legal", "random", 0.01, 1, 0.0, 2, commit).play("tictactoe", 3) for commit in (None, here)
        )
    assert ours == theirs


@pytest.mark.exhaustive
def test_a_player_that_the_revision_does_not_have_is_told(here: str) -> None:
    with pytest.raises(YardstickError, match="has ended"):
        Comparison("legal", "unknown", 0.01, 1, 0.0, 2, here).play("tictactoe", 0)
