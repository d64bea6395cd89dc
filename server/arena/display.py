"""The live table of a tournament in a terminal: what is done, who leads, how sure that is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from server.terminal.live import LiveDisplay
from server.tournament.progress import Progress
from server.tournament.table import TableRow, sprt_summary, table_of

_COLUMNS: Final = ("", "player", "matches", "score", "W-D-L", "Elo", "95 %", "LOS", "errors", "s a move")


_DISPENSABLE: Final = ("s a move", "errors", "LOS", "95 %", "Elo", "W-D-L")
"""What is left out where there is no room, the first one first: half a figure would be taken for a whole one."""
_GAP: Final = 2


def standings_table(rows: Iterable[TableRow], width: int | None = None) -> Table:
    """Return the standings as a table for a terminal, with the columns that *width* characters have room for."""
    lines = [dict(zip(_COLUMNS, _cells(row), strict=True)) for row in rows]
    columns = _fitting(lines, width)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        if column == "player":
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(*(Text(line[column]) for column in columns))
    return table


def _fitting(lines: Sequence[Mapping[str, str]], width: int | None) -> list[str]:
    """Return the columns of the *lines* that have room in *width*."""
    widths = {column: max(map(cell_len, (column, *(line[column] for line in lines)))) for column in _COLUMNS}
    for column in _DISPENSABLE:
        if width is None or sum(widths.values()) + _GAP * (len(widths) - 1) <= width:
            break
        del widths[column]
    return list(widths)


def _cells(row: TableRow) -> tuple[str, ...]:
    interval = "" if row.elo_low is None else f"{row.elo_low:.0f} to {row.elo_high:.0f}"
    return (
        f"{row.rank}", row.player, f"{row.matches}", f"{round(row.score, 2):g}",
        f"{row.wins}-{row.draws}-{row.losses}", "" if row.elo is None else f"{row.elo:.0f}", interval,
        "" if row.los is None else f"{row.los:.1%}", f"{row.errors}",
        f"{row.thinking_s / row.moves:.2f}" if row.moves else "",
    )  # fmt: skip


def sprt_line(progress: Progress) -> str | None:
    """Return in a sentence how the sequential test stands; None where there is none."""
    found = sprt_summary(progress)
    if found is None:
        return None
    first, second = progress.plan.players
    said = {
        "H1": f"{first} is stronger than {second} (H1 accepted)",
        "H0": f"{first} is not stronger than {second} by as much (H0 accepted)",
    }.get(found["decision"], "not decided")
    if said == "not decided" and not progress.playing and len(progress.played) == len(progress.scheduled):
        said += f"; add rounds with --rounds (now {progress.plan.n_rounds})"
    bounds = f"{found['lower']:.2f} to {found['upper']:.2f}"
    return f"SPRT elo0={found['elo0']:g} elo1={found['elo1']:g}: LLR {found['llr']:.2f} ({bounds}), {said}"


class LiveTable(LiveDisplay):
    """Shows a tournament while the block runs: a table in a terminal, else a line on standard error now and then."""

    def __init__(self, console: Console | None = None, now_s: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, now_s)
        self._began_s = self._shown_s = now_s()
        self._n_before: int | None = None

    def __call__(self, progress: Progress) -> None:
        """Show *progress*: in a terminal twice a second at most, else a line every ten seconds."""
        if self._n_before is None:
            self._n_before = len(progress.played)
        if progress.playing and self.is_fresh():
            return
        self.show(lambda: self._standings(progress), lambda: self._headline(progress))

    def _standings(self, progress: Progress) -> Group:
        lines: list[RenderableType] = [
            standings_table(table_of(progress), self._console.width),
            Text(self._headline(progress)),
        ]
        if line := sprt_line(progress):
            lines.append(Text(line))
        return Group(*lines)

    def _headline(self, progress: Progress) -> str:
        n_played, n_left = len(progress.played), len(progress.scheduled) - len(progress.played)
        elapsed_s = self._now_s() - self._began_s
        n_new = n_played - (self._n_before or 0)
        to_go = f", {_duration(elapsed_s / n_new * n_left)} to go" if n_new and n_left else ""
        playing = "; ".join(f"{match.game}: {' - '.join(match.players)}" for match in progress.playing[:2])
        return f"{n_played} matches over, {n_left} left{to_go}" + (f"; now {playing}" if playing else "")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
