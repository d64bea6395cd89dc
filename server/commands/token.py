"""`ggp token`: who may use a game manager that others can reach, and as what."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

import click
from rich.table import Table

from server.access.authentication import is_valid
from server.access.issuing import MAX_CHARACTERS, MAX_DAYS, Issued, Issuing, Listed, check_first_tokens, read_class_list
from server.clock import now_ms
from server.commands.main import Commands
from server.operation.configuration import database_option
from server.principal import ROLE_WORDS, Role, role_named
from server.refusals import TokenFieldError
from server.sanitization import write_csv
from server.storage.accounts import TokenStore
from server.storage.address import read_address
from server.storage.database import Database
from server.storage.rows import TokenRow
from server.terminal.command_line import table_console

_Answer = TypeVar("_Answer")

_DATABASE: Final = database_option("That of the game manager; it may be running.")
_ROLE: Final = click.option("--role", type=click.Choice(ROLE_WORDS), default=Role.PLAYER.word, show_default=True,
                            help="What they may do, each all that the ones before it may: watch, register players, "
                            "order matches and upload games, issue tokens.")  # fmt: skip
_DAYS: Final = click.option("--days", type=click.IntRange(1, MAX_DAYS), help="How long it is valid; else for ever.")
_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=Commands)
def command() -> None:
    """Issue tokens to those who may use a game manager, and revoke them.

    A token is shown once, when it is issued: the database keeps only what it needs to recognise it.
    """


@command.command("issue")
@click.argument("name")
@_ROLE
@_DAYS
@click.option("--note", default="", help="What it is for; lists show it.")
@_JSON
@_DATABASE
def issue(name: str, role: str, days: int | None, note: str, as_json: bool, database: str) -> None:
    """Issue a token to NAME and print it."""
    _check_first(database, [Listed(name, 0, note=note)], role, days)

    async def issue_one(issuing: Issuing, _: TokenStore) -> None:
        issued = await issuing.issue(name, role_named(role), days, note)
        async with _withdrawn_if_unwritten(issuing, [issued]):
            _print_one(issued, as_json)

    _run(database, issue_one)


@command.command("list")
@click.option("--all", "with_all", is_flag=True, help="Also those that are revoked or expired.")
@_JSON
@_DATABASE
def list_tokens(with_all: bool, as_json: bool, database: str) -> None:
    """List the tokens, without their secrets."""
    at_ms = now_ms()
    kept = _run(database, lambda _, store: store.listed(), may_make=False)
    rows = [row for row in kept if with_all or is_valid(row, at_ms)]
    if as_json:
        click.echo(json.dumps([_shown(row) for row in rows], indent=2))
    else:
        table_console().print(_table(rows, at_ms))


@command.command("rotate", short_help="Print a new token in place of another.")
@click.argument("token_id", metavar="ID")
@_JSON
@_DATABASE
def rotate(token_id: str, as_json: bool, database: str) -> None:
    """Print a new token in place of the one with that ID, which opens nothing any more."""
    _print_one(_run(database, lambda issuing, _: issuing.rotate(token_id), may_make=False), as_json)


@command.command("revoke")
@click.argument("token_ids", metavar="ID...", nargs=-1, required=True)
@_DATABASE
def revoke(token_ids: tuple[str, ...], database: str) -> None:
    """Let tokens open nothing any more."""

    async def revoke_all(issuing: Issuing, _: TokenStore) -> None:
        for token_id in token_ids:
            await issuing.revoke(token_id)
            click.echo(f"revoked {token_id}")

    _run(database, revoke_all, may_make=False)


@command.command("import", short_help="Issue a token to everybody on a class list.")
@click.argument("file", type=click.File(encoding="utf-8-sig"))
@_ROLE
@_DAYS
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file, which only you can "
              "read, instead of printing.")  # fmt: skip
@_JSON
@_DATABASE
def import_list(file: TextIO, role: str, days: int | None, out: Path | None, as_json: bool, database: str) -> None:
    """Issue a token to everybody on a class list who has none, and print name,token for each.

    FILE (- is standard input) has a name on each line, or is CSV with a column `name` and perhaps `role` and `note`.
    """
    listed = read_class_list(_text(file))
    _check_first(database, listed, role, days)

    async def issue_all(issuing: Issuing, _: TokenStore) -> list[Issued]:
        issued = await issuing.issue_all(listed, role_named(role), days)
        async with _withdrawn_if_unwritten(issuing, issued):
            _print_all(issued, as_json, stream)
        return issued

    # The mark at the beginning has spreadsheets read names beyond ASCII as what they are.
    with _written(out, encoding="utf-8" if as_json else "utf-8-sig") as stream:
        issued = _run(database, issue_all)
    n_kept = len({each.name for each in listed}) - len(issued)
    click.echo(f"{len(issued)} issued" + (f"; {n_kept} had one already" if n_kept else ""), err=True)


def _check_first(address: str, listed: Sequence[Listed], role: str, days: int | None) -> None:
    """Refuse tokens that cannot be the first ones where there is no database at *address*, before it is made."""
    path = read_address(address).path
    if path is not None and not path.is_file():
        check_first_tokens(listed, role_named(role), days)


def _run(address: str, work: Callable[[Issuing, TokenStore], Awaitable[_Answer]], *, may_make: bool = True) -> _Answer:
    """Return what *work* makes of the tokens in the database at *address*, which is made if it *may_make* it."""

    async def run() -> _Answer:
        database = await Database.open(address, may_make=may_make, exclusive=False, say=partial(click.echo, err=True))
        try:
            store = TokenStore(database)
            return await work(Issuing(store), store)
        finally:
            await database.close()

    return asyncio.run(run())


@asynccontextmanager
async def _withdrawn_if_unwritten(issuing: Issuing, issued: Sequence[Issued]) -> AsyncIterator[None]:
    """Take the tokens *issued* back where they cannot be written, so that the command can be repeated."""
    try:
        yield
    except OSError:
        await issuing.withdraw(issued)
        raise


def _text(file: TextIO) -> str:
    try:
        text = file.read(MAX_CHARACTERS + 1)
    except UnicodeDecodeError as error:
        what = "the class list is not UTF-8: have the spreadsheet save it as 'CSV UTF-8', or the editor as UTF-8"
        raise TokenFieldError(what) from error
    if len(text) > MAX_CHARACTERS:
        raise TokenFieldError(f"a class list has at most {MAX_CHARACTERS:,} characters")
    return text


@contextmanager
def _written(path: Path | None, encoding: str) -> Iterator[TextIO]:
    """Yield standard output, or a new file at *path* that others cannot read and that is not left behind empty."""
    if path is None:
        yield sys.stdout
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise click.UsageError(f"{path} is there already, and its tokens may be in use; name another file") from error
    try:
        with os.fdopen(descriptor, "w", encoding=encoding) as stream:
            yield stream
    except BaseException:
        path.unlink()
        raise


def _print_one(issued: Issued, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_shown(issued.row) | {"token": str(issued.text)}, indent=2))
        return
    click.echo(str(issued.text))
    click.echo(f"for {issued.row.name} ({issued.row.role}); keep it, for it is shown this once", err=True)


def _print_all(issued: Sequence[Issued], as_json: bool, stream: TextIO) -> None:
    if as_json:
        json.dump([_shown(each.row) | {"token": str(each.text)} for each in issued], stream, indent=2)
        stream.write("\n")
    else:
        write_csv([("name", "token"), *((each.row.name, str(each.text)) for each in issued)], stream)
    stream.flush()


def _shown(row: TokenRow) -> dict[str, Any]:
    return {name: value for name, value in asdict(row).items() if name != "hash"}


def _table(rows: Sequence[TokenRow], at_ms: int) -> Table:
    """Return a table of tokens as they are at *at_ms*."""
    table = Table("id", "name", "role", "issued", "valid until", "last used", "note", box=None, pad_edge=False)
    for row in rows:
        until = "revoked" if row.revoked_ms else "for ever" if row.expires_ms is None else _day(row.expires_ms)
        is_over = row.revoked_ms is None and not is_valid(row, at_ms)
        table.add_row(
            row.id, row.name, row.role, _day(row.created_ms), f"{until} (over)" if is_over else until,
            "never" if row.used_ms is None else _day(row.used_ms), row.note,
        )  # fmt: skip
    return table


def _day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")
