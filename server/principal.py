"""Who asks: the roles of tokens, principals, and what belongs to them."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from gdl.errors import UnknownNameError


class Role(IntEnum):
    """What a principal may do, the least first.

    Attributes:
        SPECTATOR: watch matches, and read games and records.
        PLAYER: register players of one's own, dial in with them, and take a seat.
        HOST: order and abort matches, and upload games.
        ADMIN: issue and revoke tokens.
    """

    SPECTATOR = 1
    PLAYER = 2
    HOST = 3
    ADMIN = 4

    @property
    def word(self) -> str:
        """The role as it is written in options, files and JSON."""
        return self.name.lower()


ROLE_WORDS: Final = tuple(role.word for role in Role)


def role_named(word: str) -> Role:
    """Return the role that is written *word*.

    Raises:
        UnknownNameError: none is.
    """
    if word not in ROLE_WORDS:
        raise UnknownNameError("role", word, ROLE_WORDS)
    return Role[word.upper()]


LOCAL_NAME: Final = "local"
ANONYMOUS_NAME: Final = "anonymous"
RESERVED_NAMES: Final = frozenset({LOCAL_NAME, ANONYMOUS_NAME})
"""What those are called who need no token; no token is issued to these names."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a name, a role, and the public id of the token that says so, None where none was needed."""

    name: str
    role: Role
    token_id: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether something can belong to this name: not to that of all who pass by."""
        return self.token_id is not None or self.name != ANONYMOUS_NAME

    def may(self, role: Role | None) -> bool:
        """Return whether this is enough where *role* is asked for; None asks for nothing."""
        return role is None or self.role >= role


def owns(who: Principal | None, owner: str) -> bool:
    """Return whether *who* is the *owner* of something: by the name on a token."""
    return who is not None and who.is_known and who.name == owner


def may_command(who: Principal, owner: str) -> bool:
    """Return whether what belongs to *owner* is *who*'s to change."""
    return who.may(Role.ADMIN) or owns(who, owner)
