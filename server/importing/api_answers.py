"""Answers of another server's API, read with what a program of any kind may answer in mind: status, size, shape."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, Final

import aiohttp

from players.kit.host import json_object, refusal_words
from server.errors import OrderRefusedError

MAX_BYTES: Final = 10_000_000
"""The longest answer that is read."""
_MAX_SHOWN: Final = 500


async def text_of(answer: aiohttp.ClientResponse, server: str, status: HTTPStatus = HTTPStatus.OK) -> str:
    """Return the text of *answer*, which has to have that *status*; *server* is what errors call who sent it.

    Raises:
        OrderRefusedError: it has another status, is too long, or no text.
        aiohttp.ClientError, TimeoutError: it ends too early.
    """
    body = bytearray()
    async for part in answer.content.iter_any():
        body += part
        if len(body) > MAX_BYTES:
            raise OrderRefusedError(server, f"its answer has more than {MAX_BYTES:,} bytes")
    if answer.status != status:
        raise OrderRefusedError(server, _message(answer.status, body) or f"it answers with the status {answer.status}")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OrderRefusedError(server, "its answer is no text in UTF-8") from error


async def object_of(answer: aiohttp.ClientResponse, server: str, status: HTTPStatus = HTTPStatus.OK) -> dict[str, Any]:
    """Return the JSON object that *answer* is; raises as `text_of`, and OrderRefusedError where it is none."""
    told = _json(await text_of(answer, server, status))
    if not isinstance(told, dict):
        raise OrderRefusedError(server, "its answer is no JSON object: is this a server of `ggp serve`?")
    return told


def _message(status: int, body: bytearray) -> str:
    """Return what the error of the API in *body* says, with its hint; empty where it is none."""
    told = json_object(bytes(body))
    error = told.get("error")
    has_message = isinstance(error, dict) and isinstance(error.get("message"), str)
    return refusal_words(status, told)[:_MAX_SHOWN] if has_message else ""


def _json(text: str | bytearray) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
