"""The results of a tournament: a live table in a terminal, and files: JSON, CSV, Markdown, a page of HTML."""

import io
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from gdl.files import replacing
from server.sanitization import write_csv
from server.terminal.live_display import LiveDisplay
from server.tournament.fixtures import MatchResult
from server.tournament.progress import Progress
from server.tournament.rating_chart import RatingChart, rating_chart
from server.tournament.ratings import Rating, rating_history
from server.tournament.scoring import ScoringRules, counted_goals, losers
from server.tournament.summary import is_short, shortage, sprt_line, summary, verdict
from server.tournament.table import TableRow, head_to_head, table_of

_COLUMNS: Final = ("", "player", "matches", "score", "W-D-L", "Elo", "95 %", "LOS", "errors", "s a move")


_DISPENSABLE: Final = ("s a move", "errors", "LOS", "95 %", "Elo", "W-D-L")
"""What is left out where there is no room, the first one first: half a figure would be taken for a whole one."""
_GAP: Final = 2


def standings_table(rows: Iterable[TableRow], width: int | None) -> Table:
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
    return (
        f"{row.rank}", row.player, f"{row.matches}", f"{round(row.score, 2):g}",
        row.won_drawn_lost, *_rating_cells(row.rating),
        "" if row.los is None else f"{row.los:.1%}", f"{row.errors}",
        f"{row.thinking_s / row.moves:.2f}" if row.moves else "",
    )  # fmt: skip


def _rating_cells(rating: Rating | None) -> tuple[str, str]:
    """Return what tables say of a rating: its points, and the interval of these."""
    return ("", "") if rating is None else (f"{rating.elo:.0f}", f"{rating.low:.0f} to {rating.high:.0f}")


class LiveTable(LiveDisplay):
    """Shows a tournament while the block runs: a table in a terminal, else a line on standard error now and then."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._began_s = self._shown_s = time.monotonic()
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
        to_go = f"{n_left} left"
        if progress.plan.sprt is not None and n_left:
            to_go = f"at most {n_left} more, until the test decides"
        elif n_new and n_left:
            to_go += f", {_duration(elapsed_s / n_new * n_left)} to go"
        playing = "; ".join(f"{match.game}: {' - '.join(match.players)}" for match in progress.playing[:2])
        return f"{n_played} matches over, {to_go}" + (f"; now {playing}" if playing else "")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


JSON_FILE: Final = "standings.json"
CSV_FILE: Final = "results.csv"
MARKDOWN_FILE: Final = "standings.md"
HTML_FILE: Final = "index.html"
_CSV_COLUMNS: Final = (
    "match", "game", "round", "role", "player", "goal", "errors", "thinking_ms", "steps", "short_of_cores"
)  # fmt: skip
NO_ROLES: Final[Mapping[str, Sequence[str]]] = {}
"""Without names roles are numbered."""


def write_reports(progress: Progress, folder: Path, roles: Mapping[str, Sequence[str]] = NO_ROLES) -> None:
    """Write all reports into *folder*, each in the place of what was there; *roles* has the names of each game's.

    Raises:
        OSError: one cannot be written.
    """
    texts = {
        JSON_FILE: json.dumps(summary(progress), indent=2, ensure_ascii=False) + "\n",
        CSV_FILE: csv_text(progress),
        MARKDOWN_FILE: markdown(progress),
        HTML_FILE: html(progress, roles),
    }
    for name, text in texts.items():
        with replacing(folder / name, is_durable=False) as temporary:
            temporary.write_text(text, "utf-8")


def csv_text(progress: Progress) -> str:
    """Return the results as CSV, a line for each seat of each match, the first role 1; no cell is a formula."""
    lines: list[tuple[str, ...]] = [_CSV_COLUMNS]
    rounds = {match.match_id: match.round for match in progress.scheduled}
    for played in progress.played:
        result = played.result
        for place, player in enumerate(result.players):
            numbers = (result.goals[place], result.errors[place], played.thinking_ms[place], played.n_steps)
            first = (result.match_id, result.game, rounds.get(result.match_id, ""), place + 1, player)
            lines.append(tuple(map(str, (*first, *numbers, int(is_short(played))))))
    text = io.StringIO()
    write_csv(lines, text)
    return text.getvalue()


def markdown(progress: Progress) -> str:
    """Return the standings as Markdown."""
    rows = table_of(progress)
    lines = [
        f"# {_title(progress)}", "", f"{len(progress.played)} matches.", "",
        "| # | player | matches | score | W-D-L | Elo | 95 % | LOS | errors |", "|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]  # fmt: skip
    lines += [f"| {' | '.join(_markdown_cells(row))} |" for row in rows]
    for line in (verdict(progress), sprt_line(progress), shortage(progress)):
        if line:
            lines += ["", _escaped(line)]
    return "\n".join(lines) + "\n"


def _markdown_cells(row: TableRow) -> tuple[str, ...]:
    return (
        f"{row.rank}", _escaped(row.player), f"{row.matches}", f"{row.score:g}", row.won_drawn_lost,
        *_rating_cells(row.rating),
        "" if row.los is None else f"{row.los:.1%}", f"{row.errors}",
    )  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+-.!|" else c for c in text)


def _title(progress: Progress) -> str:
    return f"{progress.plan.format.words}: {', '.join(progress.plan.games)}"


def html(progress: Progress, roles: Mapping[str, Sequence[str]] = NO_ROLES) -> str:
    """Return a page with all of it, which needs no other file."""
    rows = table_of(progress)
    players = [row.player for row in rows]
    rules = progress.plan.scoring
    return _template().render(
        title=_title(progress),
        rows=rows,
        players=players,
        cross=head_to_head(progress.results, players, rules),
        by_role=by_role(progress.results, rules, roles),
        by_seat=by_role(progress.results, rules, roles, players),
        chart=_chart(progress, players),
        errors=[played for played in progress.played if any(played.result.errors)],
        short=list(filter(is_short, progress.played)),
        lost={result.match_id: sorted(losers(result, rules)) for result in progress.results},
        plan=progress.plan,
        n_played=len(progress.played),
        n_left=len(progress.scheduled) - len(progress.played),
        played=progress.played,
        statements=[line for line in (verdict(progress), sprt_line(progress), shortage(progress)) if line],
        began=_day(min((match.ended_ms for match in progress.played), default=0)),
        ended=_day(max((match.ended_ms for match in progress.played), default=0)),
    )


@cache
def _template() -> Template:
    environment = Environment(loader=PackageLoader("server.arena"), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("tournament.html")


@dataclass(frozen=True, slots=True)
class RoleBalance:
    """What the players of a role of a game made, or one of them."""

    game: str
    role: str
    n_matches: int
    mean_goal: float
    player: str = ""


def by_role(
    results: Iterable[MatchResult],
    rules: ScoringRules,
    roles: Mapping[str, Sequence[str]] = NO_ROLES,
    players: Sequence[str] = ("",),
) -> tuple[RoleBalance, ...]:
    """Return what the players of each role of each game made; with *players* each of them, in their order."""
    goals: dict[tuple[str, int, int], list[int]] = {}
    for result in results:
        for role, (player, goal) in enumerate(zip(result.players, counted_goals(result, rules), strict=True)):
            place = players.index(player) if player in players else 0
            goals.setdefault((result.game, role, place), []).append(goal)
    return tuple(
        RoleBalance(game, _role_name(roles, game, role), len(of), sum(of) / len(of), players[place])
        for (game, role, place), of in sorted(goals.items())
    )


def _role_name(roles: Mapping[str, Sequence[str]], game: str, role: int) -> str:
    names = roles.get(game, ())
    return names[role] if role < len(names) else str(role + 1)


def _day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC") if at_ms else ""


def _chart(progress: Progress, players: Sequence[str]) -> RatingChart | None:
    """Return the chart of the ratings of *players* after more and more matches; None where no match tells of them."""
    history = rating_history(progress.rated_results)
    curves = {
        player: [(float(each.n_results), each.ratings[player]) for each in history if player in each.ratings]
        for player in players
    }
    return rating_chart(curves, "first matches", f"after {len(progress.played)} matches", has_areas=False)
