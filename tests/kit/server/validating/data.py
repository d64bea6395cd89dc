"""Expected outputs as files; with GGP_UPDATE=1 in the environment they are written anew, to be read before a commit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent


def expected(name: str, output: str) -> str:
    """Return what the file *name* beside this one holds; *output* is what it would be written anew with."""
    path = FOLDER / name
    if os.environ.get("GGP_UPDATE"):
        path.write_bytes(output.encode("utf-8"))
    return path.read_bytes().decode("utf-8")
