"""A release: `python -m tools.release VERSION`, which `make release VERSION=...` runs.

It makes the section of CHANGELOG.md and the version of pyproject.toml those of the release, checks sdist and
wheel in an empty environment, builds both into `dist/` with the section as their notes, commits, and tags. Nothing is
pushed. Where a check fails, the two files are as before.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

ROOT: Final = Path(__file__).resolve().parents[1]
CHANGELOG: Final = ROOT / "CHANGELOG.md"
PROJECT: Final = ROOT / "pyproject.toml"
UNRELEASED: Final = "Unreleased"
_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_HEADING: Final = re.compile(r"^## (\S+).*$", re.MULTILINE)
_IN_PROJECT: Final = re.compile(r'^version = "(.*)"$', re.MULTILINE)


def notes(changelog: str, version: str) -> str:
    """Return what the section of *version* says; empty where there is no such section."""
    found = [*_HEADING.finditer(changelog)]
    ends = [heading.start() for heading in found[1:]] + [len(changelog)]
    texts = {heading[1]: changelog[heading.end() : end].strip() for heading, end in zip(found, ends, strict=True)}
    return texts.get(version, "")


def dated(changelog: str, version: str, date: str) -> str:
    """Return *changelog* with the section of *version*, or that of what is unreleased, as the release of *date*.

    Raises:
        click.UsageError: there is no such section, or it says nothing.
    """
    name = version if notes(changelog, version) else UNRELEASED
    if not notes(changelog, name):
        raise click.UsageError(f"CHANGELOG.md says nothing of {version}: write a section '## {UNRELEASED}'")
    return re.sub(rf"^## {re.escape(name)}.*$", f"## {version} ({date})", changelog, count=1, flags=re.MULTILINE)


def next_project(project: str, version: str) -> str:
    """Return the text of pyproject.toml with *version*.

    Raises:
        click.UsageError: it is no version of three numbers, or older than the one there.
    """
    now = _IN_PROJECT.search(project)
    assert now is not None
    wanted = _VERSION.fullmatch(version)
    if wanted is None:
        raise click.UsageError(f"{version!r} is no version: three numbers, such as 1.2.0")
    if [int(part) for part in wanted.groups()] < [int(part) for part in now[1].split(".")]:
        raise click.UsageError(f"{version} is older than {now[1]}, the version of pyproject.toml")
    return _IN_PROJECT.sub(f'version = "{version}"', project, count=1)


def _git(*words: str) -> str:
    git = shutil.which("git") or "git"
    return subprocess.run([git, *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def _changed(texts: dict[Path, str]) -> Iterator[None]:
    """Write *texts* while the block runs, and what was there before if it fails."""
    before = {path: path.read_text("utf-8") for path in texts}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    try:
        yield
    except BaseException:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")
        raise


def _run(*words: str) -> None:
    click.echo(f"$ {' '.join(words)}")
    environment = os.environ | {"GGP_EXHAUSTIVE": "all"}  # no test of the distribution is left out
    if subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, check=False).returncode:
        raise click.ClickException(f"{' '.join(words)} failed: nothing was released")


@click.command()
@click.argument("version")
@click.option("--dry-run", is_flag=True, help="Build and check, but neither commit nor tag.")
def main(version: str, dry_run: bool) -> None:
    """Release VERSION: changelog, checked sdist and wheel in dist/, commit and tag."""
    tag = f"v{version}"
    texts = {
        CHANGELOG: dated(CHANGELOG.read_text("utf-8"), version, datetime.now(UTC).date().isoformat()),
        PROJECT: next_project(PROJECT.read_text("utf-8"), version),
    }
    if _git("status", "--porcelain"):
        raise click.UsageError("commit what has changed first: `git status` lists it")
    if _git("tag", "--list", tag):
        raise click.UsageError(f"{tag} is there already")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    with _changed(texts):
        _run("-m", "pytest", "-q", "-m", "packaging", "tests/integration/test_packaging.py")
        _run("-m", "build", "--outdir", "dist", ".")
        (ROOT / "dist" / f"ggp-{version}.md").write_text(notes(texts[CHANGELOG], version) + "\n", encoding="utf-8")
        if not dry_run:
            _git("commit", "--quiet", "--all", "--message", f"Release {version}")
            _git("tag", "--annotate", tag, "--message", f"ggp {version}")
    if dry_run:
        _git("checkout", "--", CHANGELOG.name, PROJECT.name)
    click.echo(f"dist/ has ggp {version}" + ("" if dry_run else f"; push it by `git push --follow-tags`: {tag}"))


if __name__ == "__main__":
    main()
