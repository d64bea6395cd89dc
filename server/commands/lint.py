"""`ggp lint`: what the static checks find, and the fixes that are mechanical."""

from collections.abc import Sequence

import click
from rich.console import Console

from gdl.checks import check
from gdl.diagnostics import Diagnostic, Severity, Source
from gdl.editing.fixes import fix_rules, fixes
from server.terminal.progress import progress
from server.validating.report import report
from server.validating.rule_text import RuleText, check_one_input, read_rule_text
from server.validating.validation import Validation


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--fix", is_flag=True, help="Mend what is mechanical, in the files; all else in them stays as it is.")
@click.option("--diff", is_flag=True, help="Write nothing; print what --fix would change.")
@click.pass_context
def command(context: click.Context, files: tuple[str, ...], fix: bool, diff: bool) -> None:
    """Say what the static checks find in each FILE; exit with 1 if an error or a warning is left.

    What is mechanical can be mended: two spellings of a name that differ in case, rules without conditions, lone names
    in parentheses, rules of relations that nothing uses. FILE is the path of a rule file, the name of a game of the
    library, or - for standard input, which is mended to standard output.
    """
    check_one_input(files)
    texts = [read_rule_text(file) for file in files]
    left: list[Diagnostic] = []
    with progress("checking", len(texts)) as advance:
        for text in texts:
            left += _fix(text, diff=diff) if fix or diff else _tell(text)
            advance()
    context.exit(0 if all(found.severity is Severity.NOTE for found in left) else 1)


def _tell(text: RuleText) -> list[Diagnostic]:
    found = check(text.source)
    _show(text.source, found)
    n_fixable = sum(1 for _ in fixes(text.source, found))
    if n_fixable:
        click.echo(f"{text.source.name}: --fix mends {n_fixable} of {len(found)}; --diff shows how")
    return found


def _fix(text: RuleText, *, diff: bool) -> list[Diagnostic]:
    """Mend one file, or show what that changes; return what is left in it as it then stands."""
    fixed = fix_rules(text.source)
    if diff:
        text.show_difference(fixed.source.text)
        if fixed.left:
            shown = "it is" if len(fixed.left) == 1 else "they are"
            click.echo(f"{text.source.name}: --fix leaves {len(fixed.left)}; without --diff {shown} shown", err=True)
        return [*fixed.fixed, *fixed.left]
    if fixed.fixed or text.path is None:
        text.write(fixed.source.text)
    is_apart = text.path is None
    _show(fixed.source, fixed.left, is_apart=is_apart)
    if fixed.fixed:
        click.echo(f"{fixed.source.name}: {len(fixed.fixed)} mended", err=is_apart)
    return list(fixed.left)


def _show(source: Source, found: Sequence[Diagnostic], *, is_apart: bool = False) -> None:
    """Print what was found as `ggp validate` does; *is_apart* sends it to standard error."""
    console = Console(highlight=False, stderr=is_apart)
    for line in report([Validation(source, tuple(found), tuple(found))]):
        console.print(line, soft_wrap=True)
