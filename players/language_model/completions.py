"""One request for a chat completion: its body, its answer as a whole or as a stream, and how it can fail.

Source: the chat-completions protocol (`POST /chat/completions`), as servers of language models speak it in common.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import unquote, urlsplit

import aiohttp

from gdl.errors import GdlError

Message: TypeAlias = Mapping[str, str]
"""A message of a conversation: its `role`, which is system, user or assistant, and its `content`."""
MAX_ANSWER_BYTES: Final = 1_000_000
_MAX_REASON: Final = 300
_MAX_REFUSAL_BYTES: Final = 10_000
_CUT_OFF: Final = ("length", "content_filter")
"""Why a server ends an answer that the model has not ended."""
_HIDDEN: Final = "***"
_FINAL: Final = frozenset({400, 401, 402, 403, 404, 405, 422})
"""Statuses that come again when the same is asked again."""


class CompletionError(GdlError):
    """A server of a language model gave no answer; `retry_after_s` says when it wants to be asked again."""

    template: ClassVar[str] = "{url}: {reason}"
    url: str
    reason: str
    is_final: bool = False
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a language model is asked, and how.

    Attributes:
        url: the address before `/chat/completions`; a password of it is in no text that is made here.
        model: the name that the server has for the model.
        key: what the server knows its client by; it is in no text that is made here.
        temperature: how much of the answer is chance; None for what the server thinks right.
        max_tokens: how long an answer may be; None for what the server thinks right.
        uses_tools: whether the answer is asked for as a call of a tool; a text is understood as well.
        streams: whether the answer is asked for piece by piece.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    temperature: float | None = None
    max_tokens: int | None = None
    uses_tools: bool = True
    streams: bool = True

    def body(self, messages: Sequence[Message], tool: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of a request that goes on after *messages*, and offers *tool*."""
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        if self.uses_tools:
            body["tools"] = [tool]
        if self.streams:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    @property
    def shown_url(self) -> str:
        """The address without its password."""
        password = self._password()
        return self.url.replace(f":{password}@", f":{_HIDDEN}@") if password else self.url

    def redacted(self, text: str) -> str:
        """Return *text* without the key and the password, which a server may repeat in an error."""
        password = self._password()
        for secret in sorted({self.key, password, unquote(password)} - {""}, key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text

    def _password(self) -> str:
        try:
            return urlsplit(self.url).password or ""
        except ValueError:  # it is no address
            return ""


@dataclass(slots=True)
class Completion:
    """What a model answered, as far as it came.

    Attributes:
        text: what it wrote.
        call: the arguments of its first call of a tool, as JSON; empty without one.
        n_prompt_tokens, n_completion_tokens: what the server counted; None where it does not tell.
        is_whole: whether the answer came to the end that the model gave it.
        is_cut_off: whether the server ended it before.
    """

    text: str = ""
    call: str = ""
    n_prompt_tokens: int | None = None
    n_completion_tokens: int | None = None
    is_whole: bool = False
    is_cut_off: bool = False

    def add(self, part: object) -> None:
        """Add *part*, an answer or a piece of a stream; what is not of the protocol is left out."""
        if not isinstance(part, dict):
            return
        usage = part.get("usage")
        if isinstance(usage, dict):
            self.n_prompt_tokens = _count(usage.get("prompt_tokens"))
            self.n_completion_tokens = _count(usage.get("completion_tokens"))
        choices = part.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, dict):
            self._say(choice.get("message") or choice.get("delta"))
            self._finish(choice.get("finish_reason"))

    def end(self) -> None:
        """Note that no more of the answer comes."""
        self.is_whole = not self.is_cut_off

    def _finish(self, reason: object) -> None:
        self.is_cut_off = self.is_cut_off or reason in _CUT_OFF
        if reason is not None:
            self.end()

    def _say(self, message: object) -> None:
        if not isinstance(message, dict):
            return
        content, calls = message.get("content"), message.get("tool_calls")
        if isinstance(content, str):
            self.text += content
        function = _first_call(calls).get("function") if isinstance(calls, list) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(arguments, str):
            self.call += arguments


def _first_call(calls: Sequence[Any]) -> Mapping[str, Any]:
    """Return what *calls* say of the first call of the answer, whose index a stream may leave out; else nothing."""
    return next((call for call in calls if isinstance(call, dict) and call.get("index") in (None, 0)), {})


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


async def complete(
    endpoint: Endpoint, messages: Sequence[Message], tool: Mapping[str, Any], timeout_s: float
) -> Completion:
    """Return how the model goes on after *messages*; what came until *timeout_s*, or until a stream was cut off.

    Raises:
        CompletionError: the server cannot be reached, refuses the request, or nothing of an answer came.
    """
    completion = Completion()
    try:
        async with asyncio.timeout(timeout_s):
            await _receive(endpoint, endpoint.body(messages, tool), completion)
    except TimeoutError as error:
        _accept(endpoint, completion, "it did not answer in time", error)
    except (aiohttp.ClientError, OSError, ValueError, RecursionError) as error:
        reason = endpoint.redacted(str(error) or type(error).__name__)
        _accept(endpoint, completion, reason[:_MAX_REASON], error)
    if not (completion.text or completion.call):
        raise CompletionError(endpoint.shown_url, "its answer is empty")
    return completion


def _accept(endpoint: Endpoint, completion: Completion, reason: str, error: Exception) -> None:
    """Take a *completion* that was broken off, if anything of it came."""
    if not (completion.text or completion.call):
        raise CompletionError(endpoint.shown_url, reason) from error


async def _receive(endpoint: Endpoint, body: Mapping[str, Any], completion: Completion) -> None:
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    url = f"{endpoint.url.rstrip('/')}/chat/completions"
    async with (
        aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=None)) as session,
        session.post(url, json=body, allow_redirects=False) as response,
    ):
        if response.status != 200:
            raise await _refusal(endpoint, response)
        if response.content_type == "text/event-stream":
            await _read_stream(response, completion)
        else:
            completion.add(json.loads(await _read_whole(response)))


async def _refusal(endpoint: Endpoint, response: aiohttp.ClientResponse) -> CompletionError:
    said = endpoint.redacted(await _beginning(endpoint, response))
    after = response.headers.get("Retry-After", "")
    return CompletionError(
        endpoint.shown_url,
        endpoint.redacted(f"{response.status} {response.reason}: {' '.join(said.split())[:_MAX_REASON]}"),
        is_final=response.status in _FINAL,
        retry_after_s=float(after) if after.isascii() and after.isdecimal() else None,
    )


async def _beginning(endpoint: Endpoint, response: aiohttp.ClientResponse) -> str:
    """Return the body, or its beginning, without what may be a part of a secret."""
    found = b""
    async for chunk in response.content.iter_any():
        found += chunk
        if len(found) >= _MAX_REFUSAL_BYTES:
            longest = max(len(endpoint.key), len(endpoint.url))
            return found[:_MAX_REFUSAL_BYTES].decode("utf-8", "replace")[:-longest]
    return found.decode("utf-8", "replace")


async def _read_whole(response: aiohttp.ClientResponse) -> bytes:
    found = b""
    async for chunk in response.content.iter_any():
        found += chunk
        if len(found) > MAX_ANSWER_BYTES:
            raise ValueError(f"its answer has more than {MAX_ANSWER_BYTES:,} bytes")
    return found


async def _read_stream(response: aiohttp.ClientResponse, completion: Completion) -> None:
    """Add the pieces of a stream to *completion* as they come, so that they are there if it is cut off."""
    n_read = 0
    async for line in response.content:
        n_read += len(line)
        if n_read > MAX_ANSWER_BYTES:
            raise ValueError(f"its answer has more than {MAX_ANSWER_BYTES:,} bytes")
        name, _, data = line.strip().partition(b":")
        if name == b"data" and data.strip() == b"[DONE]":
            completion.end()
            return
        if name == b"data":
            completion.add(json.loads(data))
