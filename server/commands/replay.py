"""`ggp replay`: step through a match record and verify everything in it by the rules."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import click

from gdl.boards import layout_of
from gdl.diagnostics import escaped
from gdl.engines import make_game
from gdl.game import Game
from gdl.games.library import GameFile, find_game, same_game
from gdl.language.terms import Term
from gdl.quantities import quantity
from gdl.wire.insights import insight_words
from server.arena.record_files import RecordFiles, holds_many
from server.records.replay import ReplayedStep, seat_of, transcript
from server.records.stored_record import StoredRecord, read_stored
from server.records.verification import NO_RULES, RecordVerdict, Verifier, verdict_of
from server.terminal.command_line import check_one_output
from server.terminal.commentary import Draw, drawer, error_lines, screen_paint
from server.terminal.picture_files import ANIMATION_FORMATS, Animation, PictureFolder
from server.terminal.progress import DELAY_S, progress


@click.command()
@click.argument("record", type=click.Path(path_type=Path))
@click.option("--rules", metavar="GAME", help="The rules, for records that carry none: a name or a path.")
@click.option("--step", type=click.IntRange(min=0), help="Show this step only; all are verified.")
@click.option("--seat", metavar="ROLE", help="Print what ROLE was sent and answered, and why a move did not count.")
@click.option(
    "--svg",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write each step as a picture into FOLDER: 000.svg, 001.svg ...",
)
@click.option("--animate", is_flag=True, help="Write the match as one moving picture into the file of -o.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where it goes: SVG, or with the extra `pictures` GIF or WebP, by the name.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON, without the steps.")
@click.pass_context
def command(
    context: click.Context, record: Path, rules: str | None, step: int | None, seat: str | None, folder: Path | None,
    animate: bool, output: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Step through the match record RECORD and compare every state, move, percept and goal with the rules.

    RECORD is a record of ours or of another host, or the journal that an interrupted match left. Of a folder of
    records, or what else `ggp export` writes (.zip and .jsonl), all are verified, and those named that differ. Exits
    with 1 at the first difference of a record, or when a signature is wrong.
    """
    if record.exists() and holds_many(record):
        alone = {"--step": step is not None, "--seat": seat, "--svg": folder, "--animate": animate, "-o": output}
        if given := [name for name, value in alone.items() if value]:
            raise click.UsageError(f"{record} may hold many records: {' and '.join(given)} need one of them")
        context.exit(_verified(record, None if rules is None else make_game(find_game(rules).read()), as_json=as_json))
    if seat is not None:
        check_one_output(seat=True, step=step is not None, svg=folder, animate=animate, json=as_json)
    if animate != (output is not None) or (output is not None and output.suffix not in ANIMATION_FORMATS):
        raise click.UsageError("--animate and -o FILE go together: FILE.svg, FILE.gif or FILE.webp")
    stored = _read(record)
    game, file = _game(stored, rules)
    if seat is not None:
        click.echo("\n".join(transcript(stored, seat_of(stored, seat, game.roles), game)))
        return
    show = None if as_json else _begun(stored, game, file, step)
    verdict = _drawn(stored, game, file, show, folder, output)
    if show is not None and step is None:
        for line in error_lines(game.roles, stored.errors, stored.failures):
            click.echo(line)
    click.echo(json.dumps(verdict.as_json(), indent=2) if as_json else _sentence(verdict))
    context.exit(0 if verdict.is_good else 1)


def _verified(path: Path, game: Game | None, *, as_json: bool) -> int:
    """Print the verdict on all records of *path*, by the rules of *game* if there is one, and return the exit code."""
    verifier, wrong, n_verified = Verifier(game), dict[str, RecordVerdict | str](), 0
    with progress("verifying records") as advance:
        for name, text in RecordFiles([path], wrong.__setitem__):
            verdict = verifier.verdict(text)
            if isinstance(verdict, RecordVerdict) and verdict.is_good:
                n_verified += 1
            else:
                wrong[name] = verdict
            advance()
    if not (n_verified or wrong):
        raise click.UsageError(f"there is no record in {path}")
    if as_json:
        faults = {name: _as_json(one) for name, one in wrong.items()}
        click.echo(json.dumps({"verified": n_verified, "wrong": faults}, indent=2))
    else:
        for name, one in wrong.items():
            click.echo(escaped(f"{name}: {one if isinstance(one, str) else _fault(one)}"))
        told = f"{quantity(n_verified, 'record agrees', 'records agree')} with the rules"
        click.echo(f"{told}, {quantity(len(wrong), 'does', 'do')} not" if wrong else told)
    return 1 if wrong else 0


def _as_json(verdict: RecordVerdict | str) -> dict[str, Any]:
    return {"reason": verdict} if isinstance(verdict, str) else verdict.as_json()


def _fault(verdict: RecordVerdict) -> str:
    """Return what is wrong with a record."""
    return "its signature is wrong" if verdict.difference is None else str(verdict.difference)


def _read(path: Path) -> StoredRecord:
    try:
        return read_stored(path)
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}") from error


def _game(record: StoredRecord, rules: str | None) -> tuple[Game, GameFile | None]:
    """Return the game to verify by, and the file that may tell how to draw it."""
    if rules is not None:
        file = find_game(rules)
        return make_game(file.read()), file
    description = record.description()
    if description is None:
        raise click.UsageError(NO_RULES)
    return make_game(description), same_game(record.game or "", description)


@dataclass(slots=True)
class _Show:
    """Prints the steps of a record: all, or only the one asked for."""

    draw: Draw
    game: Game
    only: int | None
    _before: ReplayedStep | None = None

    def __call__(self, at: ReplayedStep) -> None:
        """Print the step: the joint move that led to the state with its errors, the state, and in the end the goals."""
        before, self._before = self._before, at
        if self.only not in (None, at.step):
            return
        made = [""] if before is None or before.moves is None else [*self._moves(before, before.moves)]
        click.echo()
        for line in (f"step {at.step}  {made[0]}".rstrip(), *made[1:]):
            click.echo(escaped(line))
        click.echo(self.draw(at.state.facts))
        if at.moves is None and at.state.is_terminal:
            goals = [(role, at.state.goal(role)) for role in self.game.roles]
            told = "  ".join(f"{role}: {'no goal' if goal is None else goal}" for role, goal in goals)
            click.echo(escaped(f"terminal  {told}"))

    def _moves(self, at: ReplayedStep, moves: Sequence[Term]) -> Iterator[str]:
        """Yield the joint move with its errors, then which players failed, and what players thought."""
        answers = zip(self.game.roles, moves, chain(at.errors, repeat("")), strict=False)
        yield "  ".join(f"{role}: {move}{f' [{error}]' if error else ''}" for role, move, error in answers)
        for role, failure in zip(self.game.roles, at.failures, strict=False):
            if failure:
                yield f"  {role}: the player failed: {failure}"
        for role, insight in zip(self.game.roles, at.insights, strict=False):
            if insight is not None:
                yield f"  {role} thought: {insight_words(insight)}"


def _begun(record: StoredRecord, game: Game, file: GameFile | None, step: int | None) -> _Show:
    """Print which match it is, and return what prints its steps, or only the *step* asked for."""
    click.echo(escaped(_title(record)))
    if file is None and layout_of(game.description, None).kind == "facts":
        click.echo("hint: states are listed as facts; --rules GAME, a name or a path, draws the board", err=True)
    return _Show(drawer(game.description, file, screen_paint()), game, step)


def _title(record: StoredRecord) -> str:
    players = record.player_names or ()
    names = f" ({', '.join(name or 'unnamed' for name in players)})" if any(players) else ""
    return f"match {record.match_id or 'without an id'} of {record.game or record.game_url or 'unnamed rules'}{names}"


def _drawn(
    record: StoredRecord,
    game: Game,
    file: GameFile | None,
    show: _Show | None,
    folder: Path | None,
    output: Path | None,
) -> RecordVerdict:
    """Return the verdict, and write each step as a picture into *folder*, all of them as one into the file *output*."""
    metadata = file.metadata() if file else None
    try:
        pictures = None if folder is None else PictureFolder(folder, game.description, metadata)
        animation = None if output is None else Animation(game.description, metadata)
        verdict = _verdict(record, game, show, [one for one in (pictures, animation) if one is not None])
        if animation is not None and output is not None:
            animation.write(output)
    except BrokenPipeError:  # the reader of what is printed is gone
        raise
    except OSError as error:
        raise click.UsageError(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    return verdict


def _verdict(
    record: StoredRecord, game: Game, show: _Show | None, drawing: Sequence[PictureFolder | Animation]
) -> RecordVerdict:
    """Return the verdict on *record* by the rules of *game*; its steps are shown and drawn meanwhile."""
    with progress("verifying", len(record.moves) + 1, delay_s=math.inf if show else DELAY_S) as advance:

        def take(at: ReplayedStep) -> None:
            advance()
            for pictures in drawing:
                pictures.add(at.step, at.state.facts, at.moves)
            if show is not None:
                show(at)

        verdict = verdict_of(game, record, take)
    if show is not None and show.only is not None and show.only > len(record.moves):
        raise click.UsageError(f"the record has {len(record.moves)} steps: --step takes 0 to {len(record.moves)}")
    return verdict


def _sentence(verdict: RecordVerdict) -> str:
    signed = "" if verdict.signature == "none" else f"\nsignature: {verdict.signature}"
    if verdict.difference is None:
        return f"\nagrees with the rules: {quantity(verdict.n_steps, 'step')}{signed}"
    return f"\n{escaped(str(verdict.difference))}{signed}"
