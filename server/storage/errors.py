"""What can go wrong with the database and with what it holds."""

from __future__ import annotations

from typing import ClassVar

from gdl.errors import CallerError, derived
from server.errors import ServerError


class StorageError(ServerError):
    """The database failed: `database` is its address without a password."""

    template: ClassVar[str] = "the database {database}: {reason}"
    database: str
    reason: str


class DatabaseOpenError(StorageError, CallerError):
    """The database cannot be opened: it is not there, does not answer, or holds something else."""


class DatabaseLockedError(DatabaseOpenError):
    """Another process serves from this database, which only one may at a time."""

    reason: str = derived(
        "another server uses it; stop that one first, or name another database (several share PostgreSQL)"
    )


class DatabaseVersionError(DatabaseOpenError):
    """The tables are of another version of this program than the one that runs."""

    reason: str = derived("its tables are {what} (revision {revision}; this is {known})")
    found: str
    known: str

    @property
    def what(self) -> str:
        """The age of the tables beside that of this program, and what brings the two together."""
        if not self.found:
            return "not there yet: `ggp serve` makes them"
        if self.found > self.known:
            return "of a newer version of ggp: install that one, or restore a backup that this one made"
        return "of an older version of ggp: `ggp serve` brings them up to date, or `ggp restore` those of a backup"

    @property
    def revision(self) -> str:
        """The revision that was found, as text."""
        return self.found or "none"


class TargetExistsError(CallerError):
    """The target of an export or a backup exists and is not empty, and `--force` was not given."""

    template: ClassVar[str] = "{target} is there already, and not empty; name another one, or replace it with --force"
    target: str


class OwnFileError(CallerError):
    """The target of a backup is the database that is backed up, or a file that belongs to it."""

    template: ClassVar[str] = "{target} belongs to the database itself; name another file for the backup"
    target: str


class LostMatchError(StorageError):
    """The match is no longer this process's: another one took it over, or it was deleted."""

    reason: str = derived("match {match_id} is played by another server, or was deleted")
    match_id: str


class UnwritableError(StorageError):
    """What happened in a match cannot be written, although the database can be: it is the match that is wrong."""

    match_id: str


class JournalGapError(UnwritableError):
    """An event of a match is not the next one of its journal: what the process knows of the match is not so any more.

    Attributes:
        last: the number of the journal's last event, -1 where it has none.
        number: that of the event.
    """

    reason: str = derived("event {number} of match {match_id} does not follow event {last} of its journal")
    last: int
    number: int


class DamagedRowError(StorageError):
    """A row holds what no version of this program writes; `key` names it within its `table`.

    Attributes:
        what: what of it is damaged, and how.
    """

    reason: str = derived("the row of {key} in {table} is damaged: {what}")
    table: str
    key: str
    what: str
