"""`ggp tournament`: play a tournament on this machine, and say how it stands."""

import asyncio
import importlib
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import click

from gdl.engines import make_game
from gdl.extras import check_extra
from gdl.game import Game, played_roles
from players.specs import player_file
from server.arena.arena import Arena, progress_of
from server.arena.execution import LocalExecutor, MatchExecutor
from server.arena.folder import TournamentFolder
from server.arena.plan_file import extended, found_games, plan_of, player_hashes, read_plan
from server.arena.player_processes import PlayerProcesses
from server.arena.report import HTML_FILE, LiveTable, standings_table, write_reports
from server.client import order_tournament
from server.commands.main import INTERRUPTED, Commands
from server.errors import ConfigurationError, TournamentFolderError
from server.hosting.cores import n_cores_here
from server.links.player_spec import player_spec
from server.match.chance import new_seed
from server.match.setup import MAX_CLOCK_S
from server.sanitization import clean_line, game_name_of, without_passwords
from server.terminal.command_line import read_toml, table_console
from server.terminal.progress import progress
from server.tournament.fixtures import TournamentGame
from server.tournament.plan import MAX_ROUNDS, TournamentFormat, TournamentPlan
from server.tournament.progress import Progress
from server.tournament.scoring import Measure
from server.tournament.summary import shortage, sprt_line, summary, verdict
from server.tournament.table import table_of

_CLOCK: Final = click.IntRange(1, MAX_CLOCK_S)
_FLAGS: Final = Path("command line")
"""What errors call the plan that flags give."""
MATCHES_PER_CORE: Final = 4
"""How many matches of players that think elsewhere, or for a moment, are played at once for each core."""


@click.group(cls=Commands)
def command() -> None:
    """Play tournaments between any players, with ratings and how sure they are."""


@command.command(short_help="Play a tournament on this machine.")
@click.argument("file", metavar="[FILE.toml]", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--game", "-g", "games", metavar="GAME", multiple=True, help="A game that is played; may be repeated.")
@click.option("--player", "-p", "players", metavar="NAME=SPEC", multiple=True, help="A player, called NAME; "
              "SPEC is one of ours, a file, http://host:port or cmd:program.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice([each.value for each in TournamentFormat]),
              help="Who meets whom.  [default: round-robin]")  # fmt: skip
@click.option("--rounds", type=click.IntRange(1, MAX_ROUNDS), help="Cycles of a round robin or gauntlet, rounds of a "
              "Swiss, sets of a meeting of a knockout, meetings of a ladder.  "
              "[default: 1; Swiss 5, ladder 100, --sprt 1000]")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1, 1000), help="How many matches at once; by default as many as the "
              "cores allow.")  # fmt: skip
@click.option("--start-clock", type=_CLOCK, help="Seconds to prepare.  [default: 10]")
@click.option("--play-clock", type=_CLOCK, help="Seconds for each move.  [default: 5]")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Decides pairings by lot, chance and replacements.")
@click.option("--measure", type=click.Choice([each.value for each in Measure]), help="What counts.  [default: points]")
@click.option("--forfeit-errors", type=click.IntRange(1), help="So many errors in a match lose it.")
@click.option("--sprt", metavar="elo0=0,elo1=20", help="End when a sequential test between two players has decided; "
              "also alpha=0.05,beta=0.05.")  # fmt: skip
@click.option("--out", "out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path), help="Where records, "
              "results and reports go; a tournament that is there already goes on.")  # fmt: skip
@click.option("--dask", "dask", metavar="ADDRESS", help="Play the matches on the Dask cluster with this scheduler, as "
              "tcp://host:8786; needs the extra `dask`.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the standings as JSON, and nothing else.")
def run(
    file: Path | None, out: Path | None, dask: str | None, concurrency: int | None, as_json: bool, **words: Any
) -> None:
    """Play a tournament, from FILE.toml or from flags; flags come before what the file says.

    With --out it goes on where it was if it is started again, however it ended. Exits with 0 when it is over, and with
    130 when Ctrl-C came before.
    """
    if dask is not None:
        check_extra("distributed", "dask", "--dask")
    # Before the folder is made: a wrong plan leaves none behind.
    new = None if out is not None and TournamentFolder(out).has_plan else _new(file, words, dask)
    folder = TournamentFolder(out or Path(tempfile.mkdtemp(prefix="ggp-tournament-")))
    with folder.held():
        plan, games = _kept(file, words, folder) if new is None or folder.has_plan else new
        _check_files(folder, plan, games)
        found = asyncio.run(_played(folder, plan, games, _executor(plan, games, dask, concurrency), as_json))
        write_reports(found, folder.path, roles_of(games))
    _tell(found, folder, as_json)


@command.command("order", short_help="Order a tournament at a server.")
@click.argument("file", metavar="FILE.toml", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--server", metavar="URL", default="http://127.0.0.1:9148", show_default=True, help="Where it is played.")
@click.option("--token", envvar="GGP_TOKEN", help="What lets you in there, if anything must; GGP_TOKEN by default.")
def order(file: Path, server: str, token: str | None) -> None:
    """Order the tournament in FILE.toml at a server, which plays it; without a `name` it is called as the file.

    Prints its address in the API. Without `starts` in the file it begins when a host starts it.
    """
    called = json.dumps(clean_line(game_name_of(file.stem)), ensure_ascii=False)  # as TOML writes it, too
    fields = read_toml(file)
    name = "" if "name" in fields else f"name = {called}\n"
    text = name + file.read_text("utf-8-sig")
    address = asyncio.run(order_tournament(text, server.rstrip("/"), token))
    click.echo(address)
    if "starts" not in fields:
        page = address.replace("/api/v1/tournaments/", "/tournaments/")
        click.echo(f"it begins when you start it: on {page}, or by POST {address}/start", err=True)


@command.command("standings", short_help="Say how a tournament stands.")
@click.argument("folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def show_standings(folder: Path, as_json: bool) -> None:
    """Say how the tournament in FOLDER stands, which may be played just now; writes its reports anew."""
    found = TournamentFolder(folder)
    plan, _ = found.plan()
    games = _games(plan)
    so_far = progress_of(plan, found, _as_scheduled(games))
    write_reports(so_far, folder, roles_of(games))
    _tell(so_far, found, as_json)


def _tell(found: Progress, folder: TournamentFolder, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(summary(found), indent=2, ensure_ascii=False))
        return
    console = table_console()
    console.print(standings_table(table_of(found), console.width))
    for line in (verdict(found), sprt_line(found), shortage(found)):
        if line:
            click.echo(line)
    click.echo(f"report: {folder.path / HTML_FILE}")


def _kept(
    file: Path | None, words: Mapping[str, Any], folder: TournamentFolder
) -> tuple[TournamentPlan, dict[str, Game]]:
    """Return the plan of the folder, to which file and flags may only add rounds, with its games."""
    changes = _changes(words)
    kept, _ = folder.plan()
    if file is None:
        plan = plan_of(kept.model_dump() | changes, _FLAGS)
    else:
        drawn = {} if "seed" in read_toml(file) else {"seed": kept.seed}
        plan = read_plan(file, drawn | changes)
    plan = extended(kept, plan, folder.path)
    return plan, _games(plan)


def _new(file: Path | None, words: Mapping[str, Any], dask: str | None) -> tuple[TournamentPlan, dict[str, Game]]:
    """Return the plan that file and flags give, by which there are matches, with its games."""
    if file is None and not words["games"]:
        raise click.UsageError("name a tournament: FILE.toml, or --game GAME and --player NAME=SPEC")
    changes = _changes(words)
    plan = plan_of({"seed": new_seed(), **changes}, _FLAGS) if file is None else read_plan(file, changes or None)
    games = _games(plan)
    _check_matches(plan, games)
    for spec in plan.players.values() if dask is None else ():  # those of a cluster may be on its machines alone
        player_spec(spec)
    return plan, games


def _games(plan: TournamentPlan) -> dict[str, Game]:
    return {name: make_game(file.read()) for name, file in found_games(plan).items()}


def _changes(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the flags say of a plan."""
    found = {name: value for name, value in words.items() if value not in (None, ()) and name not in _READ}
    if words["format_"]:
        found["format"] = words["format_"]
    if words["games"]:
        found["games"] = list(words["games"])
    if words["players"]:
        found["players"] = _players(words["players"])
    if words["sprt"]:
        found["sprt"] = _sprt(words["sprt"])
    return found


_READ: Final = ("format_", "games", "players", "sprt")


def _players(texts: Sequence[str]) -> dict[str, str]:
    named = [_named(text) for text in texts]
    twice = next((name for name, n in Counter(name for name, _ in named).items() if n > 1), None)
    if twice is not None:
        raise click.UsageError(f"two players are called {twice}; name them: --player one={twice} --player two={twice}")
    return dict(named)


def _named(text: str) -> tuple[str, str]:
    """Return the name and the specification of a player; a specification alone is its own name, without passwords."""
    name, is_named, spec = text.partition("=")
    if not is_named or ":" in name or "/" in name:
        return without_passwords(text), text
    return name.strip(), spec.strip()


def _sprt(text: str) -> dict[str, float]:
    try:
        return {key.strip(): float(value) for key, value in (part.split("=") for part in text.split(","))}
    except ValueError as error:
        raise click.UsageError(f"--sprt wants values, as in --sprt elo0=0,elo1=20; {text!r} given") from error


def _check_matches(plan: TournamentPlan, games: Mapping[str, Game]) -> None:
    """Refuse a tournament in which not a single match would be played."""
    if not Progress(plan, _as_scheduled(games), (), ()).next_matches():
        n_players = len(plan.players)
        who = "one player" if n_players == 1 else f"{n_players} players"
        how = (
            "; --format score-table lets each play alone"
            if all(len(each) == 1 for each in roles_of(games).values())
            else ""
        )
        what = f"no match of {', '.join(games)} comes of a {plan.format} with {who}"
        raise click.UsageError(f"{what}; name more with --player NAME=SPEC{how}")


def _check_files(folder: TournamentFolder, plan: TournamentPlan, games: Mapping[str, Game]) -> None:
    """Keep the plan with the hashes of its files; one that is kept must have the same rules and players."""
    rules, players = {name: game.description.sha256 for name, game in games.items()}, player_hashes(plan)
    if folder.has_plan:
        kept, known = folder.plan()
        changed = [f"the rules of {name} are" for name, sha256 in known.items() if rules.get(name) != sha256]
        known = folder.player_hashes()
        if missing := sorted(known.keys() - players.keys()):
            what = f"the file {player_file(plan.players[missing[0]])} of {missing[0]} is not found from here"
            raise TournamentFolderError(folder.path, f"{what}; go on in the folder where it was begun, or put it back")
        changed += [f"the file of {name} is" for name, sha256 in known.items() if players.get(name) != sha256]
        if changed:
            what = f"{changed[0]} not as when it was begun; put it back, or begin another tournament with --out"
            raise TournamentFolderError(folder.path, what)
        if kept == plan:
            return
    folder.keep_plan(plan, rules, players)


def roles_of(games: Mapping[str, Game]) -> dict[str, tuple[str, ...]]:
    """Return the names of the roles that players have in each game."""
    return {name: tuple(map(str, played_roles(game))) for name, game in games.items()}


def _as_scheduled(games: Mapping[str, Game]) -> tuple[TournamentGame, ...]:
    try:
        return tuple(TournamentGame(name, len(played_roles(game))) for name, game in games.items())
    except ValueError as error:
        raise ConfigurationError(_FLAGS, str(error)) from error


@asynccontextmanager
async def _executor(
    plan: TournamentPlan, games: Mapping[str, Game], dask: str | None, concurrency: int | None
) -> AsyncIterator[MatchExecutor]:
    """Open what plays the matches: this machine, or the cluster at *dask*."""
    if dask is not None:
        cluster = importlib.import_module("server.arena.cluster").Cluster(dask, plan, games, concurrency)
        async with cluster as executor:
            yield executor
        return
    at_once = concurrency or MATCHES_PER_CORE * n_cores_here()
    processes = PlayerProcesses(plan.players, at_once)
    if processes.n_searching:
        from server.operation.warm_up import fill_cache  # noqa: PLC0415 -- large, and needed for searches alone

        with progress("making the compiled engine ready"):
            # else each player's process would compile the kernels in its first match
            await fill_cache(_tell_of_kernels)
    async with processes:
        yield LocalExecutor(plan, games, processes, n_cores_here(), at_once)


def _tell_of_kernels(line: str) -> None:
    """Print *line* where no bar of progress is shown."""
    if not sys.stderr.isatty():
        click.echo(line, err=True)


async def _played(
    folder: TournamentFolder,
    plan: TournamentPlan,
    games: Mapping[str, Game],
    opening: AbstractAsyncContextManager[MatchExecutor],
    is_quiet: bool,
) -> Progress:
    """Play; Ctrl-C or SIGTERM ends it, and it goes on from there when it is started again."""
    before = progress_of(plan, folder, _as_scheduled(games))
    if before.is_over:
        click.echo("this tournament is over: no match is left to play", err=True)
        return before
    live = LiveTable() if not is_quiet else None
    async with opening as executor:
        with live or nullcontext():
            arena = Arena(before, folder, executor, live or (lambda _: None))
            playing = asyncio.ensure_future(arena.play())
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, playing.cancel)
            try:
                return await playing
            except asyncio.CancelledError:
                click.echo(
                    f"interrupted; go on with: ggp tournament run --out {folder.path}\n"
                    f"reports of what is over: ggp tournament standings {folder.path}",
                    err=True,
                )
                raise click.exceptions.Exit(INTERRUPTED) from None
