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
    "invalid_name": Code(400, "no player may be called so"),
    "illegal_move": Code(400, "the move is not legal; the message lists those that are"),
    "rules_refused": Code(400, "the rules cannot be played; `line`, `column` and `kind` say where and why"),
    "rules_too_costly": Code(400, "the rules cost more time or memory than they may"),
    "rules_unfit": Code(400, "the rules are not fit to play; `diagnostics` has everything that was found"),
    "about_refused": Code(400, "the TOML description says something that it may not say"),
    "invalid_game_name": Code(400, "no game can be called so"),
    "invalid_token": Code(400, "no name, note or time that a token can have; or no class list"),
    "unauthorized": Code(401, "no token, or none that is known"),
    "forbidden": Code(403, "the token's role may not do this"),
    "foreign_request": Code(403, "a browser sent this for a page that is not ours"),
    "not_public_yet": Code(403, "it is shown after the end of the match"),
    "not_found": Code(404, "nothing is there"),
    "not_registered": Code(404, "no player of that name is registered"),
    "no_seat": Code(404, "no person plays that role in the match"),
    "unknown_letter": Code(404, "no such letter waits for the player"),
    "unknown_game_name": Code(404, "there is no such game, or not that version of it"),
    "no_description": Code(404, "the game has no TOML description"),
    "unknown_match": Code(404, "there is no such match"),
    "unknown_seat": Code(404, "the match has no such role"),
    "unknown_step": Code(404, "the match has no such step, or its state is not public yet"),
    "unknown_token": Code(404, "no token has that id, or it was revoked"),
    "method_not_allowed": Code(405, "the header Allow has the methods that are"),
    "timeout": Code(408, "the body did not arrive in time"),
    "game_taken": Code(409, "there is a game of that name, which is not yours"),
    "match_is_over": Code(409, "nothing to abort"),
    "name_taken": Code(409, "another player has that name"),
    "not_dial_in": Code(409, "the player has an address, so that no letters wait for it here"),
    "not_asked": Code(409, "no move is asked of that seat in that step"),
    "late_reply": Code(409, "the clock of the question, or its match, is over"),
    "other_reply": Code(409, "the question has another reply already, which counts"),
    "too_many_players": Code(409, "the owner has as many players as anybody may have"),
    "no_admin": Code(409, "it would leave tokens, and nobody who may administer the server"),
    "too_large": Code(413, "more than 2,000,000 bytes"),
    "unsupported_media_type": Code(415, "send `Content-Type: application/json`"),
    "wrong_host": Code(421, "the request names a host that this server is not"),
    "too_many_requests": Code(429, "the header Retry-After says when to come again"),
    "internal": Code(500, "our fault; the log says more"),
    "busy": Code(503, "many rules are being checked; try again in a minute"),
    "storage_failed": Code(503, "the database failed; try again later"),
    "too_many_matches": Code(503, "the queue is full; try again later"),
}

ALWAYS: Final = ("bad_request", "wrong_host", "too_many_requests", "internal", "storage_failed")
"""What every request may be answered with."""
CHANGING: Final = ("foreign_request",)
"""What every request that changes something may be answered with."""
WITH_BODY: Final = ("invalid_json", "timeout", "too_large", "unsupported_media_type")
"""What every request with a body may be answered with."""
