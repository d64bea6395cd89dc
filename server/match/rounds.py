"""One message to every player that is asked, until the last answer is in."""

from __future__ import annotations

from collections.abc import Iterable

from gdl.game import Role
from server.match.events import Answered, Message


class Round:
    """The answers of the players of *roles* to one message; *number* is its own among the rounds of the match."""

    def __init__(self, number: int, message: Message, roles: Iterable[Role]) -> None:
        self.number, self.message = number, message
        self.answers: dict[Role, Answered] = {}
        self._pending = dict.fromkeys(roles)

    @property
    def pending(self) -> tuple[Role, ...]:
        """Whose answers are waited for."""
        return tuple(self._pending)

    def expects(self, number: int, role: Role) -> bool:
        """Return whether the answer of *role* to round *number* is one that this round still waits for."""
        return number == self.number and role in self._pending

    def take(self, answered: Answered) -> None:
        """Take the answer of a player."""
        del self._pending[answered.role]
        self.answers[answered.role] = answered

    @property
    def is_complete(self) -> bool:
        """Whether every answer is in."""
        return not self._pending
