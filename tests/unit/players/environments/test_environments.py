"""The names of `players.environments`, of which some need libraries that may not be installed."""

from __future__ import annotations

import pytest

from gdl.extras import MissingExtraError
from players import environments


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("aec", "pettingzoo"),
        ("parallel", "pettingzoo"),
        ("gym", "gymnasium"),
        ("vector_gym", "gymnasium"),
        ("openspiel", "pyspiel"),
    ],
)
def test_an_environment_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError) as caught:
        getattr(environments, name)
    assert (caught.value.what, caught.value.library, caught.value.extra) == (
        f"players.environments.{name}", library, "learn",
    )  # fmt: skip
