"""Found files to games that may come in: their names, titles and descriptions, as METADATA and TOML tell them.

Source: the layout of the public game repositories, a folder for each game with METADATA (JSON) and its rule sheet.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from gdl.boards.metadata import GameMetadata, metadata_of
from gdl.errors import MetadataError
from gdl.language.rules import METADATA_SUFFIX
from server.importing.sources import METADATA, FoundFiles, ImportLimits, is_rules

_MOST_NAME: Final = 50
_ODD: Final = re.compile(r"[^a-z0-9_-]+")
_VERSION: Final = re.compile(r"v?\d+", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(\d{1,9})")
_PLAIN: Final = frozenset({"rulesheet", "rules", "game"})
"""Names of rule files that say nothing: the folder's name counts."""
_MOST_TITLE: Final = 80
_MOST_SUMMARY: Final = 2_000
_MOST_SOURCE: Final = 200


@dataclass(frozen=True, slots=True)
class CandidateGame:
    """A rule file that may become a game.

    Attributes:
        path: where it was found, for people.
        name: what the game may be called, if no other is.
        about: the TOML description beside it.
        remarks: what was passed over of what came with it.
    """

    path: str
    name: str
    rules: str
    title: str
    summary: str = ""
    authors: tuple[str, ...] = ()
    about: str | None = None
    remarks: tuple[str, ...] = ()


def candidates(found: FoundFiles, limits: ImportLimits) -> list[CandidateGame]:
    """Return the games that *found* may hold, by path; rule files beyond *limits* are passed over.

    Those of a folder come before those of the folders in it, and `v2` before `v10`.
    """
    sheets = _sheets(found)
    paths = sorted(filter(is_rules, found.files), key=_order)
    for path in paths[limits.games :]:
        found.passed_over[path] = f"there are more than {limits.games:,} rule files"
    return [_candidate(path, found, sheets.get(path, {})) for path in paths[: limits.games]]


def _order(path: str) -> tuple[list[list[str | int]], list[str | int], str]:
    *folders, name = PurePosixPath(path).parts
    return [_with_numbers(folder) for folder in folders], _with_numbers(name), path


def _with_numbers(text: str) -> list[str | int]:
    """Return the pieces of *text*, of which every second one is a number."""
    pieces = _NUMBER.split(text)
    return [int(piece) if place % 2 else piece for place, piece in enumerate(pieces)]


def _sheets(found: FoundFiles) -> dict[str, Mapping[str, Any]]:
    """Return what METADATA says, by the path of the rule file that it names.

    The folder of a version inherits what its own METADATA leaves out from the folder above.
    """
    folders = {PurePosixPath(path).parent for path in found.files}
    said_in = {folder: _metadata(found.files.get((folder / METADATA).as_posix(), b"")) for folder in folders}
    known = {}
    for folder, own in said_in.items():
        said = {**said_in.get(folder.parent, {}), **own} if _is_version(folder) else own
        sheet = said.get("rulesheet")
        if isinstance(sheet, str):
            known[(folder / sheet).as_posix()] = said
    return known


def _is_version(folder: PurePosixPath) -> bool:
    return _VERSION.fullmatch(folder.name) is not None


def _metadata(raw: bytes) -> Mapping[str, Any]:
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _candidate(path: str, found: FoundFiles, said: Mapping[str, Any]) -> CandidateGame:
    pure = PurePosixPath(path)
    word = _word(pure)
    about, remarks = _about(found.files.get(pure.with_suffix(METADATA_SUFFIX).as_posix()))
    if about is not None:
        title = metadata_of(about.encode()).title
        return CandidateGame(path, game_name(word), text_of(found.files[path]), title, about=about)
    title = _line(said.get("gameName"), _MOST_TITLE) or _line(word, _MOST_TITLE) or "game"
    return CandidateGame(
        path,
        game_name(word),
        text_of(found.files[path]),
        title,
        _line(_description(pure.parent, found, said), _MOST_SUMMARY),
        tuple(_authors(said)),
        remarks=remarks,
    )


def _description(folder: PurePosixPath, found: FoundFiles, said: Mapping[str, Any]) -> str:
    """Return the text that METADATA names: of a version that in the folder above, where it has none of its own."""
    name = said.get("description")
    places = (folder, folder.parent) if _is_version(folder) else (folder,)
    paths = [(place / name).as_posix() for place in places] if isinstance(name, str) else []
    return text_of(next((found.files[path] for path in paths if path in found.files), b""))


def _word(path: PurePosixPath) -> str:
    """Return the word that tells most of a rule file: its own name, else that of a folder above that says something."""
    places = [path.stem, *reversed(path.parent.parts)]
    return next((one for one in places if one.lower() not in _PLAIN and not _VERSION.fullmatch(one)), path.stem)


def game_name(word: str) -> str:
    """Return *word* as games are called: small letters, digits, `-` and `_`.

    >>> game_name("Tic Tac Toe (3.0)"), game_name("Überläufer"), game_name("_x_"), game_name("将棋")
    ('tic-tac-toe-3-0', 'uberlaufer', 'x', 'game')
    """
    plain = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode("ascii")
    return _ODD.sub("-", plain.lower()).strip("-_")[:_MOST_NAME].strip("-_") or "game"


def _about(raw: bytes | None) -> tuple[str | None, tuple[str, ...]]:
    """Return the TOML description that came along; a remark instead where it cannot be used."""
    if raw is None:
        return None, ()
    try:
        metadata_of(raw)
        return raw.decode("utf-8"), ()
    except MetadataError as error:
        return None, (f"its description cannot be used: {'; '.join(error.problems)[:300]}",)


def _authors(said: Mapping[str, Any]) -> Iterator[str]:
    for key in ("authors", "author"):
        given = said.get(key)
        for one in given if isinstance(given, list) else [given]:
            name = _line(one, 100)
            if name:
                yield name


def _line(value: object, most: int) -> str:
    """Return a text on one line of characters that show, cut to *most*; empty where it is none."""
    if not isinstance(value, str):
        return ""
    words = "".join(char if char.isprintable() else " " for char in value[: 4 * most]).split()
    return " ".join(words)[:most].strip()


def text_of(raw: bytes) -> str:
    """Return a text file's text: UTF-8, else Latin-1, with lines that end in one way."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def description_of(game: CandidateGame, roles: tuple[str, ...], source: str) -> str | None:
    """Return the TOML description of *game* with these *roles*; None where a description may not say it.

    Without the table `board`, boards are guessed from the rules.
    """
    if game.about is not None:
        return game.about if _read(game.about, roles) else None
    n_players = sum(role != "random" for role in roles)
    lines = {
        "title": json.dumps(game.title, ensure_ascii=False),
        "authors": json.dumps(list(game.authors or ("unknown",)), ensure_ascii=False),
        "roles": json.dumps(list(roles), ensure_ascii=False),
        "players": str(n_players),
        "summary": json.dumps(game.summary or "These rules came without a description.", ensure_ascii=False),
        "source": json.dumps(_line(source, _MOST_SOURCE) or "imported", ensure_ascii=False),
    }
    text = "".join(f"{key} = {value}\n" for key, value in lines.items())
    return text if _read(text, roles) else None


def _read(text: str, roles: tuple[str, ...]) -> GameMetadata | None:
    try:
        metadata = metadata_of(text.encode("utf-8", "replace"))
    except MetadataError:
        return None
    return metadata if set(metadata.roles) == set(roles) else None
