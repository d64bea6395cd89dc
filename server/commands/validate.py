"""`ggp validate`: say whether a rule file can be played, and if not, where it is wrong."""

from __future__ import annotations

import json

import click

from gdl.engines import make_game
from gdl.errors import GdlError
from gdl.library import GameFile, find_game
from server.problem import problem
from server.progress import progress


@click.command(short_help="Say whether rule files can be played, or where they fail.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@click.pass_context
def command(context: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Say whether each FILE can be read and played; if not, where and why, with line and column.

    FILE is the path of a rule file, or the name of a game of the library. Exits with 1 if a file is refused.
    """
    games = [find_game(file) for file in files]
    errors: dict[str, GdlError | None] = {}
    with progress("validating", len(games)) as advance:
        for game in games:
            errors[str(game.path)] = _error_in(game)
            advance()
    if as_json:
        verdicts = [{"file": file, "ok": error is None, "errors": _problems(error)} for file, error in errors.items()]
        click.echo(json.dumps(verdicts, indent=2))
    else:
        for file, error in errors.items():
            click.echo(f"{file}: ok" if error is None else f"{error}")
    context.exit(0 if not any(errors.values()) else 1)


def _error_in(game: GameFile) -> GdlError | None:
    try:
        make_game(game.read()).initial_state  # noqa: B018 -- deriving the first state is the check
    except GdlError as error:
        return error
    return None


def _problems(error: GdlError | None) -> list[dict[str, object]]:
    return [] if error is None else [problem(error)]
