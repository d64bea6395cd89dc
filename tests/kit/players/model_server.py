"""A stand-in for the server of a language model: answers from a script, over a real socket, and errs in all ways."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import web

Answer: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class ModelServer:
    """What was asked of the server at `url`: bodies, and headers of the first request."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    authorization: str | None = None


def saying(text: str, tokens: tuple[int, int] = (11, 7)) -> Answer:
    """Answer with *text*, whole."""

    async def answer(_: web.Request) -> web.Response:
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice], "usage": usage})

    return answer


def calling(arguments: str) -> Answer:
    """Answer with a call of the tool."""

    async def answer(_: web.Request) -> web.Response:
        call = {"id": "1", "type": "function", "function": {"name": "make_move", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return web.json_response({"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    return answer


def streaming(*pieces: str, is_cut_off: bool = False) -> Answer:
    """Answer piece by piece; a stream that is cut off has no end."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            data = json.dumps({"choices": [{"delta": {"content": piece}}]})
            await response.write(f"data: {data}\n\n".encode())
        if is_cut_off:
            assert request.transport is not None
            request.transport.abort()
        else:
            await response.write(b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n')
        return response

    return answer


def refusing(status: int, text: str = "", **headers: str) -> Answer:
    """Answer with an error."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text=text, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return answer


def raw(body: bytes, content_type: str = "application/json") -> Answer:
    """Answer with exactly *body*."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=content_type)

    return answer


async def silent(_: web.Request) -> web.Response:
    """Answer nothing for an hour."""
    await asyncio.sleep(3600)
    return web.Response()


@contextmanager
def model_server(*script: Answer) -> Iterator[ModelServer]:
    """Serve the answers of *script* one after the other in a thread, the last one again and again."""
    found, ready, done = ModelServer(), threading.Event(), threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(_serve(found, script, ready, done),))
    thread.start()
    ready.wait()
    try:
        yield found
    finally:
        done.set()
        thread.join()


async def _serve(found: ModelServer, script: Sequence[Answer], ready: threading.Event, done: threading.Event) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        number = min(len(found.asked), len(script) - 1)
        found.asked.append(await request.json())
        found.authorization = request.headers.get("Authorization")
        return await script[number](request)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    ready.set()
    await asyncio.to_thread(done.wait)
    await runner.cleanup()
