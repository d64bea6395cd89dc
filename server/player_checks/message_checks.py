"""Checks of a player by single messages: those of the protocol, and such as make no sense."""

from typing import Final

from gdl.errors import MessageError
from gdl.wire.info import InfoReply, is_busy, read_info
from gdl.wire.messages import Abort, Info, Ping, Preview, Stop, to_text
from server.player_checks.check_match import CheckFailedError, PlayerBusyError, library_game
from server.player_checks.examination import ANSWER_S, CheckedPlayer, must, risky, should
from server.player_checks.probe import Request

GARBAGE: Final = (b"", b"hello", b"(((((", b")", b"\xff\xfe\x00\x01", b"(PLAY)", b"(HELLO x)", b"(START x)", b"()")
HUGE_BYTES: Final = 5_000_000


async def _info(examinee: CheckedPlayer) -> InfoReply:
    observed = await examinee.say(to_text(Info()))
    if observed.trouble:
        raise CheckFailedError(f"INFO: {observed.trouble}")
    try:
        return read_info(observed.text)
    except MessageError as error:
        raise CheckFailedError(f"INFO: {error}") from error


@must
async def answers(examinee: CheckedPlayer) -> None:
    """Answer at this address, whatever the answer is."""
    observed = await examinee.say(to_text(Info()))
    if not observed.has_answered:
        raise CheckFailedError(observed.trouble or "no HTTP reply")


@must
async def answers_start(examinee: CheckedPlayer) -> None:
    """Start, and answer START with a line, whatever it says."""
    await examinee.new_match().start()


@should
async def info(examinee: CheckedPlayer) -> None:
    """Answer INFO with a name and a status."""
    info = await _info(examinee)
    if info.name is None or info.status is None:
        missing = " and ".join(key for key, value in (("name", info.name), ("status", info.status)) if value is None)
        raise CheckFailedError(f"no {missing}")


@should
async def ping(examinee: CheckedPlayer) -> None:
    """Answer PING, the question of older game managers, with ready, busy or nil."""
    observed = await examinee.say(to_text(Ping()))
    if observed.text.strip().lower() not in ("ready", "busy", "nil", "available"):
        raise CheckFailedError(observed.trouble or f"answered {observed.text[:60]!r}")


@should
async def preview(examinee: CheckedPlayer) -> None:
    """Answer PREVIEW."""
    rules = library_game("tictactoe").description.source.text
    observed = await examinee.say(to_text(Preview(rules, 2)), 3.0)
    if observed.trouble:
        raise CheckFailedError(observed.trouble)


@should
async def closes_connection(examinee: CheckedPlayer) -> None:
    """Close the connection after a reply: one old server reads to the end of the stream."""
    observed = await examinee.probe.exchange(Request(b"(INFO)", lingers=True), ANSWER_S)
    if not observed.is_closed:
        raise CheckFailedError(observed.trouble or "it is still open a second later")


@should
async def lets_browsers_in(examinee: CheckedPlayer) -> None:
    """Let pages in browsers talk to it: answer OPTIONS with the CORS headers."""
    observed = await examinee.probe.exchange(Request(b"", "OPTIONS"), ANSWER_S)
    if not 200 <= observed.status < 300:
        raise CheckFailedError(observed.trouble or f"OPTIONS has status {observed.status}")
    if observed.headers.get("access-control-allow-origin") != "*":
        raise CheckFailedError("OPTIONS is answered without `Access-Control-Allow-Origin: *`")


async def _lives(examinee: CheckedPlayer, after: str) -> None:
    observed = await examinee.say(to_text(Info()))
    if not observed.has_answered:
        raise CheckFailedError(f"after {after}: {observed.trouble or 'no HTTP reply'}")


@must
async def unknown_match(examinee: CheckedPlayer) -> None:
    """Live on after messages about matches that were never started."""
    for text in ("(PLAY Nobody.1 NIL)", to_text(Stop("Nobody.1")), to_text(Abort("Nobody.1"))):
        await examinee.say(text)
        await _lives(examinee, text)


@must
async def unreadable_rules(examinee: CheckedPlayer) -> None:
    """Live on after rules that cannot be read."""
    for rules in ("(role", "role", "(<= (legal ?x ?y))", "(role x) (<= (next (p ?x)) (not (q ?x)))"):
        observed = await examinee.say(f"(START Odd.1 x ({rules}) 2 1)", 3.0)
        if is_busy(observed.text):
            raise PlayerBusyError
        await examinee.say("(ABORT Odd.1)")
        await _lives(examinee, f"START with the rules {rules}")


@must
async def garbage(examinee: CheckedPlayer) -> None:
    """Live on after garbage."""
    for body in GARBAGE:
        await examinee.say(body, 1.0)
        await _lives(examinee, f"the body {body!r}")


@risky("a weak player dies of it: if yours is gone then, start it again")
@must
async def huge_message(examinee: CheckedPlayer) -> None:
    """Live on after a huge message."""
    for body, what in ((b"(PLAY x (" + b"a " * (HUGE_BYTES // 2) + b"))", "5 MB"), (b"(" * 50_000, "50,000 times `(`")):
        await examinee.say(body, 10.0)
        await _lives(examinee, what)
