"""Every check of a player, in the order in which they are made.

Single messages, whole matches in every dialect and spelling, odd events in a match, and messages that make no sense.
"""

import asyncio
from typing import Final

from gdl.errors import MessageError
from gdl.wire.info import InfoReply, is_busy, read_info
from gdl.wire.insights import INSIGHT_HEADER, read_insight
from gdl.wire.messages import Abort, Dialect, Info, Ping, Preview, Stop, to_text
from server.player_checks.check_match import (
    CheckFailedError,
    PlayerBusyError,
    Setting,
    library_game,
    scrambled,
    spaced,
    upper_case,
)
from server.player_checks.examination import ANSWER_S, Check, CheckedPlayer, must, risky, should
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


THINKING_S: Final = 0.3
"""How long after PLAY a player is taken to be thinking."""
PROMPT_S: Final = 0.3
"""What an answer takes that did not wait for anything."""


@must
async def whole_match(examinee: CheckedPlayer) -> None:
    """Play a match from START to STOP, with legal moves in time."""
    await examinee.play_match()


@must
async def second_role(examinee: CheckedPlayer) -> None:
    """Play a match as the second role, which begins by waiting."""
    await examinee.play_match(Setting(role=1))


@must
async def simultaneous_moves(examinee: CheckedPlayer) -> None:
    """Play a game in which all move at the same time."""
    await examinee.play_match(Setting("rockpaperscissors"))


@must
async def scrambled_names(examinee: CheckedPlayer) -> None:
    """Play a game whose names are scrambled; only keywords and numbers stay."""
    await examinee.play_match(Setting(spelling=scrambled))


@should
async def upper_case_match(examinee: CheckedPlayer) -> None:
    """Play a match in upper case; only the match id keeps its case."""
    await examinee.play_match(Setting(spelling=upper_case))


@should
async def odd_blanks(examinee: CheckedPlayer) -> None:
    """Read messages whatever blanks and line ends are in them."""
    await examinee.play_match(Setting(spelling=spaced))


@should
async def gdl2_current(examinee: CheckedPlayer) -> None:
    """Play GDL-II in the current dialect: (PLAY id turn move percepts)."""
    await examinee.play_match(Setting("montyhall", dialect=Dialect.GDL2))


@should
async def gdl2_older(examinee: CheckedPlayer) -> None:
    """Play GDL-II in the older dialect: (PLAY id percepts)."""
    await examinee.play_match(Setting("montyhall", dialect=Dialect.GDL2_PERCEPTS))


@should
async def words_of_the_protocol(examinee: CheckedPlayer) -> None:
    """Answer START with ready, STOP with done, ABORT with aborted."""
    stopped, aborted = examinee.new_match(), examinee.new_match()
    started = await stopped.start()
    stopped.advance(await stopped.ask())
    said = started.text, (await stopped.stop()).text
    await aborted.start()
    found = tuple(text.strip().lower() for text in (*said, (await aborted.abort()).text))
    if found != ("ready", "done", "aborted"):
        raise CheckFailedError(f"START, STOP, ABORT were answered with {', '.join(word[:20] or '-' for word in found)}")


@should
async def thoughts(examinee: CheckedPlayer) -> None:
    """Tell what it thinks, if it tells, within the bounds that records have for it."""
    match = examinee.new_match()
    await match.start()
    told = (await match.ask_observed()).insight
    await match.abort()
    try:
        if told:
            read_insight(told)
    except MessageError as error:
        raise CheckFailedError(f"{INSIGHT_HEADER}: {error}") from error


@must
async def one_line_each(examinee: CheckedPlayer) -> None:
    """Write one line for each message, and nothing else but comments, on standard output."""
    match = examinee.new_match(Setting(lingers=True))
    started = await match.start()
    asked = await match.ask_observed()
    extra = started.extra or asked.extra
    if extra:
        name = "START" if started.extra else "PLAY"
        raise CheckFailedError(
            f"{name}: after the answer came {extra[:60]!r}, which the next message may get for its answer; "
            "print other things on standard error"
        )


@must
async def repeated_play(examinee: CheckedPlayer) -> None:
    """Take a PLAY that is sent again for the same question, and give the same answer."""
    match = examinee.new_match()
    await match.start()
    for _ in range(2):
        first, second = await match.ask(), await match.ask()
        if first != second:
            raise CheckFailedError(f"step {match.turn + 1}: answered {first}, and {second} when asked again")
        match.advance(first)
    await match.play()
    await match.stop()


@should
async def replaced_move(examinee: CheckedPlayer) -> None:
    """Play on when its move was replaced, from the move that counts."""
    match = examinee.new_match()
    await match.start()
    move = await match.ask()
    match.advance(next(match.other_moves(move)))
    await match.play()
    await match.stop()


@should
async def two_matches(examinee: CheckedPlayer) -> None:
    """Play two matches at once."""
    matches = examinee.new_match(), examinee.new_match(Setting(role=1))
    await matches[0].start()
    try:
        await matches[1].start()
    except PlayerBusyError:
        raise CheckFailedError("it plays one match at a time: START of another one is answered with busy") from None
    for _ in range(3):
        for match in matches:
            await match.play(1)
    for match in matches:
        await match.stop()


@should
async def info_while_thinking(examinee: CheckedPlayer) -> None:
    """Answer INFO within a second while it thinks."""
    match = examinee.new_match()
    await match.start()
    thinking = asyncio.create_task(match.ask())
    await asyncio.sleep(THINKING_S)
    observed = await examinee.say(to_text(Info()), 1.0)
    has_waited = thinking.done() and observed.took_s > PROMPT_S
    await asyncio.gather(thinking, return_exceptions=True)
    await match.abort()
    if observed.trouble or has_waited:
        raise CheckFailedError(observed.trouble or "answered only after the move")


@should
async def abort_while_thinking(examinee: CheckedPlayer) -> None:
    """Answer an ABORT within a second while it thinks."""
    match = examinee.new_match()
    await match.start()
    thinking = asyncio.create_task(match.ask())
    await asyncio.sleep(THINKING_S)
    try:
        await match.send(Abort(match.match_id), 1.0, "ABORT")
        match.is_open = False
    finally:
        await asyncio.gather(thinking, return_exceptions=True)


@must
async def match_after_abort(examinee: CheckedPlayer) -> None:
    """Play the next match after an ABORT."""
    match = examinee.new_match()
    await match.start()
    match.advance(await match.ask())
    await match.abort()
    await examinee.play_match()


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


@must
async def match_at_the_end(examinee: CheckedPlayer) -> None:
    """Play a match after all this as before."""
    await examinee.play_match()


CHECKS: Final[tuple[Check, ...]] = (
    answers,
    info,
    ping,
    preview,
    closes_connection,
    lets_browsers_in,
    whole_match,
    second_role,
    simultaneous_moves,
    scrambled_names,
    upper_case_match,
    odd_blanks,
    gdl2_current,
    gdl2_older,
    words_of_the_protocol,
    thoughts,
    repeated_play,
    replaced_move,
    two_matches,
    info_while_thinking,
    abort_while_thinking,
    match_after_abort,
    unknown_match,
    unreadable_rules,
    garbage,
    huge_message,
    match_at_the_end,
)
"""The checks of a player over HTTP."""

PROGRAM_CHECKS: Final[tuple[Check, ...]] = (
    answers_start,
    info,
    whole_match,
    second_role,
    simultaneous_moves,
    scrambled_names,
    upper_case_match,
    gdl2_current,
    gdl2_older,
    words_of_the_protocol,
    thoughts,
    one_line_each,
    replaced_move,
)
"""The checks of a program on standard input and output.

It plays one match in one role, gets a message a line, and answers in order: what asks for more than that is left out.
"""
