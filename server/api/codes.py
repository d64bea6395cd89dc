"""The codes of errors that the HTTP API tells: a status for each, and when it is told.

docs/api.md and the OpenAPI document list what is here; whoever raises a new code adds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of error: its HTTP status, and when it is told."""

    status: int
    meaning: str


CODES: Final[dict[str, Code]] = {
    "bad_request": Code(400, "no request that HTTP allows"),
    "invalid_json": Code(400, "the body is no JSON"),
    "invalid_body": Code(400, "the body is JSON, but not what this request takes"),
    "invalid_query": Code(400, "a parameter of the query or of the path is not what it may be"),
    "invalid_order": Code(400, "the body orders no match"),
    "unknown_game": Code(400, "misspelt in an order: the hint has the nearest names"),
    "unknown_player": Code(400, "misspelt in an order: the hint has the nearest names"),
    "unknown_role": Code(400, "the game has no such role, or nobody plays it"),
    "invalid_player": Code(400, "no address, or something that is not started over the network"),
    "rules_refused": Code(400, "the rules cannot be played; `line`, `column` and `kind` say where and why"),
    "rules_too_costly": Code(400, "the rules cost more time or memory than they may"),
    "unauthorized": Code(401, "no token, or none that is known"),
    "forbidden": Code(403, "the token's role may not do this"),
    "foreign_request": Code(403, "a browser sent this for a page that is not ours"),
    "not_public_yet": Code(403, "it is shown after the end of the match"),
    "not_found": Code(404, "nothing is there"),
    "unknown_match": Code(404, "there is no such match"),
    "unknown_step": Code(404, "the match has no such step, or its state is not public yet"),
    "method_not_allowed": Code(405, "the header Allow has the methods that are"),
    "timeout": Code(408, "the body did not arrive in time"),
    "match_is_over": Code(409, "nothing to abort"),
    "too_large": Code(413, "more than 2,000,000 bytes"),
    "unsupported_media_type": Code(415, "send `Content-Type: application/json`"),
    "wrong_host": Code(421, "the request names a host that this server is not"),
    "too_many_requests": Code(429, "the header Retry-After says when to come again"),
    "internal": Code(500, "our fault; the log says more"),
    "too_many_matches": Code(503, "the queue is full; try again later"),
}

ALWAYS: Final = ("wrong_host", "too_many_requests", "internal")
"""What every request may be answered with."""
CHANGING: Final = ("foreign_request",)
"""What every request that changes something may be answered with."""
WITH_BODY: Final = ("invalid_json", "timeout", "too_large", "unsupported_media_type")
"""What every request with a body may be answered with."""
