"""The static checks of texts that are being typed: after a pause, the latest version only, at bounded cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from gdl.checks import check
from gdl.child_process import ChildLimits, run_limited
from gdl.diagnostics import Diagnostic
from gdl.errors import ChildProcessDiedError, LimitExceeded
from server.editor.document import Document
from server.validating.validation import SMALL_CHARACTERS

LIMITS: Final = ChildLimits(max_seconds=10)
MAX_DIAGNOSTICS: Final = 500
"""How many diagnostics of a file an editor is told."""

Publish: TypeAlias = Callable[[Document, Sequence[Diagnostic]], None]
Tell: TypeAlias = Callable[[str], None]
Pause: TypeAlias = Callable[[float], Awaitable[None]]


def diagnose(document: Document) -> list[Diagnostic]:
    """Return what the static checks say of *document*; a large one is checked in a child process.

    Raises:
        LimitExceeded: time or memory ran out.
        ChildProcessDiedError: the child process ended without an answer.
    """
    if len(document.text) <= SMALL_CHARACTERS:
        return check(document.source)[:MAX_DIAGNOSTICS]
    return run_limited(check, (document.source,), LIMITS)[:MAX_DIAGNOSTICS]


class Checking:
    """Checks every document some time after its last change, one at a time, and publishes what is found."""

    def __init__(self, publish: Publish, tell: Tell, delay_s: float, pause: Pause = asyncio.sleep) -> None:
        self._publish, self._tell = publish, tell
        self._delay_s, self._pause = delay_s, pause
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._worker = ThreadPoolExecutor(1, "checks")

    def changed(self, document: Document, *, is_opened: bool = False) -> None:
        """Have *document* checked after the pause, or at once where it *is_opened*; earlier versions are forgotten."""
        self.forget(document.uri)
        self._tasks[document.uri] = asyncio.create_task(self._check(document, 0 if is_opened else self._delay_s))

    def forget(self, uri: str) -> None:
        """Publish nothing more of what was said about the document so far."""
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """Check nothing more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _check(self, document: Document, delay_s: float) -> None:
        if delay_s:
            await self._pause(delay_s)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._worker, diagnose, document)
        except (LimitExceeded, ChildProcessDiedError) as error:
            self._tell(f"{document.source.name} could not be checked: {error}")
        else:
            self._publish(document, found)
