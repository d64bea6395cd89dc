"""Games that come in: each validated in a child process, doubles left out by the hash of their normal form."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from gdl.diagnostics import Severity, Source
from gdl.editing.differences import normal_sha256
from gdl.errors import GdlError, RuleFileError
from gdl.files import replacing
from gdl.games.library import find_game, free_name, game_names
from gdl.language.kif import ReadLimits
from gdl.language.rules import METADATA_SUFFIX, RULES_SUFFIX, Description, read_file, read_rules
from gdl.language.terms import Compound
from gdl.simulation import SimulationBudget
from server.importing.collection import CandidateGame, candidates, description_of
from server.importing.sources import FoundFiles, ImportLimits
from server.validating.validation import Validation, ValidationOptions, check_source, play_file

MAX_CHARACTERS: Final = 500_000
"""The longest rules that come in: those that a server takes."""
BUDGET: Final = SimulationBudget(plays=20, seconds=1.5, states=500)
"""What is played of each game. *Units*: seconds of processor time."""
_CHECK_S: Final = 15.0
_MEMORY_MB: Final = 1024
_LIMITS: Final = ReadLimits(max_characters=MAX_CHARACTERS, max_depth=2_000)


class ImportOutcome(StrEnum):
    """What became of a rule file."""

    IMPORTED = "imported"
    DOUBLE = "double"
    """The same rules are there already."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ImportRow:
    """What became of the rule file at `path`: the game `name`, or the `reason` why it is none.

    `figures` are those of the simulation, `board` is the kind of the board that is drawn.
    """

    path: str
    outcome: ImportOutcome
    name: str = ""
    title: str = ""
    reason: str = ""
    roles: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    board: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "path": self.path,
            "outcome": str(self.outcome),
            "name": self.name,
            "title": self.title,
            "reason": self.reason,
            "roles": list(self.roles),
            "warnings": list(self.warnings),
            "board": self.board,
            "figures": dict(self.figures),
        }


@dataclass(frozen=True, slots=True)
class AcceptedGame:
    """A game that is fit to come in, as it would be kept."""

    candidate: CandidateGame
    validation: Validation
    roles: tuple[str, ...]
    board: str


def known_games(folder: Path) -> dict[str, str]:
    """Return the games of the library and of *folder*: the normal hash of each with its name."""
    files = [find_game(name) for name in game_names()]
    files += [
        find_game(path)
        for path in sorted(folder.glob(f"*/*{RULES_SUFFIX}"))
        if path.stem == path.parent.name and path.is_file()
    ]
    known: dict[str, str] = {}
    for file in files:
        try:
            known.setdefault(normal_sha256(read_file(file.path, _LIMITS)), file.name)
        except (RuleFileError, OSError):
            continue
    return known


def import_games(
    found: FoundFiles,
    into: Path,
    source: str,
    limits: ImportLimits,
    begun: Callable[[int], Callable[[], object]] = lambda _n_games: lambda: None,
) -> list[ImportRow]:
    """Return what became of each rule file of *found*; games are written into the folder *into*, each into its own.

    *begun* gets how many there are, and returns what is called after each. *source* is what descriptions name.

    Raises:
        OSError: a game cannot be written.
    """
    games = candidates(found, limits)
    on_done = begun(len(games))
    into.mkdir(parents=True, exist_ok=True)
    known, rows = known_games(into), list(_passed_over(found))
    taken = {path.name for path in into.iterdir() if not _is_left_over(path)} | set(game_names())
    for game, sha256, verdict in judged(games, known):
        if isinstance(verdict, ImportRow):
            rows.append(verdict)
        else:
            name = free_name(game.name, taken)
            taken.add(name)
            rows.append(_written(verdict, into / name, source))
            known[sha256] = name
        on_done()
    return sorted(rows, key=lambda row: row.path)


def _is_left_over(path: Path) -> bool:
    """Return whether *path* is a folder in which an import that was killed wrote no rules."""
    described = f"{path.name}{METADATA_SUFFIX}"
    return path.is_dir() and all(one.name == described or one.name.startswith(".") for one in path.iterdir())


def _passed_over(found: FoundFiles) -> Iterator[ImportRow]:
    for path, reason in found.passed_over.items():
        yield ImportRow(path, ImportOutcome.REFUSED, reason=reason)


def judged(
    games: Iterable[CandidateGame], known: Mapping[str, str]
) -> Iterator[tuple[CandidateGame, str, AcceptedGame | ImportRow]]:
    """Yield each of *games* with its normal hash, and what is to be kept, or why nothing is.

    As many are validated at once as there are processors, in their order. *known* has to grow by each game that is
    kept before the next one is asked for; a copy of a game that was refused is looked at again, by its own lines.
    """
    with _workers() as workers:
        hashed: list[tuple[CandidateGame, str | ImportRow]] = []
        begun: dict[str, Future[AcceptedGame | ImportRow]] = {}
        for game in games:
            found = normal_hash(game)
            if isinstance(found, str) and found not in known and found not in begun:
                begun[found] = workers.submit(examined, game)
            hashed.append((game, found))
        for game, found in hashed:
            if isinstance(found, ImportRow):
                yield game, "", found
            else:
                first = begun.pop(found, None)
                yield (
                    game,
                    found,
                    double_of(game, found, known) or (examined(game) if first is None else first.result()),
                )


@contextmanager
def _workers() -> Iterator[ThreadPoolExecutor]:
    """Yield threads, of which what they have not begun is left out when the block ends early."""
    workers = ThreadPoolExecutor(max(1, os.cpu_count() or 1))
    try:
        yield workers
    finally:
        workers.shutdown(cancel_futures=True)


def normal_hash(game: CandidateGame) -> str | ImportRow:
    """Return the hash of the normal form of the rules of *game*, or that they cannot be read."""
    try:
        return normal_sha256(_description(game))
    except RuleFileError as error:
        place = "" if error.span is None else f"line {error.span.line}: "
        return refused(game, f"{place}{error.message}")


def double_of(game: CandidateGame, sha256: str, known: Mapping[str, str]) -> ImportRow | None:
    """Return that the rules of *game*, whose normal hash is *sha256*, are there already; None where they are new.

    *known* are the games that are there: the normal hash of each with its name.
    """
    if sha256 not in known:
        return None
    return ImportRow(game.path, ImportOutcome.DOUBLE, title=game.title, reason=f"the same rules as {known[sha256]}")


def refused(game: CandidateGame, reason: str) -> ImportRow:
    """Return that *game* does not come in, for that *reason*."""
    return ImportRow(game.path, ImportOutcome.REFUSED, title=game.title, reason=reason)


def _description(game: CandidateGame) -> Description:
    return read_rules(game.rules, game.path, _LIMITS)


def examined(game: CandidateGame, is_wanted: Callable[[], bool] = lambda: True) -> AcceptedGame | ImportRow:
    """Return *game* as it would be kept, or why it is not: it is checked, and played in a child process."""
    options = ValidationOptions(_CHECK_S, _MEMORY_MB, _LIMITS, budget=BUDGET, is_wanted=is_wanted)
    checked = check_source(Source(game.path, game.rules), options)
    if checked.is_checked and not checked.has_error:
        checked = play_file(game.name, checked, options)
    if checked.is_wrong or not checked.is_checked:
        return refused(game, _reason(checked))
    try:
        roles = _roles(_description(game), checked)
    except GdlError as error:
        return refused(game, str(error).split("\n")[0])
    return AcceptedGame(game, checked, roles, (checked.figures or {}).get("board", ""))


def _reason(checked: Validation) -> str:
    """Return in a sentence why the game is not fit to play."""
    first = next((found for found in checked.diagnostics if found.is_error), None)
    if first is None:
        return checked.limit or "a limit came before a verdict"
    others = checked.count(Severity.ERROR) - 1
    more = f" (and {others:,} more)" if others else ""
    return f"line {first.span.line}: {first.message}{more}"


def _roles(description: Description, checked: Validation) -> tuple[str, ...]:
    """Return the roles as they played, else as the facts of the file name them."""
    played = tuple((checked.figures or {}).get("roles", ()))
    terms = (rule.head.term for rule in description.rules if not rule.body)
    facts = (term for term in terms if isinstance(term, Compound) and term.functor == "role")
    return played or tuple(dict.fromkeys(str(fact.arguments[0]) for fact in facts))


def row_of(accepted: AcceptedGame, name: str, about: str | None) -> ImportRow:
    """Return the row of a game that came in as *name*."""
    game, found = accepted.candidate, accepted.validation
    warnings = [*game.remarks]
    if found.limit is not None:
        warnings.append(found.limit)
    if about is None:
        warnings.append("it has no description, since none may say what its roles are called")
    said = (one for one in found.diagnostics if one.severity is not Severity.NOTE)
    warnings += [f"line {one.span.line}: {one.message}" for one in said]
    return ImportRow(
        game.path,
        ImportOutcome.IMPORTED,
        name,
        game.title or name,
        roles=accepted.roles,
        warnings=tuple(warnings),
        figures=found.figures or {},
        board=accepted.board,
    )


def _written(accepted: AcceptedGame, folder: Path, source: str) -> ImportRow:
    """Write a game into *folder*, the rules last: a folder without them is no game."""
    about = description_of(accepted.candidate, accepted.roles, source)
    folder.mkdir(exist_ok=True)
    if about is not None:
        _write(folder / f"{folder.name}{METADATA_SUFFIX}", about)
    _write(folder / f"{folder.name}{RULES_SUFFIX}", accepted.candidate.rules)
    return row_of(accepted, folder.name, about)


def _write(path: Path, text: str) -> None:
    with replacing(path, is_durable=False) as temporary:
        temporary.write_bytes(text.encode("utf-8", "replace"))
