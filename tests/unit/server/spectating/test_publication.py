"""What of a record is published on a spectator server."""

from __future__ import annotations

from typing import Any

import pytest

from server.records.signature import PUBLIC_KEY, SIGNATURE
from server.spectating.publishing import publication

OURS: dict[str, Any] = {"x-seed": 7, "x-status": "running", PUBLIC_KEY: "key", SIGNATURE: "signature"}
PUBLIC: dict[str, Any] = {"matchId": "m", "states": ["( )"], "moves": []}


def test_the_public_keys_are_published_with_the_address_of_the_rules() -> None:
    assert publication(OURS | PUBLIC, "http://here/v0/") == PUBLIC | {"gameMetaURL": "http://here/v0/"}


@pytest.mark.parametrize(
    ("told", "shown"), [("http://there", "http://there"), ("", "http://here"), (None, "http://here")]
)
def test_an_address_of_the_rules_that_the_record_has_is_kept(told: str | None, shown: str) -> None:
    assert publication(PUBLIC | {"gameMetaURL": told}, "http://here")["gameMetaURL"] == shown


@pytest.mark.parametrize(
    ("thinking_ms", "has_errors"),
    [
        ([[None, None]], False),
        ([[5, None]], True),
        ([[0, None]], True),
        ([[None, None], [5, 5]], False),
        ([], False),
    ],
)
def test_errors_are_published_once_the_answers_to_start_are_known(
    thinking_ms: list[list[int | None]], has_errors: bool
) -> None:
    record = PUBLIC | {"errors": [["", ""]], "x-thinking-ms": thinking_ms}
    assert ("errors" in publication(record, "")) is has_errors
    assert "errors" not in publication(PUBLIC | {"errors": [["", ""]]}, "")
