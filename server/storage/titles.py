"""What is told about a game in its description, and what people call it."""

from __future__ import annotations

from functools import lru_cache

from gdl.errors import AboutFileError
from gdl.games.about import About, about_of
from server.storage.rows import GameVersion

_N_KEPT = 1_024


def about_version(version: GameVersion) -> About | None:
    """Return what the description of *version* tells; None where there is none, or one of another time."""
    return None if version.about is None else _about(version.about)


def title_of(version: GameVersion) -> str:
    """Return what people call the game: its title, else its name."""
    about = about_version(version)
    return version.name if about is None else about.title


@lru_cache(maxsize=_N_KEPT)
def _about(text: str) -> About | None:
    try:
        return about_of(text.encode())
    except AboutFileError:  # of another version of this program
        return None
