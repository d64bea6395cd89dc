"""A yardstick as a player: a child process that is asked line by line, and stopped where it disagrees."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

from gdl.errors import CallerError
from gdl.game import Role, State
from gdl.language.terms import Term
from gdl.wire.messages import Play, Start, Stop, to_text
from gdl.wire.replies import find_move, term_of_text
from players.deadline import Deadline
from players.player import Player

ROOT: Final = Path(__file__).parents[2]
PATIENCE_S: Final = 300.0
"""How long a reply may take by the clock: the machine may be busy, and a solver thinks as long as it needs."""
_MATCH_ID: Final = "yardstick"
_END: Final = re.compile(r"\(done (?:\(goal (\d+)\) )?\(used-ms (\d+)\) \(moves (\d+)\)\)")


class YardstickError(CallerError):
    """A yardstick cannot be started, has ended, or does not agree with the referee."""

    template: ClassVar[str] = "the yardstick `{command}` {reason}"
    command: str
    reason: str


class Child:
    """A child process that answers a line with a line; a context manager that ends it.

    *root* is the folder whose packages it imports: those of this repository, unless it is of another revision.

    Raises:
        YardstickError: it cannot be started.
    """

    def __init__(self, command: Sequence[str], patience_s: float = PATIENCE_S, root: Path = ROOT) -> None:
        self.command, self._patience_s = " ".join(command), patience_s
        paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )  # fmt: skip
        except OSError as error:
            raise YardstickError(self.command, f"cannot be started: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, line: str) -> None:
        """Write *line*. Raises: YardstickError: the child has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise YardstickError(self.command, "has ended") from error

    def ask(self, line: str) -> str:
        """Return the reply to *line*.

        Raises:
            YardstickError: the child has ended, does not answer, or answers with an error.
        """
        self.tell(line)
        assert self._process.stdout is not None
        watchdog = threading.Timer(self._patience_s, self._process.kill)
        watchdog.start()
        try:
            reply = self._process.stdout.readline().strip()
        finally:
            watchdog.cancel()
            watchdog.join()
        if not reply:
            raise YardstickError(self.command, "has ended, or does not answer")
        if reply.startswith("(error"):
            raise YardstickError(self.command, f"stops: {reply}")
        return reply


class Yardstick(Player):
    """The player that *child* is, in a match whose first *n_opening* steps are drawn; the child serves many matches.

    Attributes:
        used_s, n_moves: the processor time of the moves that the child thought about, and their number, after `stop`.
        goal: what the child holds that its role has at the end; None where it does not say.
    """

    def __init__(self, child: Child, n_opening: int = 0) -> None:
        self.child, self._n_opening = child, n_opening
        self.used_s, self.n_moves = 0.0, 0
        self.goal: int | None = None
        self._told: tuple[Term, ...] | None = None

    def start(self, deadline: Deadline) -> None:  # noqa: ARG002 -- the signature is the kit's
        """Begin a match: the clocks of the child are its own."""
        self._told, self.goal = None, None
        self.child.tell(f"(OPENING {_MATCH_ID} {self._n_opening})")
        rules = self.game.description.source.text
        self._expect(to_text(Start(_MATCH_ID, self.role, rules, 1, 1)), "ready")

    def move(self, state: State, role: Role, deadline: Deadline) -> Term:  # noqa: ARG002 -- as above
        """Return the child's move.

        Raises:
            YardstickError: it has none, or an illegal one.
        """
        legal = state.legal_moves(role)
        self.child.tell(f"(LEGAL {_MATCH_ID} ({' '.join(map(str, legal))}))")
        reply = self.child.ask(to_text(Play(_MATCH_ID, self._told)))
        found = find_move(term_of_text(reply), legal)
        if found is None:
            raise YardstickError(self.child.command, f"moves {reply}, which is not legal")
        return found

    def perceive(self, own_move: Term | None, percepts: Sequence[Term]) -> None:  # noqa: ARG002 -- as above
        """Keep the joint move, which goes out with the next question."""
        self._told = tuple(percepts)

    def stop(self) -> None:
        """End the match.

        Raises:
            YardstickError: the child holds that it goes on.
        """
        reply = self.child.ask(to_text(Stop(_MATCH_ID, self._told)))
        ended = _END.fullmatch(reply)
        if ended is not None:
            goal, used_ms, n_moves = ended.groups()
            self.goal = None if goal is None else int(goal)
            self.used_s, self.n_moves = int(used_ms) / 1000, int(n_moves)

    def _expect(self, message: str, expected: str) -> None:
        reply = self.child.ask(message)
        if reply != expected:
            raise YardstickError(self.child.command, f"answers {reply} instead of {expected}")
