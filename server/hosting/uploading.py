"""Games that somebody uploads: their rules are validated, and kept under a name where they are fit to play."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from server.hosting.errors import GameNameError, GameTakenError, RulesUnfitError
from server.hosting.ordering import new_version
from server.hosting.referees import outline_of
from server.storage.games import UNNAMED, GameStore
from server.storage.rows import GameVersion
from server.validating.checker import Checker
from server.validating.report.json import file_report

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


@dataclass(frozen=True, slots=True)
class Upload:
    """Rules that *by* wants kept as the game *name*; `about` is its TOML description, if there is one."""

    name: str
    rules: str
    by: str
    about: str | None = None


async def keep_game(
    games: GameStore, checker: Checker, upload: Upload, *, may_replace_any: bool = False
) -> GameVersion:
    """Validate the rules of *upload*, and keep them as the current version of the game.

    Only who uploaded a game replaces it, unless *may_replace_any*; nobody replaces one of the library.

    Raises:
        GameNameError: no game may be called so.
        GameTakenError: a game of that name is the library's, or somebody else's.
        RulesUnfitError: the validator finds errors, or no verdict; it has the validation.
        RequestError: too many rules are being validated.
        LimitExceeded, ChildProcessDiedError, RuleFileError: its roles cannot be worked out.
    """
    if _NAME.fullmatch(upload.name) is None or upload.name == UNNAMED:
        raise GameNameError(upload.name)
    known = await games.find(upload.name)
    if known is not None and (known.is_library or not (may_replace_any or known.uploaded_by == upload.by)):
        raise GameTakenError(upload.name)
    found = await checker.validation(upload.rules, upload.name, is_played=True)
    if found.verdict != "ok":
        raise RulesUnfitError(upload.name, found)
    outline = await outline_of(upload.rules, upload.name)
    version = replace(
        new_version(upload.name, outline, upload.by),
        about=upload.about,
        verdict=found.verdict,
        report=file_report(found),
    )
    await games.put(version)
    return version
