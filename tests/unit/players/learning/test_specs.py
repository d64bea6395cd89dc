"""`net:FILE` as a player's spec, and what is said where it cannot be played."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from gdl.extras import MissingExtraError
from players.player import PlayerFileError
from players.registry import find_player
from server.links.errors import PlayerSpecError
from server.links.player_spec import public_player_spec


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file, where PyTorch is installed, as far as the spec is concerned."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: ModuleSpec(name, None))
    path = tmp_path / "net.pt"
    path.write_bytes(b"")
    return path


@pytest.mark.parametrize("spec", ["net:{}", "net:file={}"])
def test_a_spec_names_the_file(spec: str, file: Path) -> None:
    assert find_player(spec.format(file)).options == {"file": str(file)}


def test_options_follow_the_file(file: Path) -> None:
    assert find_player(f"net:{file}:simulations=64").options == {"file": str(file), "simulations": 64}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("net:none.pt", "there is no file none.pt"),
        ("net:" + "x" * 300, "there is no file xxx"),
        ("net:", "as in net:FILE"),
    ],
)
def test_a_file_that_is_not_there_is_said_at_once(spec: str, reason: str) -> None:
    with pytest.raises(PlayerFileError, match=reason):
        find_player(spec)


def test_a_search_without_simulations_is_refused(file: Path) -> None:
    with pytest.raises(PlayerFileError, match="simulations are at least 1, not -5"):
        find_player(f"net:{file}:simulations=-5")


def test_without_pytorch_it_is_said_how_to_install_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError) as caught:
        find_player(f"net:{file}")
    assert (caught.value.library, caught.value.extra) == ("torch", "learn")


def test_callers_on_the_network_name_no_file(file: Path) -> None:
    with pytest.raises((PlayerSpecError, ValueError)):
        public_player_spec(f"net:{file}")
