"""`ggp import`: rule files of a folder, an archive or an address, as games of a folder of ours."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gdl.diagnostics import escaped
from players.kit.addresses import url_of
from server.importing.fetching import fetched, is_url
from server.importing.intake import ImportOutcome, ImportRow, import_games
from server.importing.sources import FoundFiles, ImportLimits, files_of_bytes, files_of_path
from server.terminal.command_line import table_console
from server.terminal.progress import progress

if TYPE_CHECKING:
    from server.links.addresses import AllowedAddresses, Network

_MOST_WARNINGS: Final = 1


@click.command()
@click.argument("source", metavar="PATH|ZIP|URL")
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), default=Path("games"), show_default=True,
              help="The folder that the games are written into, each into a folder of its name.")  # fmt: skip
@click.option("--allow-network", multiple=True, metavar="NETWORK", callback=lambda _c, _p, texts: _networks(texts),
              help="Fetch from this network although it is private. May be given several times.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print what became of each rule file as JSON.")
@click.pass_context
def command(context: click.Context, source: str, into: Path, allow_network: tuple[Network, ...], as_json: bool) -> None:
    """Bring in the rule files of a folder, a ZIP archive or an address as games.

    Rule files (.kif, .gdl) at any depth come in, each as NAME/NAME.kif with a description, NAME.toml, which METADATA
    beside them tells the title of. Each is validated and played in a child process under limits; rules that are there
    already, whatever their variables are called, are left out. The games are then those of `ggp serve --games FOLDER`,
    and of every command where GGP_GAMES names the folder. Exits with 1 where no game came in and none was there.
    """
    limits = ImportLimits()
    found = _found(source, allow_network, limits)
    with ExitStack() as bars:
        rows = import_games(
            found, into, _named(source), limits, lambda n: bars.enter_context(progress("validating", n))
        )
    if as_json:
        click.echo(json.dumps({"into": str(into), "games": [row.as_json() for row in rows]}, indent=2))
    else:
        _show(source, rows, into)
    context.exit(0 if any(row.outcome is not ImportOutcome.REFUSED for row in rows) else 1)


def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(text, strict=False) for text in texts)
    except ValueError as error:
        raise click.BadParameter(f"{error}; a network is written 10.0.0.0/8") from error


def _found(source: str, networks: tuple[Network, ...], limits: ImportLimits) -> FoundFiles:
    if not is_url(source):
        return files_of_path(Path(source), limits)
    with progress("fetching"):
        raw = asyncio.run(fetched(source, _targets(networks), limits.archive_bytes))
    return files_of_bytes(raw, url_of(source).name or source, limits)


def _targets(networks: tuple[Network, ...]) -> AllowedAddresses:
    from server.links.addresses import AllowedAddresses  # noqa: PLC0415 -- only an address needs it

    return AllowedAddresses(allowed=networks)


def _named(source: str) -> str:
    """Return what descriptions call *source*: an address, or the last part of a path, which tells no more than that."""
    return str(url_of(source).with_user(None).with_query(None)) if is_url(source) else Path(source).resolve().name


def _show(source: str, rows: list[ImportRow], into: Path) -> None:
    if not rows:
        click.echo(f"no rule file (.kif, .gdl) is in {escaped(source)}")
        return
    from rich.table import Table  # noqa: PLC0415 -- slow to load, and JSON needs none

    table = Table("game", "roles", "plays", "steps", "moves", "board", "remarks", box=None, pad_edge=False)
    for row in rows:
        if row.outcome is ImportOutcome.IMPORTED:
            table.add_row(row.name, escaped(", ".join(row.roles)), *_figures(row), row.board, escaped(_remarks(row)))
    console = table_console()
    if table.row_count:
        console.print(table)
    for outcome, said in ((ImportOutcome.DOUBLE, "there already"), (ImportOutcome.REFUSED, "did not come in")):
        told = [row for row in rows if row.outcome is outcome]
        if told:
            console.print(f"\n{len(told):,} {said}:")
        for row in told:
            console.print(f"  {escaped(row.path)}: {escaped(row.reason)}", soft_wrap=True)
    counts = Counter(row.outcome for row in rows)
    click.echo(f"\n{counts[ImportOutcome.IMPORTED]:,} of {len(rows):,} came in; {_next(rows, into)}")


def _figures(row: ImportRow) -> tuple[str, str, str]:
    """Return how many plays ended, their mean steps, and the mean number of joint moves."""
    figures = row.figures
    steps, joint_moves = ((figures.get(key) or {}).get("mean") for key in ("steps", "jointMoves"))
    return str(figures.get("plays", "")), _rounded(steps), _rounded(joint_moves)


def _rounded(mean: float | None) -> str:
    return "" if mean is None else f"{mean:.4g}"


def _remarks(row: ImportRow) -> str:
    told = "; ".join(row.warnings[:_MOST_WARNINGS])
    n_more = len(row.warnings) - _MOST_WARNINGS
    return f"{told[:100]} (and {n_more:,} more)" if n_more > 0 else told[:100]


def _next(rows: list[ImportRow], into: Path) -> str:
    """Return what to do next, in a line."""
    first = next((row.name for row in rows if row.outcome is ImportOutcome.IMPORTED), None)
    if first is None:
        return "nothing is new; `ggp validate FILE` says more of one that did not come in"
    return f"`ggp serve --games {into}` serves them, `ggp show {into / first}` shows one"
