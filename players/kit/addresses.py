"""Addresses on the web: those that come from outside, and those at which a server of ours listens."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

from yarl import URL

from players.player import ListenError

if TYPE_CHECKING:
    import ssl

    from aiohttp import web

_LOCALHOST: Final = "localhost"
_LOOPBACK: Final = "127.0.0.1"
_NO_ADDRESS: Final = frozenset({errno.EADDRNOTAVAIL, None})
"""The numbers of errors that say that the system lacks all addresses of a name; newer versions of asyncio give none."""
_IN_USE: Final = "another program listens there; end it, or choose another port"
_BACKLOG: Final = 1024


def url_of(text: str) -> URL:
    """Return the address that *text* from outside is.

    Raises:
        ValueError: it is none.

    Example:
        >>> url_of("http://127.0.0.1:9147").port
        9147
    """
    try:
        return URL(text)
    except IndexError as error:  # yarl raises it where an empty host stands behind user and password
        raise ValueError("an address names a host") from error


async def listen(runner: web.AppRunner, host: str, port: int, tls: ssl.SSLContext | None = None) -> str:
    """Have *runner* listen on *host* and *port*, 0 for one that the system chooses, and return the URL.

    Where the system calls `localhost` an address of IPv6 alone, but has no IPv6, that is 127.0.0.1.

    Raises:
        ListenError: it cannot listen there.
    """
    from aiohttp import web  # noqa: PLC0415 -- it is large, and most commands listen nowhere

    try:
        try:
            await web.TCPSite(runner, host, port, ssl_context=tls, backlog=_BACKLOG).start()
        except OSError as error:
            if host != _LOCALHOST or error.errno not in _NO_ADDRESS:
                raise
            host = _LOOPBACK
            await web.TCPSite(runner, host, port, ssl_context=tls, backlog=_BACKLOG).start()
    except OSError as error:
        reason = _IN_USE if error.errno == errno.EADDRINUSE else error.strerror or str(error)
        raise ListenError(f"{_in_url(host)}:{port}", reason) from error
    except OverflowError as error:  # no port has that number
        raise ListenError(f"{_in_url(host)}:{port}", "ports are from 0 to 65535") from error
    return f"{'http' if tls is None else 'https'}://{_in_url(host)}:{runner.addresses[0][1]}"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
