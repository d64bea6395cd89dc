"""Which rules an order means: a game of the database, or rules that are uploaded, validated and kept."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from cachetools import LRUCache

from gdl.errors import UnknownNameError
from gdl.games.library import find_game
from gdl.language.rules import read_rules, rules_sha256
from gdl.language.terms import Constant
from server.errors import InvalidNameError, NameTakenError
from server.hosting.engine_process import GameOutline, outline_here
from server.hosting.order import MatchRequest
from server.hosting.referees import library_hashes, outline_of
from server.links.seating import check_n_roles
from server.match import link, referee, setup
from server.storage.games import UNNAMED, GameStore, described
from server.storage.rows import GameVersion, MatchRow, SeatRow
from server.validating.checker import Checker
from server.validating.formats import file_report
from server.validating.validation import RulesUnfitError, Validation

MAX_OUTLINES: Final = 64
"""How many rules are kept read for the next order."""


@dataclass(frozen=True, slots=True)
class DrawnMatch:
    """A match that is ready to be kept, with its seats, and what its people say to take theirs."""

    row: MatchRow
    seats: tuple[SeatRow, ...]
    seat_secrets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A match that was ordered, and what its people say to take their seats: it is kept nowhere else."""

    row: MatchRow
    seat_secrets: Mapping[str, str]


class GameFinder:
    """Finds games in *games*, and keeps new rules there."""

    def __init__(self, games: GameStore) -> None:
        self._games = games
        self._outlines: LRUCache[str, GameOutline] = LRUCache(MAX_OUTLINES)
        self._versions: LRUCache[str, GameVersion] = LRUCache(MAX_OUTLINES)

    async def keep_library(self) -> None:
        """Keep the games that came with this program, where the database has not these versions of them.

        Raises:
            StorageError: the database failed.
        """
        known = {version.name: (version.sha256, version.about) for version in await self._games.listed()}
        await self._games.put(*await referee.in_own_thread(partial(new_in_library, known)))

    async def found(self, text: MatchRequest, by: str, *, may_be_old: bool = False) -> tuple[GameVersion, GameOutline]:
        """Return the rules that *text* orders a match of; those of a game that was found before *may_be_old*.

        Raises:
            UnknownNameError: there is no such game.
            RuleFileError: the rules cannot be played.
            LimitExceeded: they cost too much.
            StorageError: the database failed.
        """
        if text.rules is not None:
            version = await self._brought(text.rules, by)
        else:
            known = self._versions.get(text.game or "") if may_be_old else None
            version = known or await self._named(text.game or "")
        return version, await self._outline(version)

    async def current(self, name: str) -> tuple[GameVersion, GameOutline]:
        """Return the rules that the game *name* has now.

        Raises:
            UnknownNameError: there is no such game.
            RuleFileError: the rules cannot be played.
            StorageError: the database failed.
        """
        version = await self._named(name)
        return version, await self._outline(version)

    async def pinned(self, sha256: str) -> tuple[GameVersion, GameOutline]:
        """Return the rules with that hash, whatever is current of their game.

        Raises:
            UnknownNameError: they are not there any more.
            RuleFileError: the rules cannot be played.
            StorageError: the database failed.
        """
        version = await self._games.version(sha256)
        if version is None:
            raise UnknownNameError("game", sha256)
        return version, await self._outline(version)

    async def _outline(self, version: GameVersion) -> GameOutline:
        if version.sha256 not in self._outlines:
            description = await referee.in_own_thread(partial(read_rules, version.rules, version.name))
            outline = GameOutline(description, tuple(map(Constant, version.roles)), version.is_gdl2)
            self._outlines[version.sha256] = outline
        return self._outlines[version.sha256]

    async def _named(self, name: str) -> GameVersion:
        known = self._versions.get(name)
        if known is not None and known.sha256 == await self._games.current_sha256(name):
            return known
        found = await self._games.find(name)
        if found is None:
            raise UnknownNameError("game", name, difflib.get_close_matches(name, await self._games.names()))
        self._versions[name] = found
        return found

    async def _brought(self, rules: str, by: str) -> GameVersion:
        known = await self._games.version(rules_sha256(rules))
        if known is not None:
            return known
        version = new_version(UNNAMED, await outline_of(rules, "rules"), by)
        await self._games.put(version)
        return version


def new_version(name: str, outline: GameOutline, by: str) -> GameVersion:
    """Return the rules of *outline* as *by* brings them now, to be kept as the game *name*."""
    return GameVersion(
        name,
        outline.description.sha256,
        outline.description.source.text,
        tuple(map(str, outline.roles)),
        outline.has_imperfect_information,
        link.now_ms(),
        uploaded_by=by,
    )


def of_library(name: str) -> GameVersion:
    """Return the rules of a game of the library, to be kept.

    The description names the roles, and what makes rules GDL-II is seen in the text: reading the rules of all games
    would hold up the first start of a server for seconds.
    """
    file = find_game(name)
    if not file.has_about:
        return replace(new_version(name, outline_here(file.read()), ""), verdict="ok", is_library=True)
    rules, text = file.text(), file.about_path.read_text("utf-8")
    return GameVersion(
        name,
        rules_sha256(rules),
        rules,
        described(text).roles,
        file.seems_gdl2(),
        link.now_ms(),
        about=text,
        verdict="ok",
        is_library=True,
    )


def new_in_library(known: Mapping[str, tuple[str, str | None]]) -> list[GameVersion]:
    """Return the games of the library whose rules and description are not those in *known*."""
    new = []
    for name, sha256 in library_hashes().items():
        file = find_game(name)
        about = file.about_path.read_text("utf-8") if file.has_about else None
        if known.get(name) != (sha256, about):
            new.append(of_library(name))
    return new


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
