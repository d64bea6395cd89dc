"""`ggp compile`: what the compiler makes of the rules of a game, stage by stage."""

import json
from collections.abc import Iterator
from dataclasses import asdict

import click
from rich.table import Table

from gdl.compiler.compilation import CompileLimits, child_limits
from gdl.compiler.inspection import STAGES, CompilationFigures, stage_output
from gdl.errors import GdlError
from gdl.games.library import find_game
from server.terminal.command_line import FiniteRange, table_console
from server.terminal.progress import progress


@click.command()
@click.argument("game", metavar="GAME")
@click.option("--show", "stage", type=click.Choice(STAGES), default="stats", show_default=True,
              help="What to print: the decomposed rules, the ground rules, the gates, or figures.")  # fmt: skip
@click.option("--lines", "max_lines", type=click.IntRange(1, 10_000_000), default=10_000, show_default=True,
              help="Print no more than that many.")  # fmt: skip
@click.option("--seconds", type=FiniteRange(0, 86_400, min_open=True), default=60.0, show_default=True,
              help="Processor time for all stages.")  # fmt: skip
@click.option("--max-memory-mb", type=click.IntRange(64), default=4096, show_default=True, help="Memory for them.")
@click.option("--json", "as_json", is_flag=True, help="With --show stats, print the figures as JSON.")
@click.pass_context
def command(
    context: click.Context, game: str, stage: str, max_lines: int, seconds: float, max_memory_mb: int, as_json: bool
) -> None:
    """Run the stages of the compiler on the rules of GAME, and show what one of them hands on.

    GAME is a game of the library or the path of a rule file. Exits with 1 if the rules are refused or do not compile
    within the limits: such a game is played by the interpreter.
    """
    if as_json and stage != "stats":
        raise click.UsageError("--json is for --show stats", context)
    limits = child_limits(CompileLimits(seconds, max_memory_mb))
    try:
        with progress("compiling"):
            shown = stage_output(find_game(game).read(), stage, max_lines, limits)
    except GdlError as error:
        if not as_json:
            raise
        from server.api.problem import problem  # noqa: PLC0415 -- the API is large, and only an error takes its form

        click.echo(json.dumps({"error": problem(error)}, indent=2))
        context.exit(1)
    for line in shown.lines:
        click.echo(line)
    if shown.n_lines > len(shown.lines):
        click.echo(f"ggp: {shown.n_lines - len(shown.lines):,} more lines; --lines N prints N", err=True)
    if shown.figures is not None:
        _print(shown.figures, as_json=as_json)


def _print(figures: CompilationFigures, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(figures), indent=2))
        return
    table = Table(show_header=False, box=None, pad_edge=False)
    for name, value in _rows(figures):
        table.add_row(name, value)
    table_console().print(table)


def _rows(figures: CompilationFigures) -> Iterator[tuple[str, str]]:
    """Yield the rows of the statistics: a heading, and the figures as text."""
    yield "rules", f"{figures.n_rules:,}"
    yield "clauses", f"{figures.n_clauses:,}, decomposed {figures.n_clauses_decomposed:,}"
    yield "ground rules", f"{figures.n_ground_rules:,}"
    yield "fluents", f"{figures.n_fluents:,}"
    yield "moves", ", ".join(f"{role} {n:,}" for role, n in figures.n_moves.items())
    yield "gates", f"{figures.n_gates:,} of {figures.n_gate_inputs:,} inputs"
    yield "loops", f"{figures.n_loops:,}"
    for i, phase in enumerate(figures.phases):
        choices = ", ".join(f"{n:,}" for n in phase.n_choices) or "no"
        yield f"phase {i}", f"{phase.n_gates:,} gates, a choice of {choices} moves"
    yield "tables", f"{figures.table_bytes:,} bytes, for {figures.n_rows:,} rows"
    yield "seconds", ", ".join(f"{stage} {seconds:.3f}" for stage, seconds in figures.seconds.items())
