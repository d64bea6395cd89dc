"""What can go wrong with journals, match records and their signatures.

`MatchRecordError` is the record's fault, `gdl.errors.CallerError` the caller's.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from gdl.errors import CallerError, derived
from server.errors import ServerError


class MatchRecordError(ServerError, ValueError):
    """A file is no match record, or a record contradicts itself; `where` names the place in it."""

    template: ClassVar[str] = "{place}{message}"
    message: str
    where: str = ""

    @property
    def place(self) -> str:
        """The place with a colon, or nothing where there is none."""
        return self.where and f"{self.where}: "


class SignatureFormatError(MatchRecordError):
    """The public key or the signature of a record is missing or not in the public format; `where` is its key."""

    message: str = derived("missing, or not in the public format")
    where: str = derived("{key}")
    key: str


class RecordDiffersError(MatchRecordError):
    """A record tells something else than the rules: `kind` of thing, at `step`, of `role` if it is one's.

    `step` counts the joint moves before. People call the joint move that comes then the next step, which the message
    names where it `is_of_joint_move`.
    """

    message: str = derived("{kind} {verb}: the record has {recorded}; by the rules it is {expected}")
    where: str = derived("{told_step}{of_role}")
    step: int
    role: str
    kind: str
    recorded: str
    expected: str
    is_of_joint_move: bool = False

    @property
    def told_step(self) -> str:
        """The step as pages and commands count it: step 1 is the first joint move, and the state that it leads to.

        Nothing where all of the record differs.
        """
        is_of_all = self.kind in ("rules", "length") and not self.is_of_joint_move
        return "" if is_of_all else f"step {self.step + self.is_of_joint_move}"

    @property
    def verb(self) -> str:
        """What the kind does, be it one thing or several."""
        return "differ" if self.kind.endswith("s") else "differs"

    @property
    def of_role(self) -> str:
        """The role after a comma, or nothing where it is of none."""
        return self.role and f", {self.role}"


class KeyFileError(CallerError):
    """The file that should keep the key for signatures cannot be used."""

    template: ClassVar[str] = (
        "{path} keeps no key for signatures ({reason}); name a file that is not there, and it is made"
    )
    path: Path
    reason: str


class JournalExistsError(CallerError):
    """The journal of another match is where the journal of this one should be."""

    template: ClassVar[str] = (
        "{path} belongs to a match that is played now or broke off; `ggp replay` reads it; name another file"
    )
    path: Path
