"""`ggp lsp`: the editor server, which editors start."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import click


@click.command(short_help="Serve an editor: diagnostics, hover, definitions, rename, completion.")
@click.option(
    "--stdio", is_flag=True, help="Speak on standard input and output. There is no other way; editors say so."
)
@click.option("--delay", "delay_s", metavar="SECONDS", type=click.FloatRange(0, 60), default=0.3, show_default=True,
              help="How long after the last keystroke a file is checked.")  # fmt: skip
@click.pass_context
def command(context: click.Context, stdio: bool, delay_s: float) -> None:  # noqa: ARG001 -- editors pass --stdio
    """Serve an editor by the Language Server Protocol, on standard input and output.

    Editors start it; docs/editor.md says how to set them up. It needs `pip install 'ggp[lsp]'`.
    """
    if importlib.util.find_spec("pygls") is None:
        raise click.UsageError("the editor server needs pygls: pip install 'ggp[lsp]'", context)
    if sys.stdin.isatty():
        click.echo("ggp lsp: editors start this and speak to it; docs/editor.md says how. Ctrl-D ends it.", err=True)
    context.exit(importlib.import_module("server.editor.service").serve(delay_s))
