"""The games that come with the package, those of a folder, and rule files by path: find one, read it."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gdl.errors import NamedDescriptionError, UnknownNameError
from gdl.files import is_file
from gdl.language.kif import DEFAULT_LIMITS, ReadLimits
from gdl.language.rules import METADATA_SUFFIX, RULES_SUFFIX, Description, read_file

if TYPE_CHECKING:
    from gdl.boards import GameMetadata

_PACKAGE: Final = Path(__file__).resolve().parents[1]
_FOLDERS: Final = (_PACKAGE / "rules_data", _PACKAGE.parent / "rules")
"""Where the games are: in an installed wheel, and in a checkout."""
FOLDER_VARIABLE: Final = "GGP_GAMES"
"""The variable of the environment that names a folder of more games, as `ggp import` makes it."""


_MOST_SUGGESTED: Final = 3
_NEAR: Final = 0.65
"""How much alike names are of which one is suggested for the other."""
_MOST_BESIDE: Final = 1_000
"""How many rule files of a folder are looked at for that."""
_NAME: Final = re.compile(r"[a-z0-9]{1,60}")
"""What games of the library are called."""
_GDL2: Final = re.compile(r"^[^;\n]*\(\s*(?:sees\b|role\s+random\b)", re.MULTILINE | re.IGNORECASE)
"""What makes rules GDL-II, outside of comments."""


@dataclass(frozen=True, slots=True)
class GameFile:
    """A rule file: its name is that of the library, or of the file without `.kif`."""

    name: str
    path: Path

    @property
    def metadata_path(self) -> Path:
        """Where the TOML description is, if there is one: beside the rules, of the same name."""
        return self.path.with_suffix(METADATA_SUFFIX)

    @property
    def has_metadata(self) -> bool:
        """Whether there is a TOML description."""
        return self.metadata_path != self.path and self.metadata_path.is_file()

    def text(self) -> str:
        """Return the text of the rules, as the source of what `read` returns has it.

        Raises:
            OSError: the file cannot be read.
            UnicodeDecodeError: it is not UTF-8, which all files of the library are.
        """
        return self.path.read_bytes().decode("utf-8-sig")

    def read(self, limits: ReadLimits = DEFAULT_LIMITS) -> Description:
        """Return the rules.

        Raises:
            OSError: the file cannot be read.
            RuleFileError: as `gdl.language.rules.read_file`.
        """
        return read_file(self.path, limits)

    def seems_gdl2(self) -> bool:
        """Return whether the rules are GDL-II, by what their text shows: reading them takes longer.

        Raises:
            OSError: the file cannot be read.
            UnicodeDecodeError: it is not UTF-8.
        """
        return _GDL2.search(self.text()) is not None

    def metadata(self) -> GameMetadata | None:
        """Return what the TOML description says, or None where there is none.

        Raises:
            OSError: the file cannot be read.
            MetadataError: as `gdl.boards.metadata.read_metadata`.
        """
        from gdl.boards import read_metadata  # noqa: PLC0415 -- pydantic is large, and rules alone need none of it

        return read_metadata(self.metadata_path) if self.has_metadata else None


@cache
def library_folder() -> Path:
    """Return the folder that holds the games of this installation, one folder each."""
    return next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[-1])


def game_names() -> tuple[str, ...]:
    """Return the names of all games of the library, in alphabetical order."""
    return tuple(sorted(path.stem for path in library_folder().glob(f"*/*{RULES_SUFFIX}")))


def games_of_folder(folder: Path) -> tuple[GameFile, ...]:
    """Return the games of *folder*, each in a folder of its name, in alphabetical order; none where it is not there."""
    found = (GameFile(path.stem, path) for path in folder.glob(f"*/*{RULES_SUFFIX}") if path.stem == path.parent.name)
    return tuple(sorted(found, key=lambda game: game.name))


def more_games() -> tuple[GameFile, ...]:
    """Return the games of the folder that the environment names, in `GGP_GAMES`; those of the library come first."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return games_of_folder(Path(folder)) if folder else ()


def named_games() -> tuple[GameFile, ...]:
    """Return the games that have a name: those of the library, then those of the folder whose names it has not."""
    names = game_names()
    return (*map(find_game, names), *(game for game in more_games() if game.name not in names))


def find_game(name_or_path: str | Path) -> GameFile:
    """Return the game of that name, else the rule file at that path, else that of the folder there.

    Names are those of the library, then those of the folder that the environment names in `GGP_GAMES`.

    Raises:
        UnknownNameError: neither; it suggests the nearest rule files there, and the nearest names.
        NamedDescriptionError: it is the path of a TOML description.
    """
    name = str(name_or_path)
    ours = library_folder() / name / f"{name}{RULES_SUFFIX}"
    if _NAME.fullmatch(name) and ours.is_file():
        return GameFile(name, ours)
    for game in more_games():
        if game.name == name:
            return game
    path = Path(name)
    for rules in (path, path / f"{path.name}{RULES_SUFFIX}"):
        if is_file(rules):
            if rules.suffix.lower() == METADATA_SUFFIX:
                raise NamedDescriptionError(rules, rules.with_suffix(RULES_SUFFIX))
            return GameFile(rules.stem, rules)
    near = _nearest_files(path) + nearest_names(path.stem or name)
    raise UnknownNameError("game", name, near[:_MOST_SUGGESTED])


def _nearest_files(path: Path) -> list[str]:
    """Return the rule files beside *path*, which is none, that may be meant by it."""
    try:
        stems = {file.stem: str(file) for file in islice(path.parent.glob(f"*{RULES_SUFFIX}"), _MOST_BESIDE)}
    except (OSError, ValueError):  # a folder that may not be read, or no name of a file
        return []
    return [stems[near] for near in difflib.get_close_matches(path.stem[:100], stems, _MOST_SUGGESTED, _NEAR)]


def same_game(name: str, description: Description) -> GameFile | None:
    """Return the library's game of that name if its rules are exactly *description*'s."""
    if name not in game_names():
        return None
    found = find_game(name)
    return found if found.read().sha256 == description.sha256 else None


def free_name(name: str, taken: set[str]) -> str:
    """Return *name*, with a number where it is *taken*.

    >>> free_name("nim", set()), free_name("nim", {"nim", "nim-2"})
    ('nim', 'nim-3')
    """
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def nearest_names(name: str) -> list[str]:
    """Return the names of games that may be meant by one that no game has, those of the folder in `GGP_GAMES` too."""
    names = [game.name for game in named_games()]
    near = difflib.get_close_matches(name[:100].lower(), names, _MOST_SUGGESTED, _NEAR)
    return near or [known for known in names if len(name) > 2 and known.startswith(name.lower())][:_MOST_SUGGESTED]
