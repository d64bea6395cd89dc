"""A client of a server's API, for commands: rules of the versions of a game, and the order of a tournament.

Answers are read with what any program may answer in mind: within limits of size and time.
"""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout

from players.kit.game_manager_client import caller_refusal_words, failure_words, json_object, read_url
from players.player import GameManagerError
from server.errors import OrderRefusedError

MAX_ANSWER_BYTES: Final = 10_000_000
"""The longest answer that is read."""
_MAX_SHOWN: Final = 500
BAD_REDIRECT: Final = "it redirects to what is no address"
"""What an IndexError of aiohttp means: it follows redirects by itself, and yarl raises one for `http://[::1]@`."""
_VERSIONS_S: Final = 30.0
"""How long a server may take to say what versions of a game it has, and to send their rules."""


async def texts_of_versions(server: str, game: str, versions: Sequence[str], token: str | None) -> list[str]:
    """Return the rules of *game* at *server* in each of *versions*, which are the beginnings of hashes.

    Raises:
        OrderRefusedError: it cannot be reached, or has no such version, or several.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = ClientTimeout(total=_VERSIONS_S)
    try:
        async with ClientSession(headers=headers, timeout=timeout) as session:
            known = await _known(session, server, game)
            return [await _rules(session, server, game, _meant(server, known, version)) for version in versions]
    except OrderRefusedError:
        raise
    except IndexError as error:
        raise OrderRefusedError(server, BAD_REDIRECT) from error
    except (ClientError, ValueError, TimeoutError) as error:
        raise OrderRefusedError(server, f"it cannot be reached: {error}") from error


async def _known(session: ClientSession, server: str, game: str) -> list[str]:
    """Return the hashes of the versions of *game*."""
    async with session.get(f"{server}/api/v1/games/{game}/versions") as answer:
        told = (await _object_of(answer, server)).get("versions")
    lines = told if isinstance(told, list) else [None]
    hashes = [line.get("sha256") if isinstance(line, dict) else None for line in lines]
    found = [sha256 for sha256 in hashes if isinstance(sha256, str)]
    if len(found) < len(lines):
        raise OrderRefusedError(server, "its answer lists no versions: is this a server of `ggp serve`?")
    return found


def _meant(server: str, known: Sequence[str], version: str) -> str:
    found = [sha256 for sha256 in known if version and sha256.startswith(version.lower())]
    if len(found) != 1:
        shown = ", ".join(sha256[:16] for sha256 in known[:10])
        which = "no version" if not found else "more than one version"
        raise OrderRefusedError(server, f"{which} begins with {version[:64]!r}; there are {shown}")
    return found[0]


async def _rules(session: ClientSession, server: str, game: str, sha256: str) -> str:
    async with session.get(f"{server}/api/v1/games/{game}/rules", params={"version": sha256}) as answer:
        return await _text_of(answer, server)


async def order_tournament(text: str, server: str, token: str | None) -> str:
    """Order the tournament of the TOML *text* at *server*, and return its address.

    Raises:
        OrderRefusedError: the server refuses it, or cannot be reached.
    """
    headers = {"Content-Type": "application/toml"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        url = read_url(server)
        async with (
            ClientSession(headers=headers) as session,
            session.post(url / "api/v1/tournaments", data=text.encode()) as answer,
        ):
            told = await _object_of(answer, server, HTTPStatus.CREATED)
    except GameManagerError as error:
        raise OrderRefusedError(server, error.reason) from error
    except IndexError as error:
        raise OrderRefusedError(server, BAD_REDIRECT) from error
    except (ClientError, OSError, TimeoutError) as error:
        raise OrderRefusedError(server, failure_words(error, url)) from error
    if not isinstance(told.get("url"), str):
        raise OrderRefusedError(server, "its answer names no tournament: is this a server of `ggp serve`?")
    return f"{server}{told['url']}"


async def _text_of(answer: ClientResponse, server: str, status: HTTPStatus = HTTPStatus.OK) -> str:
    """Return the text of *answer*, which has to have that *status*; *server* is what errors call who sent it.

    Raises:
        OrderRefusedError: it has another status, is too long, or no text.
        ClientError, TimeoutError: it ends too early.
    """
    body = bytearray()
    async for part in answer.content.iter_any():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise OrderRefusedError(server, f"its answer has more than {MAX_ANSWER_BYTES:,} bytes")
    if answer.status != status:
        raise OrderRefusedError(server, _message(answer.status, body) or f"it answers with the status {answer.status}")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OrderRefusedError(server, "its answer is no text in UTF-8") from error


async def _object_of(answer: ClientResponse, server: str, status: HTTPStatus = HTTPStatus.OK) -> dict[str, Any]:
    """Return the JSON object that *answer* is; raises as `_text_of`, and OrderRefusedError where it is none."""
    told = _json(await _text_of(answer, server, status))
    if not isinstance(told, dict):
        raise OrderRefusedError(server, "its answer is no JSON object: is this a server of `ggp serve`?")
    return told


def _message(status: int, body: bytearray) -> str:
    """Return what the error of the API in *body* says, with its hint; empty where it is none."""
    told = json_object(bytes(body))
    error = told.get("error")
    has_message = isinstance(error, dict) and isinstance(error.get("message"), str)
    return caller_refusal_words(status, told)[:_MAX_SHOWN] if has_message else ""


def _json(text: str | bytearray) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
