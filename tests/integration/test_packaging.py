"""The distribution: built, installed into an empty environment in another folder, and played from there.

What it declares to need is linked into that environment, where unpacking it would take longer than all else; before a
release, and with GGP_EXHAUSTIVE=all (`make exhaustive`), it is installed from the package index or its cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.kit.exhaustive import IS_EXHAUSTIVE

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("gdl", "players", "server")

pytestmark = pytest.mark.packaging


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside the checkout, so that only what is installed can be found."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=environment, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the sdist, and with the wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of an empty environment with the wheel installed."""
    folder = tmp_path_factory.mktemp("elsewhere")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    pip = (sys.executable, "-m", "pip", "--python", folder / "venv/bin/python")
    # Compiling all of numpy, numba and scipy takes longer than what is imported of them here.
    options = ("--quiet", "--no-compile", *(() if IS_EXHAUSTIVE else ("--no-deps",)))
    run(*pip, "install", *options, wheel, cwd=folder)
    if IS_EXHAUSTIVE:
        return folder / "venv/bin"
    site = next((folder / "venv/lib").glob("python3*/site-packages"))
    for needed in needed_by(next(iter(distributions(name="ggp", path=[str(site)])))):
        link(needed, site)
    return folder / "venv/bin"


def needed_by(declaring: Distribution) -> list[Distribution]:
    """Return what a distribution declares to need, and what that needs in turn, as it is installed here."""
    found: dict[str, Distribution] = {}
    wanted = list(declared(declaring, {""}))
    while wanted:
        needed = wanted.pop()
        if str(needed) not in found:
            found[str(needed)] = distribution(needed.name)
            wanted += declared(found[str(needed)], needed.extras | {""})
    return list(found.values())


def declared(declaring: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for needed in map(Requirement, declaring.requires or ()):
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
            yield needed


def link(needed: Distribution, site: Path) -> None:
    """Have the packages and the metadata of a distribution in *site*, too."""
    for name in {path.parts[0] for path in needed.files or ()} - {"..", "__pycache__"}:
        if not (site / name).exists():
            (site / name).symlink_to(Path(str(needed.locate_file(name))).resolve())


@pytest.mark.exhaustive
def test_the_wheel_holds_the_typed_packages_the_rules_and_the_licence_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == set(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    rules = {
        str(path.relative_to(ROOT / "rules"))
        for path in (ROOT / "rules").rglob("*")
        if path.suffix in (".kif", ".toml")
    }
    pages = {
        str(path.relative_to(ROOT)) for path in (ROOT / "server/web").rglob("*.*") if path.parent.name != "__pycache__"
    }
    assert set(names) >= pages
    inside = "gdl/rules_data/"
    assert {name.removeprefix(inside) for name in names if name.startswith(inside)} >= rules


def test_the_sdist_holds_what_a_packager_needs(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kept = {"README.md", "LICENSE", "CHANGELOG.md", "Makefile", "tests/integration/test_packaging.py"}
    assert kept | {"pyproject.toml"} <= names


def test_an_installed_ggp_knows_its_version_and_its_games(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "ggp", "--version", cwd=tmp_path).startswith("ggp, version ")
    games = {path.stem for path in (ROOT / "rules").glob("*/*.kif")}
    assert {game["name"] for game in json.loads(run(installed / "ggp", "games", "--json", cwd=tmp_path))} == games


@pytest.mark.exhaustive
def test_an_installed_ggp_plays_a_match(installed: Path, tmp_path: Path) -> None:
    record = tmp_path / "match.json"
    players = ["--player", "x=random", "--player", "o=random"]
    run(installed / "ggp", "match", "tictactoe", *players, "--seed", "1", "--record", record, cwd=tmp_path)
    assert json.loads(record.read_text(encoding="utf-8"))["isCompleted"] is True


def test_an_installed_ggp_makes_the_tables_of_a_database(installed: Path, tmp_path: Path) -> None:
    run(installed / "ggp", "token", "issue", "Ada", "--role", "admin", "--database", "ggp.sqlite", cwd=tmp_path)
    tokens = run(installed / "ggp", "token", "list", "--json", "--database", "ggp.sqlite", cwd=tmp_path)
    assert [token["name"] for token in json.loads(tokens)] == ["Ada"]
