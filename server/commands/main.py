"""The console script `ggp`: one command a module, loaded when it is called."""

import gc
import importlib
import io
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from gdl.errors import CallerError, GdlError, UnknownNameError

COMMANDS: Final = {
    "games": "List the games of the library.",
    "import": "Bring in the rule files of a folder, a ZIP archive or an address as games.",
    "show": "Say what a game is and draw its first position.",
    "validate": "Say what is wrong with rule files, and where.",
    "format": "Lay rule files out in the one way.",
    "lint": "Say what is wrong in rule files, and mend what a machine can.",
    "lsp": "Serve an editor: diagnostics, hover, definitions, rename, completion.",
    "diff": "Say which rules of two rule files differ by meaning.",
    "match": "Play one match between any players, and write its record.",
    "tournament": "Play a tournament between any players, with ratings and how sure they are.",
    "ratings": "Rate the players of match records.",
    "serve": "Run the server: matches, players, web pages and a JSON API.",
    "mcp": "Serve games, rules and matches as tools for language models.",
    "warm-up": "Compile the kernels of engine and players, once on a machine.",
    "token": "Issue, list, rotate and revoke the tokens of a game manager.",
    "backup": "Write everything that a server keeps to one file.",
    "restore": "Make a database hold what a backup holds.",
    "export": "Write the records of all matches to files.",
    "player": "Run the player SPEC until Ctrl-C.",
    "play": "Play GAME in the terminal against our players.",
    "replay": "Step through a match record and verify it by the rules.",
    "conform": "Compare an engine with a reference trace, step by step.",
    "trace": "Write random plays of a game for `ggp conform` to replay.",
    "compile": "Show what the compiler makes of a game.",
    "perft": "Count the ways in which a game can go, depth by depth.",
    "bench": "Measure how fast games are played at random.",
    "train": "Learn a game from its rules by self-play.",
    "generate": "Write the rule file of a game that comes in any size.",
    "check-player": "Play every message, good and odd, at a player, and report what it gets wrong.",
    "demo": "Watch two players play Amazons over HTTP.",
}
"""Every command with its line of `ggp --help`, which loads none; `check-player` is `server.commands.check_player`."""

_LISTED: Final = {
    "game": ": it is neither in the library, which `ggp games` lists, nor the path of a file",
    "player": ": `ggp player --help` lists ours; others are a file, http://host:port or cmd:program",
}
"""What to do about a name that resembles no other."""
_FOLDER: Final = ": that is a folder without a rule file of its name; name one of its files"
_HIDDEN: Final = ": if it is the path of a file, you have no permission to look into its folder"

_ELSEWHERE: Final = "ggp runs on Linux; on Windows use WSL, on macOS a container (docker)"
_REFUSED: Final = "the system gives no more {}: end other programs, or raise the limit ({}, or a container's)"
_NO_FOLDER: Final = (
    "no folder for temporary files can be written: name one that can, and that has room, with the variable TMPDIR"
)
_NO_TEMPORARY: Final = "No usable temporary directory"
"""What Python says where it finds none, with a list of those that it has tried."""
_NO_THREAD: Final = "can't start new thread"
"""What Python says of a thread that the system refuses, in an error of no class of its own."""

WRONG: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 128 + signal.SIGINT
"""As shells have it."""
UNREAD: Final = 128 + signal.SIGPIPE
"""Where the reader of what is printed is gone, as shells have it."""


def _installed_version() -> str:
    """Return the version of the distribution, which the name of its folder of metadata has.

    To read the metadata as a library does takes as long as all else of `ggp --version`.

    *Source*: packaging.python.org, Recording installed projects.
    """
    for folder in sys.path:
        for found in Path(folder).glob("ggp-[0-9]*.dist-info"):
            return found.stem.partition("-")[2]
    from importlib.metadata import version  # noqa: PLC0415 -- slow, and seldom needed

    return version("ggp")


def _print_version(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        click.echo(f"ggp, version {_installed_version()}")
        context.exit()


class Commands(click.Group):
    """A command with commands of its own, of which a misspelt one gets the nearest names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command as click does, or say what was meant."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            import difflib  # noqa: PLC0415 -- what only a mistake needs is loaded then

            near = difflib.get_close_matches(args[0], known, n=2)
            group = "ggp" if ctx.parent is None else f"ggp {ctx.info_name}"
            meant = f"; did you mean {' or '.join(near)}?" if near else f"; `{group} --help` lists them"
            raise click.UsageError(f"no command {args[0]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)


class _AllCommands(Commands):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click calls it so
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 -- click calls it so
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click calls it so
        if cmd_name not in COMMANDS:
            return None
        found = importlib.import_module(f"server.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(found, click.Command)
        if not gc.isenabled():  # in a process of `ggp`: modules last, and are looked at no more
            gc.freeze()
            gc.enable()
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; neither Ctrl-C nor a reader of its output that is gone is a verdict on what it looks at."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("ggp: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            discard_output()
            ctx.exit(UNREAD)
        except SystemExit as error:
            if not isinstance(error.__context__, BrokenPipeError):  # as rich ends the process then
                raise
            ctx.exit(UNREAD)


@click.group(cls=_AllCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
              help="Show the version and exit.")  # fmt: skip
def ggp() -> None:
    """General Game Playing: rules, matches, players."""


def discard_output() -> None:
    """Send nowhere what standard output did not take, for it would be flushed once more at the end of the process."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _complete_streams() -> None:
    """Open standard streams that are closed, on nothing; write `?` for what an encoding lacks; forget sizes of 0."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Never closed: whatever else is opened would take the stream's number, and get its text.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 -- for the whole process
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors="replace")  # Python chooses the latter in the locale C
    for variable in ("COLUMNS", "LINES"):
        if os.environ.get(variable) == "0":  # not known; rich would write nothing on no columns
            del os.environ[variable]


def main() -> None:
    """Run `ggp`; exit 0 when all is well, 1 when the thing checked is wrong, 2 on wrong usage.

    It exits with 130 on Ctrl-C, and with 141 once what it prints has no reader.
    """
    _complete_streams()
    if sys.platform != "linux":
        sys.stderr.write(f"ggp: {_ELSEWHERE}\n")
        sys.exit(USAGE)
    gc.disable()  # until the command is loaded: to look for garbage takes a quarter of loading `serve`
    try:
        ggp()
    except UnknownNameError as error:
        complain(f"{error}{_hint(error)}")
        sys.exit(USAGE)
    except CallerError as error:
        hint = getattr(error, "hint", "")  # of a request that a server would refuse
        complain(f"{error}\nhint: {hint}" if hint else str(error))
        sys.exit(USAGE)
    except GdlError as error:
        complain(str(error))
        sys.exit(WRONG)
    except OSError as error:
        words = f"{error.filename or 'input or output'}: {error.strerror or error}"
        complain(_NO_FOLDER if _NO_TEMPORARY in str(error) else words)
        sys.exit(USAGE)
    except MemoryError:
        complain(_REFUSED.format("memory", "ulimit -v"))
        sys.exit(USAGE)
    except RuntimeError as error:
        if str(error) != _NO_THREAD:
            raise
        complain(_REFUSED.format("threads", "ulimit -u"))
        sys.exit(USAGE)


def _hint(error: UnknownNameError) -> str:
    """Return what to do about a name that is unknown, beyond the names that resemble it."""
    try:
        if error.kind == "game" and Path(error.name).is_dir():
            return _FOLDER
    except PermissionError:
        return _HIDDEN
    except OSError:  # longer than a path may be
        pass
    return "" if error.suggestions else _LISTED.get(error.kind, "")


def complain(message: str) -> None:
    """Print *message*, which may quote files of others, on standard error, without orders to the terminal."""
    from gdl.diagnostics import escaped  # noqa: PLC0415 -- only an error needs it

    lines = "\n".join(map(escaped, message.split("\n")))
    click.echo(f"ggp: {lines}", err=True)
