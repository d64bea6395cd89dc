"""Programs with a dialogue in lines of text over their standard input and output, as engines of chess and go have."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Self


class Program:
    """A program that runs as a child process; a context manager that ends it."""

    def __init__(self, command: str) -> None:
        words = shlex.split(command)
        self.command, self.name = command, Path(words[0]).name
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, line: str) -> None:
        """Write *line*, which is not answered."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def ask(self, line: str, is_last: Callable[[str], bool]) -> list[str]:
        """Return the lines that answer *line*, up to the last one.

        Raises:
            ChildProcessError: the program has ended.
        """
        assert self._process.stdout is not None
        self.tell(line)
        found = []
        for reply in self._process.stdout:
            found.append(reply.strip())
            if is_last(found[-1]):
                return found
        raise ChildProcessError(f"{self.command} has ended")

    @property
    def processor_s(self) -> float:
        """The processor time of the program, as far as the system counts it."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
