"""The console script `ggp`: one command a module, loaded when it is called."""

from __future__ import annotations

import difflib
import importlib
import sys
from importlib.metadata import version
from typing import Final

import click

from gdl.errors import CallerError, GdlError, UnknownNameError

COMMANDS: Final = (
    "games", "show", "validate", "format", "lint", "lsp", "match", "serve", "token", "backup", "restore", "export",
    "player", "play", "replay", "conform", "trace", "compile", "bench", "generate", "check-player", "demo",
)  # fmt: skip
"""Every command; `check-player` lives in `server.commands.check_player` as the click command `command`."""

_LISTED: Final = {
    "game": ": it is neither in the library, which `ggp games` lists, nor the path of a file",
    "player": ": `ggp player --help` lists ours; others are a file, http://host:port or cmd:program",
}
"""What to do about a name that resembles no other."""

WRONG: Final = 1
USAGE: Final = 2


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click calls it so
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click calls it so
        if cmd_name not in COMMANDS:
            return None
        found = importlib.import_module(f"server.commands.{cmd_name.replace('-', '_')}").command
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=2)
            meant = f"; did you mean {' or '.join(near)}?" if near else "; `ggp --help` lists them"
            raise click.UsageError(f"no command {args[0]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("ggp"), prog_name="ggp")
def ggp() -> None:
    """General Game Playing: rules, matches, players."""


def main() -> None:
    """Run `ggp`; exit 0 when all is well, 1 when the thing checked is wrong, 2 on wrong usage."""
    try:
        ggp()
    except UnknownNameError as error:
        hint = "" if error.suggestions else _LISTED.get(error.kind, "")
        click.echo(f"ggp: {error}{hint}", err=True)
        sys.exit(USAGE)
    except CallerError as error:
        click.echo(f"ggp: {error}", err=True)
        sys.exit(USAGE)
    except GdlError as error:
        click.echo(f"ggp: {error}", err=True)
        sys.exit(WRONG)
    except OSError as error:
        click.echo(f"ggp: {error.filename or 'input or output'}: {error.strerror or error}", err=True)
        sys.exit(USAGE)
