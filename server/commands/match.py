"""`ggp match`: play one match between players of ours, players elsewhere, and programs."""

import asyncio
import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click

from gdl.engines import make_game
from gdl.files import MAX_NAME_BYTES, shortened
from gdl.game import Game, Role
from gdl.games.library import find_game
from gdl.wire.messages import Dialect
from server.commands.main import INTERRUPTED, WRONG, discard_output
from server.hosting.runner import MatchRunner
from server.links.player_spec import PlayerSpec, player_spec
from server.links.seating import PlayerReference, check_n_roles, check_roles, seated, seeded, with_distinct_names
from server.match import chance, setup
from server.match.driver import Observer
from server.match.profiles import PROFILE_WORDS, Case, Profile, changed_profile
from server.match.referee import LocalReferee
from server.records import entries, journal, signature
from server.terminal.command_line import FiniteRange
from server.terminal.commentary import Commentary, Waiting, drawer, error_lines, is_screen, result_line, screen_paint
from server.terminal.progress import progress

RECORDS: Final = Path("records")
_CLOCK: Final = click.IntRange(1, setup.MAX_CLOCK_S)


@click.command()
@click.argument("game", metavar="GAME")
@click.option("--player", "-p", "players", metavar="ROLE=SPEC", multiple=True, help="Who plays ROLE; once per role.")
@click.option("--start-clock", type=_CLOCK, default=10, show_default=True, help="Seconds to prepare.")
@click.option("--play-clock", type=_CLOCK, default=5, show_default=True, help="Seconds for each move.")
@click.option("--grace", type=FiniteRange(0, 60), default=1.0, show_default=True, help="Seconds added to clocks.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Decides chance, what "
              "replaces illegal moves, and what players of ours draw, but for thinking by the clock.")  # fmt: skip
@click.option("--record", "record_path", type=click.Path(path_type=Path, dir_okay=False), help="Where the record goes; "
              "a file of its own in ./records/ by default.")  # fmt: skip
@click.option("--sign", "key_path", metavar="KEYFILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Sign the record with the key in this file, which is made if it is not there.")  # fmt: skip
@click.option("--scramble", is_flag=True, help="Give the players nonsense for the game's names.")
@click.option("--dialect", type=click.Choice([d.value for d in Dialect if d is not Dialect.GDL1]),
              default=Dialect.GDL2.value, show_default=True, help="The form of PLAY in GDL-II.")  # fmt: skip
@click.option("--case", type=click.Choice([case.value for case in Case]), default=Case.AS_IS.value,
              show_default=True, help="The case in which rules and moves are sent.")  # fmt: skip
@click.option("--profile", "profiles", metavar="ROLE=WORDS", multiple=True, help="Another way to speak with the player "
              f"of ROLE: words from {', '.join(PROFILE_WORDS)}, separated by commas.")  # fmt: skip
@click.option("--substitute", type=click.Choice([way.value for way in setup.Substitute]),
              default=setup.Substitute.RANDOM.value, show_default=True,
              help="The legal move that replaces an illegal or late one.")  # fmt: skip
@click.option("--max-roles", type=click.IntRange(1), default=setup.MAX_ROLES, show_default=True, help="How many roles "
              "the game may have: each player of ours is a process, but for random and legal.")  # fmt: skip
@click.option("--draw/--no-draw", default=None, help="Draw the board; by default on a terminal only.")
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON, and nothing else.")
@click.pass_context
def command(
    context: click.Context, /, game: str, record_path: Path | None, key_path: Path | None, **words: Any
) -> None:
    """Play one match of GAME, which is a name in the library or the path of a rule file.

    SPEC says who plays ROLE: the address of a player (http://host:port); one of our players, as `ggp player` takes it
    (mcts, mcts:playouts=200, my_player.py), which is started for the match; or a program that reads messages on
    standard input and answers on standard output (cmd:./my-player, or cmd+legal: to get the legal moves too).
    A role that is left out is played by `random`.

    Exits with 0 when the match was played to its end, with 1 when it broke off, and with 130 when Ctrl-C came before;
    the last lines tell the result and where the record is.
    """
    file = find_game(game)
    rules = make_game(file.read())
    named = _named_players(words["players"])
    check_n_roles(rules, words["max_roles"])
    players = seated(rules, named)
    if words["seed"] is not None:
        players = seeded(players, words["seed"])
    agreed = _setup(rules, players, words)
    key = None if key_path is None else signature.kept_key(key_path)
    path = _made_room(record_path or RECORDS / _record_name(file.name, agreed.match_id))
    is_drawn = is_screen() if words["draw"] is None else bool(words["draw"])
    draw = drawer(rules.description, file, screen_paint()) if is_drawn else None
    circumstances = entries.Circumstances(file.name, chance.new_random_token())
    tell = _Teller()
    try:
        with (
            closing(journal.FileRecorder(circumstances, path, key)) as recorder,
            progress(f"playing {file.name}") if words["as_json"] else Waiting() as waiting,
        ):
            observers = (waiting, Commentary(tell, draw)) if isinstance(waiting, Waiting) else ()
            runner = MatchRunner(agreed, players, LocalReferee(rules), recorder)
            record, is_interrupted = asyncio.run(_played(runner, observers))
    except OSError as error:
        raise click.ClickException(f"the match cannot be recorded in {path}: {error.strerror or error}") from error
    if words["as_json"]:
        tell(json.dumps(summary(record) | {"record": str(path)}, indent=2))
    else:
        for line in _end_lines(rules, record, path):
            tell(line)
    context.exit(0 if record["isCompleted"] else INTERRUPTED if is_interrupted else WRONG)


def _end_lines(game: Game, record: dict[str, Any], path: Path) -> Iterator[str]:
    """Yield the last lines: what players did wrong, the result, and where the record is."""
    yield from error_lines(game.roles, record["errors"], record.get("x-failures", ()))
    if record["isCompleted"]:
        yield result_line(zip(game.roles, record["x-goals"], strict=True))
    yield f"record: {path}"


class _Teller:
    """Prints lines until their reader is gone, or there is no room for them; the match goes on then."""

    def __init__(self) -> None:
        self._has_listener = True

    def __call__(self, line: str) -> None:
        if not self._has_listener:
            return
        try:
            click.echo(line)
        except OSError as error:
            self._has_listener = False
            discard_output()
            if not isinstance(error, BrokenPipeError):
                click.echo(f"ggp: standard output: {error.strerror or error}; the match goes on", err=True)


def _setup(game: Game, players: Mapping[Role, PlayerReference], words: dict[str, Any]) -> setup.MatchSetup:
    """Return what is agreed on with *players* by the options of the command."""
    profile = Profile(Dialect(words["dialect"]), Case(words["case"]), words["grace"], words["scramble"])
    named = dict(_by_role(text, "--profile", "white=upper,grace:2") for text in words["profiles"])
    profiles = {role: changed_profile(profile, text) for role, text in named.items()}
    check_roles(game, profiles)
    return setup.MatchSetup(
        tuple(player.seat(role, profiles.get(str(role), profile)) for role, player in players.items()),
        words["start_clock"],
        words["play_clock"],
        seed=chance.new_seed() if words["seed"] is None else words["seed"],
        substitute=setup.Substitute(words["substitute"]),
    )


def _named_players(texts: Sequence[str]) -> dict[str, PlayerSpec]:
    specs: dict[str, PlayerSpec] = {}
    for text in texts:
        role, spec = _by_role(text, "--player", "white=mcts")
        if role in specs:
            raise click.UsageError(f"two players for {role}; each role has one")
        specs[role] = player_spec(spec)
    return with_distinct_names(specs)


def _by_role(text: str, option: str, example: str) -> tuple[str, str]:
    role, is_given, value = text.partition("=")
    if not is_given:
        raise click.UsageError(f"{option} wants ROLE and what it gets, as in {option} {example}; {text!r} given")
    return role.strip(), value.strip()


def _record_name(game: str, match_id: str) -> str:
    """Return a name for the record of a match of *game* that is no other's, and leaves room for that of its journal."""
    ending = f".{match_id.rpartition('.')[2]}.json"
    return shortened(game, MAX_NAME_BYTES - len(ending + journal.SUFFIX)) + ending


def _made_room(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"no record can be written in {path.parent}: {error.strerror}") from error
    return path


async def _played(match: MatchRunner, observers: Sequence[Observer]) -> tuple[dict[str, Any], bool]:
    """Play, and return the record and whether the match was interrupted.

    The first Ctrl-C or SIGTERM aborts the match and tells its players, a second one ends it at once.
    """
    loop, playing = asyncio.get_running_loop(), asyncio.ensure_future(match.play(observers))
    reasons = ["interrupted"]

    def interrupt() -> None:
        if reasons:
            click.echo("interrupted: aborting the match; Ctrl-C again ends at once", err=True)
            match.abort(reasons.pop())
        else:
            playing.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        return await playing, not reasons
    except asyncio.CancelledError:
        raise click.exceptions.Exit(INTERRUPTED) from None


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a script wants to know of a match: its id, how it ended, goals by role, steps, errors by role."""
    roles, goals = record["x-roles"], record.get("x-goals") or []
    errors = [[step[index] for step in record["errors"] if step[index]] for index in range(len(roles))]
    return {
        "matchId": record["matchId"],
        "game": record["x-game"],
        "how": record.get("x-end", {}).get("how", "running"),
        "result": dict(zip(roles, goals, strict=False)),
        "steps": len(record["moves"]),
        "errors": dict(zip(roles, errors, strict=True)),
        "failures": {
            role: [step[index] for step in record.get("x-failures", ()) if step[index]]
            for index, role in enumerate(roles)
        },
    }
