"""`ggp check-player`: play every message, good and odd, at a player."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from server.checks.bout import Clocks
from server.checks.catalogue import CHECKS
from server.checks.examination import Check, CheckedPlayer, CheckResult, CheckVerdict, examine
from server.checks.probe import Probe
from server.records.transcript import shown
from server.terminal.progress import progress

_COLOURS = {
    CheckVerdict.OK: "green",
    CheckVerdict.WARNING: "yellow",
    CheckVerdict.WRONG: "red",
    CheckVerdict.SKIPPED: "dim",
}


@click.command()
@click.argument("url")
@click.option("--start-clock", type=click.IntRange(1, 600), default=5, show_default=True, help="Seconds.")
@click.option("--play-clock", type=click.IntRange(1, 600), default=3, show_default=True, help="Seconds.")
@click.option("--only", multiple=True, metavar="NAME", help="Make only this check; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(
    context: click.Context, url: str, start_clock: int, play_clock: int, only: tuple[str, ...], as_json: bool
) -> None:
    """Play every message, good and odd, at the player at URL, and report what it gets wrong.

    Each match is ended before the next check. What cannot be checked, since the player is busy, is skipped. The check
    huge-message comes last but one: weak players die of it.

    Exits with 1 if something is wrong by which it would lose matches; warnings do not count.
    """
    checks = _chosen(only)
    examinee = CheckedPlayer(Probe(url), Clocks(start_clock, play_clock))
    findings = asyncio.run(_findings(examinee, checks))
    if as_json:
        click.echo(json.dumps({"url": url, "findings": [finding.as_json() for finding in findings]}, indent=2))
    else:
        _print_table(findings[:1] if _is_unreachable(findings) else findings)
        if _is_unreachable(findings):
            click.echo(f"no answer from {url}, so nothing else was checked: does the player run?")
    context.exit(1 if any(finding.verdict is CheckVerdict.WRONG for finding in findings) else 0)


def _is_unreachable(findings: Sequence[CheckResult]) -> bool:
    return findings[0].name == CHECKS[0].name and findings[0].verdict is CheckVerdict.WRONG


def _chosen(names: tuple[str, ...]) -> Sequence[Check]:
    unknown = set(names) - {check.name for check in CHECKS}
    if unknown:
        raise click.UsageError(f"no check {unknown.pop()!r}; there are {', '.join(check.name for check in CHECKS)}")
    return [check for check in CHECKS if not names or check.name in names or check is CHECKS[0]]


async def _findings(examinee: CheckedPlayer, checks: Sequence[Check]) -> list[CheckResult]:
    findings = []
    with progress("checking", len(checks)) as advance:
        async for finding in examine(examinee, checks, _warn):
            findings.append(finding)
            advance()
    return findings


def _warn(check: Check) -> None:
    if check.risk:
        click.echo(f"warning: next comes {check.name}; {check.risk}", err=True)


def _print_table(findings: Sequence[CheckResult]) -> None:
    """Print a table of the findings, and how many there are of each verdict."""
    table = Table(box=None, pad_edge=False)
    for heading in ("verdict", "check", "what a player should do", "s"):
        table.add_column(heading, justify="right" if heading == "s" else "left")
    for finding in findings:
        what = Text(finding.what if not finding.detail else f"{finding.what}\n  {shown(finding.detail)}")
        colour = _COLOURS[finding.verdict]
        table.add_row(f"[{colour}]{finding.verdict}[/]", finding.name, what, f"{finding.took_s:.1f}")
    Console().print(table)
    counts = {verdict: sum(finding.verdict is verdict for finding in findings) for verdict in CheckVerdict}
    click.echo(", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n))
