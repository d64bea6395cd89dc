"""What can go wrong with a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdl.errors import CallerError
from server.errors import ServerError

if TYPE_CHECKING:
    pass


class StorageError(ServerError):
    """The database failed: `database` is its address without a password."""

    def __init__(self, database: str, reason: str) -> None:
        super().__init__(database, reason)
        self.database, self.reason = database, reason

    def __str__(self) -> str:
        return f"the database {self.database}: {self.reason}"


class DatabaseOpenError(StorageError, CallerError):
    """The database cannot be opened: it is not there, nobody answers, or it holds something else."""


class DatabaseLockedError(DatabaseOpenError):
    """Another process serves from this database, which only one may at a time."""

    def __init__(self, database: str) -> None:
        super().__init__(
            database, "another server uses it; stop that one first, or name another database (several share PostgreSQL)"
        )

    def __reduce__(self) -> tuple[type[DatabaseLockedError], tuple[str]]:
        return (DatabaseLockedError, (self.database,))


class DatabaseVersionError(DatabaseOpenError):
    """The tables are of another version of this program than the one that runs."""

    def __init__(self, database: str, found: str, known: str) -> None:
        newer = found > known
        what = "of a newer version of ggp: install that one" if newer else "of an older version, and may not be changed"
        super().__init__(database, f"its tables are {what} (revision {found or 'none'}; this is {known})")
        self.found, self.known = found, known

    def __reduce__(self) -> tuple[type[DatabaseVersionError], tuple[str, str, str]]:
        return (DatabaseVersionError, (self.database, self.found, self.known))


class TargetExistsError(CallerError):
    """What should be written is there already, and nobody said that it may be replaced."""

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target

    def __str__(self) -> str:
        return f"{self.target} is there already, and not empty; name another one, or replace it with --force"


class LostMatchError(StorageError):
    """The match is no longer this process's: another one took it over, or it was deleted."""

    def __init__(self, database: str, match_id: str) -> None:
        super().__init__(database, f"match {match_id} is played by another server, or was deleted")
        self.match_id = match_id

    def __reduce__(self) -> tuple[type[LostMatchError], tuple[str, str]]:
        return (LostMatchError, (self.database, self.match_id))
