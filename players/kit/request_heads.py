"""Heads of requests as game managers write them, mended before the strict parser of aiohttp reads them.

Addresses in them by which that parser fails are refused as those are that it refuses by itself.

The first generations of ggp-base end the lines of a head with a bare line feed; others put blanks before colons, or
give the length twice. The replies of a player close the connection: only the first head of one is ever mended.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from aiohttp import web
from aiohttp.http_exceptions import InvalidURLError

MAX_HEAD_BYTES: Final = 64 * 1024
"""How much is waited for; aiohttp refuses heads of that length."""
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_LINE_END: Final = re.compile(rb"\r?\n")
_BLANKS_BEFORE_COLON: Final = re.compile(rb"\A([^\s:]+)[ \t]+:")
_LENGTH: Final = b"content-length:"


Refuse: TypeAlias = Callable[[int, BaseException | None], web.Response]
"""Makes the answer to what comes to no handler, of a status and of what is wrong with it."""


class StrictRunner(web.AppRunner):
    """Serves an application, and answers 400 to each request for what is no address.

    What never comes to the application, as it is no HTTP request or expects what is unknown, is answered as *refuse*
    says, or with plain text.
    """

    def __init__(self, app: web.Application, *, refuse: Refuse | None = None, **settings: Any) -> None:
        super().__init__(app, **settings)
        self._refuse = refuse

    @property
    def server(self) -> web.Server | None:
        """What makes the protocol of each connection, once the runner is set up."""
        server = super().server
        # A site does nothing but call it.
        return None if server is None else cast(web.Server, lambda: _StrictConnection(server, self._refuse))

    async def cleanup(self) -> None:
        """Stop listening, and end all connections, those that are just being made, too.

        asyncio loses a connection that it accepts right before the server closes, and never closes it
        (https://github.com/python/cpython/issues/109564): the last ones are made before.
        """
        sites: Any = self.sites  # whose servers are private
        for listener in (each for site in sites if site._server is not None for each in site._server.sockets):
            asyncio.get_running_loop().remove_reader(listener)
        await asyncio.sleep(0)
        await super().cleanup()


class _StrictConnection(web.RequestHandler):
    """A connection with a strict parser, whose refusals *refuse* makes."""

    __slots__ = ("_refuse",)

    def __init__(self, server: web.Server, refuse: Refuse | None) -> None:
        made: Any = server  # whose settings are private, as is the parser of a connection
        super().__init__(server, loop=made._loop, **made._kwargs)
        self._refuse = refuse
        connection: Any = self
        connection._parser = _StrictParser(connection._parser)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Log what came instead of a request, and return the answer, which ends the connection."""
        answer = super().handle_error(request, status, exc, message)
        if self._refuse is not None:
            answer = self._refuse(status, exc)
            answer.force_close()
        return answer

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send the answer, which to an unknown expectation aiohttp makes before any middleware."""
        if isinstance(resp, web.HTTPExpectationFailed) and self._refuse is not None:
            resp = self._refuse(resp.status, resp)
            resp.force_close()  # whether a body follows, only the client knows
        return await super().finish_response(request, resp, start_time)


class _StrictParser:
    """The parser of a connection, which raises nothing but the errors that aiohttp answers."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)

    def feed_data(self, data: bytes) -> Any:
        """Return the requests that *data* ends.

        Raises:
            HttpProcessingError: it is no request.
        """
        try:
            return self._parser.feed_data(data)
        except IndexError as error:  # yarl raises it where an empty host stands behind user and password
            raise InvalidURLError("an address names a host") from error


class LenientRunner(StrictRunner):
    """Serves an application to clients whose requests have odd heads, too."""

    @property
    def server(self) -> web.Server | None:
        """What makes the protocol of each connection, once the runner is set up."""
        server = super().server
        return None if server is None else cast(web.Server, lambda: _FirstHead(server()))


class _FirstHead(asyncio.Protocol):
    """Waits for the first head of a connection, and leaves the connection to *handler* with that head mended."""

    def __init__(self, handler: asyncio.Protocol) -> None:
        self._handler = handler
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._handler.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Take what came; when the head is there, or too long, the handler takes it and all that follows."""
        searched = max(0, len(self._received) - 3)
        self._received += data if self._received else data.lstrip(b"\r\n")
        end = _HEAD_END.search(self._received, searched)
        if end is None and len(self._received) < MAX_HEAD_BYTES:
            return
        received = bytes(self._received)
        self._transport.set_protocol(self._handler)
        self._handler.data_received(
            received if end is None else mended_head(received[: end.start()]) + received[end.end() :]
        )

    def eof_received(self) -> bool | None:
        return self._handler.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._handler.connection_lost(exc)


def mended_head(head: bytes) -> bytes:
    r"""Return *head*, which came without the empty line at its end, as the standard wants it, with that line.

    Example:
        >>> mended_head(b"POST / HTTP/1.0\nContent-Length : 6\nContent-length: 6")
        b'POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n'
    """
    request, *fields = _LINE_END.split(head)
    fields = [_BLANKS_BEFORE_COLON.sub(rb"\1:", field) for field in fields]
    lengths = [field for field in fields if _is_length(field)]
    if len({length.partition(b":")[2].strip() for length in lengths}) == 1:
        fields = [*(field for field in fields if not _is_length(field)), lengths[0]]
    return b"\r\n".join((request, *fields, b"", b""))


def _is_length(field: bytes) -> bool:
    return field.lower().startswith(_LENGTH)
