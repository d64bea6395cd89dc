"""What crosses the pipes of a worker, without a process: replies come out of pieces however these are cut."""

from __future__ import annotations

import signal

import pytest

from gdl.errors import LimitExceeded
from gdl.worker import ChildLimits, Replies, Reply, death, frame

REPLIES = [Reply("report", "begun"), Reply("result", list(range(1_000))), Reply("result", None)]


@pytest.mark.parametrize("length", [1, 7, 8, 9, 1_000, 100_000])
def test_replies_come_out_of_pieces_of_any_length(length: int) -> None:
    written, replies = b"".join(map(frame, REPLIES)), Replies(ChildLimits())
    pieces = (written[start : start + length] for start in range(0, len(written), length))
    assert [reply for piece in pieces for reply in replies.feed(piece)] == REPLIES


def test_a_reply_that_is_too_long_is_refused_by_its_first_bytes() -> None:
    replies = Replies(ChildLimits(max_answer_mb=0.5))
    assert list(replies.feed(frame(Reply("result", bytes(500_000))))) == [Reply("result", bytes(500_000))]
    with pytest.raises(LimitExceeded) as raised:
        list(replies.feed(frame(Reply("result", bytes(600_000)))[:8]))
    assert (raised.value.what, raised.value.limit) == ("megabytes of answer", 0.5)


def test_an_error_is_raised_as_it_came() -> None:
    with pytest.raises(ZeroDivisionError, match="why"):
        Reply("error", ZeroDivisionError("why")).result()
    assert REPLIES[1].result() == list(range(1_000))


@pytest.mark.parametrize(
    ("return_code", "reason"),
    [
        (-signal.SIGXCPU, "limit reached: more than 5 seconds"),
        (-signal.SIGABRT, "limit reached: more than 2,048 megabytes of memory"),
        (86, "limit reached: more than 2,048 megabytes of memory"),
    ],
)
def test_the_exit_code_tells_which_limit_ended_a_worker(return_code: int, reason: str) -> None:
    assert str(death(return_code, ChildLimits(max_cpu_seconds=5))) == reason
