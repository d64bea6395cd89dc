"""A real Jupyter kernel, which runs the cells of a test."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

LIMIT_S = 120.0
SHOWING = ("display_data", "execute_result", "update_display_data")


class Notebook:
    """A kernel, what its cells have printed, and what they have shown: a dict of each form by its type."""

    def __init__(self, manager: AsyncKernelManager, client: AsyncKernelClient) -> None:
        self.manager, self.client = manager, client
        self.output = ""
        self.shown: list[dict[str, Any]] = []
        self.news = asyncio.Event()

    async def run(self, code: str) -> str:
        """Run a cell to its end; return how it ended: `ok`, or the name of an error."""
        async with asyncio.timeout(LIMIT_S):
            reply = await self.client.execute_interactive(code, timeout=LIMIT_S, output_hook=self._take)
        content: dict[str, Any] = reply["content"]
        return "ok" if content["status"] == "ok" else f"{content['ename']}: {content['evalue']}"

    def _take(self, message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] in SHOWING:
            self.shown.append(content["data"])
        self.output += content.get("text", "") + "\n".join(content.get("traceback", ()))
        self.news.set()

    async def until_printed(self, text: str) -> None:
        async with asyncio.timeout(LIMIT_S):
            while text not in self.output:
                self.news.clear()
                await self.news.wait()


@asynccontextmanager
async def kernel(folder: Path) -> AsyncIterator[Notebook]:
    manager = AsyncKernelManager()
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    await manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=LIMIT_S)
        yield Notebook(manager, client)
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
