"""A PostgreSQL server for tests: the one that GGP_TEST_POSTGRES names, or one of our own in a folder that passes."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import pytest
from sqlalchemy.engine import URL, make_url

NAMED: Final = "GGP_TEST_POSTGRES"
_DEBIAN: Final = "/usr/lib/postgresql/*/bin/initdb"
_MEMORY: Final = Path("/dev/shm")
_NEEDED_MB: Final = 2_000
"""Where the files of a server lie if as much is free there: each test makes some three hundred of them and removes
them, which takes several times as long on a disk."""
_CHEAP: Final = ("fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=60", "autovacuum=off")
"""What a server that is thrown away need not do."""


@contextmanager
def postgresql_server() -> Iterator[URL]:
    """Yield the address of a server, which is stopped in the end if it is our own; skip where there is none."""
    if NAMED in os.environ:
        yield make_url(os.environ[NAMED])
        return
    programs = _programs()
    if programs is None:
        pytest.skip(f"PostgreSQL is not installed (apt-get install postgresql), and {NAMED} names no server")
    with tempfile.TemporaryDirectory(prefix="ggp-postgresql-", dir=_roomy()) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        with _running(programs, folder):
            yield URL.create("postgresql", "ggp", database="postgres", query={"host": name})


def _roomy() -> Path | None:
    """Return the file system in memory where there is room in it, None for the usual one."""
    is_roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _NEEDED_MB * 1_000_000
    return _MEMORY if is_roomy and os.access(_MEMORY, os.W_OK) else None


def _programs() -> Path | None:
    found = shutil.which("initdb")
    paths = [Path(found).resolve()] if found else sorted(Path("/").glob(_DEBIAN[1:]))
    return paths[-1].parent if paths else None


@contextmanager
def _running(programs: Path, folder: Path) -> Iterator[None]:
    data = folder / "data"
    making = (programs / "initdb", "-D", data, "-U", "ggp", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
    subprocess.run(_unprivileged(making), check=True, capture_output=True, cwd=folder)
    settings = [word for setting in _CHEAP for word in ("-c", setting)]
    serving = (programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", *settings)
    with (folder / "log").open("wb") as log, subprocess.Popen(_unprivileged(serving), stderr=log, cwd=folder) as server:
        try:
            _wait_for(programs, folder, server)
            yield
        finally:
            server.send_signal(3)  # SIGQUIT: at once
            server.wait(30)


def _unprivileged(command: tuple[object, ...]) -> list[str]:
    """Return *command* as a user that is not root, as PostgreSQL wants it; it does not outlive this process."""
    user = ("--reuid=postgres", "--regid=postgres", "--clear-groups") if os.geteuid() == 0 else ()
    return list(map(str, ("setpriv", *user, "--pdeathsig=QUIT", *command)))


def _wait_for(programs: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    end_s = time.monotonic() + 60
    while subprocess.run([programs / "pg_isready", "-h", folder], check=False, capture_output=True).returncode:
        if server.poll() is not None or time.monotonic() > end_s:
            pytest.fail(f"PostgreSQL does not start: {(folder / 'log').read_text(errors='replace')}")
        time.sleep(0.05)


@contextmanager
def passing_database(server: URL, template: str | None = None) -> Iterator[str]:
    """Yield the address of a new database on *server*, empty or like *template*; it is removed, in use or not."""
    name = f"ggp_test_{uuid.uuid4().hex}"
    # Its files are copied: half the work of writing each page to a log, too.
    execute(server, f"CREATE DATABASE {name} TEMPLATE {template or 'template0'} STRATEGY FILE_COPY")
    try:
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def execute(address: URL, statement: str) -> None:
    """Execute *statement* outside any event loop that may be running."""

    async def run() -> None:
        connection: Any = await asyncpg.connect(address.render_as_string(hide_password=False))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result()
