"""The games that come with the package, and rule files by path: find one, read it, read its description."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gdl.errors import UnknownNameError
from gdl.language.kif import DEFAULT_LIMITS, ReadLimits
from gdl.language.rules import Description, read_file

if TYPE_CHECKING:
    from gdl.boards import About

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_FOLDERS: Final = (_PACKAGE / "rules_data", _PACKAGE.parent / "rules")
"""Where the games are: in an installed wheel, and in a checkout."""


@dataclass(frozen=True, slots=True)
class GameFile:
    """A rule file: its name is that of the library, or of the file without `.kif`."""

    name: str
    path: Path

    @property
    def about_path(self) -> Path:
        """Where the TOML description is, if there is one: beside the rules, of the same name."""
        return self.path.with_suffix(".toml")

    @property
    def has_about(self) -> bool:
        """Whether there is a TOML description."""
        return self.about_path != self.path and self.about_path.is_file()

    def read(self, limits: ReadLimits = DEFAULT_LIMITS) -> Description:
        """Return the rules.

        Raises:
            OSError: the file cannot be read.
            RuleFileError: as `gdl.language.rules.read_file`.
        """
        return read_file(self.path, limits)

    def about(self) -> About | None:
        """Return what the TOML description says, or None where there is none.

        Raises:
            OSError: the file cannot be read.
            AboutFileError: as `gdl.boards.about.read_about`.
        """
        from gdl.boards import read_about  # noqa: PLC0415 -- pydantic is large, and rules alone need none of it

        return read_about(self.about_path) if self.has_about else None


@cache
def library_folder() -> Path:
    """Return the folder that holds the games of this installation, one folder each."""
    return next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[-1])


def game_names() -> tuple[str, ...]:
    """Return the names of all games of the library, in alphabetical order."""
    return tuple(sorted(path.stem for path in library_folder().glob("*/*.kif")))


def find_game(name_or_path: str) -> GameFile:
    """Return the game of that name, else the rule file at that path, else that of the folder there.

    Raises:
        UnknownNameError: neither; it suggests the nearest names.
    """
    if name_or_path in game_names():
        return GameFile(name_or_path, next(library_folder().glob(f"*/{name_or_path}.kif")))
    path = Path(name_or_path)
    for rules in (path, path / f"{path.name}.kif"):
        if _is_file(rules):
            return GameFile(rules.stem, rules)
    raise UnknownNameError("game", name_or_path, _nearest(path.stem or name_or_path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # longer than a path may be, or with a NUL character
        return False


def _nearest(name: str) -> list[str]:
    names = game_names()
    near = difflib.get_close_matches(name[:100].lower(), names, n=3, cutoff=0.65)
    return near or [known for known in names if len(name) > 2 and known.startswith(name.lower())][:3]
