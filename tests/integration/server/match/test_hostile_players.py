"""Players with real sockets that do everything wrong: none ends its match, none delays it beyond clock and grace.

All matches run at once, in one process, each against one hostile and one good player.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

import pytest

from gdl.engines import make_game
from gdl.language.rules import read_rules
from server.links.http_player import HttpPlayer
from server.match.driver import MatchDriver, Outcome
from server.match.exchange import Completed, Event, StepFinished
from server.match.profiles import Profile
from server.match.referee import LocalReferee
from tests.kit.server.peers import (
    OK,
    closing,
    deaf,
    dripping,
    flooding,
    full,
    hanging,
    listening,
    replying,
    resetting,
    sending,
)
from tests.kit.server.plays import LEFT, RIGHT, TWO_STEPS, setup

CLOCK_S: Final = 5
GRACE_S: Final = 0.25
N_MESSAGES: Final = 4
SLACK_S: Final = 15.0
PATIENT_CLOCK_S: Final = 60
"""The clock of those who answer at once: a server that waits for more is seen however busy the machine is."""
GIGABYTE: Final = 10**9
DEEP: Final = 20_000

RULES: Final = f"""{TWO_STEPS} (word été) (<= (goal ?r 50) (true (last ?r été)))
(<= (legal ?r pass) (role ?r)) (<= (next (last ?r pass)) (does ?r pass)) (<= (goal ?r 10) (true (last ?r pass)))"""
FLOODED: list[int] = []
MOVE: Final = OK + b"\r\n(say \xc3\xa9t\xc3\xa9)"
ELSEWHERE: Final = b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n(say no)"

CHUNKED: Final = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ZIPPED: Final = OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"(say no)" + b" " * 10_000_000, mtime=0)


Opening: TypeAlias = Callable[[], AbstractAsyncContextManager[str]]
"""Opens a player that listens while the block runs, and gives its address."""


def endless(head: bytes, piece: bytes) -> Opening:
    return partial(listening, flooding(head, piece * (65_536 // len(piece)), GIGABYTE, FLOODED))


HOSTILE: Final[Mapping[str, tuple[Opening, str]]] = {
    "is not there": (deaf, "CE"),
    "never accepts": (full, "TO"),
    "accepts and hangs": (partial(listening, hanging), "TO"),
    "drips one byte a second": (partial(listening, dripping(MOVE, 1.0)), "TO"),
    "drips a list in time": (partial(listening, dripping(b"no)", 0.001, OK + b"\r\n(say ")), ""),
    "begins a word": (partial(listening, sending(OK + b"\r\npas", hangs=True)), "TO"),
    "says a word without an end": (partial(listening, sending(OK + b"\r\npass", hangs=True)), ""),
    "drips a list too slowly": (partial(listening, dripping(MOVE + b" " * 99, 0.25)), "TO"),
    "sends a gigabyte of list": (
        partial(listening, flooding(OK + b"\r\n(", b"say " * 9999, GIGABYTE, FLOODED)),
        "IL (say say ",
    ),
    "sends a gigabyte of word": (
        partial(listening, flooding(OK + b"\r\n", b"word" * 9999, GIGABYTE, FLOODED)),
        "IL wordword",
    ),
    "sends a gigabyte of blanks": (partial(listening, flooding(OK + b"\r\n", b" " * 65536, GIGABYTE, FLOODED)), "IL"),
    "sends a gigabyte of head": (partial(listening, flooding(OK, b"Field: value\r\n" * 999, GIGABYTE, FLOODED)), "CE"),
    "sends a gigabyte in chunks": (endless(CHUNKED, b"80\r\n" + b"(" * 128 + b"\r\n"), "IL (((((("),
    "sends a gigabyte in small chunks": (endless(CHUNKED, b"3\r\n(((\r\n"), "CE"),
    "sends a gigabyte of bare line ends between chunks": (endless(CHUNKED, b"\n"), "CE"),
    "sends a gigabyte of semicolons between chunks": (endless(CHUNKED, b";\n"), "CE"),
    "sends a gigabyte of one long chunk line": (endless(CHUNKED, b";"), "CE"),
    "sends a gigabyte in chunks of a byte": (endless(CHUNKED, b"1\r\n(\r\n"), "CE"),
    "sends a gigabyte of blanks in chunks of a byte": (endless(CHUNKED, b"1\r\n \r\n"), "CE"),
    "sends a gigabyte of interim heads": (endless(b"", b"HTTP/1.1 103 Early\r\n\r\n"), "CE"),
    "sends a gigabyte of fields": (endless(OK, b":\n"), "CE"),
    "sends a gigabyte of tiny terms": (endless(OK + b"\r\n(", b"a "), "IL (a a a"),
    "sends a gigabyte of pairs of parentheses": (endless(OK + b"\r\n(", b"()"), "IL (()()"),
    "sends a gigabyte of comments": (endless(OK + b"\r\n", b";\n"), "IL ; ; ;"),
    "sends a gigabyte of comments in a list": (endless(OK + b"\r\n(", b";)\n"), "IL (;) ;)"),
    "sends a gigabyte of one comment": (endless(OK + b"\r\n;", b")"), "IL ;)))"),
    "sends a gigabyte of carriage returns": (endless(OK + b"\r\n", b"\r"), "IL"),
    "sends a gigabyte of carriage returns for a head": (endless(OK, b"\r"), "CE"),
    "sends a gigabyte after its move": (endless(OK + b"\r\n(say no)", b"(say no) "), ""),
    "answers zipped": (partial(listening, sending(ZIPPED)), "IL \N{REPLACEMENT CHARACTER}"),
    "speaks TLS": (partial(listening, sending(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9, hangs=True)), "CE"),
    "closes at once": (partial(listening, closing), "CE"),
    "closes after listening": (partial(listening, sending(b"")), "CE"),
    "resets the connection": (partial(listening, resetting), "CE"),
    "closes in the middle of the head": (partial(listening, sending(OK)), "CE"),
    "closes in the middle of a list": (partial(listening, sending(OK + b"\r\n(say")), "IL (say"),
    "answers 500": (partial(listening, sending(b"HTTP/1.0 500 Oops\r\n\r\n(say no)")), "CE"),
    "answers 404 with a page": (
        partial(listening, sending(b"HTTP/1.1 404 Not Found\r\n\r\n<html>(say no)</html>")),
        "CE",
    ),
    "redirects": (partial(listening, sending(ELSEWHERE)), "CE"),
    "plays another match": (partial(listening, sending(OK + b"\r\n(mark 1 1)")), "IL (mark 1 1)"),
    "has given up": (partial(listening, sending(OK + b"\r\naborted")), "IL aborted"),
    "says nothing": (partial(listening, sending(OK + b"Content-Length: 0\r\n\r\n", hangs=True)), "IL"),
    "speaks no HTTP": (partial(listening, sending(bytes(range(256)) * 10, hangs=True)), "CE"),
    "speaks no KIF": (partial(listening, sending(OK + b"\r\n" + bytes(range(256)) * 10)), "IL ��"),
    "nests deep": (partial(listening, sending(OK + b"\r\n" + b"(a " * DEEP + b")" * DEEP)), "IL (a (a (a "),
    "nests too deep": (partial(listening, sending(OK + b"\r\n" + b"(" * 9 * DEEP)), "IL (((((("),
    "sends NUL bytes": (partial(listening, sending(OK + b"\r\n(say \0no)")), "IL (say �no)"),
    "closes too many parentheses": (partial(listening, sending(OK + b"\r\n))))")), "IL )"),
    "answers in Latin-1": (partial(listening, sending(OK + b"\r\n(say \xe9t\xe9)")), ""),
    "answers in Latin-1 what is no move": (partial(listening, sending(OK + b"\r\n(say \xfcber)")), "IL (say über)"),
    "answers in UTF-8 with a mark": (partial(listening, sending(OK + b"\r\n\xef\xbb\xbf(say no)")), ""),
    "says two terms": (partial(listening, sending(OK + b'\r\n(say no) (explanation "why not")')), ""),
    "shouts": (partial(listening, sending(OK + b"\r\n(SAY NO)")), ""),
    "gives no length and leaves the connection open": (
        partial(listening, sending(OK + b"\r\n(say no)", hangs=True)),
        "",
    ),
    "gives too small a length": (
        partial(listening, sending(OK + b"Content-Length: 2\r\n\r\n(say no)", hangs=True)),
        "",
    ),
    "gives too large a length": (
        partial(listening, sending(OK + b"Content-Length: 99999\r\n\r\n(say no)", hangs=True)),
        "",
    ),
    "gives an odd type": (partial(listening, sending(OK + b"Content-Type: image/png\r\n\r\n(say no)")), ""),
    "sends chunks": (
        partial(listening, sending(OK + b"Transfer-Encoding: chunked\r\n\r\n8\r\n(say no)\r\n0\r\n\r\n")),
        "",
    ),
}
"""Who plays left, and how the record's error for each of its moves begins."""


@dataclass(frozen=True)
class Played:
    outcome: Outcome
    steps: tuple[StepFinished, ...]
    elapsed_s: float


async def play(hostile: AbstractAsyncContextManager[str], clock_s: int = CLOCK_S) -> Played:
    game = make_game(read_rules(RULES))
    terms = replace(setup(*[Profile(grace_s=GRACE_S)] * 2), start_clock_s=clock_s, play_clock_s=clock_s)
    events: list[Event] = []
    async with hostile as left, listening(replying(lambda _: "(say no)")) as right:
        driver = MatchDriver(
            LocalReferee(game), terms, {LEFT: HttpPlayer(left), RIGHT: HttpPlayer(right)}, [events.append]
        )
        started_s = time.monotonic()
        outcome = await driver.run()
        elapsed_s = time.monotonic() - started_s
    return Played(outcome, tuple(event for event in events if isinstance(event, StepFinished)), elapsed_s)


@pytest.fixture(scope="module")
def played() -> dict[str, Played]:
    async def play_all() -> dict[str, Played]:
        matches = await asyncio.gather(*(play(opening()) for opening, _ in HOSTILE.values()))
        return dict(zip(HOSTILE, matches, strict=True))

    return asyncio.run(play_all())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_player_ends_a_match(name: str, played: dict[str, Played]) -> None:
    assert isinstance(played[name].outcome, Completed)
    assert len(played[name].steps) == 3


@pytest.mark.parametrize("name", HOSTILE)
def test_no_player_delays_a_match_beyond_clock_and_grace(name: str, played: dict[str, Played]) -> None:
    assert played[name].elapsed_s < N_MESSAGES * (CLOCK_S + GRACE_S) + SLACK_S


@pytest.mark.parametrize("name", HOSTILE)
def test_what_it_did_is_recorded_and_the_other_is_unharmed(name: str, played: dict[str, Played]) -> None:
    expected = HOSTILE[name][1]
    for step in played[name].steps[1:]:
        error, other = step.errors
        assert error == expected or (expected.startswith("IL ") and error.startswith(expected)), step.details
        assert (step.details[0] == "") == (expected == "")
        assert other == ""


@pytest.mark.parametrize("name", [name for name, (_, error) in HOSTILE.items() if error == "" and "word" not in name])
async def test_odd_but_complete_replies_are_not_waited_for(name: str) -> None:
    played = await play(HOSTILE[name][0](), PATIENT_CLOCK_S)
    assert [(step.elapsed_ms[0] or 0) < 1000 * PATIENT_CLOCK_S for step in played.steps] == [True] * 3


def test_floods_are_stopped_early(played: dict[str, Played]) -> None:
    assert played
    assert FLOODED
    assert max(FLOODED) < GIGABYTE / 10
