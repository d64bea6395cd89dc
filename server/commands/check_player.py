"""`ggp check-player`: play every message, good and odd, at a player."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, nullcontext
from typing import Final

import click
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from gdl.diagnostics import escaped
from server.commands.main import INTERRUPTED
from server.links.own_player import start_own_player
from server.links.player_spec import COMMAND_WITH_LEGAL_MOVES, PlayerSpec, is_command, player_spec
from server.player_checks import catalogue
from server.player_checks.check_match import Clocks
from server.player_checks.examination import Check, CheckedPlayer, CheckResult, CheckVerdict, examine
from server.player_checks.probe import HttpProbe, Probe, ProgramProbe
from server.terminal.progress import progress

_COLOURS = {
    CheckVerdict.OK: "green",
    CheckVerdict.WARNING: "yellow",
    CheckVerdict.WRONG: "red",
    CheckVerdict.SKIPPED: "dim",
}
_FAILING: Final = (CheckVerdict.WRONG, CheckVerdict.SKIPPED)
_JUSTIFIED: Final[tuple[JustifyMethod, ...]] = ("left", "left", "left", "right")
_MUTE_PROGRAM: Final = (
    "the program answers nothing, so nothing else was checked: does it run by itself, and flush what it writes?"
)
_GAP: Final = 2
_LEAST: Final = 20
"""Characters between columns, and how few a sentence may have in a line."""


@click.command()
@click.argument("player")
@click.option("--start-clock", type=click.IntRange(1, 600), default=5, show_default=True, help="Seconds.")
@click.option("--play-clock", type=click.IntRange(1, 600), default=3, show_default=True, help="Seconds.")
@click.option("--only", multiple=True, metavar="NAME", help="Make only this check; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(
    context: click.Context, player: str, start_clock: int, play_clock: int, only: tuple[str, ...], as_json: bool
) -> None:
    """Play every message, good and odd, at PLAYER, and report what it gets wrong.

    PLAYER is what `ggp match` takes: the address of a player that runs (http://host:port), a program on standard
    input and output (cmd:./my-player, or cmd+legal: to get the legal moves too), which is started for each match, or
    what `ggp player` takes (my_player.py), which is started as a player over HTTP.

    Each finding is printed when it is made; with --json all of them at the end, or at Ctrl-C those made so far.

    Each match is ended before the next check. What cannot be checked, since the player is busy or gone, is skipped. The
    check huge-message comes last but one: weak players die of it.

    Exits with 1 if something is wrong by which it would lose matches, or was skipped; warnings do not count.
    """
    spec = player_spec(player)
    checks = _chosen(catalogue.PROGRAM_CHECKS if is_command(player) else catalogue.CHECKS, only)
    findings: list[CheckResult] = []
    report = None if as_json else _Report(checks)
    is_interrupted = False
    try:
        asyncio.run(_examine(spec, Clocks(start_clock, play_clock), checks, findings, report))
    except KeyboardInterrupt:
        is_interrupted = True
    if report is None:
        told = {"url": player, "findings": [finding.as_json() for finding in findings]}
        click.echo(json.dumps(told | ({"interrupted": True} if is_interrupted else {}), indent=2))
    else:
        is_mute = _is_mute(checks, findings)
        report.print_counts(findings[:1] if is_mute else findings)
        if is_mute:
            silent = f"no HTTP reply from {player}, so nothing else was checked: does the player run, and listen there?"
            click.echo(_MUTE_PROGRAM if is_command(player) else silent)
        elif any(finding.verdict is CheckVerdict.SKIPPED for finding in findings):
            click.echo("what was skipped is not known to be right: see above why, and check it again")
    if is_interrupted:
        click.echo(f"interrupted after {len(findings)} of {len(checks)} checks", err=True)
        context.exit(INTERRUPTED)
    context.exit(1 if any(finding.verdict in _FAILING for finding in findings) else 0)


def _is_mute(checks: Sequence[Check], findings: Sequence[CheckResult]) -> bool:
    """Return whether the player fails in the first of *checks*, which is whether it answers at all."""
    return bool(findings) and findings[0].name == checks[0].name and findings[0].verdict is CheckVerdict.WRONG


def _chosen(checks: Sequence[Check], names: tuple[str, ...]) -> Sequence[Check]:
    unknown = set(names) - {check.name for check in checks}
    if unknown:
        raise click.UsageError(
            f"no check {unknown.pop()!r} of this player; there are {', '.join(check.name for check in checks)}"
        )
    return [check for check in checks if not names or check.name in names or check is checks[0]]


async def _examine(
    spec: PlayerSpec, clocks: Clocks, checks: Sequence[Check], findings: list[CheckResult], report: _Report | None
) -> None:
    """Add each finding to *findings*, and print it in *report*, whose lines show on a terminal how far it is."""
    is_shown = report is not None and sys.stdout.isatty()
    without_bar: AbstractContextManager[Callable[[], None]] = nullcontext(lambda: None)
    async with _probe(spec) as probe:
        with without_bar if is_shown else progress("checking", len(checks)) as advance:
            async for finding in examine(CheckedPlayer(probe, clocks), checks, _warn):
                findings.append(finding)
                if report is not None and not (_is_mute(checks, findings) and len(findings) > 1):
                    report.print_finding(finding)
                advance()


@asynccontextmanager
async def _probe(spec: PlayerSpec) -> AsyncIterator[Probe]:
    """Yield a way to the player that *spec* names; what was started for it has ended then.

    Raises:
        PlayerStartError: one of ours did not come up.
    """
    if is_command(spec.text):
        program = spec.text.partition(":")[2]
        programs = ProgramProbe(program, gets_legal_moves=spec.text.startswith(COMMAND_WITH_LEGAL_MOVES))
        async with aclosing(programs):
            yield programs
    elif spec.is_own:
        own = await start_own_player(spec.text)
        try:
            yield HttpProbe(own.url)
        finally:
            await own.stop()
    else:
        yield HttpProbe(spec.text)


def _warn(check: Check) -> None:
    if check.risk:
        click.echo(f"warning: next comes {check.name}; {check.risk}", err=True)


class _Report:
    """A table that is printed row by row, so its columns are as wide as the names and sentences of all checks need."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._console = Console()
        verdict, name, seconds = max(map(len, CheckVerdict)), max(len(check.name) for check in checks), 5
        others = verdict + name + seconds + 3 * _GAP
        what = min(max(len(check.what) for check in checks), max(self._console.width - others, _LEAST))
        self._widths = (verdict, name, what, seconds)
        self._print_row(("verdict", "check", "what a player should do", "s"), "bold")

    def print_finding(self, finding: CheckResult) -> None:
        """Print what came of a check: its verdict, what the player should do and what it did, and for how long."""
        what = Text(finding.what if not finding.detail else f"{finding.what}\n  {escaped(finding.detail)}")
        colour = _COLOURS[finding.verdict]
        self._print_row((f"[{colour}]{finding.verdict}[/]", finding.name, what, f"{finding.took_s:.1f}"))

    def _print_row(self, cells: tuple[str | Text, ...], style: str | None = None) -> None:
        row = Table(box=None, pad_edge=False, show_header=False)
        for width, justify in zip(self._widths, _JUSTIFIED, strict=True):
            row.add_column(width=width, justify=justify, overflow="fold")
        row.add_row(*cells, style=style)
        self._console.print(row)

    def print_counts(self, findings: Sequence[CheckResult]) -> None:
        """Print how many findings there are of each verdict."""
        counts = {verdict: sum(finding.verdict is verdict for finding in findings) for verdict in CheckVerdict}
        click.echo(", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n))
