"""`ggp lsp`: the editor server, which editors start."""

from __future__ import annotations

import importlib
import importlib.util
import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from urllib.parse import urlsplit
from urllib.request import url2pathname

import click


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Speak on standard input and output. There is no other way; editors say so."
)
@click.option("--delay", "delay_s", metavar="SECONDS", type=click.FloatRange(0, 60), default=0.3, show_default=True,
              help="How long after the last keystroke a file is checked.")  # fmt: skip
@click.pass_context
def command(context: click.Context, stdio: bool, delay_s: float) -> None:  # noqa: ARG001 -- editors pass --stdio
    """Serve an editor by the Language Server Protocol, on standard input and output.

    Editors start it; docs/editor.md says how to set them up. It needs the package pygls, which the extra `lsp` brings.
    """
    if importlib.util.find_spec("pygls") is None:
        raise click.UsageError(f"the editor server needs pygls: {install_command()}", context)
    if sys.stdin.isatty():
        click.echo("ggp lsp: editors start this and speak to it; docs/editor.md says how. Ctrl-D ends it.", err=True)
    context.exit(importlib.import_module("server.editor.service").serve(delay_s))


def install_command(extra: str = "lsp") -> str:
    """Return how pip adds *extra*, by the way in which this program was installed."""
    try:
        origin_text = distribution("ggp").read_text("direct_url.json")
    except PackageNotFoundError:
        return f"pip install -e '.[{extra}]', in the folder of pyproject.toml"
    if origin_text is None:  # from a package index
        return f"pip install 'ggp[{extra}]'"
    origin = json.loads(origin_text)
    if "dir_info" not in origin:
        return f"pip install 'ggp[{extra}] @ {origin['url']}'"
    option = "-e " if origin["dir_info"].get("editable") else ""
    return f"pip install {option}{shlex.quote(url2pathname(urlsplit(origin['url']).path) + f'[{extra}]')}"
