"""Programs that speak GTP, the Go text protocol, as engines: what those of all games have in common.

*Source*: Farnebäck 2002, "Specification of the Go text protocol, version 2".
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, Self

from benchmarks.yardsticks.engines.dialogue import Engine, options, serve
from benchmarks.yardsticks.engines.programs import Program

COLOURS: Final = ("black", "white")
"""In the order of the roles."""


class GtpError(Exception):
    """The program refuses a command."""


class GtpEngine:
    """A program behind GTP; a context manager that ends it."""

    def __init__(self, command: str) -> None:
        self._program = Program(command)
        self.name = self._program.name
        self._used_before_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._program.__exit__(*problem)

    def set_up(self, *commands: str) -> None:
        """Set up the first position of a match by *commands*; the processor time counts from here."""
        self._used_before_s = self._program.processor_s
        for command in commands:
            self.ask(command)

    def ask(self, command: str) -> str:
        """Return what the program answers to *command*: all up to an empty line.

        Raises:
            GtpError: it refuses the command.
            ChildProcessError: it has ended.
        """
        reply = " ".join(self._program.ask(command, lambda line: not line)).strip()
        if not reply.startswith("="):
            raise GtpError(f"{command}: {reply}")
        return reply[1:].strip()

    @property
    def used_s(self) -> float:
        """The processor time of the program in this match, with what it was asked about moves."""
        return self._program.processor_s - self._used_before_s


def play(make: Callable[[str], AbstractContextManager[Engine]], about: str) -> None:
    """Play over standard input and output with the engine that *make* makes of the command on the command line."""
    parser = options(about)
    parser.add_argument("command", help="the program that speaks GTP")
    chosen = parser.parse_args()
    with make(chosen.command) as engine:
        serve(engine, chosen)
