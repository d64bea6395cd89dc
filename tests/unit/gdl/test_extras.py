"""Where a library of an extra is missing, the error says how pip adds it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from gdl.extras import MissingExtraError, check_extra, extra_module, install_command


class Installed:
    """A distribution whose installer has told what *direct_url* says."""

    def __init__(self, direct_url: str | None) -> None:
        self.direct_url = direct_url

    def read_text(self, name: str) -> str | None:
        return self.direct_url if name == "direct_url.json" else None


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
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed(direct_url))
    assert install_command("lsp") == command


def test_from_sources_alone_the_command_names_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Installed:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    assert install_command("lsp") == "pip install -e '.[lsp]', in the folder of pyproject.toml"


def test_what_is_installed_is_loaded() -> None:
    check_extra("json", "any")
    assert extra_module("json.decoder", "any").__name__ == "json.decoder"


@pytest.mark.parametrize("name", ["no_such_library", "no_such_library.part"])
def test_what_is_missing_is_named_with_what_needs_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed(None))
    with pytest.raises(MissingExtraError) as caught:
        extra_module(name, "learn", "a picture")
    expected = "a picture needs no_such_library, which is not installed: pip install 'ggp[learn]'"
    assert str(caught.value) == expected
