"""How workers are forked: by the fork server of multiprocessing, which stays in reach as long as this process lives.

It listens on a socket in a folder for temporary files. multiprocessing makes that folder once; programs that clean up
may remove it within days, and its path may be longer than that of a socket can be.
"""

import json
import multiprocessing
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import forkserver, spawn
from multiprocessing.context import ForkServerContext
from multiprocessing.context import ForkServerProcess as Process
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, Final

CONTEXT: Final[ForkServerContext] = multiprocessing.get_context("forkserver")
PREPARATION: Final = "GGP_WORKER_PREPARATION"
"""The variable by which the fork server knows the author's script, which it imports as well (`forked_main`)."""
_OF_MAIN: Final = ("sys_path", "sys_argv", "init_main_from_name", "init_main_from_path")
_MAX_SOCKET_PATH: Final = 107
"""*Units*: bytes, as Linux has it."""
_PREFIX: Final = "ggp-"
_SOCKET: Final = f"/{_PREFIX}12345678/listener-12345678"
"""What `tempfile` and multiprocessing add to the path of the folder for temporary files."""
_SHORT_FOLDER: Final = "/tmp"  # noqa: S108 -- a folder of our own is made in it
_STARTING: Final = threading.Lock()


def prepare(modules: Iterable[str]) -> None:
    """Start the fork server, unless it runs already; it imports *modules*.

    Raises:
        OSError: the system gives no process, or no folder for temporary files.
    """
    CONTEXT.set_forkserver_preload([*modules])
    with _STARTING, _telling_main():
        _make_folder()
        forkserver.ensure_running()


def start(process: Process) -> None:
    """Start *process*, by another fork server where the socket of this one was removed; raises as `prepare`."""
    with _STARTING, _telling_main():
        _make_folder()
        try:
            process.start()
        except (FileNotFoundError, ConnectionRefusedError):
            _abandon_server()
            process.start()


@contextmanager
def _telling_main() -> Iterator[None]:
    """Have a fork server that is started within the block know the author's script."""
    with _in_a_folder():
        data = spawn.get_preparation_data("")
        os.environ[PREPARATION] = json.dumps({key: data[key] for key in _OF_MAIN if key in data})
        try:
            yield
        finally:
            del os.environ[PREPARATION]


@contextmanager
def _in_a_folder() -> Iterator[None]:
    """Run the block in the root folder where the current one was removed: multiprocessing asks for its name."""
    try:
        Path.cwd()
    except FileNotFoundError:
        removed = os.open(".", os.O_RDONLY)
        os.chdir("/")
        try:
            yield
        finally:
            os.fchdir(removed)
            os.close(removed)
    else:
        yield


def _make_folder() -> None:
    """Have the fork server listen in a folder that is there, and whose path is short enough."""
    settings: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]  # no other way
    folder = settings.get("tempdir")
    if folder is not None and Path(folder).is_dir():
        return
    parent = tempfile.gettempdir()
    fits = len(os.fsencode(parent + _SOCKET)) <= _MAX_SOCKET_PATH
    settings["tempdir"] = tempfile.mkdtemp(prefix=_PREFIX, dir=parent if fits else _SHORT_FOLDER)
    Finalize(None, shutil.rmtree, (settings["tempdir"], True), exitpriority=-100)  # last, as multiprocessing has it


def _abandon_server() -> None:
    """Let the fork server go, which ends after the last of its processes; the next process has another one."""
    server: Any = forkserver._forkserver
    with server._lock:
        if server._forkserver_pid is not None:
            os.close(server._forkserver_alive_fd)
            threading.Thread(target=os.waitpid, args=(server._forkserver_pid, 0), daemon=True).start()
        server._forkserver_pid = server._forkserver_alive_fd = server._forkserver_address = None
