"""Versions of a game's rules as another server keeps them, by its API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import aiohttp

from server.errors import OrderRefusedError
from server.importing.api_answers import object_of, text_of

_LIMIT_S: Final = 30.0


async def texts_of_versions(server: str, game: str, versions: Sequence[str], token: str | None) -> list[str]:
    """Return the rules of *game* at *server* in each of *versions*, which are the beginnings of hashes.

    Raises:
        OrderRefusedError: it cannot be reached, or has no such version, or several.
    """
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    timeout = aiohttp.ClientTimeout(total=_LIMIT_S)
    try:
        async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
            known = await _known(session, server, game)
            return [await _rules(session, server, game, _meant(server, known, version)) for version in versions]
    except OrderRefusedError:
        raise
    except (aiohttp.ClientError, ValueError, TimeoutError) as error:
        raise OrderRefusedError(server, f"it cannot be reached: {error}") from error


async def _known(session: aiohttp.ClientSession, server: str, game: str) -> list[str]:
    """Return the hashes of the versions of *game*."""
    async with session.get(f"{server}/api/v1/games/{game}/versions") as answer:
        told = (await object_of(answer, server)).get("versions")
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


async def _rules(session: aiohttp.ClientSession, server: str, game: str, sha256: str) -> str:
    async with session.get(f"{server}/api/v1/games/{game}/rules", params={"version": sha256}) as answer:
        return await text_of(answer, server)
