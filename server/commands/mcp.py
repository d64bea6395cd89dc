"""`ggp mcp`: the library and the engines as tools for language models, by the Model Context Protocol."""

from importlib.metadata import version

import click

from gdl.extras import check_extra


@click.command()
def command() -> None:
    """Serve tools for language models on standard input and output, by the Model Context Protocol.

    They list and show games, validate rules, show positions with their legal moves and outcomes, and play a role of a
    match against players of ours. A program that speaks the protocol starts this command by itself:
    name it `ggp mcp` in its settings. Needs the extra `llm`; without it the command says how that is installed.
    """
    check_extra("mcp", "llm")
    from server.model_context.service import model_context_server  # noqa: PLC0415 -- it needs an extra

    model_context_server(version("ggp")).run()
