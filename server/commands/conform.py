"""`ggp conform`: compare our states, legal moves and goals with those of a reference trace."""

import dataclasses
import json
from pathlib import Path

import click

from gdl.engines import make_game
from gdl.errors import LimitExceeded, RuleFileError
from gdl.games.library import find_game
from gdl.quantities import quantity
from gdl.traces import Discrepancy, Trace, TraceError, conform, read_trace
from server.commands.main import USAGE, complain
from server.terminal.command_line import engine_option
from server.terminal.progress import progress


@click.command()
@click.argument("rules", metavar="RULES")
@click.argument("trace", metavar="TRACE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@engine_option("The engine to compare.")
@click.option(
    "--moves-only", is_flag=True, help="Compare no states, and goals only at the end: for two encodings of one game."
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.pass_context
def command(context: click.Context, rules: str, trace: Path, engine: str, moves_only: bool, as_json: bool) -> None:
    """Replay TRACE by RULES and report the first difference.

    RULES is a game of the library or the path of a rule file. Exits with 1 if something differs or the rules are
    refused, with 2 if the trace is malformed.
    """
    try:
        reference = read_trace(trace.read_bytes().decode("utf-8", "replace"))
    except TraceError as error:
        complain(f"{trace}: {error}")
        context.exit(USAGE)
    try:
        game = make_game(find_game(rules).read(), engine)
        with progress(f"replaying {trace.name}", _size(reference)["steps"]) as advance:
            difference = conform(game, reference, moves_only=moves_only, on_step=lambda _play, _step: advance())
    except (RuleFileError, LimitExceeded) as error:
        if not as_json:
            raise
        from server.api.problem import problem  # noqa: PLC0415 -- the API is large, and only an error takes its form

        click.echo(json.dumps({"agrees": False, "error": problem(error)}, indent=2))
        context.exit(1)
    click.echo(json.dumps(_as_json(difference, reference), indent=2) if as_json else _as_text(difference, reference))
    context.exit(0 if difference is None else 1)


def _size(trace: Trace) -> dict[str, int]:
    return {"plays": len(trace.matches), "steps": sum(len(play) for play in trace.matches)}


def _as_text(difference: Discrepancy | None, trace: Trace) -> str:
    if difference is not None:
        return str(difference)
    size = _size(trace)
    return f"agreement: {quantity(size['plays'], 'play')}, {quantity(size['steps'], 'state')}"


def _as_json(difference: Discrepancy | None, trace: Trace) -> dict[str, object]:
    if difference is None:
        return {"agrees": True, **_size(trace)}
    return {"agrees": False, **dataclasses.asdict(difference)}
