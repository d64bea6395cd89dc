"""The checks find nothing wrong with a player of our kit, and each finds what it is there to find."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from gdl.wire.messages import read_message
from players.kit.player_server import PlayerServer
from server.player_checks.catalogue import CHECKS
from server.player_checks.check_match import Clocks
from server.player_checks.examination import Check, CheckedPlayer, CheckResult, CheckVerdict, examine
from server.player_checks.play_checks import PROMPT_S
from server.player_checks.probe import HttpProbe, Request
from tests.kit.players import odd_players
from tests.kit.players.peers import playing, settings, start_text
from tests.kit.server import peers
from tests.kit.server.peers import request

SHORT = Clocks(start_s=3, play_s=1)
"""For players that do not answer in time."""
PATIENT = Clocks(start_s=20, play_s=10)
"""For players that answer at once, on a machine that may be busy."""
BY_NAME = {check.name: check for check in CHECKS}
Answer = Callable[[str, PlayerServer], Awaitable[str]]


async def findings(url: str, *checks: Check, clocks: Clocks = PATIENT) -> list[CheckResult]:
    return [finding async for finding in examine(CheckedPlayer(HttpProbe(url), clocks), checks)]


@contextlib.asynccontextmanager
async def listening(answer: Answer, *, closes: bool = True, max_matches: int = 8) -> AsyncIterator[str]:
    """Serve a player that says what *answer* says, as raw as players of old; yield its address."""
    desk = PlayerServer(odd_players.First, settings(max_matches=max_matches))
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make_player", [odd_players.First, odd_players.Failing, odd_players.Telling])
async def test_nothing_is_wrong_with_a_player_of_the_kit(make_player: type[odd_players.First]) -> None:
    async with playing(make_player) as peer:
        found = await findings(peer.url, *CHECKS)
    assert [(finding.name, finding.verdict, finding.detail) for finding in found] == [
        (check.name, CheckVerdict.OK, "") for check in CHECKS
    ]


async def test_when_the_player_does_not_answer_the_rest_is_skipped() -> None:
    async with playing(odd_players.First) as peer:
        url = peer.url
    found = await findings(url, *CHECKS)
    assert [finding.verdict for finding in found] == [CheckVerdict.WRONG] + [CheckVerdict.SKIPPED] * (len(CHECKS) - 1)
    assert found[0].detail == "connection failed: Connection refused"


async def proper(text: str, desk: PlayerServer) -> str:
    return (await desk.answer(read_message(text))).text


async def mumbling(text: str, _desk: PlayerServer) -> str:
    return "(well (you (know"


async def jumping(text: str, desk: PlayerServer) -> str:
    return "(jump 9)" if text.startswith("(PLAY") else await proper(text, desk)


async def dawdling(text: str, desk: PlayerServer) -> str:
    if text.startswith("(PLAY"):
        await asyncio.sleep(SHORT.play_s + 0.1)
    return await proper(text, desk)


async def deaf(text: str, desk: PlayerServer) -> str:
    if text.startswith("(START"):
        await asyncio.sleep(60)
    return await proper(text, desk)


_WAVERING = itertools.cycle(("(mark 1 1)", "(mark 1 2)"))


async def wavering(text: str, desk: PlayerServer) -> str:
    return next(_WAVERING) if text.startswith("(PLAY") else await proper(text, desk)


async def stubborn(text: str, desk: PlayerServer) -> str:
    """Goes by its own moves: aborts when one was replaced."""
    answer = await proper(text, desk)
    return "aborted" if text.startswith("(PLAY") and "NIL" not in text and "(mark 1 1) noop" not in text else answer


async def bare(text: str, desk: PlayerServer) -> str:
    return "mark 1 1" if text.startswith("(PLAY") else await proper(text, desk)


_DEAD: set[PlayerServer] = set()


async def mortal(text: str, desk: PlayerServer) -> str:
    """Dies of the first thing that is no message."""
    if text == "hello":
        _DEAD.add(desk)
    if desk in _DEAD:
        raise ConnectionError
    return await proper(text, desk) if text else ""


async def upper(text: str, desk: PlayerServer) -> str:
    return "READY" if text.startswith("(START") else "OK"


FAULTS: list[tuple[Answer, str, CheckVerdict, str]] = [
    (mumbling, "info", CheckVerdict.WARNING, "INFO: a parenthesis is never closed"),
    (upper, "info", CheckVerdict.WARNING, "INFO: no answer to INFO"),
    (upper, "ping", CheckVerdict.WARNING, "answered 'OK\\n'"),
    (upper, "words-of-the-protocol", CheckVerdict.WARNING, "step 1: 'OK'"),
    (jumping, "whole-match", CheckVerdict.WRONG, "step 1: '(jump 9)' is not one of 9 legal moves ((mark 1 1), "),
    (
        bare,
        "whole-match",
        CheckVerdict.WRONG,
        "step 1: 'mark' is not one of 9 legal moves ((mark 1 1), (mark 1 2), (mark 1 3), (mark 2 1) ...); "
        "a move of several words stands in parentheses",
    ),
    (wavering, "repeated-play", CheckVerdict.WRONG, "step 1: answered (mark 1 1), and (mark 1 2) when asked again"),
    (stubborn, "replaced-move", CheckVerdict.WARNING, "step 2: 'aborted' is not one of 1 legal move ("),
    (mortal, "garbage", CheckVerdict.WRONG, "after the body b'hello': closed without a reply"),
]


@pytest.mark.parametrize(("answer", "name", "verdict", "detail"), FAULTS)
async def test_a_fault_is_found(answer: Answer, name: str, verdict: CheckVerdict, detail: str) -> None:
    async with listening(answer) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME[name]))[1]
    assert (found.verdict, found.detail[: len(detail)]) == (verdict, detail)


async def test_a_late_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.player_checks.check_match.GRACE_S", 60)  # on a busy machine the answer may be later yet
    async with listening(dawdling) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME["whole-match"], clocks=SHORT))[1]
    detail = re.sub(r"after \d+\.\d+ s", "after N s", found.detail)
    assert (found.verdict, detail) == (CheckVerdict.WRONG, "PLAY of step 1: answered after N s, its clock has 1 s")


async def test_silence_is_found() -> None:
    async with listening(deaf) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME["whole-match"], clocks=SHORT))[1]
    assert (found.verdict, found.detail) == (CheckVerdict.WRONG, "START: no answer within 4 s")


async def test_a_reply_without_an_end_is_told_from_silence() -> None:
    async def holding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nready")
        await reader.read()

    async with peers.listening(holding) as url:
        observed = await HttpProbe(url).exchange(Request(b"(INFO)"), 3.0)
    hint = "give a Content-Length that fits, or close the connection after it"
    assert observed.trouble == f"the reply has no end within 3 s: 'ready' came; {hint}"


async def test_once_the_player_is_gone_the_rest_is_skipped() -> None:
    async def ending(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await request(reader)
        if body.startswith("(START"):
            server.close()
        else:
            writer.write(b"HTTP/1.0 200 OK\r\n\r\navailable\n")
        writer.close()

    server = await asyncio.start_server(ending, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    checks = [BY_NAME[name] for name in ("answers", "whole-match", "second-role", "garbage")]
    found = await findings(url, *checks)
    gone = "nothing listens there since the check whole-match: see why the player ended, and start it again"
    assert [(finding.verdict, finding.detail) for finding in found] == [
        (CheckVerdict.OK, ""),
        (CheckVerdict.WRONG, "START: closed without a reply"),
        (CheckVerdict.SKIPPED, gone),
        (CheckVerdict.SKIPPED, gone),
    ]


@pytest.mark.parametrize(
    ("told", "detail"),
    [
        ('{"value": 50, "line": ["(mark 1 1)"]}', ""),
        ('{"value": 500}', "GGP-Player-Insight: an insight whose value is not from 0 to 100"),
        ("fine, thanks", "GGP-Player-Insight: an insight that is no JSON: 'fine, thanks'"),
    ],
)
async def test_thoughts_that_records_do_not_take_are_found(told: str, detail: str) -> None:
    async def telling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await request(reader)
        reply = "(mark 1 1)" if body.startswith("(PLAY") else "ready"
        writer.write(f"HTTP/1.0 200 OK\r\nGGP-Player-Insight: {told}\r\n\r\n{reply}\n".encode())

    async with peers.listening(telling) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME["thoughts"]))[1]
    assert (found.verdict is CheckVerdict.OK, found.detail) == (detail == "", detail)


async def test_a_connection_that_stays_open_is_found() -> None:
    async with listening(proper, closes=False) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME["closes-connection"]))[1]
    assert (found.verdict, found.detail) == (CheckVerdict.WARNING, "it is still open a second later")


async def test_a_player_that_answers_one_message_at_a_time_is_found() -> None:
    lock = asyncio.Lock()
    is_asked = asyncio.Event()

    async def strict(text: str, desk: PlayerServer) -> str:
        if lock.locked():
            is_asked.set()
        async with lock:
            if text.startswith("(PLAY"):
                await is_asked.wait()
                await asyncio.sleep(PROMPT_S + 0.1)
            return await proper(text, desk)

    async with listening(strict) as url:
        found = (await findings(url, BY_NAME["answers"], BY_NAME["info-while-thinking"]))[1]
    assert (found.verdict, found.detail) == (CheckVerdict.WARNING, "answered only after the move")


MATCH_CHECKS = [check for check in CHECKS if check.name in {
    "whole-match", "second-role", "scrambled-names", "repeated-play", "replaced-move", "words-of-the-protocol",
    "match-after-abort", "match-at-the-end",
}]  # fmt: skip


@pytest.mark.exhaustive
async def test_a_player_of_one_match_at_a_time_fails_in_nothing_but_two_matches() -> None:
    async with playing(odd_players.First, max_matches=1) as peer:
        found = await findings(peer.url, *CHECKS)
    assert [
        (finding.name, finding.verdict, finding.detail) for finding in found if finding.verdict != CheckVerdict.OK
    ] == [
        (
            "two-matches",
            CheckVerdict.WARNING,
            "it plays one match at a time: START of another one is answered with busy",
        )
    ]


async def test_a_check_that_fails_leaves_no_match_open() -> None:
    async with listening(jumping, max_matches=1) as url:
        found = await findings(url, BY_NAME["answers"], *MATCH_CHECKS)
    assert [("jump 9" in finding.detail, "busy" in finding.detail) for finding in found[1:]] == [(True, False)] * len(
        MATCH_CHECKS
    )


async def test_what_cannot_be_checked_since_the_player_is_busy_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "server.player_checks.check_match.BUSY_PAUSE_S", 0.01
    )  # it stays busy, however long the checks wait
    async with playing(odd_players.First, max_matches=1) as peer:
        await peer.say(start_text("elsewhere"))
        unreadable = BY_NAME["unreadable-rules"]
        found = await findings(peer.url, BY_NAME["answers"], *MATCH_CHECKS, unreadable, BY_NAME["two-matches"])
    busy = "START is answered with busy: it plays another match, or takes none, so this was not checked"
    assert [(finding.verdict, finding.detail) for finding in found[1:]] == [(CheckVerdict.SKIPPED, busy)] * (
        len(found) - 1
    )


async def test_a_warning_comes_before_what_kills_weak_players() -> None:
    told: list[str] = []

    async def dying(text: str, desk: PlayerServer) -> str:
        told.append(text[:20])
        return await proper(text, desk) if len(text) < 100_000 else ""

    async with listening(dying) as url:
        checks = BY_NAME["answers"], BY_NAME["huge-message"]
        async for _ in examine(CheckedPlayer(HttpProbe(url), PATIENT), checks, lambda check: told.append(check.risk)):
            pass
    assert told[:4] == [
        "",
        "(INFO)",
        "a weak player dies of it: if yours is gone then, start it again",
        "(PLAY x (a a a a a a",
    ]
