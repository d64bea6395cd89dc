"""`ggp format`: rule files in the one layout."""

import click

from gdl.editing.formatting import format_rules
from gdl.errors import RuleFileError
from server.terminal.progress import progress
from server.validating.rule_text import RuleText, check_one_input, read_rule_text


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.pass_context
def command(context: click.Context, files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Lay each FILE out in the one way: facts on a line, rules with a condition a line, comments as they are.

    FILE is the path of a rule file, the name of a game of the library, or - for standard input, which is laid out
    to standard output. A file whose parentheses do not balance stays as it is, and the exit code is 1.
    """
    check_one_input(files)
    texts = [read_rule_text(file) for file in files]
    is_wrong = False
    with progress("formatting", len(texts)) as advance:
        for text in texts:
            try:
                changes = _format(text, check=check, diff=diff)
            except RuleFileError as error:
                click.echo(f"ggp: {error}", err=True)
                is_wrong = True
            else:
                is_wrong |= check and changes
            advance()
    context.exit(1 if is_wrong else 0)


def _format(text: RuleText, *, check: bool, diff: bool) -> bool:
    """Format one file as the options say; return whether that changes it."""
    formatted = format_rules(text.source)
    changes = formatted != text.source.text
    if diff:
        text.show_difference(formatted)
    if check and changes:
        click.echo(f"{text.source.name}: would be formatted", err=diff)
    elif not (check or diff):
        if changes or text.path is None:
            text.write(formatted)
        if changes and text.path is not None:
            click.echo(f"{text.source.name}: formatted")
    return changes
