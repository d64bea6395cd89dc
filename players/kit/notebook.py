"""Players of a notebook: their classes have no file that another process could import, and an event loop runs there.

Such a class is pickled by value (cloudpickle) for the worker processes, with everything of the notebook that it uses,
as it is when the match begins. All other classes are pickled by reference, as the name of their module.
"""

import asyncio
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from players.player import MakePlayer

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_POLL_S: Final = 0.2
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class PackedPlayer:
    """A player pickled by value, for a process that cannot import its class; call it to make the player."""

    raw: bytes

    def __call__(self) -> Any:
        """Make the player."""
        return pickle.loads(self.raw)()  # noqa: S301 -- from the service that started this process


def packed(make_player: MakePlayer) -> MakePlayer:
    """Return *make_player* in a form that can be pickled: itself, unless it is defined in a notebook or a console."""
    if is_main_importable():
        return make_player
    import cloudpickle  # noqa: PLC0415 -- for notebooks alone

    return PackedPlayer(cloudpickle.dumps(make_player))


def is_main_importable() -> bool:
    """Return whether `__main__` comes from a file, as scripts and commands do."""
    main = sys.modules["__main__"]
    return getattr(main, "__file__", None) is not None or getattr(main, "__spec__", None) is not None


def is_in_main_thread() -> bool:
    """Return whether signals can be handled here."""
    return threading.current_thread() is threading.main_thread()


def run_until_stopped(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run *work* to its end; where an event loop runs already, as in a notebook, in a thread of its own.

    There an interrupt cancels the work. Raises what the work raises.
    """
    if _is_in_loop():
        with suppress(KeyboardInterrupt, asyncio.CancelledError):
            _LoopThread(work).run()
    else:
        asyncio.run(work())


def run_anywhere(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """Return what *work* returns; where an event loop runs already, as in a notebook, it runs in a thread of its own.

    An interrupt cancels the work, and is raised then. Raises what the work raises.
    """
    return _LoopThread(work).run() if _is_in_loop() else asyncio.run(work())


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _LoopThread(Generic[_T]):
    """Runs work in an event loop on another thread."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, _T]]) -> None:
        self._work = work
        self._stop: Callable[[], object] = lambda: None
        self._found: list[_T] = []
        self._error: BaseException | None = None

    def run(self) -> _T:
        """Return what the work returns. Raises what the work raises, or an interrupt, which cancels the work."""
        thread = threading.Thread(target=self._run, name="player")
        thread.start()
        interrupt: KeyboardInterrupt | None = None
        while thread.is_alive():
            try:
                thread.join(_POLL_S)
            except KeyboardInterrupt as error:
                interrupt = error
                with suppress(RuntimeError):  # the loop has ended meanwhile
                    self._stop()
        if self._error is not None and not (interrupt and isinstance(self._error, asyncio.CancelledError)):
            raise self._error
        if interrupt is not None:
            raise interrupt
        return self._found[0]

    def _run(self) -> None:
        try:
            self._found.append(asyncio.run(self._cancellable()))
        except BaseException as error:  # it is raised where the work was started
            self._error = error

    async def _cancellable(self) -> _T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        return await self._work()
