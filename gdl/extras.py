"""Extras: libraries of this distribution that only some of its users need, and what is said where one is missing."""

import importlib
import importlib.util
import json
import shlex
from typing import Any, ClassVar

from gdl.errors import CallerError


class MissingExtraError(CallerError):
    """What is asked for needs a library of an extra that is not installed."""

    template: ClassVar[str] = "{what} needs {library}, which is not installed: {command}"
    what: str
    library: str
    extra: str

    @property
    def command(self) -> str:
        """How pip adds the extra."""
        return install_command(self.extra)


def check_extra(library: str, extra: str, what: str = "this") -> None:
    """Look whether *library*, which *what* needs and *extra* brings, is installed; it is not loaded.

    Raises:
        MissingExtraError: it is not.
    """
    if importlib.util.find_spec(library) is None:
        raise MissingExtraError(what, library, extra)


def extra_module(name: str, extra: str, what: str = "this") -> Any:
    """Return the module *name* of a library that *extra* brings, and that *what* needs.

    Raises:
        MissingExtraError: the library is not installed.
    """
    check_extra(name.partition(".")[0], extra, what)
    return importlib.import_module(name)


def install_command(extra: str) -> str:
    """Return how pip adds *extra*, by the way in which this distribution was installed (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 -- slow, and hardly ever needed
    from urllib.parse import urlsplit  # noqa: PLC0415 -- as above
    from urllib.request import url2pathname  # noqa: PLC0415 -- as above

    try:
        origin_text = distribution("ggp").read_text("direct_url.json")
    except PackageNotFoundError:
        return f"pip install -e '.[{extra}]', in the folder of pyproject.toml"
    if origin_text is None:  # from a package index
        return f"pip install 'ggp[{extra}]'"
    origin = json.loads(origin_text)
    if "dir_info" not in origin:
        return f"pip install 'ggp[{extra}] @ {origin['url']}'"
    option = "-e " if origin["dir_info"].get("editable") else ""
    return f"pip install {option}{shlex.quote(url2pathname(urlsplit(origin['url']).path) + f'[{extra}]')}"
