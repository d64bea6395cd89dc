"""`ggp diff`: which rules of two rule files differ by meaning, or of two versions of a game at a server."""

import json
from collections.abc import Iterator
from typing import Any, Final

import click

from gdl.diagnostics import escaped
from gdl.editing.differences import RuleChange, RuleDifference, changed_lines, difference
from gdl.errors import RuleFileError
from gdl.games.library import find_game
from gdl.language.rules import Description, read_rules
from gdl.language.syntax import Rule
from server.commands.main import USAGE, complain

DIFFERENT: Final = 1
_COLOURS: Final = {"+": "green", "-": "red"}
_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~"}


@click.command()
@click.argument("names", metavar="FILE FILE | GAME VERSION VERSION", nargs=-1)
@click.option("--server", metavar="URL", default="http://127.0.0.1:9148", show_default=True,
              help="Where the versions of GAME are.")  # fmt: skip
@click.option("--token", envvar="GGP_TOKEN", help="What lets you in there, if anything must; GGP_TOKEN by default.")
@click.option("--json", "as_json", is_flag=True, help="Print the difference as JSON.")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], server: str, token: str | None, as_json: bool) -> None:
    """Say which rules differ by meaning: added, removed or changed.

    Names of variables, the order of rules and of conditions, comments and layout make no difference. FILE is a game of
    the library or a path; VERSION is the beginning of the SHA-256 of rules that a server keeps of GAME. Exits with 0
    where nothing differs, with 1 where something does, and with 2 where that cannot be said: a file is no rules.
    """
    if len(names) not in (2, 3):
        raise click.UsageError("name two files, or a game of a server and two versions of it", context)
    try:
        old, new = _local(names) if len(names) == 2 else _remote(names, server.rstrip("/"), token)
    except RuleFileError as error:
        complain(str(error))
        context.exit(USAGE)
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

    from server.client import texts_of_versions  # noqa: PLC0415 -- as above

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
    for change in found.changes:
        yield click.style(
            f"{_SIGNS[change.kind]} {change.kind} {_where(change)}: {escaped(change.relation)}", bold=True
        )
        for line in lines_of(change):
            yield click.style(f"  {line[0]} {escaped(line[1:])}", fg=_COLOURS.get(line[0]))
    counts = ", ".join(f"{len(found.of_kind(kind)):,} {kind}" for kind in _SIGNS)
    yield f"{counts}, {found.n_same:,} the same"


def _where(change: RuleChange) -> str:
    lines = [str(rule.span.line) for rule in (change.old, change.new) if rule is not None]
    return f"line {' -> '.join(lines)}"


def lines_of(change: RuleChange) -> list[str]:
    """Return the lines of the rule, each with what became of it: `-`, `+` or a blank before it."""
    old, new = ([] if rule is None else rule.span.text.split("\n") for rule in (change.old, change.new))
    return changed_lines(old, new)
