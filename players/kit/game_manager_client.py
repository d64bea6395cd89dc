"""The client of the game manager that a player dials: its JSON API, as far as such a player needs it."""

import errno
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self, TypeAlias

import aiohttp
from yarl import URL

from gdl.errors import wrong_type
from players.kit.addresses import url_of
from players.player import GameManagerAddressError, GameManagerError, GameManagerUnreachableError, ReplyRefusedError

CONNECT_S: Final = 10.0
ANSWER_S: Final = 20.0
SILENCE_S: Final = 45.0
"""A stream without a byte for so long is taken for dead: three heartbeats."""
MAX_WAITED_S: Final = 86_400.0
MAX_LINE_BYTES: Final = 40_000_000
"""How long an event may be: rules of the largest games, each character escaped."""
_CALLER_HINT: Final = "give one that is known there with --token or GGP_TOKEN"
_NDJSON: Final = "application/x-ndjson"
_PLAYERS: Final = "api/v1/players"
MAX_NAME: Final = 64
_NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}")
NAME_RULE: Final = f"a name has 1 to {MAX_NAME} letters, digits, dots, dashes and underscores, a letter or digit first"


def is_name(text: str) -> bool:
    """Return whether a registered player may be called *text*, as NAME_RULE says."""
    return _NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class DialledRequest:
    """A message that the game manager wants answered, and how long it has waited already. *Units*: seconds.

    One with `answered` was answered before: a program that begins anew takes it in, and posts no reply.
    """

    id: str
    match_id: str
    step: int
    text: str
    waited_s: float
    answered: str | None = None

    @property
    def seat(self) -> str:
        """The number of the player's seat in the match, as the id ends; nothing for the first."""
        return self.id.removeprefix(f"{self.match_id}:{self.step}:").partition(":")[2]


@dataclass(frozen=True, slots=True)
class Registration:
    """The registration of a player at a game manager; a player with a `pause_reason` gets no matches."""

    is_new: bool
    pause_reason: str | None = None


Events: TypeAlias = AsyncIterator[tuple[str, DialledRequest | None]]
"""The events of the game manager: the kind of each, and its request if it has one."""


class GameManagerClient:
    """Asks the game manager at *url*, for the player called *name* and the owner of *token*; use it as a context.

    Raises:
        GameManagerError: *url* is no address of a game manager, no player may be called *name*, or *token* is none.
        WrongTypeError: one of them is no text.
    """

    def __init__(self, url: str, name: str, token: str | None = None) -> None:
        _check_texts(url, name, token)
        self.name = name
        self._url = read_url(url)
        if not is_name(name):
            raise GameManagerError(
                self.url, f"no player may be called {name[:100]!r}: {NAME_RULE}; choose one with --name"
            )
        if token is not None and not (token.isascii() and token.isprintable()):
            raise GameManagerError(self.url, "a token is one line of printable ASCII, without a line break at its end")
        if token is not None and self._url.user is not None:
            address = str(self._url.with_user(None))
            raise GameManagerError(address, "a token goes with an address without user and password")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._session: aiohttp.ClientSession
        self._takes_insight = False

    @property
    def url(self) -> str:
        """Where the game manager is."""
        return str(self._url).rstrip("/")

    @property
    def is_exposed(self) -> bool:
        """Whether the token travels unencrypted over a network."""
        is_near = self._url.host in ("localhost", "127.0.0.1", "::1")
        return bool(self._headers) and self._url.scheme == "http" and not is_near

    async def __aenter__(self) -> Self:
        """Be ready for requests."""
        self._session = aiohttp.ClientSession(headers=self._headers)
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Close all connections."""
        await self._session.close()

    async def register(self, max_matches: int | None = None) -> Registration:
        """Register the player unless the game manager knows it already, and return its registration.

        Raises:
            GameManagerError: it refuses the player, or the token, or is no game manager.
            GameManagerUnreachableError: it cannot be reached.
        """
        status, answer = await self._ask("GET", self._player())
        is_new = status == 404 and _code(answer) == "not_registered"
        wanted = {} if max_matches is None else {"maxMatches": max_matches}
        if is_new:
            status, answer = await self._ask("POST", self._url / _PLAYERS, {"name": self.name} | wanted)
        elif status == 200 and answer.get("kind") != "dial-in":
            raise GameManagerError(
                self.url, f"the player {self.name} has an address there; choose another name with --name"
            )
        elif status == 200 and wanted and answer.get("maxMatches") != max_matches:
            status, answer = await self._ask("PATCH", self._player(), wanted)
        if status not in (200, 201):
            self._check_refusal(status, answer)
        is_paused = answer.get("status") == "paused"
        return Registration(is_new, str(answer.get("pauseReason") or "no reason given") if is_paused else None)

    async def reply(self, request_id: str, text: str, failure: str = "", insight: str = "") -> None:
        """Post the reply to a request.

        *failure* says what went wrong in the author's code; *insight* is what the player thinks, which only game
        managers get that say that they take it.

        Raises:
            ReplyRefusedError: it is not taken.
            GameManagerUnreachableError: the game manager cannot be reached.
        """
        told = {"failure": failure, "insight": insight if self._takes_insight else ""}
        body = {"request": request_id, "text": text} | {key: value for key, value in told.items() if value}
        status, answer = await self._ask("POST", self._player() / "replies", body)
        if status != 200:
            raise ReplyRefusedError(request_id, caller_refusal_words(status, answer))

    @asynccontextmanager
    async def requests(self) -> AsyncIterator[Events]:
        """Connect, and yield the events as they come: the kind of each, and its request if it has one.

        In each match, requests that were answered before come first.

        Raises:
            GameManagerError: the game manager refuses the player.
            GameManagerUnreachableError: the game manager cannot be reached, or the connection was lost.
        """
        limit = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S)
        try:
            async with self._session.get(
                (self._player() / "requests").with_query(past="true"),
                headers={"Accept": _NDJSON},
                timeout=limit,
                allow_redirects=False,
            ) as response:
                if response.status != 200:
                    self._check_refusal(response.status, json_object(await response.read()))
                yield self._noted(response.content)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise GameManagerUnreachableError(failure_words(error, self._url)) from error

    async def _noted(self, content: aiohttp.StreamReader) -> Events:
        """Yield the events that *content* holds, and note what the game manager takes."""
        async for event in _lines(content):
            kind, data = str(event.get("event", "")), event.get("data")
            if kind == "connected" and isinstance(data, dict):
                self._takes_insight = data.get("takesInsight") is True
            yield kind, _request(data) if kind == "request" and isinstance(data, dict) else None

    async def _ask(self, method: str, url: URL, body: Mapping[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Return status and JSON object of the answer to a request.

        Raises:
            GameManagerUnreachableError: there is no usable answer.
        """
        limit = aiohttp.ClientTimeout(total=ANSWER_S, sock_connect=CONNECT_S)
        try:
            async with self._session.request(method, url, json=body, timeout=limit, allow_redirects=False) as response:
                status, answer = response.status, json_object(await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise GameManagerUnreachableError(failure_words(error, url)) from error
        if status == 429 or status >= 500:
            raise GameManagerUnreachableError(refusal_words(status, answer))
        return status, answer

    def _check_refusal(self, status: int, answer: dict[str, Any]) -> None:
        if status == 429 or status >= 500:
            raise GameManagerUnreachableError(refusal_words(status, answer))
        raise GameManagerError(self.url, caller_refusal_words(status, answer))

    def _player(self) -> URL:
        return self._url / _PLAYERS / self.name


def _check_texts(url: str, name: str, token: str | None) -> None:
    if not isinstance(url, str):
        raise wrong_type(url, "the address of a game manager as text, as http://host:9148")
    if not isinstance(name, str):
        raise wrong_type(name, "the name of a player as text")
    if token is not None and not isinstance(token, str):
        raise wrong_type(token, "a token as text, or None")


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[dict[str, Any]]:
    """Yield the events that *content* holds, one a line, as JSON."""
    rest = bytearray()
    async for piece in content.iter_any():
        rest += piece
        if b"\n" not in piece:
            if len(rest) > MAX_LINE_BYTES:
                raise GameManagerUnreachableError("an event is longer than any message")
            continue
        *lines, tail = rest.split(b"\n")
        rest = bytearray(tail)
        for line in lines:
            if line.strip():
                yield json_object(bytes(line))


def _request(data: Mapping[str, Any]) -> DialledRequest:
    """Return the request of an event with *data*."""
    try:
        answered = data.get("answered")
        return DialledRequest(
            str(data["request"]),
            str(data["match"]),
            int(data["step"]),
            str(data["text"]),
            min(max(0.0, float(data.get("secondsWaited") or 0)), MAX_WAITED_S),
            None if answered is None else str(answered),
        )
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise GameManagerUnreachableError(f"a request cannot be read ({error!r})") from error


def read_url(text: str) -> URL:
    """Return the address of a game manager that *text* is.

    Raises:
        GameManagerAddressError: it is none.
    """
    try:
        url = url_of(text)
        (url.host or "").encode("idna")  # as the system that looks the host up does
    except ValueError as error:
        raise GameManagerAddressError(text, f"no address: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise GameManagerAddressError(text, "expected the address of a game manager, as in http://host:9148")
    return url.with_query(None).with_fragment(None).with_path(url.path.rstrip("/") or "/")


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object that *body* is; an empty one where it is something else."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _code(answer: Mapping[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("code", "")) if isinstance(error, dict) else ""


def refusal_words(status: int, answer: Mapping[str, Any]) -> str:
    """Return what a game manager means that refuses a request with *status* and the JSON *answer*."""
    error = answer.get("error")
    if not isinstance(error, dict):
        return f"no game manager answers there (HTTP status {status})"
    message, hint = str(error.get("message", status)), str(error.get("hint") or "")
    return message if hint in message else f"{message} ({hint})"


def caller_refusal_words(status: int, answer: Mapping[str, Any]) -> str:
    """Return what `refusal_words` does, with a hint at the option of the token where one is needed."""
    error = answer.get("error")
    if status == HTTPStatus.UNAUTHORIZED and isinstance(error, dict):
        # The game manager's own hint is about headers and pages, neither of which a command has.
        return refusal_words(status, {"error": {**error, "hint": _CALLER_HINT}})
    return refusal_words(status, answer)


def _reason_of(error: OSError) -> str:
    # The message of asyncio names the address of a connection that failed, not the reason.
    number = error.errno or 0
    return os.strerror(number) if number in errno.errorcode else str(error.strerror or error)


def failure_words(error: BaseException, url: URL) -> str:
    """Return what *error* means, by which no answer came from *url*, for a person."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
        return f"its certificate is not trusted: {reason} (SSL_CERT_FILE may name a file of certificates that are)"
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return "it does not answer in TLS (does it speak http?)"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"it cannot be reached: {_reason_of(error.os_error)}"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ServerDisconnectedError) and url.scheme == "http":
        return "it broke off (does it speak https?)"
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ServerDisconnectedError):
        return "it broke off"
    return str(error) or type(error).__name__
