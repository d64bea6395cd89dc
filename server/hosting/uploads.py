"""Games that are uploaded: validated, and kept as the current versions of their games."""

import re
from dataclasses import dataclass, replace
from typing import Final

from server.errors import InvalidNameError, NameTakenError
from server.hosting.game_finder import new_version
from server.hosting.referees import outline_of
from server.links.seating import check_n_roles
from server.match import setup
from server.storage.games import UNNAMED, GameStore
from server.storage.rows import GameVersion
from server.validating.checker import Checker
from server.validating.formats import file_report
from server.validating.validation import RulesUnfitError, Validation

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


@dataclass(frozen=True, slots=True)
class Upload:
    """Rules that *by* wants kept as the game *name*; `about` is its TOML description, if there is one.

    Where their `validation` is known, as that of one game of many, they are not validated again.
    """

    name: str
    rules: str
    by: str
    about: str | None = None
    validation: Validation | None = None


async def keep_game(
    games: GameStore,
    checker: Checker,
    upload: Upload,
    *,
    may_replace_any: bool = False,
    max_roles: int = setup.MAX_ROLES,
) -> GameVersion:
    """Validate the rules of *upload* at a first look, and keep them as the current version of the game.

    They are then played at length behind the scenes, and what is said of the version is what showed there; where their
    validation was known before, and came to a verdict, it is what is said of them. Slow rules are no unfit rules: that
    no play came to its end in time is reported, and the version may be played. Only who uploaded a game replaces it,
    unless *may_replace_any*; one of the library is never replaced. It may have *max_roles*.

    Raises:
        InvalidNameError: no game may be called so.
        NameTakenError: a game of that name is the library's, or another owner's.
        TooManyRolesError: it has more roles than that.
        RulesUnfitError: the validator finds errors, or cannot check the text; it has the validation.
        RequestError: too many rules are being validated.
        LimitExceeded, ChildProcessDiedError, RuleFileError: its roles cannot be worked out.
    """
    if _NAME.fullmatch(upload.name) is None or upload.name == UNNAMED:
        raise InvalidNameError("game", upload.name, "a name has up to 60 small letters, digits, - and _")
    if not await games.owns(upload.name, upload.by, may_replace_any=may_replace_any):
        raise NameTakenError("game", upload.name)
    found = upload.validation or await checker.validation(upload.rules, upload.name, is_played=True)
    if found.is_wrong or not found.is_checked:
        raise RulesUnfitError(upload.name, found)
    outline = await outline_of(upload.rules, upload.name)
    check_n_roles(outline, max_roles)
    version = replace(
        new_version(upload.name, outline, upload.by),
        about=upload.about,
        verdict=found.verdict,
        report=file_report(found),
    )
    # Another owner may have taken the name while the rules were validated.
    if not await games.put_as_owner(version, may_replace_any=may_replace_any):
        raise NameTakenError("game", upload.name)
    if upload.validation is not None and upload.validation.limit is None:
        return version

    async def keep_verdict(long: Validation) -> None:
        await games.judge(version.sha256, long.verdict, file_report(long))

    checker.follow(version.sha256, found, keep_verdict)
    return version
