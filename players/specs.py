"""Which player a text names, by its words alone: `NAME:options`, `file.py:Class`, `module:Class`, and their options."""

import ast
import re
from pathlib import Path
from typing import Final

from gdl.toml import INTEGERS

OPENSPIEL: Final = "openspiel:"
"""How the bots of OpenSpiel begin: `openspiel:mcts?simulations=200`."""
NET: Final = "net:"
"""How what plays with the network of a file begins: `net:FILE`, `net:FILE:simulations=200`."""

_OPTIONS: Final = re.compile(r":(?=\s*\w+\s*=)")
"""Where the options of a spec begin; their values may have colons, as addresses do."""
_FOLDERS: Final = re.compile(r"""(?P<before>[:,?&]\s*\w+\s*=\s*["']?)[^,:"'&]*/(?=[^/,&])""")
"""The folders before the last name of an option that is a path; an address has a colon before its slashes."""
_FILE_OPTION: Final = re.compile(r"""[:,]\s*file\s*=\s*(?P<quote>["']?)(?P<file>[^,]*?)(?P=quote)\s*(?:,|$)""")


def options_of(spec: str) -> dict[str, object]:
    """Return the options that *spec* gives to the constructor, whatever player it names; its class is not loaded.

    Example:
        >>> options_of("mcts:playouts=200,threads=2")
        {'playouts': 200, 'threads': 2}
    """
    return split_options(spec)[1]


def without_options(spec: str) -> str:
    """Return *spec* without the options of the constructor.

    Example:
        >>> without_options("mcts:playouts=200,threads=2"), without_options("openspiel:mcts?simulations=200")
        ('mcts', 'openspiel:mcts')
    """
    name, _ = split_options(spec)
    return name.partition("?")[0] if spec.startswith(OPENSPIEL) else name


def split_options(spec: str) -> tuple[str, dict[str, object]]:
    """Return what stands before the options of *spec*, and the options for the constructor."""
    found = _OPTIONS.search(spec)
    if found is None:
        return spec, {}
    pairs = (item.partition("=") for item in spec[found.end() :].split(","))
    return spec[: found.start()], {key.strip(): _value(text.strip()) for key, _, text in pairs}


def _value(text: str) -> object:
    try:
        value: object = ast.literal_eval(text)
        repr(value)  # raises ValueError for an integer of thousands of digits, however deep it is
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return text if isinstance(value, int) and value not in INTEGERS else value


def split_class(name: str) -> tuple[str, str]:
    """Return the file or module of *name*, and its class, which is empty where none is named."""
    if name.endswith(".py"):
        return name, ""
    source, _, class_name = name.rpartition(":")
    return (source, class_name) if source else (name, "")


def player_file(spec: str) -> Path | None:
    """Return the file that holds the player that *spec* names, or its network; None where it is no file."""
    found = _place_of_file(spec)
    return None if found is None else Path(spec[found])


def with_whole_path(spec: str) -> str:
    """Return *spec* with the whole path of the file that it names, so that it means the same in any folder."""
    found = _place_of_file(spec)
    return spec if found is None else f"{spec[: found.start]}{Path(spec[found]).absolute()}{spec[found.stop :]}"


def without_folders(spec: str) -> str:
    """Return *spec* with its files by their last names, which tell nothing of the machine: the player's, and options.

    Example:
        >>> without_folders("../course/deep.py:Deep:book=/srv/ann/book.bin,url=http://host/v1")
        'deep.py:Deep:book=book.bin,url=http://host/v1'
    """
    found = _place_of_file(spec)
    own = spec if found is None else f"{spec[: found.start]}{Path(spec[found]).name}{spec[found.stop :]}"
    return _FOLDERS.sub(r"\g<before>", own)


def _place_of_file(spec: str) -> slice | None:
    """Return where in *spec* a file is named: `FILE.py:Class`, `net:FILE` or `net:file=FILE`; None where none is."""
    name, _ = split_options(spec)
    if spec.startswith(NET):
        option = _FILE_OPTION.search(spec, len(name))
        if option is not None:
            return slice(*option.span("file"))
        return slice(len(NET), len(name)) if name != NET[:-1] else None
    source, _ = split_class(name)
    return slice(0, len(source)) if source.endswith(".py") and "://" not in name else None
