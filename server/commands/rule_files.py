"""`ggp lint`, `ggp format` and `ggp diff`: rule files mended mechanically, laid out, and compared by meaning."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

from gdl.checks import check
from gdl.editing.differences import RuleChange, RuleDifference, changed_lines, difference
from gdl.editing.fixes import fix_rules, fixes
from gdl.editing.formatting import format_rules
from gdl.errors import RuleFileError
from gdl.games.library import find_game
from gdl.language.diagnostics import Diagnostic, Severity, Source
from gdl.language.rules import Description, Rule, read_rules
from server.terminal.progress import progress
from server.validating.rule_text import RuleText, read_rule_text

DIFFERENT: Final = 1
_COLOURS: Final = {"+": "green", "-": "red"}
_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~"}


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--fix", is_flag=True, help="Mend what is mechanical, in the files; all else in them stays as it is.")
@click.option("--diff", is_flag=True, help="Write nothing; print what --fix would change.")
@click.pass_context
def lint_command(context: click.Context, files: tuple[str, ...], fix: bool, diff: bool) -> None:
    """Say what the static checks find in each FILE; exit with 1 if an error or a warning is left.

    What is mechanical can be mended: two spellings of a name that differ in case, rules without conditions, lone names
    in parentheses, rules of relations that nothing uses. FILE is the path of a rule file, the name of a game of the
    library, or - for standard input, which is mended to standard output.
    """
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
        for line in text.difference(fixed.source.text):
            click.echo(line)
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
    from rich.console import Console  # noqa: PLC0415 -- `ggp format`, which editors call, reports nothing

    from server.validating.report import report  # noqa: PLC0415 -- as above
    from server.validating.validation import Validation  # noqa: PLC0415 -- as above

    console = Console(highlight=False, stderr=is_apart)
    for line in report([Validation(source, tuple(found), tuple(found))]):
        console.print(line, soft_wrap=True)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.pass_context
def format_command(context: click.Context, files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Lay each FILE out in the one way: facts on a line, rules with a condition a line, comments as they are.

    FILE is the path of a rule file, the name of a game of the library, or - for standard input, which is laid out
    to standard output. A file whose parentheses do not balance stays as it is, and the exit code is 1.
    """
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
        for line in text.difference(formatted):
            click.echo(line)
    if check and changes:
        click.echo(f"{text.source.name}: would be formatted", err=diff)
    elif not (check or diff):
        if changes or text.path is None:
            text.write(formatted)
        if changes and text.path is not None:
            click.echo(f"{text.source.name}: formatted")
    return changes


@click.command()
@click.argument("names", metavar="FILE FILE | GAME VERSION VERSION", nargs=-1)
@click.option("--server", metavar="URL", default="http://127.0.0.1:9148", show_default=True,
              help="Where the versions of GAME are.")  # fmt: skip
@click.option("--token", envvar="GGP_TOKEN", help="What lets you in there, if anything must; GGP_TOKEN by default.")
@click.option("--json", "as_json", is_flag=True, help="Print the difference as JSON.")
@click.pass_context
def diff_command(context: click.Context, names: tuple[str, ...], server: str, token: str | None, as_json: bool) -> None:
    """Say which rules differ by meaning: added, removed or changed.

    Names of variables, the order of rules and of conditions, comments and layout make no difference. FILE is a game of
    the library or a path; VERSION is the beginning of the SHA-256 of rules that a server keeps of GAME. Exits with 1
    where something differs.
    """
    if len(names) not in (2, 3):
        raise click.UsageError("name two files, or a game of a server and two versions of it", context)
    old, new = _local(names) if len(names) == 2 else _remote(names, server.rstrip("/"), token)
    found = difference(old, new)
    if as_json:
        click.echo(json.dumps(difference_json(found), indent=2, ensure_ascii=False))
    else:
        for line in _lines(found):
            click.echo(line)
    context.exit(DIFFERENT if found.changes else 0)


def _local(names: tuple[str, ...]) -> tuple[Description, Description]:
    first, second = (find_game(name).read() for name in names)
    return first, second


def _remote(names: tuple[str, ...], server: str, token: str | None) -> tuple[Description, Description]:
    """Return two versions of a game, as *server* keeps them.

    Raises:
        OrderRefusedError: it cannot be reached, or has no such versions.
        RuleFileError: what it keeps are no rules.
    """
    import asyncio  # noqa: PLC0415 -- only versions of a server need it

    from server.importing.fetching import texts_of_versions  # noqa: PLC0415 -- as above

    game, *versions = names
    first, second = asyncio.run(texts_of_versions(server, game, versions, token))
    return read_rules(first, f"{game}@{versions[0]}"), read_rules(second, f"{game}@{versions[1]}")


def difference_json(found: RuleDifference) -> dict[str, Any]:
    """Return *found* as a JSON object: each change with the texts and lines of the rule."""
    changes = [
        {"kind": one.kind, "relation": one.relation, "old": _place(one.old), "new": _place(one.new)}
        for one in found.changes
    ]
    return {"same": found.n_same, "changes": changes}


def _place(rule: Rule | None) -> dict[str, Any] | None:
    return None if rule is None else {"line": rule.span.line, "text": rule.span.text}


def _lines(found: RuleDifference) -> Iterator[str]:
    from server.validating.report import plain  # noqa: PLC0415 -- as above

    for change in found.changes:
        yield click.style(f"{_SIGNS[change.kind]} {change.kind} {_where(change)}: {plain(change.relation)}", bold=True)
        for line in lines_of(change):
            yield click.style(f"  {line[0]} {plain(line[1:])}", fg=_COLOURS.get(line[0]))
    counts = ", ".join(f"{len(found.of_kind(kind)):,} {kind}" for kind in _SIGNS)
    yield f"{counts}, {found.n_same:,} the same"


def _where(change: RuleChange) -> str:
    lines = [str(rule.span.line) for rule in (change.old, change.new) if rule is not None]
    return f"line {' -> '.join(lines)}"


def lines_of(change: RuleChange) -> list[str]:
    """Return the lines of the rule, each with what became of it: `-`, `+` or a blank before it."""
    old, new = ([] if rule is None else rule.span.text.split("\n") for rule in (change.old, change.new))
    return changed_lines(old, new)
