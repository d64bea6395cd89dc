"""Answers of a model, whole and in pieces."""

from __future__ import annotations

from typing import Any

import pytest

from players.language_model.completions import Completion


def received(*parts: Any) -> Completion:
    completion = Completion()
    for part in parts:
        completion.add({"choices": [part]})
    return completion


@pytest.mark.parametrize(
    ("reason", "is_whole"),
    [(None, False), ("stop", True), ("tool_calls", True), ("length", False), ("content_filter", False)],
)
def test_an_answer_is_whole_where_the_model_ended_it(reason: str | None, is_whole: bool) -> None:
    assert received({"message": {"content": "Well"}, "finish_reason": reason}).is_whole == is_whole


def test_the_end_of_a_stream_makes_no_answer_whole_that_was_cut_off() -> None:
    completion = received({"delta": {"content": "Well"}}, {"delta": {}, "finish_reason": "length"})
    completion.end()
    assert completion == Completion(text="Well", is_cut_off=True)


def test_a_stream_may_end_without_a_reason() -> None:
    completion = received({"delta": {"content": "Well"}})
    completion.end()
    assert completion == Completion(text="Well", is_whole=True)


def called(arguments: str, **index: int) -> dict[str, Any]:
    return {"function": {"name": "make_move", "arguments": arguments}, **index}


def test_the_first_of_several_calls_counts() -> None:
    first, second = '{"move": "a"}', '{"move": "b"}'
    whole = received({"message": {"tool_calls": [called(first), called(second)]}})
    pieces = [called(first[:5], index=0), called(second[:7], index=1), called(first[5:], index=0)]
    in_pieces = received(*({"delta": {"tool_calls": [piece]}} for piece in pieces))
    together = received({"delta": {"tool_calls": [called(second, index=1), called(first, index=0)]}})
    assert whole == in_pieces == together == Completion(call=first)
