"""What a release changes: the section of the changelog, and the version of the project."""

from __future__ import annotations

import click
import pytest

from tools.release import dated, next_project, notes

CHANGELOG = "# What has changed\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-02)\n\n- First.\n"
PROJECT = '[project]\nname = "ggp"\nversion = "0.9.2"\n\n[tool]\nversion = "1"\n'


def test_notes_are_those_of_one_version() -> None:
    assert [notes(CHANGELOG, name) for name in ("Unreleased", "0.1.0", "0.2.0")] == ["- New.", "- First.", ""]


def test_what_is_unreleased_becomes_the_section_of_the_release() -> None:
    assert dated(CHANGELOG, "0.2.0", "2026-03-04") == CHANGELOG.replace("## Unreleased", "## 0.2.0 (2026-03-04)")


def test_a_section_that_is_there_gets_the_date() -> None:
    changelog = "## 0.1.0\n\n- First.\n"
    assert dated(changelog, "0.1.0", "2026-03-04") == "## 0.1.0 (2026-03-04)\n\n- First.\n"


def test_a_release_without_changes_is_refused() -> None:
    with pytest.raises(click.UsageError, match=r"says nothing of 0\.2\.0"):
        dated("## Unreleased\n\n## 0.1.0\n\n- First.\n", "0.2.0", "2026-03-04")


def test_the_version_of_the_project_alone_is_changed() -> None:
    assert next_project(PROJECT, "0.10.0") == PROJECT.replace("0.9.2", "0.10.0")


@pytest.mark.parametrize("version", ["0.9.1", "0.8.10", "1.0", "v1.0.0", "1.0.0rc1", ""])
def test_no_version_and_an_older_one_are_refused(version: str) -> None:
    with pytest.raises(click.UsageError):
        next_project(PROJECT, version)
