"""Versions of a game's rules as another server keeps them, by its API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import aiohttp

from server.errors import OrderRefusedError

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
            known = [one["sha256"] for one in (await _told(session, server, f"{game}/versions")).get("versions", ())]
            return [await _rules(session, server, game, _meant(server, known, version)) for version in versions]
    except (aiohttp.ClientError, ValueError, TimeoutError) as error:
        if isinstance(error, OrderRefusedError):
            raise
        raise OrderRefusedError(server, f"it cannot be reached: {error}") from error


async def _told(session: aiohttp.ClientSession, server: str, path: str) -> dict[str, Any]:
    async with session.get(f"{server}/api/v1/games/{path}") as answer:
        told: dict[str, Any] = await answer.json()
    if answer.status != 200:
        raise OrderRefusedError(server, told["error"]["message"])
    return told


def _meant(server: str, known: Sequence[str], version: str) -> str:
    found = [sha256 for sha256 in known if version and sha256.startswith(version.lower())]
    if len(found) != 1:
        shown = ", ".join(sha256[:16] for sha256 in known[:10])
        which = "no version" if not found else "more than one version"
        raise OrderRefusedError(server, f"{which} begins with {version[:64]!r}; there are {shown}")
    return found[0]


async def _rules(session: aiohttp.ClientSession, server: str, game: str, sha256: str) -> str:
    async with session.get(f"{server}/api/v1/games/{game}/rules", params={"version": sha256}) as answer:
        return await answer.text()
