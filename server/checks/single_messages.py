"""What a player answers to single messages, outside of a match."""

from __future__ import annotations

from gdl.errors import MessageError
from gdl.messages import Info, Ping, Preview, to_text
from gdl.replies import InfoReply, read_info
from server.checks.bout import CheckFailedError, library_game
from server.checks.examination import ANSWER_S, Examinee, must, should
from server.checks.probe import Request


async def _info(examinee: Examinee) -> InfoReply:
    observed = await examinee.say(to_text(Info()))
    if observed.trouble:
        raise CheckFailedError(f"INFO: {observed.trouble}")
    try:
        return read_info(observed.text)
    except MessageError as error:
        raise CheckFailedError(f"INFO: {error}") from error


@must
async def answers(examinee: Examinee) -> None:
    """Answer at this address, whatever the answer is."""
    observed = await examinee.say(to_text(Info()))
    if not observed.status:
        raise CheckFailedError(observed.trouble or "no HTTP reply")


@should
async def info(examinee: Examinee) -> None:
    """Answer INFO with a name and a status."""
    told = await _info(examinee)
    if told.name is None or told.status is None:
        missing = " and ".join(key for key, value in (("name", told.name), ("status", told.status)) if value is None)
        raise CheckFailedError(f"no {missing}")


@should
async def ping(examinee: Examinee) -> None:
    """Answer PING, the question of older game managers, with ready, busy or nil."""
    observed = await examinee.say(to_text(Ping()))
    if observed.text.strip().lower() not in ("ready", "busy", "nil", "available"):
        raise CheckFailedError(observed.trouble or f"answered {observed.text[:60]!r}")


@should
async def preview(examinee: Examinee) -> None:
    """Answer PREVIEW."""
    rules = library_game("tictactoe").description.source.text
    observed = await examinee.say(to_text(Preview(rules, 2)), 3.0)
    if observed.trouble:
        raise CheckFailedError(observed.trouble)


@should
async def closes_connection(examinee: Examinee) -> None:
    """Close the connection after a reply: one old server reads to the end of the stream."""
    observed = await examinee.probe.exchange(Request(b"(INFO)"), ANSWER_S, lingers=True)
    if not observed.is_closed:
        raise CheckFailedError(observed.trouble or "it is still open a second later")


@should
async def lets_browsers_in(examinee: Examinee) -> None:
    """Let pages in browsers talk to it: answer OPTIONS with the CORS headers."""
    observed = await examinee.probe.exchange(Request(b"", "OPTIONS"), ANSWER_S)
    if not 200 <= observed.status < 300:
        raise CheckFailedError(observed.trouble or f"OPTIONS has status {observed.status}")
    if observed.headers.get("access-control-allow-origin") != "*":
        raise CheckFailedError("OPTIONS is answered without `Access-Control-Allow-Origin: *`")
