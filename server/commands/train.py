"""`ggp train`: learn a game from its rules by self-play."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gdl.engines import BestGame, make_game
from gdl.extras import check_extra
from gdl.games.library import GameFile, find_game
from server.commands.main import INTERRUPTED
from server.match.chance import new_seed
from server.terminal.command_line import FiniteRange
from server.terminal.progress import progress

if TYPE_CHECKING:
    from players.learning.learner import Learner, TrainingReport
    from server.arena.comparison import Comparison


@click.command()
@click.argument("game", metavar="GAME")
@click.option(
    "--minutes", type=FiniteRange(0, 100_000, min_open=True), required=True, help="How long to learn, in all runs."
)
@click.option("--output", "-o", "path", type=click.Path(path_type=Path, dir_okay=False), required=True,
              help="Where the network goes; learning goes on from what is there.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1, 256), default=os.cpu_count() or 1, show_default="one a core",
              help="How many cores the network uses.")  # fmt: skip
@click.option("--width", type=click.IntRange(4, 1024), help="Channels of the network, or units of a layer.")
@click.option("--games", "n_games", type=click.IntRange(1, 65_536), default=256, show_default=True,
              help="How many games are played at once.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Decides the first weights and all chance.")
@click.option("--matches", type=click.IntRange(0, 100_000), default=0, show_default=True,
              help="Then play so many matches at most, until a sequential test is sure.")  # fmt: skip
@click.option("--against", metavar="SPEC", default="mcts", show_default=True, help="Who plays them.")
@click.option("--play-clock", type=FiniteRange(0.01, 3600), default=0.2, show_default=True,
              help="Seconds of processor time for a move in them.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print reports as lines of JSON.")
def command(game: str, minutes: float, path: Path, matches: int, against: str, play_clock: float, **words: Any) -> None:
    """Learn GAME, a name in the library or the path of a rule file, and write the network to a file.

    A small network learns from games that it plays against itself, and from nothing else. The file is written every
    twenty seconds: whatever ends the process, the same command goes on from there. `net:FILE` then plays:

    \b
    ggp train connectfour --minutes 60 -o net.pt
    ggp match connectfour --player red=net:net.pt --player yellow=mcts
    ggp train connectfour --minutes 60 -o net.pt --matches 200      how it does against mcts

    It needs the extra `learn` (PyTorch); without it the command says how that is installed. Games in which players
    take turns, without chance, in which all is seen.
    """  # noqa: D301 -- click keeps lines as they are after the character that this escape is
    check_extra("torch", "learn", "learning")
    file = find_game(game)
    if not path.parent.is_dir():
        raise click.UsageError(f"there is no folder {path.parent}")
    if matches:
        _check_comparison(file, against)
    learner = _learner(str(file.path), file.name, path, minutes, words)
    is_over = learner.report.seconds >= 60 * minutes
    if is_over:
        click.echo(f"{path} has learned for {learner.report.seconds / 60:.1f} minutes already", err=True)
    else:
        _learn(learner, minutes, words["as_json"])
    if matches:
        _compare(str(file.path), path, against, play_clock, matches, words)


def _learner(game: str, name: str, path: Path, minutes: float, words: dict[str, Any]) -> Learner:
    with progress(f"preparing {name}"):
        import torch  # noqa: PLC0415 -- an optional library, which takes seconds to load

        from players.learning.learner import Learner, TrainingSettings  # noqa: PLC0415 -- as above

        torch.set_num_threads(words["threads"])
        seed = new_seed() % 2**31 if words["seed"] is None else words["seed"]
        settings = TrainingSettings(60 * minutes, plays=words["n_games"], seed=seed, width=words["width"])
        return Learner(name, game, path, settings)


def _learn(learner: Learner, minutes: float, as_json: bool) -> None:
    from server.terminal.live_display import LearningDisplay, line_of  # noqa: PLC0415 -- what only learning shows

    report = learner.report
    told_s = report.seconds
    try:
        with LearningDisplay(60 * minutes) as display:
            for report in learner.learn():
                display(report)
                if as_json and report.seconds - told_s >= 1:
                    told_s = report.seconds
                    click.echo(_json_line("progress", report))
    except KeyboardInterrupt:
        learner.save()
        click.echo(f"interrupted: {learner.path} has what was learned; the same command goes on", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    click.echo(_json_line("learned", report) if as_json else f"{learner.path}: {line_of(report, 60 * minutes)}")


def _json_line(event: str, report: TrainingReport) -> str:
    fields = asdict(report)
    return json.dumps({"event": event} | {name: _rounded(value) for name, value in fields.items()})


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _check_comparison(file: GameFile, against: str) -> None:
    """Raise, before anything is learned, what the comparison would raise after it."""
    from players.registry import find_player  # noqa: PLC0415 -- large libraries, not needed for --help
    from server.arena.comparison import check_comparable  # noqa: PLC0415 -- as above

    find_player(against)
    check_comparable(make_game(file.read(), "interpreter"))


def _compare(game: str, path: Path, against: str, clock_s: float, n_matches: int, words: dict[str, Any]) -> None:
    """Let the network play against another player, and say how sure it is that it is stronger."""
    import torch  # noqa: PLC0415 -- as in _learner

    from players.registry import find_player  # noqa: PLC0415 -- large libraries, not needed for --help
    from server.arena.comparison import compare  # noqa: PLC0415 -- as above

    torch.set_num_threads(1)
    rules = make_game(find_game(game).read())
    if isinstance(rules, BestGame):
        rules.wait()
    makers = (find_player(f"net:{path}"), find_player(against))
    seed = 1 if words["seed"] is None else words["seed"]
    last = None
    with progress(f"playing against {against}", n_matches) as advance:
        for now in compare(rules, makers, clock_s, n_matches, seed=seed):
            last = now
            advance()
            if words["as_json"]:
                click.echo(json.dumps({"event": "match"} | now.as_json()))
            elif not sys.stderr.isatty():  # where no bar is shown
                click.echo(_verdict(now, against, clock_s), err=True)
    assert last is not None
    if words["as_json"]:
        fields = {"event": "compared", "against": against, "playClock": clock_s}
        click.echo(json.dumps(fields | last.as_json()))
    else:
        click.echo(_verdict(last, against, clock_s))


def _verdict(found: Comparison, against: str, clock_s: float) -> str:
    points, (low, high) = found.by_points, found.interval
    figures = f"{points[1.0]} won, {points[0.5]} drawn, {points[0.0]} lost"
    share = (points[1.0] + points[0.5] / 2) / len(found.results)
    says = {"H1": "it is stronger", "H0": "it is not stronger by 50"}.get(str(found.decision), "not decided")
    return (
        f"{len(found.results)} matches against {against}, {clock_s:g} s a move: {figures}; {share:.0%} of the points "
        f"(95 %: {low:.0%} to {high:.0%}); SPRT 0 to 50 Elo: {says} (LLR {found.llr:.2f})"
    )
