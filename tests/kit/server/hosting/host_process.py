"""Game managers in processes of their own, to be killed: forked by one process that has loaded the server once.

It listens at the socket that is its argument until its standard input ends. A caller sends a database and patience as a
line of JSON, and receives the process id, and how the database calls the game manager, as soon as that plays. The
connection ends with the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import sys

from server.hosting.game_manager import GameManager
from server.hosting.settings import GameManagerSettings
from server.storage.database import Database


async def host(caller: socket.socket, address: str, lease_s: float, wait_s: float, retries_s: list[float]) -> None:
    database = await Database.open(address, wait_s=wait_s)
    manager = GameManager(database, GameManagerSettings(lease_s=lease_s, retries_s=tuple(retries_s)))
    await manager.start()
    caller.sendall(f"{os.getpid()} {manager.supervisor.holder}\n".encode())
    await asyncio.Event().wait()


def serve(path: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # dead children leave no zombies
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            caller, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                asyncio.run(host(caller, **json.loads(caller.makefile().readline())))
            caller.close()


if __name__ == "__main__":
    serve(sys.argv[1])
