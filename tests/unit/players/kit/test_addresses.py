"""Addresses from outside."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from players.kit.addresses import url_of


@given(st.text("[]@:/#?%.a1", max_size=12).map("http://{}".format))
def test_whatever_a_text_is_there_is_an_address_or_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert url_of(text) == URL(text)
