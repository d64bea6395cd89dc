"""Tokens as texts."""

from __future__ import annotations

import pytest

from server.access.authentication import is_secret_of, new_token, read_token, secret_hash


def test_a_token_is_read_as_it_was_written() -> None:
    token = new_token()
    assert read_token(str(token)) == token


def test_no_two_tokens_are_alike() -> None:
    assert len({new_token().secret for _ in range(100)} | {new_token().id for _ in range(100)}) == 200


@pytest.mark.parametrize(
    "text", ["", "ggp__", "ggp_abc_def", "GGP_aaaaaaaaaa_" + "a" * 52, "ggp_aaaaaaaaaa_" + "a" * 53, "x" * 10_000]
)
def test_anything_else_is_no_token(text: str) -> None:
    assert read_token(text) is None


def test_only_the_secret_itself_fits_what_is_kept_of_it() -> None:
    token = new_token()
    kept = secret_hash(token.secret)
    assert [is_secret_of(each, kept) for each in (token.secret, token.secret[:-1], kept, "", "é\0\ud800")] == [
        True,
        False,
        False,
        False,
        False,
    ]
