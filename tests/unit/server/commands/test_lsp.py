"""`ggp lsp` where the package that it needs is missing; the server itself is tested in `tests/server/editor`."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError

import pytest

from server.commands import lsp
from tests.kit.server.commands.fixtures import Ggp


class Installed:
    """A distribution whose installer has told what *direct_url* says."""

    def __init__(self, direct_url: str | None) -> None:
        self.direct_url = direct_url

    def read_text(self, name: str) -> str | None:
        return self.direct_url if name == "direct_url.json" else None


def test_without_pygls_the_command_says_how_to_install_it(ggp: Ggp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", {"click": object()}.get)
    monkeypatch.setattr(lsp, "distribution", lambda _: Installed(None))
    ended = ggp("lsp")
    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.errors.endswith("Error: the editor server needs pygls: pip install 'ggp[lsp]'\n")


@pytest.mark.parametrize(
    ("direct_url", "command"),
    [
        (None, "pip install 'ggp[lsp]'"),
        (
            '{"url": "file:///srv/ada/my%20ggp", "dir_info": {"editable": true}}',
            "pip install -e '/srv/ada/my ggp[lsp]'",
        ),
        ('{"url": "file:///srv/ada/ggp", "dir_info": {}}', "pip install '/srv/ada/ggp[lsp]'"),
        ('{"url": "https://h/g.whl", "archive_info": {}}', "pip install 'ggp[lsp] @ https://h/g.whl'"),
    ],
)
def test_the_command_fits_the_way_it_was_installed(
    direct_url: str | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lsp, "distribution", lambda _: Installed(direct_url))
    assert lsp.install_command() == command


def test_from_sources_alone_the_command_names_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Installed:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(lsp, "distribution", missing)
    assert lsp.install_command() == "pip install -e '.[lsp]', in the folder of pyproject.toml"
