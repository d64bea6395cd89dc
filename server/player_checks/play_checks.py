"""Checks of how a player plays: whole matches in every dialect and spelling, and odd events in a match."""

import asyncio
from typing import Final

from gdl.errors import MessageError
from gdl.wire.insights import INSIGHT_HEADER, read_insight
from gdl.wire.messages import Abort, Dialect, Info, to_text
from server.player_checks.check_match import CheckFailedError, PlayerBusyError, Setting, scrambled, spaced, upper_case
from server.player_checks.examination import CheckedPlayer, must, should

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


@must
async def match_at_the_end(examinee: CheckedPlayer) -> None:
    """Play a match after all this as before."""
    await examinee.play_match()
