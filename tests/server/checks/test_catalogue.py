"""The checks find nothing wrong with a player of our kit, and each finds what it is there to find."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from gdl.messages import read_message
from players.desk import Desk
from server.checks.bout import Clocks
from server.checks.catalogue import CHECKS
from server.checks.examination import Check, Examinee, Finding, Verdict, examine
from server.checks.probe import Probe
from tests.players import odd_players
from tests.players.peers import playing, settings

CLOCKS = Clocks(start_s=3, play_s=1)
BY_NAME = {check.name: check for check in CHECKS}
Answer = Callable[[str, Desk], Awaitable[str]]


async def findings(url: str, *checks: Check) -> list[Finding]:
    return [finding async for finding in examine(Examinee(Probe(url), CLOCKS), checks)]


@contextlib.asynccontextmanager
async def listening(answer: Answer, *, closes: bool = True) -> AsyncIterator[str]:
    """Serve a player that says what *answer* says, as raw as players of old; yield its address."""
    desk = Desk(odd_players.First, settings())
    tasks: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            text = (await reader.readexactly(length)).decode("latin-1")
            writer.write(f"HTTP/1.0 200 OK\r\n\r\n{await answer(text, desk)}\n".encode())
            await asyncio.sleep(0 if closes else 5)
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(converse(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await desk.close()


def test_every_check_has_a_name_of_its_own_and_says_what_it_is_about() -> None:
    assert len(BY_NAME) == len(CHECKS)
    assert all(check.what for check in CHECKS)


@pytest.mark.parametrize("make_player", [odd_players.First, odd_players.Failing])
async def test_nothing_is_wrong_with_a_player_of_the_kit(make_player: type[odd_players.First]) -> None:
    async with playing(make_player) as peer:
        found = await findings(peer.url, *CHECKS)
    assert [(finding.name, finding.verdict, finding.detail) for finding in found] == [
        (check.name, Verdict.OK, "") for check in CHECKS
    ]


async def test_when_nobody_answers_the_rest_is_skipped() -> None:
    async with playing(odd_players.First) as peer:
        url = peer.url
    found = await findings(url, *CHECKS)
    assert [finding.verdict for finding in found] == [Verdict.WRONG] + [Verdict.SKIPPED] * (len(CHECKS) - 1)
    assert found[0].detail.startswith("connection failed: ")


async def proper(text: str, desk: Desk) -> str:
    return await desk.answer(read_message(text))


async def mumbling(text: str, _desk: Desk) -> str:
    return "(well (you (know"


async def jumping(text: str, desk: Desk) -> str:
    return "(jump 9)" if text.startswith("(PLAY") else await proper(text, desk)


async def dawdling(text: str, desk: Desk) -> str:
    if text.startswith("(PLAY"):
        await asyncio.sleep(CLOCKS.play_s + 0.3)
    return await proper(text, desk)


async def deaf(text: str, desk: Desk) -> str:
    if text.startswith("(START"):
        await asyncio.sleep(60)
    return await proper(text, desk)


_WAVERING = itertools.cycle(("(mark 1 1)", "(mark 1 2)"))


async def wavering(text: str, desk: Desk) -> str:
    return next(_WAVERING) if text.startswith("(PLAY") else await proper(text, desk)


async def stubborn(text: str, desk: Desk) -> str:
    """Goes by its own moves: aborts when one was replaced."""
    answer = await proper(text, desk)
    return "aborted" if text.startswith("(PLAY") and "NIL" not in text and "(mark 1 1) noop" not in text else answer


_DEAD: set[Desk] = set()


async def mortal(text: str, desk: Desk) -> str:
    """Dies of the first thing that is no message."""
    if text == "hello":
        _DEAD.add(desk)
    if desk in _DEAD:
        raise ConnectionError
    return await proper(text, desk) if text else ""


async def upper(text: str, desk: Desk) -> str:
    return "READY" if text.startswith("(START") else "OK"


FAULTS: list[tuple[Answer, str, Verdict, str]] = [
    (mumbling, "info", Verdict.WARNING, "INFO: a parenthesis is never closed"),
    (upper, "info", Verdict.WARNING, "INFO: no answer to INFO"),
    (upper, "ping", Verdict.WARNING, "answered 'OK\\n'"),
    (upper, "words-of-the-protocol", Verdict.WARNING, "step 0: 'OK'"),
    (jumping, "whole-match", Verdict.WRONG, "step 0: '(jump 9)' is not one of the 9 legal moves ((mark 1 1), "),
    (dawdling, "whole-match", Verdict.WRONG, "PLAY of step 0: answered after 1.3"),
    (deaf, "whole-match", Verdict.WRONG, "START: no answer within 4 s"),
    (wavering, "repeated-play", Verdict.WRONG, "step 0: answered (mark 1 1), and (mark 1 2) when asked again"),
    (stubborn, "replaced-move", Verdict.WARNING, "step 1: 'aborted' is not one of the 1 legal moves"),
    (mortal, "garbage", Verdict.WRONG, "after the body b'hello': closed without a reply"),
]


@pytest.mark.parametrize(("answer", "name", "verdict", "detail"), FAULTS)
async def test_a_fault_is_found(answer: Answer, name: str, verdict: Verdict, detail: str) -> None:
    async with listening(answer) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME[name]))[1]
    assert (found.verdict, found.detail[: len(detail)]) == (verdict, detail)


async def test_a_connection_that_stays_open_is_found() -> None:
    async with listening(proper, closes=False) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME["closes-connection"]))[1]
    assert (found.verdict, found.detail) == (Verdict.WARNING, "it is still open a second later")


async def test_a_player_that_answers_one_message_at_a_time_is_found() -> None:
    lock = asyncio.Lock()

    async def strict(text: str, desk: Desk) -> str:
        async with lock:
            if text.startswith("(PLAY"):
                await asyncio.sleep(0.9)
            return await proper(text, desk)

    async with listening(strict) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME["info-while-thinking"]))[1]
    assert (found.verdict, found.detail) == (Verdict.WARNING, "answered only after the move")
