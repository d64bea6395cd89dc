"""Everything that can go wrong in `server`, each error saying whose fault it is and carrying its data.

`MatchRecordError` is the record's fault, `gdl.errors.CallerError` the caller's; what a remote player does wrong never
raises: it is an event of the match.
"""

from __future__ import annotations

from pathlib import Path

from gdl.errors import CallerError, GdlError


class ServerError(GdlError):
    """The root of the errors that are this package's own."""


class MatchRecordError(ServerError, ValueError):
    """A file is no match record, or a record contradicts itself; `where` names the place in it."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message, where)
        self.message, self.where = message, where

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class SignatureFormatError(MatchRecordError):
    """The public key or the signature of a record is missing or not in the public format; `where` is its key."""

    def __init__(self, key: str) -> None:
        super().__init__("missing, or not in the public format", key)
        self.key = key

    def __reduce__(self) -> tuple[type[SignatureFormatError], tuple[str]]:
        return (SignatureFormatError, (self.key,))


class KeyFileError(CallerError):
    """The file that should keep the key for signatures cannot be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path} keeps no key for signatures ({self.reason}); name a file that is not there, and it is made"
