"""`ggp validate`: say what is wrong with rule files, and where; if asked, play them to find out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.text import Text

from gdl.games.library import GameFile, find_game, free_name
from gdl.language.kif import ReadLimits
from server.commands.main import WRONG
from server.terminal.command_line import FiniteRange, check_needs, check_one_output
from server.terminal.progress import progress
from server.validating import report
from server.validating.rule_text import STANDARD_INPUT, check_one_input
from server.validating.validation import Validation, ValidationOptions, check_description, check_file, play_file

if TYPE_CHECKING:
    from gdl.simulation import SimulationBudget

NO_VERDICT: Final = 3


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--simulate", "n_plays", metavar="N", type=click.IntRange(1), help="Make N random plays, too.")
@click.option("--states", "n_states", type=click.IntRange(0), default=10_000, show_default=True,
              help="With --simulate, look at all states where they are no more.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="What the random plays are drawn with.")
@click.option("--evidence", "folder", type=click.Path(file_okay=False, path_type=Path),
              help="With --simulate, write plays that show a defect into this folder, for `ggp replay`.")  # fmt: skip
@click.option("--seconds", type=FiniteRange(0, 86_400, min_open=True), default=30.0, show_default=True,
              help="Time for the checks of a file, and for its plays.")  # fmt: skip
@click.option("--max-memory-mb", type=click.IntRange(64), default=2048, show_default=True,
              help="Memory for the plays of a file, and for the checks of a large one.")  # fmt: skip
@click.option("--max-characters", type=click.IntRange(1), default=ReadLimits().max_characters, show_default=True,
              help="Refuse files that are larger.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Take warnings for errors.")
@click.option("--json", is_flag=True, help="Print everything as JSON.")
@click.option("--sarif", is_flag=True, help="Print SARIF 2.1.0, for code-scanning tools.")
@click.option("--github", is_flag=True, help="Print annotations for GitHub Actions.")
@click.option("--explain", metavar="CODE", help="Say what a code such as gdl/unsafe-variable means, and end.")
@click.pass_context
def command(
    context: click.Context,
    /,
    files: tuple[str, ...],
    n_plays: int | None,
    n_states: int,
    seed: int,
    folder: Path | None,
    seconds: float,
    max_memory_mb: int,
    max_characters: int,
    strict: bool,
    explain: str | None,
    **forms: bool,
) -> None:
    """Say what is wrong with each FILE, and where, by line and column.

    FILE is the path of a rule file, the name of a game of the library, or - for standard input. The TOML description
    beside it is checked, too. Exits with 0 when no file has an error (warnings are allowed), 1 when one has, 2 on wrong
    usage, 3 when a limit came before a verdict.
    """
    check_one_output(**forms, explain=explain)
    check_needs("--simulate", n_plays, evidence=folder)
    if explain is not None:
        _show(report.explain(report.code_named(explain)))
        return
    if not files:
        raise click.UsageError("name a rule file, or a game of the library, which `ggp games` lists", context)
    check_one_input(files)
    budget = None if n_plays is None else _budget(n_plays, seconds, n_states)
    options = ValidationOptions(
        seconds, max_memory_mb, ReadLimits(max_characters), strict, budget, seed, folder and folder.resolve(),
        is_compiled=None,
    )  # fmt: skip
    # All are looked for first: a misspelt name is refused before the work begins.
    named = [(file, None if file == STANDARD_INPUT else find_game(file)) for file in files]
    verdicts: set[str] = set()
    form = next((name for name, is_chosen in forms.items() if is_chosen), None)
    _show(_reported(form, _noted(_validations(named, options), verdicts)))
    context.exit(WRONG if "wrong" in verdicts else NO_VERDICT if "unknown" in verdicts else 0)


def _budget(n_plays: int, seconds: float, n_states: int) -> SimulationBudget:
    from gdl.simulation import SimulationBudget  # noqa: PLC0415 -- the static checks need no engine

    return SimulationBudget(plays=n_plays, seconds=seconds, states=n_states)


def _reported(form: str | None, validations: Iterable[Validation]) -> Iterator[Text | str]:
    """Yield the report of *validations* in *form*: `json`, `sarif`, `github`, or for people at a terminal."""
    if form is None:
        yield from report.report(validations)
        return
    from server.validating import formats  # noqa: PLC0415 -- what programs read is loaded for them

    reports = {"json": formats.as_json, "sarif": formats.as_sarif, "github": formats.as_annotations}
    yield from reports[form](validations)


def _noted(validations: Iterable[Validation], verdicts: set[str]) -> Iterator[Validation]:
    for validation in validations:
        verdicts.add(validation.verdict)
        yield validation


def _show(pieces: Iterable[Text | str]) -> None:
    console = Console(highlight=False)
    for piece in pieces:
        if isinstance(piece, str):
            click.echo(piece)
        else:
            console.print(piece, soft_wrap=True)


def _validations(files: Sequence[tuple[str, GameFile | None]], options: ValidationOptions) -> Iterator[Validation]:
    """Yield what is to be said of each file, of standard input (None) and of descriptions: after the checks of all."""
    checked = []
    with progress("checking", len(files)) as advance:
        for path, _ in files:
            checked.append(check_file(path, options))
            advance()
    taken: set[str] = set()
    for (_, file), found in zip(files, checked, strict=True):
        name = free_name("standard input" if file is None else file.name, taken)
        taken.add(name)
        yield _played(name, found, options)
        if file is not None and file.has_metadata:
            wrong = check_description(file.metadata_path, found, options)
            if wrong is not None:
                yield wrong


def _played(name: str, checked: Validation, options: ValidationOptions) -> Validation:
    if options.budget is None or checked.has_error or checked.limit is not None:
        return checked
    with progress(f"playing {name}", options.budget.plays) as advance:
        return play_file(name, checked, options, advance)
