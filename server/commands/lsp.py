"""`ggp lsp`: the editor server, which editors start."""

import importlib
import sys

import click

from gdl.extras import check_extra
from server.terminal.command_line import FiniteRange


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Speak on standard input and output. There is no other way; editors say so."
)
@click.option("--delay", "delay_s", metavar="SECONDS", type=FiniteRange(0, 60), default=0.3, show_default=True,
              help="How long after the last keystroke a file is checked.")  # fmt: skip
@click.pass_context
def command(context: click.Context, stdio: bool, delay_s: float) -> None:  # noqa: ARG001 -- editors pass --stdio
    """Serve an editor by the Language Server Protocol, on standard input and output.

    Editors start it; docs/editor.md says how to set them up. It needs the package pygls, which the extra `lsp` brings.
    """
    check_extra("pygls", "lsp", "the editor server")
    if sys.stdin.isatty():
        click.echo("ggp lsp: editors start this and speak to it; docs/editor.md says how. Ctrl-D ends it.", err=True)
    context.exit(importlib.import_module("server.editor.service").serve(delay_s))
